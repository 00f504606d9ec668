// Why did this URL end as it did? Everything a crawl's files know of one URL, gathered by reading them
// once: where it was found, what the scope and robots.txt say of it, what was fetched, or why nothing was.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { RefusalReason } from '../base/index.ts'
import type { FrontierEntry } from '../frontier/index.ts'
import { lookAtJournal, type RestNote } from '../ledger/index.ts'
import { LinkLogReader } from '../processors/index.ts'
import { type RobotsDecision, RobotsRules, type SavedRobotsEntry } from '../robots/index.ts'
import { type FailureRecord, type PageRecord, readJsonLines } from '../store/index.ts'
import { type CanonicalUrl, Fingerprinter, hostKeyOf, originOf, pathOf } from '../url/index.ts'

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
  for await (const seed of linesOf<{ url: CanonicalUrl; via: CanonicalUrl | null }>(join(dir, 'state/seeds.jsonl'))) {
    seeds.push(seed.url)
    if (seed.url === url) found = { via: seed.via, depth: 0, isSeed: true }
  }
  let rest: RestNote | null = null
  for await (const { batch } of lookAtJournal(join(dir, 'state/journal'))) {
    for (const entry of batch.admitted) if (entry.url === url) found ??= entry
    for (const note of batch.rests) if (note.host === host) rest = note
  }
  let rules: SavedRobotsEntry | null = null
  for await (const note of linesOf<SavedRobotsEntry>(join(dir, 'state/robots.jsonl'))) {
    if (note.origin === origin) rules = note
  }

  const page = await lastOf<PageRecord>(join(dir, 'pages.jsonl'), url)
  const failure = page === null ? await lastOf<FailureRecord>(join(dir, 'failures.jsonl'), url) : null
  const record = page ?? failure
  if (record !== null) found ??= { via: record.via as CanonicalUrl | null, depth: record.depth, isSeed: false }
  const linkedFrom = await sourcesOf(join(dir, 'state/links.log'), url)
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
            ...RobotsRules.restore(rules.rules).decide(pathOf(url)),
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

/** The last line about a URL; a URL that was requeued may have several. */
async function lastOf<T extends { readonly url: string }>(path: string, url: string): Promise<T | null> {
  let last: T | null = null
  for await (const record of linesOf<T>(path)) if (record.url === url) last = record
  return last
}

async function sourcesOf(path: string, url: CanonicalUrl): Promise<{ count: number; pages: string[] }> {
  const reader = await LinkLogReader.open(path)
  if (reader === null) return { count: 0, pages: [] }
  try {
    const fingerprinter = new Fingerprinter(reader.key)
    fingerprinter.compute(url)
    const { high, low } = fingerprinter
    const pages: string[] = []
    let count = 0
    let source = '' as CanonicalUrl
    await reader.scan({
      page: (of) => {
        source = of
      },
      link: (linkHigh, linkLow) => {
        if (linkHigh !== high || linkLow !== low) return
        count++
        if (pages.length < PAGES_NAMED) pages.push(source)
      },
    })
    return { count, pages }
  } finally {
    await reader.close()
  }
}
