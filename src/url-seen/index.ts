export * from './url-seen.ts'
export { MemoryUrlSeen } from './memory-url-seen.ts'
export { DiskUrlSeen, type DiskUrlSeenOptions } from './disk-url-seen.ts'
export type { SeenState } from './seen-keeper.ts'
