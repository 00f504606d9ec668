// The line of hosts that wait on disk: pages of a few hundred names each, first come, first served within a band.
//
// A page is named here by its number alone; the names in it are read when its turn comes. A host's record says which page names it, so a
// host stands in one page at most. Two kinds: `left` pages hold hosts that gave up their place in memory; `at hand` pages
// hold those that had one when a checkpoint was made, and matter only to the run after it.

export interface HostPage {
  readonly page: number
  readonly band: number
  readonly wasAtHand: boolean
}

/** Hosts in one page. */
export const PAGE_HOSTS_MAX = 256

export class HostQueue {
  readonly #bands: HostPage[][]
  /** How many of the first pages of each band are read. */
  readonly #read: number[]
  readonly #queued = new Map<number, HostPage>()

  constructor(bands: number) {
    this.#bands = Array.from({ length: bands }, () => [])
    this.#read = Array.from({ length: bands }, () => 0)
  }

  get size(): number {
    return this.#queued.size
  }

  /** The best band with a page; Infinity when there is none. */
  get bestBand(): number {
    if (this.#queued.size === 0) return Infinity
    return this.#bands.findIndex((pages, band) => pages.length > (this.#read[band] as number))
  }

  /** The page with this number, as long as it was not read. */
  get(page: number): HostPage | undefined {
    return this.#queued.get(page)
  }

  push(page: HostPage): void {
    this.#bands[page.band]?.push(page)
    this.#queued.set(page.page, page)
  }

  /** Takes out the first page of the best band. */
  shift(): HostPage | null {
    const band = this.bestBand
    const pages = this.#bands[band]
    if (pages === undefined) return null
    const at = this.#read[band] as number
    const page = pages[at] as HostPage
    this.#queued.delete(page.page)
    // Moved together now and then, so that taking the first is not moving all.
    if (at >= 1_024) {
      pages.splice(0, at + 1)
      this.#read[band] = 0
    } else this.#read[band] = at + 1
    return page
  }

  /** All pages in line. */
  pages(): HostPage[] {
    return [...this.#queued.values()]
  }
}
