// Where the thread of a catalogue begins; its compiled code is kept for the next time, and where its code is it is told, as an agent is
// (agent.js).

import { keepCompiled } from './compile-cache.js'
import { loadCode } from './load-code.js'

await loadCode(process.argv[2], keepCompiled('catalogue'))
