// What is worth visiting, and how soon. A strategy knows links and pages; the frontier knows only the
// bands that come out of it.

import type { CanonicalUrl, HostKey } from '../url/index.ts'

/** A link that was found, in scope and not met before. A FrontierEntry without its band is one. */
export interface FoundLink {
  readonly url: CanonicalUrl
  readonly host: HostKey
  /** Links followed from a seed. */
  readonly depth: number
  /** The page it was found on; null for seeds. */
  readonly via: CanonicalUrl | null
  readonly isSeed: boolean
}

/** Asked for every new link: must be quick and must not keep the link. */
export interface Strategy {
  /** The band it waits in, from 0, served first, to BANDS - 1. */
  bandOf(link: FoundLink): number
}
