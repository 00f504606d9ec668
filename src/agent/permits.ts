/**
 * The right to add a page. `--max-pages` is exact: a permit is taken before the request and given
 * back when no page came of it, so pages and permits together never exceed the limit.
 */
export class Permits {
  #left: number
  #out = 0
  readonly #onShort: () => void

  /** `onShort`: told when one was wanted and none was left, where more may be granted. */
  constructor(left: number, onShort: () => void = () => {}) {
    this.#left = left
    this.#onShort = onShort
  }

  /** Permits that nobody has taken. */
  get left(): number {
    return this.#left
  }

  /** More of them, from whoever counts for all agents. */
  grant(count: number): void {
    this.#left += count
  }

  /** Gives all up that nobody has taken. */
  surrender(): number {
    const count = this.#left
    this.#left = 0
    return count
  }

  /** Whether one may be taken; where not, more are wanted. */
  mayTake(): boolean {
    if (this.#left <= 0) this.#onShort()
    return this.#left > 0
  }

  /** No permit is left and none can come back. */
  get isSpent(): boolean {
    return this.#left <= 0 && this.#out === 0
  }

  take(): boolean {
    if (!this.mayTake()) return false
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
