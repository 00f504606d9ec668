// Where the thread of an agent begins. Half of its start-up is compiling; Node keeps the result for the next time, but each
// thread has to ask for it, and before it loads anything else.
//
// In a folder of its own: what is kept is what was compiled when it is kept, and the main thread, which loads the same files
// and runs little of them, would keep the poorer half. An agent keeps it when it has done its work (agent-thread.ts).
//
// Its one argument is where its code is: that of whoever starts it, be it compiled, bundled or the sources.

import { keepCompiled } from './compile-cache.js'

keepCompiled('agent')
await import(process.argv[2])
