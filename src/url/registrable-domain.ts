// The part of a host name that somebody registered: `bbc.co.uk` of `www.bbc.co.uk`. From the public suffix
// list, by tldts.
//
// Private suffixes count (github.io, blogspot.com): who has `alice.github.io` has not `bob.github.io`, and a
// crawl of one person's pages must not become a crawl of a million people's.

import { getDomain } from 'tldts'
import type { HostKey } from './canonical-url.ts'

/** Hosts come in runs; a few thousand hold the working set of a crawl. When full the cache starts anew. */
const CACHE_HOSTS_MAX = 4_096
const cache = new Map<HostKey, string>()

/** The host itself where there is nothing to register: IP literals, single labels, a public suffix, a name with empty labels. */
export function registrableDomain(host: HostKey): string {
  let domain = cache.get(host)
  if (domain === undefined) {
    domain = findRegistrableDomain(host, true)
    if (cache.size >= CACHE_HOSTS_MAX) cache.clear()
    cache.set(host, domain)
  }
  return domain
}

export function findRegistrableDomain(host: string, withPrivateSuffixes: boolean): string {
  if (host.startsWith('.') || host.includes('..')) return host
  const options = { allowPrivateDomains: withPrivateSuffixes, extractHostname: false, validateHostname: false }
  return getDomain(host, options) ?? host
}
