// A table with a bound: what was used longest ago is forgotten first, and counted.

export class Recent<K, V> {
  readonly #max: number
  readonly #entries = new Map<K, V>()
  forgotten = 0

  constructor(max: number) {
    this.#max = max
  }

  get size(): number {
    return this.#entries.size
  }

  /** Without counting as use. */
  peek(key: K): V | undefined {
    return this.#entries.get(key)
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key)
    if (value === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, value)
    return value
  }

  set(key: K, value: V): V {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size > this.#max) {
      for (const oldest of this.#entries.keys()) {
        this.#entries.delete(oldest)
        this.forgotten++
        break
      }
    }
    return value
  }

  /** From the one that would be forgotten first to the one used last. */
  [Symbol.iterator](): IterableIterator<[K, V]> {
    return this.#entries[Symbol.iterator]()
  }
}
