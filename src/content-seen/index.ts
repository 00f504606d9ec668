export type * from './content-seen.ts'
export { DiskContentSeen, type DiskContentSeenOptions } from './disk-content-seen.ts'
export { MemoryContentSeen } from './memory-content-seen.ts'
export type { ContentState } from './run-shelf.ts'
