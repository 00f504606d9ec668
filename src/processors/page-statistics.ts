// What a crawl learns about the web as it goes (M14), in tables of bounded size. The report counts
// again from the files, exactly; these are the live figures.

import type { PageInHand, Processor } from './processor.ts'

/** Past this many different keys a table counts the rest together. */
const KEYS_MAX = 256

export class BoundedCounts {
  readonly #counts = new Map<string, number>()
  #others = 0

  add(key: string): void {
    const known = this.#counts.get(key)
    if (known !== undefined) this.#counts.set(key, known + 1)
    else if (this.#counts.size < KEYS_MAX) this.#counts.set(key, 1)
    else this.#others++
  }

  /** Largest first; what did not fit is under `other`. */
  toObject(): Record<string, number> {
    const sorted = [...this.#counts].sort((a, b) => b[1] - a[1])
    if (this.#others > 0) sorted.push(['other', this.#others])
    return Object.fromEntries(sorted)
  }
}

export class PageStatistics implements Processor {
  readonly name = 'page-statistics'
  readonly statuses = new BoundedCounts()
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
    this.statuses.add(String(page.document.status))
    this.types.add(page.mediaType ?? 'unknown')
    const length = page.document.body.length
    const place = length === 0 ? 0 : Math.min(1 + Math.floor(Math.log2(length)), this.sizes.length - 1)
    this.sizes[place] = (this.sizes[place] ?? 0) + 1
    if (page.parsed === null) return
    this.encodings.add(page.parsed.encoding)
    if (page.parsed.language !== null) this.languages.add(page.parsed.language)
  }
}
