// What is worth visiting, and how soon. A strategy knows links and pages; the frontier knows only the
// bands that come out of it.

import type { RefusalReason } from '../base/index.ts'
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
  /**
   * Why the link is not followed at all; null when it is. Asked before the seen set, so a link turned
   * away may come again by another way.
   */
  refusalOf(link: FoundLink): RefusalReason | null
  /** The band it waits in, from 0, served first, to BANDS - 1. */
  bandOf(link: FoundLink): number
}
