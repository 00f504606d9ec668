/**
 * The right to add a page. `--max-pages` is exact: a permit is taken before the request and given
 * back when no page came of it, so pages and permits together never exceed the limit.
 */
export class Permits {
  #left: number
  #out = 0

  constructor(left: number) {
    this.#left = left
  }

  get isAvailable(): boolean {
    return this.#left > 0
  }

  /** No permit is left and none can come back. */
  get isSpent(): boolean {
    return this.#left <= 0 && this.#out === 0
  }

  take(): boolean {
    if (this.#left <= 0) return false
    this.#left--
    this.#out++
    return true
  }

  /** The request yielded a page. */
  use(): void {
    this.#out--
  }

  giveBack(): void {
    this.#out--
    this.#left++
  }
}
