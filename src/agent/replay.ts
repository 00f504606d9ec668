// What an earlier run left: the ledger read from its start, turned back into the state of a crawl.

import type { RefusalReason } from '../base/index.ts'
import type { ContentSeen } from '../content-seen/index.ts'
import type { FrontierEntry } from '../frontier/index.ts'
import type { Ledger, LedgerBatch, Verdict } from '../ledger/index.ts'
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

/** A URL without a page: a verdict of this kind can be taken back. */
export interface EndedUrl {
  readonly entry: FrontierEntry
  readonly verdict: Verdict
}

export interface Replayed {
  /** URLs that were met and have no verdict, in the order they were found. */
  readonly waiting: readonly FrontierEntry[]
  /** Refused for their depth alone, in the order they were found. */
  readonly held: readonly FrontierEntry[]
  /** All seeds, what seeds redirected to included: they make the scope. */
  readonly seeds: readonly FrontierEntry[]
  /** What was given up or skipped, by URL. */
  readonly ended: ReadonlyMap<CanonicalUrl, EndedUrl>
  readonly robots: readonly SavedRobotsEntry[]
  /** The last rest each host was asked for, if it has given no page since. */
  readonly rests: ReadonlyMap<HostKey, number>
  readonly pagesOfHost: ReadonlyMap<HostKey, number>
  /** Committed states of the files, by name; empty for a crawl that begins. */
  readonly files: Readonly<Record<string, unknown>>
  readonly isNew: boolean
}

export async function replay(ledger: Ledger, into: ReplayInto): Promise<Replayed> {
  const state = new Replay(into)
  for await (const batch of ledger.history()) await state.apply(batch)
  return state.result()
}

class Replay {
  readonly #into: ReplayInto
  readonly #waiting = new Map<CanonicalUrl, FrontierEntry>()
  readonly #held = new Map<CanonicalUrl, FrontierEntry>()
  readonly #ended = new Map<CanonicalUrl, EndedUrl>()
  readonly #seeds: FrontierEntry[] = []
  readonly #robots = new Map<Origin, SavedRobotsEntry>()
  readonly #rests = new Map<HostKey, number>()
  readonly #pagesOfHost = new Map<HostKey, number>()
  readonly #batch = newBatch(1)
  #last: LedgerBatch | null = null

  constructor(into: ReplayInto) {
    this.#into = into
  }

  async apply(record: LedgerBatch): Promise<void> {
    const { figures, contentSeen } = this.#into
    for (const entry of record.held) this.#held.set(entry.url, entry)
    for (const entry of record.admitted) await this.#admit(entry)
    for (const verdict of record.verdicts) this.#settle(verdict)
    for (const url of record.requeued) this.#requeue(url)
    for (const note of record.robots) this.#robots.set(note.origin, note)
    for (const note of record.rests) this.#rests.set(note.host, note.restMs)
    for (const { digest, ...original } of record.contents) contentSeen.keep(Buffer.from(digest, 'hex'), original)
    for (const [reason, count] of Object.entries(record.refused)) figures.refuse(reason as RefusalReason, count)
    if (this.#last !== null && this.#last.runStartedAtMs !== record.runStartedAtMs) this.#closeRun(this.#last)
    this.#last = record
  }

  result(): Replayed {
    if (this.#last !== null) this.#closeRun(this.#last)
    return {
      waiting: [...this.#waiting.values()],
      held: [...this.#held.values()],
      ended: this.#ended,
      seeds: this.#seeds,
      robots: [...this.#robots.values()],
      rests: this.#rests,
      pagesOfHost: this.#pagesOfHost,
      files: this.#last?.files ?? {},
      isNew: this.#last === null,
    }
  }

  async #admit(entry: FrontierEntry): Promise<void> {
    const { seen, fingerprinter, figures } = this.#into
    this.#waiting.set(entry.url, entry)
    this.#held.delete(entry.url)
    figures.admit(entry)
    if (entry.isSeed) this.#seeds.push(entry)
    fingerprinter.compute(entry.url)
    this.#batch.high[0] = fingerprinter.high
    this.#batch.low[0] = fingerprinter.low
    this.#batch.count = 1
    const answer = seen.meet(this.#batch)
    if (answer !== undefined) await answer
  }

  #settle(verdict: Verdict): void {
    const entry = this.#waiting.get(verdict.url)
    this.#into.figures.count(verdict)
    this.#waiting.delete(verdict.url)
    if (verdict.kind !== 'page') {
      if (entry !== undefined) this.#ended.set(verdict.url, { entry, verdict })
      return
    }
    const host = hostKeyOf(verdict.url)
    this.#pagesOfHost.set(host, (this.#pagesOfHost.get(host) ?? 0) + 1)
    // Notes of the same batch come after: a rest that a page itself asked for stays.
    this.#rests.delete(host)
  }

  #requeue(url: CanonicalUrl): void {
    const ended = this.#ended.get(url)
    if (ended === undefined) return
    this.#ended.delete(url)
    this.#into.figures.uncount(ended.verdict)
    this.#waiting.set(url, ended.entry)
  }

  #closeRun(last: LedgerBatch): void {
    const { figures } = this.#into
    figures.earlierMs += last.ranMs
    figures.earlierCpuMs += last.cpuMs
    figures.earlierPeakRssBytes = Math.max(figures.earlierPeakRssBytes, last.peakRssBytes)
  }
}
