// What an earlier run left: the ledger read from its start, turned back into the state of a crawl.

import type { ContentSeen } from '../content-seen/index.ts'
import type { FrontierEntry } from '../frontier/index.ts'
import type { Ledger } from '../ledger/index.ts'
import type { SavedRobotsEntry } from '../robots/index.ts'
import { type CanonicalUrl, type Fingerprinter, hostKeyOf, type HostKey, type Origin } from '../url/index.ts'
import { newBatch, type UrlSeen } from '../url-seen/index.ts'
import type { CrawlFigures } from './figures.ts'

export interface ReplayInto {
  readonly seen: UrlSeen
  readonly fingerprinter: Fingerprinter
  readonly contentSeen: ContentSeen
  readonly figures: CrawlFigures
}

export interface Replayed {
  /** URLs that were met and have no verdict, in the order they were found. */
  readonly waiting: Iterable<FrontierEntry>
  readonly seeds: readonly CanonicalUrl[]
  readonly robots: Iterable<SavedRobotsEntry>
  /** The last rest each host was asked for. */
  readonly rests: ReadonlyMap<HostKey, number>
  readonly pagesOfHost: ReadonlyMap<HostKey, number>
  /** Committed states of the files, by name; empty for a crawl that begins. */
  readonly files: Readonly<Record<string, unknown>>
  readonly isNew: boolean
}

export async function replay(ledger: Ledger, into: ReplayInto): Promise<Replayed> {
  const { seen, fingerprinter, contentSeen, figures } = into
  const waiting = new Map<CanonicalUrl, FrontierEntry>()
  const seeds: CanonicalUrl[] = []
  const robots = new Map<Origin, SavedRobotsEntry>()
  const rests = new Map<HostKey, number>()
  const pagesOfHost = new Map<HostKey, number>()
  const batch = newBatch(1)
  let files: Readonly<Record<string, unknown>> = {}
  let isNew = true
  let runMs = 0
  let runCpuMs = 0

  for await (const record of ledger.history()) {
    isNew = false
    for (const entry of record.admitted) {
      waiting.set(entry.url, entry)
      if (entry.isSeed) seeds.push(entry.url)
      fingerprinter.compute(entry.url)
      batch.high[0] = fingerprinter.high
      batch.low[0] = fingerprinter.low
      batch.count = 1
      const answer = seen.meet(batch)
      if (answer !== undefined) await answer
    }
    for (const verdict of record.verdicts) {
      waiting.delete(verdict.url)
      if (verdict.kind !== 'page') continue
      const host = hostKeyOf(verdict.url)
      pagesOfHost.set(host, (pagesOfHost.get(host) ?? 0) + 1)
      rests.delete(host)
    }
    for (const note of record.robots) robots.set(note.origin, note)
    for (const note of record.rests) rests.set(note.host, note.restMs)
    for (const { digest, ...original } of record.contents) contentSeen.keep(Buffer.from(digest, 'hex'), original)
    figures.replay(record)
    files = record.files
    // Each run counts from its own start; a smaller reading is a new run.
    if (record.ranMs < runMs) {
      figures.earlierMs += runMs
      figures.earlierCpuMs += runCpuMs
    }
    runMs = record.ranMs
    runCpuMs = record.cpuMs
  }
  figures.earlierMs += runMs
  figures.earlierCpuMs += runCpuMs
  return { waiting: waiting.values(), seeds, robots: robots.values(), rests, pagesOfHost, files, isNew }
}
