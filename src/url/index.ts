export type { CanonicalUrl, HostKey, Origin } from './canonical-url.ts'
