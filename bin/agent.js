// Where the thread of an agent begins. Half of its start-up is compiling; what was compiled is kept for the next time, but each
// thread has to ask for it, and before it loads anything else.
//
// In a folder of its own: what is kept is what was compiled when it is kept, and the main thread, which loads some of the same files
// and runs little of them, would keep the poorer half.
//
// Its one argument is where its code is: that of whoever starts it, be it compiled, bundled or the sources. Instead of seven hundred
// sources it takes the bundle of the same, while that is fresh, as the launcher does: a thread that died is back in 0.42 s instead of 0.75. Unless
// PORTOLAN_FROM_SOURCES is set: somebody wants to see the sources run.

import { setFlagsFromString } from 'node:v8'

// What its heap was begun with (src/supervise/agent-handle.ts) is of this thread alone. Before anything else is loaded: compiled code is kept, by Node and
// by us, for the flags of the moment, and those are the usual ones again.
setFlagsFromString('--initial-old-space-size=0')

const { keepCompiled } = await import('./compile-cache.js')
const { findBundled } = await import('./find-code.js')
const { loadCode } = await import('./load-code.js')

const [, , given] = process.argv
const mayBeBundled = given.endsWith('.ts') && process.env.PORTOLAN_FROM_SOURCES === undefined
const bundled = mayBeBundled ? findBundled('src/supervise/agent-thread') : null
await loadCode(bundled?.href ?? given, keepCompiled('agent'))
