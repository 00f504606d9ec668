// Verdicts taken back: URLs that were given up or skipped wait again.

import type { FrontierEntry } from '../frontier/index.ts'
import type { FailureRecord } from '../store/index.ts'
import type { Strategy } from '../strategy/index.ts'
import { type CanonicalUrl, hostKeyOf, originOf } from '../url/index.ts'
import type { Books } from './books.ts'
import type { FailuresFile } from './failures-file.ts'
import type { Trouble } from './trouble.ts'
import { failureVerdict } from './verdict.ts'

export interface RequeueParts {
  readonly failures: FailuresFile
  readonly books: Books
  readonly strategy: Strategy
  readonly trouble: Trouble
  readonly isSeed: (url: CanonicalUrl) => boolean
}

/** Verdicts taken back in one batch; each round reads the file once. */
const ROUND_URLS = 50_000

/** Takes back what `isWanted` says, and returns how many URLs wait again. */
export async function requeue(parts: RequeueParts, isWanted: (record: FailureRecord) => boolean): Promise<number> {
  const { failures, books, trouble } = parts
  for (let total = 0; ;) {
    const taken = await failures.takeBack(isWanted, ROUND_URLS)
    for (const record of taken) {
      const entry = entryOf(record, parts)
      // Its host may have been given up; asking for it again is asking the host again.
      trouble.forgive(entry.host)
      trouble.forgive(originOf(entry.url))
      books.requeued(entry, failureVerdict(record))
    }
    await books.commit()
    total += taken.length
    if (taken.length < ROUND_URLS) return total
  }
}

function entryOf(record: FailureRecord, { strategy, isSeed }: RequeueParts): FrontierEntry {
  const url = record.url as CanonicalUrl
  const via = record.via as CanonicalUrl | null
  const link = { url, host: hostKeyOf(url), via, depth: record.depth, isSeed: isSeed(url) }
  return { ...link, band: strategy.bandOf(link), hops: 0, tries: 0, pauses: 0 }
}
