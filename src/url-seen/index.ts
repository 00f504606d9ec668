export * from './url-seen.ts'
export { MemoryUrlSeen } from './memory-url-seen.ts'
export { DiskUrlSeen, type DiskUrlSeenOptions, type SeenState } from './disk-url-seen.ts'
