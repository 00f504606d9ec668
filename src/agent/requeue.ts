// Verdicts taken back: URLs that were given up or skipped wait again, and pages that are to be visited once more.

import type { FrontierEntry } from '../frontier/index.ts'
import type { OriginalNote } from '../ledger/index.ts'
import {
  type FailureRecord,
  type JsonLines,
  type PageRecord,
  readPlacedLines,
  ReturnedPages,
  type ReturnNote,
} from '../store/index.ts'
import type { Strategy } from '../strategy/index.ts'
import { type CanonicalUrl, hostKeyOf, originOf } from '../url/index.ts'
import type { Books } from './books.ts'
import type { FailuresFile } from './failures-file.ts'
import type { LostCaptures, LostNote } from './lost-captures.ts'
import { returnNoteOf } from './returns.ts'
import type { Trouble } from './trouble.ts'
import { failureVerdict, pageVerdict } from './verdict.ts'

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

export interface ReturnParts extends Omit<RequeueParts, 'failures'> {
  readonly pages: Pick<JsonLines<PageRecord>, 'path' | 'length'>
  readonly returns: JsonLines<ReturnNote>
  /** Where the index of the returns is kept. */
  readonly indexFolder: string
}

export interface Wanted {
  readonly page: (page: PageRecord) => boolean
  /** Their copies in the archive are lost: they are had anew, whatever they were before. */
  readonly isLost: boolean
}

/** Has pages visited again; returns how many wait. A line of pages.jsonl stays where it is: a note says that it counts no more. */
export async function requeuePages(parts: ReturnParts, wanted: Wanted): Promise<number> {
  const { pages, returns, books, trouble, indexFolder } = parts
  if (pages.length === 0) return 0
  // Every page has one line that counts at most, so what is noted meanwhile is asked about no more.
  const before = await ReturnedPages.open(returns.path, indexFolder)
  let total = 0
  try {
    for await (const { record, end } of readPlacedLines<PageRecord>(pages.path)) {
      if (wanted.page(record) && before?.isTakenBack(record) !== true) {
        const entry = entryOf(record, parts)
        trouble.forgive(entry.host)
        trouble.forgive(originOf(entry.url))
        const note = returnNoteOf(record, before?.find(record.url)?.capture)
        returns.append(wanted.isLost ? { ...note, capture: null, lost: true } : note)
        books.requeued(entry, pageVerdict(record))
        if (++total % ROUND_URLS === 0) await books.commit()
      }
      if (end >= pages.length) break
    }
  } finally {
    before?.close()
  }
  await books.commit()
  return total
}

export interface LostParts extends ReturnParts {
  readonly lostNotes: JsonLines<LostNote>
  /** Of the contents that this agent owns. */
  readonly originals: AsyncIterable<OriginalNote>
}

/**
 * Has pages visited again whose copy is in a WARC file that is gone, or refers to one that was: asked without conditions, and
 * kept whole. `lost` knows the captures of all agents (collectLost). Returns how many wait. The content set that is open
 * still answers with what is lost: the crawl is to be closed, and opened anew, before it runs.
 */
export async function requeueLost(
  parts: LostParts,
  isGone: (file: string) => boolean,
  lost: LostCaptures,
): Promise<number> {
  // In one batch with the first pages: what is put back in line is not kept as a revisit of itself.
  await noteLost(parts, lost)
  const isLost = (page: PageRecord): boolean => page.warc !== null && (isGone(page.warc.file) || lost.leaves(page))
  return requeuePages(parts, { page: isLost, isLost: true })
}

/** Notes which of the contents that this agent owns are lost; with the next batch. */
export async function noteLost(
  { lostNotes, originals, books }: Pick<LostParts, 'lostNotes' | 'originals' | 'books'>,
  lost: LostCaptures,
): Promise<void> {
  for await (const { url, fetchedAtMs } of originals) {
    if (lost.has({ url, fetchedAtMs })) lostNotes.append({ url, fetchedAtMs })
    if (lostNotes.needsDrain) await lostNotes.drained()
  }
  books.noted()
}

function entryOf(
  record: Pick<FailureRecord, 'url' | 'via' | 'depth'>,
  { strategy, isSeed }: Pick<RequeueParts, 'strategy' | 'isSeed'>,
): FrontierEntry {
  const url = record.url as CanonicalUrl
  const via = record.via as CanonicalUrl | null
  const link = { url, host: hostKeyOf(url), via, depth: record.depth, isSeed: isSeed(url) }
  return { ...link, band: strategy.bandOf(link), hops: 0, tries: 0, pauses: 0 }
}
