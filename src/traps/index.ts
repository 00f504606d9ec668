export type { TrapsOptions } from './options.ts'
export { lessonsIn } from './trap-file.ts'
export { type Candidate, type Lesson, type Refused, TrapWatch } from './trap-watch.ts'
