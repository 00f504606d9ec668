// Why did this URL end as it did? Everything a crawl's files know of one URL, gathered by reading them
// once: where it was found, what the scope and robots.txt say of it, what was fetched, or why nothing was.
// Where several agents crawl, one of them knows the URL and others may link to it: all are asked in turn.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { RefusalReason } from '../base/index.ts'
import type { FrontierEntry } from '../frontier/index.ts'
import { lookAtJournal, type RestNote } from '../ledger/index.ts'
import { LinkLogReader } from '../processors/index.ts'
import { type RobotsDecision, RobotsRules, type SavedRobotsEntry } from '../robots/index.ts'
import { type FailureRecord, type PageRecord, readJsonLines } from '../store/index.ts'
import { type CanonicalUrl, Fingerprinter, hostKeyOf, originOf, robotsPathOf } from '../url/index.ts'
import { sharesOf } from '../view/index.ts'

type Found = Pick<FrontierEntry, 'via' | 'depth' | 'isSeed'>

export interface Explanation {
  readonly url: CanonicalUrl
  readonly host: string
  readonly state: 'page' | 'failed' | 'skipped' | 'waiting' | 'never-met'
  /** As it was first found; null when it was never met, or so long ago that only the link to it is known. */
  readonly found: Found | null
  readonly page: PageRecord | null
  readonly failure: FailureRecord | null
  /** Pages that link to it: how many, and the first few. */
  readonly linkedFrom: { readonly count: number; readonly pages: readonly string[] }
  /** What the rules of its origin say of it, null when they are not known. */
  readonly robots: (RobotsDecision & { readonly answer: string; readonly fetchedAt: string }) | null
  /** Why the scope of the crawl would refuse it now, if it would. */
  readonly refusal: RefusalReason | null
  /** The last pause its host asked for, if that was not long ago. */
  readonly rest: RestNote | null
}

const PAGES_NAMED = 5

/** `judge` is the scope of the crawl, asked at the depth the URL was found at. */
export async function explainUrl(
  dir: string,
  url: CanonicalUrl,
  judge: (seeds: readonly CanonicalUrl[], depth: number) => RefusalReason | null,
): Promise<Explanation> {
  const host = hostKeyOf(url)
  const origin = originOf(url)
  const seeds: CanonicalUrl[] = []
  let found: Found | null = null
  let rest: RestNote | null = null
  let rules: SavedRobotsEntry | null = null
  let page: PageRecord | null = null
  let failure: FailureRecord | null = null
  const linkedFrom = { count: 0, pages: [] as string[] }
  for (const share of await sharesOf(dir)) {
    const fileIn = (name: string): string => join(share, name)
    for await (const seed of linesOf<{ url: CanonicalUrl; via: CanonicalUrl | null }>(fileIn('state/seeds.jsonl'))) {
      seeds.push(seed.url)
      if (seed.url === url) found = { via: seed.via, depth: 0, isSeed: true }
    }
    for await (const { batch } of lookAtJournal(fileIn('state/journal'))) {
      for (const entry of batch.admitted) if (entry.url === url) found ??= entry
      for (const note of batch.rests) if (note.host === host) rest = note
    }
    const own = await lastOf<SavedRobotsEntry>(fileIn('state/robots.jsonl'), (note) => note.origin === origin)
    // Of several that asked, the one that asked last.
    if (own !== null && own.fetchedWallMs >= (rules?.fetchedWallMs ?? 0)) rules = own
    // A URL that was requeued may have several lines.
    page ??= await lastOf<PageRecord>(fileIn('pages.jsonl'), (record) => record.url === url)
    if (page === null) failure ??= await lastOf<FailureRecord>(fileIn('failures.jsonl'), (one) => one.url === url)
    await addSources(fileIn('state/links.log'), url, linkedFrom)
  }
  if (page !== null) failure = null
  const record = page ?? failure
  if (record !== null) found ??= { via: record.via as CanonicalUrl | null, depth: record.depth, isSeed: false }
  // The log has the links that were admitted or known: one that leads nowhere yet waits.
  const wasMet = found !== null || linkedFrom.count > 0
  return {
    url,
    host,
    state: page !== null ? 'page' : failure !== null ? failure.kind : wasMet ? 'waiting' : 'never-met',
    found,
    page,
    failure,
    linkedFrom,
    robots:
      rules === null
        ? null
        : {
            ...RobotsRules.restore(rules.rules).decide(robotsPathOf(url)),
            answer: rules.rules.answer,
            fetchedAt: new Date(rules.fetchedWallMs).toISOString(),
          },
    refusal: judge(seeds, found?.depth ?? 1),
    rest,
  }
}

/** The records of a file that may not be there yet. */
async function* linesOf<T>(path: string): AsyncGenerator<T> {
  if (existsSync(path)) yield* readJsonLines<T>(path)
}

/** The last line that is meant, in a file that may not be there yet. */
async function lastOf<T>(path: string, isMeant: (record: T) => boolean): Promise<T | null> {
  let last: T | null = null
  for await (const record of linesOf<T>(path)) if (isMeant(record)) last = record
  return last
}

/** Adds the pages of a log that link to the URL. */
async function addSources(
  path: string,
  url: CanonicalUrl,
  sources: { count: number; readonly pages: string[] },
): Promise<void> {
  const reader = await LinkLogReader.open(path)
  if (reader === null) return
  try {
    const fingerprinter = new Fingerprinter(reader.key)
    fingerprinter.compute(url)
    const { high, low } = fingerprinter
    let source = '' as CanonicalUrl
    await reader.scan({
      page: (of) => {
        source = of
      },
      link: (linkHigh, linkLow) => {
        if (linkHigh !== high || linkLow !== low) return
        sources.count++
        if (sources.pages.length < PAGES_NAMED) sources.pages.push(source)
      },
    })
  } finally {
    await reader.close()
  }
}
