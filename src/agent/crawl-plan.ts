// What a crawl is made from: where, what, how.

import type { Clock, ClockMs, FaultPoints, Random, StopReason } from '../base/index.ts'
import type { IpGate } from '../frontier/index.ts'
import type { CrawlIdentity } from '../ledger/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import type { CrawlSettings } from './options.ts'

/** The place of an agent among those of its crawl. */
export interface Share {
  /** From 0. */
  readonly agent: number
  readonly agents: number
  /** The name of the machine it runs on, among those of a cluster; null where there is one only. */
  readonly node?: string | null
  /** The directory of the crawl, which has the archive of all. */
  readonly crawlDir: string
  /** Addresses are asked in turns across all agents. */
  readonly ipGate: IpGate
  /** Domains likewise; null where they do not rest. */
  readonly domainGate: IpGate | null
  /** The agent asks nobody now. It decides nothing by itself: others may have work for it. */
  readonly onIdle: () => StopReason | null
  /** It has stopped asking; resolves when the others need no answers of it any more. */
  readonly mayClose: () => Promise<void>
  /** It could ask somebody, and has no permit for a page. */
  readonly onShort: () => void
}

export interface CrawlPlan {
  /** Of the crawl; of the agent's share, where there are several. */
  readonly dir: string
  /** Whoever runs the agent holds the directory already. */
  readonly isLocked: boolean
  /** Null where one agent does it all. */
  readonly share: Share | null
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
  /** Where the run began before the agent did: its time and CPU count from there. */
  readonly since?: { readonly ms: ClockMs; readonly cpuMs: number } | undefined
  /** CPU time of this process so far. */
  readonly cpuMs: () => number
  /** The most memory this process has taken so far. */
  readonly peakRssBytes: () => number
  /** It is opened to put pages back in line whose WARC files are lost: these may be missing. */
  readonly notesLost?: true
  /** Where an experiment breaks it on purpose. */
  readonly faults?: FaultPoints
}
