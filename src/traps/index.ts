export type { TrapsOptions } from './options.ts'
export { type Candidate, type Lesson, type Refused, TrapWatch } from './trap-watch.ts'
