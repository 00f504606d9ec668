// What a crawl is made from: where, what, how.

import type { Clock, Random } from '../base/index.ts'
import type { DnsOptions } from '../dns/index.ts'
import type { DocumentOptions } from '../document/index.ts'
import type { FetchOptions } from '../fetch/index.ts'
import type { FrontierOptions } from '../frontier/index.ts'
import type { CrawlIdentity } from '../ledger/index.ts'
import type { ParseOptions } from '../parse/index.ts'
import type { ProcessorOptions } from '../processors/index.ts'
import type { RobotsOptions } from '../robots/index.ts'
import type { StoreOptions } from '../store/index.ts'
import type { StrategyOptions } from '../strategy/index.ts'
import type { CanonicalUrl, UrlOptions } from '../url/index.ts'
import type { AgentOptions } from './options.ts'

export interface CrawlSettings {
  readonly agent: AgentOptions
  readonly url: UrlOptions
  readonly frontier: FrontierOptions
  readonly dns: DnsOptions
  readonly robots: RobotsOptions
  readonly document: DocumentOptions
  readonly fetch: FetchOptions
  readonly parse: ParseOptions
  readonly processors: ProcessorOptions
  readonly store: StoreOptions
  readonly strategy: StrategyOptions
}

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
