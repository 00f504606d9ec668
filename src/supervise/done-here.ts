// What a process has done itself. The figures of a node are those of the shares it has: they jump when one comes with what it did
// elsewhere, and fall when one goes. Rates are of work, and work only grows.

interface Work {
  readonly pages: number
  readonly bytes: number
}

export class DoneHere {
  /** What was last seen of the shares that are here. */
  readonly #seen = new Map<number, Work>()
  #pages = 0
  #bytes = 0

  /** Its agent begins with this, whoever did it. */
  began(share: number, { pages, bytes }: Work): void {
    this.#seen.set(share, { pages, bytes })
  }

  stands(share: number, { pages, bytes }: Work): void {
    const before = this.#seen.get(share)
    if (before === undefined) return
    // Less after it was taken back: what is done again then is work again.
    this.#pages += Math.max(0, pages - before.pages)
    this.#bytes += Math.max(0, bytes - before.bytes)
    this.#seen.set(share, { pages, bytes })
  }

  gone(share: number): void {
    this.#seen.delete(share)
  }

  get work(): Work {
    return { pages: this.#pages, bytes: this.#bytes }
  }
}
