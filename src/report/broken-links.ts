// URLs that do not work and the pages that link to them.
//
// First every broken URL is noted, by fingerprint; then the link logs are read once, and each link that
// hits one of them is counted and the place of its page kept, for the first few; only the sources of
// the URLs that will be listed are looked up at the end. Memory: about 250 bytes for each broken URL
// noted, of which there are at most BROKEN_MAX; beyond that they are counted, not noted.

import type { LinkLogReader } from '../processors/index.ts'
import type { Fingerprinter, CanonicalUrl } from '../url/index.ts'
import type { BrokenUrl } from './crawl-report.ts'

const BROKEN_MAX = 100_000
/** Enough to see whether it is one page or the site's navigation. */
const SOURCES_PER_URL = 5

interface NotedUrl {
  readonly url: string
  readonly status: number | null
  readonly failure: string | null
  readonly detail: string
  /** The page it was first found on; what is known without a link log. */
  readonly via: string | null
  linkedFrom: number
  readonly places: Place[]
}

/** Where a page stands: in which link log, and at which byte. */
interface Place {
  readonly log: LinkLogReader
  readonly at: number
}

export class BrokenLinks {
  readonly #brokenMax: number
  readonly #noted: NotedUrl[] = []
  #count = 0
  /** Open addressing from fingerprint to place in #noted + 1, built when the log is read. */
  #index = new Uint32Array(0)
  #high = new Uint32Array(0)
  #low = new Uint32Array(0)

  constructor(brokenMax: number = BROKEN_MAX) {
    this.#brokenMax = brokenMax
  }

  get count(): number {
    return this.#count
  }

  note(broken: {
    url: string
    status: number | null
    failure: string | null
    detail: string
    via: string | null
  }): void {
    this.#count++
    if (this.#noted.length < this.#brokenMax) this.#noted.push({ ...broken, linkedFrom: 0, places: [] })
  }

  /** Computes the fingerprints by which link() finds them: those of the log that is read next. */
  prepare(fingerprinter: Fingerprinter): void {
    const count = this.#noted.length
    this.#high = new Uint32Array(count)
    this.#low = new Uint32Array(count)
    this.#index = new Uint32Array(2 ** Math.ceil(Math.log2(2 * count + 2)))
    for (const [i, { url }] of this.#noted.entries()) {
      fingerprinter.compute(url as CanonicalUrl)
      this.#high[i] = fingerprinter.high
      this.#low[i] = fingerprinter.low
      const place = this.#placeOf(fingerprinter.high, fingerprinter.low)
      // The same URL noted twice (given up, then fetched by a later run): the first is found.
      if (this.#index[place] === 0) this.#index[place] = i + 1
    }
  }

  /** Tells of a link found in a log on the page that stands at `at`. */
  link(high: number, low: number, log: LinkLogReader, at: number): void {
    const found = this.#index[this.#placeOf(high, low)] ?? 0
    const noted = found === 0 ? undefined : this.#noted[found - 1]
    if (noted === undefined) return
    noted.linkedFrom++
    if (noted.places.length < SOURCES_PER_URL) noted.places.push({ log, at })
  }

  /** The most linked ones, while the logs are still open; where there was none `via` is all there is. */
  async listed(max: number): Promise<BrokenUrl[]> {
    const chosen = this.#noted.toSorted((a, b) => b.linkedFrom - a.linkedFrom || (a.url < b.url ? -1 : 1)).slice(0, max)
    const broken: BrokenUrl[] = []
    for (const { url, status, failure, detail, via, linkedFrom, places } of chosen) {
      const sources: string[] = []
      for (const { log, at } of places) sources.push(await log.sourceAt(at))
      if (sources.length === 0 && via !== null) sources.push(via)
      broken.push({ url, status, failure, detail, linkedFrom: Math.max(linkedFrom, sources.length), sources })
    }
    return broken
  }

  #placeOf(high: number, low: number): number {
    const mask = this.#index.length - 1
    let place = (low ^ (high << 7)) & mask
    for (;;) {
      const found = this.#index[place] ?? 0
      if (found === 0 || (this.#high[found - 1] === high && this.#low[found - 1] === low)) return place
      place = (place + 1) & mask
    }
  }
}
