// Why did this URL end as it did? Everything a crawl's files know of one URL, gathered by reading them
// once: where it was found, what the scope and robots.txt say of it, what was fetched, or why nothing was.
// Where several agents crawl, one of them knows the URL and others may link to it: all are asked in turn.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { RefusalReason } from '../base/index.ts'
import type { MannersNote } from '../agent/index.ts'
import type { FrontierEntry, FrontierOptions } from '../frontier/index.ts'
import { lookAtJournal, type RestNote } from '../ledger/index.ts'
import { LinkLogReader } from '../processors/index.ts'
import { type RobotsDecision, RobotsRules, type SavedRobotsEntry } from '../robots/index.ts'
import { type FailureRecord, type PageRecord, readJsonLines, type ReturnNote } from '../store/index.ts'
import { type CanonicalUrl, Fingerprinter, type HostKey, hostKeyOf, originOf, robotsPathOf } from '../url/index.ts'
import { sharesOf } from '../view/index.ts'
import { type HostManners, mannersOf } from './host-manners.ts'

type Found = Pick<FrontierEntry, 'via' | 'depth' | 'isSeed'>

export interface Explanation {
  readonly url: CanonicalUrl
  readonly host: string
  readonly state: 'page' | 'failed' | 'skipped' | 'waiting' | 'never-met'
  /** As it was first found; null when it was never met, or so long ago that only the link to it is known. */
  readonly found: Found | null
  readonly page: PageRecord | null
  readonly failure: FailureRecord | null
  /** How often it was a page before: it was returned to, or waits for it. */
  readonly earlierVisits: number
  /** Pages that link to it: how many, and the first few. */
  readonly linkedFrom: { readonly count: number; readonly pages: readonly string[] }
  /** What the rules of its origin say of it, null when they are not known. */
  readonly robots:
    | (RobotsDecision & { readonly answer: string; readonly fetchedAt: string; readonly trouble?: string })
    | null
  /** Why the scope of the crawl would refuse it now, if it would. */
  readonly refusal: RefusalReason | null
  /** The last pause its host asked for, if that was not long ago. */
  readonly rest: RestNote | null
  /** How its host is treated, and why. */
  readonly manners: HostManners
}

/** What of the crawl's configuration an explanation needs. */
export interface ExplainedBy {
  /** The scope of the crawl, asked at the depth the URL was found at. */
  readonly judge: (seeds: readonly CanonicalUrl[], depth: number) => RefusalReason | null
  /** Null when nobody can tell. */
  readonly frontier: FrontierOptions | null
  readonly crawlDelayMaxMs: number
  /** The date now. */
  readonly wallMs: number
}

const PAGES_NAMED = 5

export async function explainUrl(
  dir: string,
  url: CanonicalUrl,
  { judge, frontier, crawlDelayMaxMs, wallMs }: ExplainedBy,
): Promise<Explanation> {
  const host = hostKeyOf(url)
  const origin = originOf(url)
  const seeds: CanonicalUrl[] = []
  let found: Found | null = null
  let rest: RestNote | null = null
  let rules: SavedRobotsEntry | null = null
  let page: PageRecord | null = null
  let failure: FailureRecord | null = null
  let earlierVisits = 0
  let note: MannersNote | null = null
  let lastAnswerMs: number | null = null
  let crawlDelayMs: number | null = null
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
    // The last of each origin: what it asks for now.
    const delays = new Map<string, number | null>()
    const own = await lastOf<SavedRobotsEntry>(fileIn('state/robots.jsonl'), (entry) => {
      if (hostKeyOf(`${entry.origin}/` as CanonicalUrl) === host) delays.set(entry.origin, entry.rules.crawlDelayMs)
      return entry.origin === origin
    })
    for (const ms of delays.values()) if (ms !== null) crawlDelayMs = Math.max(crawlDelayMs ?? 0, ms)
    note = (await lastOf<MannersNote>(fileIn('state/manners.jsonl'), (one) => one.host === host)) ?? note
    // Of several that asked, the one that asked last.
    if (own !== null && own.fetchedWallMs >= (rules?.fetchedWallMs ?? 0)) rules = own
    // A URL that was requeued may have several lines.
    const taken = await lastOf<ReturnNote>(fileIn('state/returns.jsonl'), (note) => note.url === url)
    earlierVisits += taken?.visit ?? 0
    const fetched = await lastOf<PageRecord>(fileIn('pages.jsonl'), (record) => {
      if (isOn(record.url, host)) lastAnswerMs = record.durationMs
      return record.url === url
    })
    page ??= fetched
    // Put back in line: it waits, or the visit failed.
    if (page !== null && taken !== null && (page.visit ?? 1) <= taken.visit) page = null
    if (page === null) failure ??= await lastOf<FailureRecord>(fileIn('failures.jsonl'), (one) => one.url === url)
    await addSources(fileIn('state/links.log'), url, linkedFrom)
  }
  if (page !== null) failure = null
  const record = page ?? failure
  if (record !== null) found ??= { via: record.via as CanonicalUrl | null, depth: record.depth, isSeed: false }
  // The log has the links that were admitted or known: one that leads nowhere yet waits.
  const wasMet = found !== null || earlierVisits > 0 || linkedFrom.count > 0
  return {
    url,
    host,
    state: page !== null ? 'page' : failure !== null ? failure.kind : wasMet ? 'waiting' : 'never-met',
    found,
    page,
    failure,
    earlierVisits,
    linkedFrom,
    robots:
      rules === null
        ? null
        : {
            ...RobotsRules.restore(rules.rules).decide(robotsPathOf(url)),
            answer: rules.rules.answer,
            fetchedAt: new Date(rules.fetchedWallMs).toISOString(),
            ...(rules.trouble === undefined ? {} : { trouble: rules.trouble }),
          },
    refusal: judge(seeds, found?.depth ?? 1),
    rest,
    manners: mannersOf({ host, options: frontier, crawlDelayMaxMs, crawlDelayMs, lastAnswerMs, note }, wallMs),
  }
}

/** A look at the text first: there may be millions of pages, and most are of other hosts. */
function isOn(url: string, host: HostKey): boolean {
  return url.includes(host) && hostKeyOf(url as CanonicalUrl) === host
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
