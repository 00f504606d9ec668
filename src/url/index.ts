export type { CanonicalUrl, HostKey, Origin } from './canonical-url.ts'
export { BaseUrl } from './base-url.ts'
export { canonicalise, type Canonicalise, type CanonicaliseOptions, compileCanonicaliser } from './canonicalise.ts'
export {
  defaultKey,
  Fingerprinter,
  type FingerprintKey,
  formatFingerprint,
  HalfSipHash,
  slotOf,
} from './fingerprint.ts'
export { JOINED, type KnownOrigin, LinkJoiner, LINKS_JOINED_MAX } from './link-joiner.ts'
export { type LinkPlaces, MEANS_AMPERSANDS } from './link-places.ts'
export type { UrlOptions } from './options.ts'
export { type Refusal } from './refusal.ts'
export { registrableDomain } from './registrable-domain.ts'
export { compileScope, type Scope, type ScopeKind, type ScopeOptions } from './scope.ts'
export { surt } from './surt.ts'
export { compileUrlFilter, type UrlFilter, type UrlPredicate } from './url-filter.ts'
export {
  directoryDepthOf,
  hostKeyOf,
  originOf,
  pathOf,
  robotsPathOf,
  robotsUrlOf,
  type Scheme,
  schemeOf,
} from './url-parts.ts'
