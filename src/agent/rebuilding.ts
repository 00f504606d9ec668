// Frontier and seen set from what the other parts know; repair.ts says by which rule.

import { join } from 'node:path'
import { Fault } from '../base/index.ts'
import type { DiskFrontier, FrontierEntry } from '../frontier/index.ts'
import type { NumberedBatch } from '../ledger/index.ts'
import { type FailureRecord, type PageRecord, readPlacedLines, ReturnedPages, type ReturnNote } from '../store/index.ts'
import type { Strategy } from '../strategy/index.ts'
import { type CanonicalUrl, type Fingerprinter, hostKeyOf } from '../url/index.ts'
import type { DiskUrlSeen } from '../url-seen/index.ts'
import { editionOf } from './failures-file.ts'
import { sizeIfThere } from './file-check.ts'

/** Where URLs that may wait are found. */
export interface WaitingSources {
  readonly stored: (show: (entry: FrontierEntry) => Promise<void>) => Promise<void>
  readonly told: () => AsyncIterable<NumberedBatch>
}

/** Of a page, a failure, or a seed, which stands at depth 0 and does not say so. */
type Line = Pick<PageRecord | FailureRecord, 'url' | 'depth' | 'via'> & Pick<PageRecord, 'visit'>

export class Rebuilding {
  readonly #dir: string
  readonly #states: Readonly<Record<string, unknown>>
  readonly #strategy: Strategy
  readonly #ends: FrontierEntry[] = []
  readonly #endUrls = new Set<string>()
  waiting = 0
  /** URLs whose verdict was cut off: they are asked for again. */
  again = 0

  /** `states` are those of the last good batch. */
  constructor(dir: string, states: Readonly<Record<string, unknown>>, strategy: Strategy) {
    this.#dir = dir
    this.#states = states
    this.#strategy = strategy
  }

  /** Takes note of the URLs in lines that do not count; to be called before they are cut off. */
  async rememberEnds(): Promise<void> {
    const seeds = new Set<string>()
    for await (const record of this.#readable('state/seeds.jsonl', 0)) seeds.add(record.url)
    for (const { path, length } of this.#verdictFiles()) {
      for await (const record of this.#readable(path, length)) {
        if (this.#endUrls.has(record.url)) continue
        this.#endUrls.add(record.url)
        this.#ends.push(this.#entryOf(record, seeds.has(record.url)))
      }
    }
  }

  /** Fills a seen set and, if there is one, a frontier; both are new. The frontier is written as of batch `number`. */
  async into(
    fingerprinter: Fingerprinter,
    seen: DiskUrlSeen,
    frontier: DiskFrontier | null,
    number: number,
    sources: WaitingSources,
  ): Promise<void> {
    const isNew = (url: CanonicalUrl): boolean => {
      fingerprinter.compute(url)
      const { high, low } = fingerprinter
      if (seen.has(high, low)) return false
      seen.restore(high, low, 1)
      return true
    }
    const returns = { path: 'state/returns.jsonl', length: (this.#states['returns'] as number | undefined) ?? 0 }
    const returned =
      returns.length === 0
        ? null
        : await ReturnedPages.open(join(this.#dir, returns.path), join(this.#dir, 'state/returned'), returns.length)
    try {
      for (const { path, length, isPages } of this.#verdictFiles()) {
        for await (const record of this.#counted<Line>(path, length)) {
          const url = record.url as CanonicalUrl
          if (isPages && returned?.isTakenBack(record) === true) continue
          if (!isNew(url) || frontier === null) continue
          // Met and done with: so the host is known, and its pages are counted.
          frontier.offer(this.#entryOf(record, false))
          frontier.omit(hostKeyOf(url), url, isPages)
        }
      }
    } finally {
      returned?.close()
    }
    await frontier?.endReplay()
    const offer = async (entry: FrontierEntry): Promise<void> => {
      if (!isNew(entry.url)) return
      this.waiting++
      if (this.#endUrls.has(entry.url)) this.again++
      if (frontier === null) return
      frontier.offer(entry)
      if (frontier.wantsSeal()) await write(frontier, number)
    }
    await sources.stored(offer)
    for await (const { batch } of sources.told()) for (const entry of batch.admitted) await offer(entry)
    if (frontier === null) return
    for (const entry of this.#ends) await offer(entry)
    // Pages that were put back in line and have no verdict since.
    for await (const note of this.#counted<ReturnNote>(returns.path, returns.length)) {
      await offer(this.#entryOf(note, false))
    }
    await write(frontier, number)
  }

  #verdictFiles(): { path: string; length: number; isPages: boolean }[] {
    const { path, length } = editionOf(this.#dir, this.#states['failures'])
    return [
      { path: 'pages.jsonl', length: (this.#states['pages'] as number | undefined) ?? 0, isPages: true },
      { path, length, isPages: false },
    ]
  }

  async *#counted<T extends Line>(path: string, length: number): AsyncGenerator<T> {
    if (length === 0) return
    for await (const { record, end } of readPlacedLines<T>(join(this.#dir, path))) {
      yield record
      // Not one further: what lies behind may be anything.
      if (end >= length) return
    }
  }

  /** As far as they are lines at all: what was not committed may end in anything. */
  async *#readable(path: string, from: number): AsyncGenerator<Line> {
    const size = await sizeIfThere(join(this.#dir, path))
    if (size === null || size <= from) return
    try {
      for await (const { record } of readPlacedLines<Line>(join(this.#dir, path), from)) yield record
    } catch (fault) {
      if (!(fault instanceof Fault) || fault.code !== 'LEDGER_CORRUPT') throw fault
    }
  }

  #entryOf({ url, depth, via }: Line, isSeed: boolean): FrontierEntry {
    const canonical = url as CanonicalUrl
    const link = { url: canonical, host: hostKeyOf(canonical), via: via as CanonicalUrl | null, depth, isSeed }
    return { ...link, band: this.#strategy.bandOf(link), hops: 0, tries: 0, pauses: 0 }
  }
}

async function write(frontier: DiskFrontier, number: number): Promise<void> {
  frontier.seal(number)
  frontier.committed(number)
  await frontier.written()
}
