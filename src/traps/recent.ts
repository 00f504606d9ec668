// A table with a bound: what was not used for long is forgotten first, and counted.
//
// Two halves: what is used is or comes into the young one; when that is full it becomes the old one, and what the old one had
// is forgotten. Moving an entry to the end of one Map at every use would be exact, and cost 13 µs a page.

export class Recent<K, V> {
  readonly #half: number
  #young = new Map<K, V>()
  #old = new Map<K, V>()
  forgotten = 0

  constructor(max: number) {
    this.#half = Math.max(1, Math.floor(max / 2))
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  /** Without counting as use. */
  peek(key: K): V | undefined {
    return this.#young.get(key) ?? this.#old.get(key)
  }

  get(key: K): V | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    return old === undefined ? undefined : this.set(key, old)
  }

  set(key: K, value: V): V {
    this.#young.set(key, value)
    this.#old.delete(key)
    if (this.#young.size > this.#half) {
      this.forgotten += this.#old.size
      this.#old = this.#young
      this.#young = new Map()
    }
    return value
  }

  /** From those that would be forgotten first to those used last. */
  *[Symbol.iterator](): Generator<[K, V]> {
    yield* this.#old
    yield* this.#young
  }
}
