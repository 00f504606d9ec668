// The durable memory of an agent: batches, each written whole and synced, in order. What is in a
// batch has happened; what is not may happen again.
//
// Laws
//   - Bytes before facts: the files a batch speaks of are synced up to the lengths it names before
//     the batch is written. After a crash they are cut back to the lengths of the last batch.
//   - Links with the page: a page's outcome and all its new links stand in one batch.
//   - In flight means asked but in no batch yet: that, and no more, may be asked again after a crash.
//   - A rest the server asked for (Retry-After, 429, 503) is in a batch before the host's next turn,
//     as a duration, because clocks of two runs have nothing in common.

import type { FailureCode, RefusalReason, SkipReason } from '../base/index.ts'
import type { FrontierEntry } from '../frontier/index.ts'
import type { SavedRobotsEntry } from '../robots/index.ts'
import type { CanonicalUrl, HostKey } from '../url/index.ts'

/** What became of a URL. */
export type Verdict =
  | {
      readonly url: CanonicalUrl
      readonly kind: 'page'
      readonly status: number
      readonly bytes: number
      readonly wireBytes: number
    }
  | { readonly url: CanonicalUrl; readonly kind: 'failed'; readonly code: FailureCode }
  | { readonly url: CanonicalUrl; readonly kind: 'skipped'; readonly reason: SkipReason }

/** A rest that must outlive us, and why. */
export interface RestNote {
  readonly host: HostKey
  readonly restMs: number
  readonly why: string
}

/** The content of a page that was kept first, so that later copies are known as such. */
export interface ContentNote {
  /** SHA-256 of the decoded body, hex. */
  readonly digest: string
  readonly url: CanonicalUrl
  readonly fetchedAtMs: number
  readonly payloadDigest: string | null
}

export interface LedgerBatch {
  readonly admitted: FrontierEntry[]
  /** In scope but for --max-depth: admitted when that limit is raised. Not seen yet, and not counted. */
  readonly held: FrontierEntry[]
  /** URLs whose verdict is taken back; they wait again. */
  readonly requeued: CanonicalUrl[]
  readonly verdicts: Verdict[]
  /** Rules learnt from robots.txt, as the cache of `robots` saves them. */
  readonly robots: SavedRobotsEntry[]
  readonly rests: RestNote[]
  readonly contents: ContentNote[]
  /** Links turned away since the last batch, by reason. */
  readonly refused: Partial<Record<RefusalReason, number>>
  /** Committed length of each file, by its name for the agent; and what a writer needs to go on. */
  files: Readonly<Record<string, unknown>>
  /** Which run this is of: its start by the wall clock. */
  runStartedAtMs: number
  /** What this run has taken so far, for totals over all runs. */
  ranMs: number
  cpuMs: number
  peakRssBytes: number
}

/** The first record of a ledger: what must not change while the crawl lives. */
export interface CrawlIdentity {
  readonly name: string
  /** 16 bytes, hex: keys the fingerprints, so that nobody outside can forge collisions. */
  readonly key: string
  readonly startedAtMs: number
  readonly agents: number
}

export interface Ledger {
  readonly identity: CrawlIdentity
  /** Every batch committed so far, in order. */
  history(): AsyncIterable<LedgerBatch>
  /** Writes a batch and syncs it. One at a time. A failure is a fault of the agent. */
  commit(batch: LedgerBatch): Promise<void>
  close(): Promise<void>
}
