/** The `max` largest things seen, by a size given with each. Equal sizes: the earlier stays. */
export class Largest<T> {
  readonly #max: number
  /** Ascending, the one to go next in front; among equals the latest. */
  readonly #kept: { size: number; order: number; item: T }[] = []
  #order = 0

  constructor(max: number) {
    this.#max = max
  }

  /** Whether an item of this size would be kept: ask before building a costly item. */
  wants(size: number): boolean {
    const smallest = this.#kept[0]
    return this.#kept.length < this.#max || (smallest !== undefined && size > smallest.size)
  }

  add(size: number, item: T): void {
    if (this.#max === 0 || !this.wants(size)) return
    const entry = { size, order: this.#order++, item }
    // A few dozen entries: a sorted insertion is as fast as a sift and plainer.
    if (this.#kept.length === this.#max) this.#kept.shift()
    let at = this.#kept.length
    while (at > 0 && (this.#kept[at - 1]?.size ?? 0) >= size) at--
    this.#kept.splice(at, 0, entry)
  }

  /** Largest first. */
  items(): T[] {
    return [...this.#kept].sort((a, b) => b.size - a.size || a.order - b.order).map((entry) => entry.item)
  }
}
