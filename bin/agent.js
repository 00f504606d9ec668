// Where the thread of an agent begins. Half of its start-up is compiling; Node keeps the result for the next time, but each
// thread has to ask for it, and before it loads anything else.

import { existsSync } from 'node:fs'
import { enableCompileCache } from 'node:module'

enableCompileCache()
const compiled = new URL('../dist/src/supervise/agent-thread.js', import.meta.url)
await import(existsSync(compiled) ? compiled.href : new URL('../src/supervise/agent-thread.ts', import.meta.url).href)
