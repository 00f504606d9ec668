export * from './url-seen.ts'
export { MemoryUrlSeen } from './memory-url-seen.ts'
