// What a crawl learns about the web as it goes (M14), in tables of bounded size. The report counts
// again from the files, exactly; these are the live figures.

import type { PageInHand, Processor } from './processor.ts'

/** Past this many different keys a table counts the rest together. */
const KEYS_MAX = 256

/** How often something was met: counted in place, which takes one look into the table where a number in it would take two. */
interface Tally {
  count: number
}

export class BoundedCounts<K extends string | number = string> {
  readonly #counts = new Map<K, Tally>()
  #others = 0
  /** Of pages in a row most are alike: then there is no look at all. */
  #lastKey: K | null = null
  #last: Tally = { count: 0 }

  add(key: K): void {
    if (key === this.#lastKey) {
      this.#last.count++
      return
    }
    let tally = this.#counts.get(key)
    if (tally === undefined) {
      if (this.#counts.size >= KEYS_MAX) {
        this.#others++
        return
      }
      tally = { count: 0 }
      this.#counts.set(key, tally)
    }
    tally.count++
    this.#lastKey = key
    this.#last = tally
  }

  /** Largest first; what did not fit is under `other`. */
  toObject(): Record<string, number> {
    const sorted = [...this.#counts].map(([key, { count }]): [string, number] => [String(key), count])
    sorted.sort((a, b) => b[1] - a[1])
    if (this.#others > 0) sorted.push(['other', this.#others])
    return Object.fromEntries(sorted)
  }
}

export class PageStatistics implements Processor {
  readonly name = 'page-statistics'
  readonly statuses = new BoundedCounts<number>()
  readonly types = new BoundedCounts()
  readonly encodings = new BoundedCounts()
  readonly languages = new BoundedCounts()
  /** Pages by the power of two at or below their decoded size; place 0 is the empty page. */
  readonly sizes = new Float64Array(48)
  /** Times a processor threw; the page went on without it. */
  processorFailures = 0

  accepts(): boolean {
    return true
  }

  process(page: PageInHand): void {
    this.statuses.add(page.document.status)
    this.types.add(page.mediaType ?? 'unknown')
    const length = page.document.body.length
    const place = length === 0 ? 0 : Math.min(1 + Math.floor(Math.log2(length)), this.sizes.length - 1)
    this.sizes[place] = (this.sizes[place] ?? 0) + 1
    if (page.parsed === null) return
    this.encodings.add(page.parsed.encoding)
    if (page.parsed.language !== null) this.languages.add(page.parsed.language)
  }
}
