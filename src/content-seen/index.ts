export type * from './content-seen.ts'
export { MemoryContentSeen } from './memory-content-seen.ts'
