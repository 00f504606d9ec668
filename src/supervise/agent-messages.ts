// What a node and its agents say to each other. Plain data: it crosses threads.

import type { MessagePort } from 'node:worker_threads'
import type {
  BrokenFigures,
  CheckpointFigures,
  CrawlSettings,
  CrawlSnapshot,
  CrawlTotals,
  PaceFigures,
  Speed,
  Standing,
} from '../agent/index.ts'
import type { FaultCode, FaultPlan, StopReason } from '../base/index.ts'
import type { LostNode } from '../cluster/index.ts'
import type { EngineSettings } from '../engine/index.ts'
import type { CrawlIdentity } from '../ledger/index.ts'
import type { HeldShare } from '../replica/index.ts'
import type { ShelfOptions } from '../shelf/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import type { AgentAnswers, AgentQuestion } from './agent-questions.ts'
import type { IndexOrder } from './index-order.ts'

/** What an agent in a cluster needs to have its share and to talk to the others. */
export interface ClusterOrders {
  readonly engine: EngineSettings
  /** Its right to the share. */
  readonly held: HeldShare
  /** How slots go to shares. */
  readonly assignment: string
  /** How many agents this machine's memory and connections are for. */
  readonly here: number
  /** Until when this node may act (`Lease`). */
  readonly lease: SharedArrayBuffer
  /** Nodes that never come back: what their loss asks of the share is done before it runs. */
  readonly lost: readonly LostNode[]
  /** Where files of theirs may be. */
  readonly shelf: ShelfOptions
}

/** All that an agent's thread is started with. */
export interface AgentOrders {
  /** Where its share is; the crawl's own directory where there is one agent. */
  readonly dir: string
  readonly crawlDir: string
  readonly agent: number
  readonly agents: number
  /** Its place in a cluster; null where all agents are in this process. */
  readonly cluster: ClusterOrders | null
  readonly seeds: readonly CanonicalUrl[]
  readonly settings: CrawlSettings
  readonly identity: CrawlIdentity
  readonly software: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** When the node began, on the scale common to all threads, and the CPU time of the process then; null in later lives. */
  readonly since: { readonly commonMs: number; readonly cpuMs: number } | null
  /** Stamps of addresses, shared by all agents; null where there is one. */
  readonly addresses: SharedArrayBuffer | null
  /** Those of domains; null also where domains do not rest. */
  readonly domains: SharedArrayBuffer | null
  /** Marks of contents, shared by all agents of this process; null where there is one, and in a cluster. */
  readonly contents: SharedArrayBuffer | null
  /** A counter for each agent, which shows that it lives. */
  readonly heartbeats: SharedArrayBuffer
  /** How often it was started before in this run. */
  readonly life: number
  /** An experiment: what breaks on purpose, and where it is counted. */
  readonly faults: { readonly plan: FaultPlan; readonly tally: SharedArrayBuffer } | null
}

/** Time, CPU and memory of earlier runs. */
export type Earlier = Pick<CrawlTotals, 'ms' | 'cpuMs' | 'peakRssBytes'>

/** What a fault says of itself across threads. */
export interface PlainFault {
  readonly code: FaultCode | null
  readonly message: string
  readonly stack: string | null
}

/** Turns of giant hosts. */
export interface TurnFigures {
  /** Of ours: lent, of them not come back; and URLs that others asked for. */
  readonly lent: number
  readonly lost: number
  readonly brought: number
  /** URLs of others that we asked for. */
  readonly asked: number
}

export interface AgentStatus {
  readonly totals: CrawlTotals
  readonly frontier: CrawlSnapshot['frontier']
  readonly active: number
  readonly waitMs: number | null
  readonly standing: Standing
  readonly pace: PaceFigures
  readonly broken: BrokenFigures
  /** Turns that were lent, by us and to us; left out where none were. */
  readonly lending?: TurnFigures
  /** Committed lengths of what all agents' outputs are merged from. */
  readonly pagesLength: number
  readonly failures: { readonly length: number; readonly edition: number }
}

export type ToAgent =
  | { readonly kind: 'connect'; readonly agent: number; readonly port: MessagePort }
  | { readonly kind: 'run' }
  /** How do you stand? Answered with the same number. */
  | { readonly kind: 'probe'; readonly round: number }
  | { readonly kind: 'grant'; readonly pages: number }
  | { readonly kind: 'recall' }
  /** Other limits from now on, of this agent alone. */
  | { readonly kind: 'set-speed'; readonly change: Partial<Speed> }
  /** Ask nobody until you hear otherwise; what is under way ends. */
  | { readonly kind: 'pause' }
  | { readonly kind: 'resume' }
  /** Answered with the same number. */
  | { readonly kind: 'ask'; readonly number: number; readonly question: AgentQuestion }
  | { readonly kind: 'stop'; readonly reason: StopReason }
  /** Everybody has stopped asking. */
  | { readonly kind: 'finish' }
  | { readonly kind: 'close' }
  /** It is closed, and has time: the index of the archive is to be sorted. */
  | { readonly kind: 'sort-index'; readonly order: IndexOrder }
  /** A checkpoint: hold still, copy, go on. Every attempt has a number. */
  | { readonly kind: 'hold'; readonly attempt: number }
  /** The share to `to`, the agent's files of the archive below `crawlTo`. */
  | { readonly kind: 'copy'; readonly attempt: number; readonly to: string; readonly crawlTo: string }
  /** Whatever was held for this attempt: go on. */
  | { readonly kind: 'release'; readonly attempt: number }
  /** Be gone, as if killed: nothing is finished or closed. Obeyed also before the share is open. */
  | { readonly kind: 'die' }

/** Its share is open. */
export interface Opened {
  readonly kind: 'opened'
  readonly isNew: boolean
  readonly seeds: readonly CanonicalUrl[]
  readonly knownSeeds: readonly CanonicalUrl[]
  readonly isScopeChanged: boolean
  /** What an operator should know of how it was opened. */
  readonly warnings: readonly string[]
  readonly identity: CrawlIdentity
  /** What earlier runs took. */
  readonly earlier: Earlier
  readonly status: AgentStatus
}

export type FromAgent =
  | Opened
  | { readonly kind: 'status'; readonly round: number | null; readonly status: AgentStatus }
  | {
      readonly kind: 'answer'
      readonly number: number
      readonly answer: AgentAnswers[keyof AgentAnswers] | null
      readonly fault: PlainFault | null
    }
  /** Something happened to a URL that is followed. */
  | { readonly kind: 'trace'; readonly url: string; readonly step: string }
  | { readonly kind: 'short' }
  /** It has nobody to ask: the end may be near. */
  | { readonly kind: 'idle' }
  | { readonly kind: 'surrendered'; readonly pages: number }
  /** It has stopped asking: it was told to, or it is broken. */
  | { readonly kind: 'drained'; readonly fault: PlainFault | null }
  | {
      readonly kind: 'ended'
      readonly reason: StopReason
      readonly fault: PlainFault | null
      readonly status: AgentStatus
    }
  | { readonly kind: 'closed'; readonly fault: PlainFault | null }
  | { readonly kind: 'index-sorted'; readonly fault: PlainFault | null }
  | { readonly kind: 'held'; readonly attempt: number; readonly fault: PlainFault | null }
  | {
      readonly kind: 'copied'
      readonly attempt: number
      readonly figures: CheckpointFigures | null
      readonly fault: PlainFault | null
    }
  /** It could not be opened. */
  | { readonly kind: 'broken'; readonly fault: PlainFault }
