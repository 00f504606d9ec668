export { CachingResolver } from './caching-resolver.ts'
export type { DnsOptions } from './options.ts'
export type * from './resolver.ts'
