// What the parts on disk do not hold yet: batches of the journal, told to them again.
//
//   journal   … 41 42 | 43 44 45 46 47 |
//   seen set  holds 42, is told 43–47
//   frontier  holds 45, is told 46–47

import type { DiskFrontier } from '../frontier/index.ts'
import type { Journal, LedgerBatch } from '../ledger/index.ts'
import { type CanonicalUrl, type Fingerprinter, type HostKey, hostKeyOf } from '../url/index.ts'
import { newBatch, type UrlSeen } from '../url-seen/index.ts'

export interface ReplayInto {
  readonly seen: UrlSeen
  /** The last batch the seen set holds. */
  readonly seenHolds: number
  readonly fingerprinter: Fingerprinter
  readonly frontier: Pick<DiskFrontier, 'offer' | 'omit' | 'rest' | 'replayFrom' | 'endReplay'>
}

/** A journal that ends before what a part holds has lost its end: asked with that number, it refuses. */
export async function refuseLostEnd(journal: Journal, held: number): Promise<void> {
  if (held > journal.lastNumber) await Array.fromAsync(journal.history(held))
}

export async function replay(journal: Journal, into: ReplayInto): Promise<void> {
  const { frontier, seenHolds } = into
  const frontierHolds = frontier.replayFrom
  await refuseLostEnd(journal, Math.max(seenHolds, frontierHolds))
  const rests = new Map<HostKey, number>()
  for await (const { number, batch } of journal.history(Math.min(seenHolds, frontierHolds))) {
    if (number > seenHolds) await meetAll(batch, into)
    if (number > frontierHolds) tell(batch, frontier, rests)
  }
  for (const [host, restMs] of rests) frontier.rest(host, restMs)
  await frontier.endReplay()
}

async function meetAll({ admitted }: LedgerBatch, { seen, fingerprinter }: ReplayInto): Promise<void> {
  if (admitted.length === 0) return
  const met = newBatch(admitted.length)
  for (const [i, { url }] of admitted.entries()) {
    fingerprinter.compute(url)
    met.high[i] = fingerprinter.high
    met.low[i] = fingerprinter.low
  }
  met.count = admitted.length
  const answer = seen.meet(met)
  if (answer !== undefined) await answer
}

function tell(batch: LedgerBatch, frontier: ReplayInto['frontier'], rests: Map<HostKey, number>): void {
  for (const entry of batch.admitted) frontier.offer(entry)
  const omitPage = (url: CanonicalUrl, isNew: boolean): void => {
    const host = hostKeyOf(url)
    frontier.omit(host, url, isNew)
    // A page ends the rests that were asked for before it; one that it asked for itself comes below.
    rests.delete(host)
  }
  for (const url of batch.pages) omitPage(url, true)
  for (const url of batch.returned) omitPage(url, false)
  for (const url of batch.ended) frontier.omit(hostKeyOf(url), url, false)
  for (const { host, restMs } of batch.rests) rests.set(host, restMs)
}
