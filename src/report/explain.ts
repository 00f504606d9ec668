// Why did this URL end as it did? Everything a crawl's files know of one URL, gathered by reading them
// once: where it was found, what the scope and robots.txt say of it, what was fetched, or why nothing was.

import { join } from 'node:path'
import type { RefusalReason } from '../base/index.ts'
import type { FrontierEntry } from '../frontier/index.ts'
import { readJournal, type RestNote } from '../ledger/index.ts'
import { LinkLogReader } from '../processors/index.ts'
import { type RobotsDecision, RobotsRules, type SavedRobotsEntry } from '../robots/index.ts'
import { type FailureRecord, type PageRecord, readJsonLines } from '../store/index.ts'
import { type CanonicalUrl, Fingerprinter, hostKeyOf, originOf, pathOf } from '../url/index.ts'

export interface Explanation {
  readonly url: CanonicalUrl
  readonly host: string
  readonly state: 'page' | 'failed' | 'skipped' | 'waiting' | 'never-met'
  /** As it was first found; null when it was never met. */
  readonly found: Pick<FrontierEntry, 'via' | 'depth' | 'isSeed' | 'hops' | 'band'> | null
  readonly page: PageRecord | null
  readonly failure: FailureRecord | null
  /** Pages that link to it: how many, and the first few. */
  readonly linkedFrom: { readonly count: number; readonly pages: readonly string[] }
  /** What the rules of its origin say of it, null when they are not known. */
  readonly robots: (RobotsDecision & { readonly answer: string; readonly fetchedAt: string }) | null
  /** Why the scope of the crawl would refuse it now, if it would. */
  readonly refusal: RefusalReason | null
  /** URLs of the same host that wait. */
  readonly hostWaiting: number
  /** The last pause its host asked for. */
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
  let found: FrontierEntry | null = null
  let isSettled = false
  let rules: SavedRobotsEntry | null = null
  let rest: RestNote | null = null
  let hostWaiting = 0
  for await (const batch of readJournal(join(dir, 'state/ledger.log'))) {
    for (const entry of batch.admitted) {
      if (entry.isSeed) seeds.push(entry.url)
      if (entry.url === url) found ??= entry
      if (entry.host === host) hostWaiting++
    }
    for (const verdict of batch.verdicts) {
      if (verdict.url === url) isSettled = true
      if (hostKeyOf(verdict.url) === host) hostWaiting--
    }
    for (const note of batch.robots) if (note.origin === origin) rules = note
    for (const note of batch.rests) if (note.host === host) rest = note
  }

  const page = isSettled ? await lastOf<PageRecord>(join(dir, 'pages.jsonl'), url) : null
  const failure = isSettled && page === null ? await lastOf<FailureRecord>(join(dir, 'failures.jsonl'), url) : null
  return {
    url,
    host,
    state: page !== null ? 'page' : failure !== null ? failure.kind : found !== null ? 'waiting' : 'never-met',
    found,
    page,
    failure,
    linkedFrom: await sourcesOf(join(dir, 'state/links.log'), url),
    robots:
      rules === null
        ? null
        : {
            ...RobotsRules.restore(rules.rules).decide(pathOf(url)),
            answer: rules.rules.answer,
            fetchedAt: new Date(rules.fetchedWallMs).toISOString(),
          },
    refusal: judge(seeds, found?.depth ?? 1),
    hostWaiting,
    rest,
  }
}

/** The last line about a URL; a URL that was requeued may have several. */
async function lastOf<T extends { readonly url: string }>(path: string, url: string): Promise<T | null> {
  let last: T | null = null
  for await (const record of readJsonLines<T>(path)) if (record.url === url) last = record
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
