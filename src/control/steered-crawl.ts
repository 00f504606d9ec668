// A crawl of this process as those see it who steer it: what runs now, as what it was meant, and the few things that change it. Whoever
// runs the crawl keeps it (src/cli/steering.ts): it outlives the job, which is another one after every change that opens the crawl anew.

import type { AdmittedSeeds, Speed } from '../agent/index.ts'
import type { CrawlConfig } from '../config/index.ts'
import type { ClusterPlace } from '../report/index.ts'
import type { CrawlNode } from '../supervise/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import type { EventLog } from './event-log.ts'

/** Options as somebody said them, by section and key. */
export type SaidOptions = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** What holds after a change. `speed`: what of it can be had without opening the crawl anew, where that is all of it. */
export interface OtherOptions {
  /** What is changed; null: as usual again. */
  readonly options: SaidOptions
  readonly said: SaidOptions
  readonly config: CrawlConfig
  readonly speed: Partial<Speed> | null
}

/** What can be looked at of any crawl that runs, also of a cluster's node. */
export type LookedAtJob = Pick<
  CrawlNode,
  'identity' | 'seeds' | 'agents' | 'restarts' | 'figures' | 'snapshot' | 'checkpoint'
>

/** What is asked of one whose agents are all here. */
export type SteeredNode = LookedAtJob & Pick<CrawlNode, 'ask' | 'standings'>

/** Figures of a moment, for rates. */
export interface Moment {
  readonly atMs: number
  readonly pages: number
  readonly bytes: number
  readonly cpuMs: number
}

export interface SteeredCrawl {
  readonly dir: string
  /** Of a node of a cluster; null on one machine. */
  readonly place: ClusterPlace | null
  readonly events: EventLog
  /** Null while it is being opened anew. */
  readonly job: LookedAtJob | null
  /** The same; null also in a cluster, where it is not one node's to steer. */
  readonly node: SteeredNode | null
  /** What holds now, and what was said of it. */
  readonly config: CrawlConfig
  readonly said: SaidOptions
  readonly isPaused: boolean
  /** It is being closed and opened with other options. */
  readonly isReopening: boolean
  /** It ends, and takes no more changes. */
  readonly isStopping: boolean
  /** The last ten seconds, the oldest first. */
  readonly moments: readonly Moment[]
  /** Who changed what; durable when it resolves, and before that nothing is changed. */
  record(who: string, what: string, detail: Record<string, unknown>): Promise<void>
  /** Both hold for the process that a guard starts next, too; that is durable when they resolve. */
  pause(): Promise<void>
  resume(): Promise<void>
  stop(): void
  /** What each agent says of them. Durable when it resolves; after a crash in between they are taken in when the crawl goes on. */
  addSeeds(seeds: readonly CanonicalUrl[]): Promise<readonly AdmittedSeeds[]>
  /** Follows a URL from now on, in events. */
  trace(url: string): Promise<void>
  /** From now on, of one agent; kept for whoever goes on with the crawl, until another speed is set for all. */
  setAgentSpeed(agent: number, change: Partial<Speed>): Promise<void>
  /**
   * Other options from now on; kept for the runs to come, those of one run for this one. A speed takes effect at once. `make` is asked when it is this change's turn, of what is said by then: what
   * others changed meanwhile stays. Resolves when they are in force; fails where the crawl could not be opened with them, and then it goes
   * on with the old ones.
   */
  change(make: (said: SaidOptions) => OtherOptions): Promise<void>
}
