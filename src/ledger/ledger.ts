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

import type { FrontierEntry } from '../frontier/index.ts'
import type { CanonicalUrl, HostKey } from '../url/index.ts'

/** A rest that must outlive us, and why. */
export interface RestNote {
  readonly host: HostKey
  readonly restMs: number
  readonly why: string
}

/** The first page that had a content, for the agent that owns the digest. */
export interface OriginalNote {
  /** Of the decoded body, in hexadecimal. */
  readonly digest: string
  readonly url: CanonicalUrl
  readonly fetchedAtMs: number
  readonly payloadDigest: string | null
}

export interface LedgerBatch {
  /** URLs that wait from now on: new ones, and those whose verdict was taken back. They come before what is settled below. */
  readonly admitted: FrontierEntry[]
  /** URLs that wait no more: those that became pages, */
  readonly pages: CanonicalUrl[]
  /** those that had been pages of their host before and were visited again, */
  readonly returned: CanonicalUrl[]
  /** and those that were given up or skipped. What became of them stands in the crawl's files. */
  readonly ended: CanonicalUrl[]
  readonly rests: RestNote[]
  /** Links for other agents: they stay in the journal until whoever owns their hosts has confirmed them. */
  readonly abroad: FrontierEntry[]
  /** Contents that were met first here and whose digests others own; they travel with the links. */
  readonly originals: OriginalNote[]
  /** What recovery needs of each file (its committed length) and each part of the state on disk, by name. JSON. */
  files: Readonly<Record<string, unknown>>
  /** What the crawl has come to, all runs included: read by whoever opens it or looks at it. JSON. */
  totals: unknown
}

/** The first record of a ledger: what must not change while the crawl lives. */
export interface CrawlIdentity {
  readonly name: string
  /** 16 bytes, hex: keys the fingerprints, so that nobody outside can forge collisions. */
  readonly key: string
  readonly startedAtMs: number
}
