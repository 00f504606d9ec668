// Where the thread of an agent begins. Half of its start-up is compiling; what was compiled is kept for the next time, but each
// thread has to ask for it, and before it loads anything else.
//
// In a folder of its own: what is kept is what was compiled when it is kept, and the main thread, which loads some of the same files
// and runs little of them, would keep the poorer half.
//
// Its one argument is where its code is: that of whoever starts it, be it compiled, bundled or the sources. Instead of seven hundred
// sources it takes the bundle of the same, while that is fresh, as the launcher does: a thread that died is back in 0.42 s instead of 0.75. Unless
// PORTOLAN_FROM_SOURCES is set: somebody wants to see the sources run.

import { keepCompiled } from './compile-cache.js'
import { findBundled } from './find-code.js'
import { loadCode } from './load-code.js'

const [, , given] = process.argv
const mayBeBundled = given.endsWith('.ts') && process.env.PORTOLAN_FROM_SOURCES === undefined
const bundled = mayBeBundled ? findBundled('src/supervise/agent-thread') : null
await loadCode(bundled?.href ?? given, keepCompiled('agent'))
