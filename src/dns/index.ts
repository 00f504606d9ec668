export { CachingResolver } from './caching-resolver.ts'
export { type DnsOptions, dnsOptions } from './options.ts'
export type * from './resolver.ts'
