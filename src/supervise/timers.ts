/** Timers of one owner, all of which end together. One that is set again under its name replaces the earlier one. */
export class Timers {
  readonly #repeated: NodeJS.Timeout[] = []
  readonly #named = new Map<string, NodeJS.Timeout>()

  every(ms: number, callback: () => void): void {
    this.#repeated.push(setInterval(callback, ms))
  }

  after(name: string, ms: number, callback: () => void): void {
    clearTimeout(this.#named.get(name))
    // A timer of Node takes no more, and fires at once.
    this.#named.set(name, setTimeout(callback, Math.min(ms, 2 ** 31 - 1)))
  }

  cancel(name: string): void {
    clearTimeout(this.#named.get(name))
    this.#named.delete(name)
  }

  clear(): void {
    for (const timer of this.#repeated.splice(0)) clearInterval(timer)
    for (const timer of this.#named.values()) clearTimeout(timer)
    this.#named.clear()
  }
}
