// What a crawl is made from: where, what, how.

import type { Clock, Random } from '../base/index.ts'
import type { CrawlIdentity } from '../ledger/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import type { CrawlSettings } from './sections.ts'

export interface CrawlPlan {
  readonly dir: string
  /** Added to those of earlier runs. */
  readonly seeds: readonly CanonicalUrl[]
  readonly settings: CrawlSettings
  readonly clock: Clock
  readonly random: Random
  /** Made anew for a crawl that begins. */
  readonly newIdentity: () => CrawlIdentity
  /** `Portolan/0.1.0`, for the archive. */
  readonly software: string
  /** Where passwords named by variable are found. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** CPU time of this process so far. */
  readonly cpuMs: () => number
  /** The most memory this process has taken so far. */
  readonly peakRssBytes: () => number
}
