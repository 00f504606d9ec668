// A URL that waits, as tests of frontiers need it.

import type { FrontierEntry } from '../src/frontier/index.ts'
import type { CanonicalUrl, HostKey } from '../src/url/index.ts'

export function entryOf(host: string, name: string | number = '', facts: Partial<FrontierEntry> = {}): FrontierEntry {
  return {
    url: `http://${host}/${name}` as CanonicalUrl,
    host: host as HostKey,
    via: null,
    depth: 0,
    hops: 0,
    band: 0,
    isSeed: false,
    tries: 0,
    pauses: 0,
    ...facts,
  }
}
