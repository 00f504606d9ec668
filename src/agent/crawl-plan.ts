// What a crawl is made from: where, what, how.

import type { Clock, ClockMs, FaultPoints, Random } from '../base/index.ts'
import type { BorrowedTurns, ContentMarks, LentTurns, SharedTurns } from '../exchange/index.ts'
import type { IpGate } from '../frontier/index.ts'
import type { CrawlIdentity, Journal, SegmentedJournalOptions } from '../ledger/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import type { CrawlSettings } from './options.ts'

/** The place of an agent among those of its crawl. */
export interface Share {
  /** From 0. */
  readonly agent: number
  readonly agents: number
  /** The name of the machine it runs on, among those of a cluster; null where there is one only. */
  readonly node?: string | null
  /** With how many of them it shares this machine's memory and connections, itself included. */
  readonly here: number
  /** How slots go to agents (src/placement); by rendezvous where nothing is said. */
  readonly assignment?: string
  /** The directory of the crawl, which has the archive of all. */
  readonly crawlDir: string
  /** Contents that any of them has met; left out where they have no memory in common. */
  readonly marks?: ContentMarks | null
  /** Addresses are asked in turns across all agents. */
  readonly ipGate: IpGate
  /** Domains likewise; null where they do not rest. */
  readonly domainGate: IpGate | null
  /** Those of the two that have no memory in common with other agents: they talk to them. */
  readonly turns: readonly SharedTurns[]
  /** Turns of giant hosts, lent to others and by them; left out where each agent asks its own hosts only. */
  readonly lending?: { readonly lent: LentTurns; readonly borrowed: BorrowedTurns } | undefined
  /** How long others are waited for that do not say whether they know a content; for ever where nothing is said. */
  readonly patience?: { readonly clock: Clock; readonly ms: number }
  /** The agent asks nobody, and has nobody to ask: nothing waits, or no page may be added. Others may have work for it, so it decides nothing. */
  readonly onIdle: () => void
  /** It has stopped asking; resolves when the others need no answers of it any more. */
  readonly mayClose: () => Promise<void>
  /** It could ask somebody, and has no permit for a page. */
  readonly onShort: () => void
}

/** What keeps an agent's state beyond its machine (src/replica). */
export interface StateKeeper {
  /** The local journal, with the one that is kept elsewhere behind it. */
  openJournal(options: SegmentedJournalOptions): Promise<Journal>
  /** What is true here of files and parts, where the batch of this number says this. */
  statesHere(number: number, said: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>
}

export interface CrawlPlan {
  /** Of the crawl; of the agent's share, where there are several. */
  readonly dir: string
  /** Whoever runs the agent holds the directory already. */
  readonly isLocked: boolean
  /** Null where one agent does it all. */
  readonly share: Share | null
  /** Whoever runs the agent sorts the index of the archive when it is closed; of several agents that is always so. */
  readonly leavesIndex?: boolean
  /** Asked before each request; where it says no the agent breaks off: whoever runs it is no longer sure of its share. */
  readonly mayAsk?: (() => boolean) | undefined
  /** Left out where the state is on this machine only. */
  readonly keeper?: StateKeeper | undefined
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
  /** Told of what happens to URLs that are followed (`Crawl.trace`). */
  readonly onTrace?: (url: string, step: string) => void
  /** Where an experiment breaks it on purpose. */
  readonly faults?: FaultPoints
}
