// Pages that may still be added, granted to agents in pieces: `--max-pages` is exact across all of them.
//
//   limit = pages that are committed + permits with agents + what is left here
//
// An agent that dies has used what it committed; the rest of its permits is free again. When nothing is left here and
// somebody is short, the others give up what they do not use.

export class PermitOffice {
  #limit: number | null
  /** By agent: pages it had when it was opened, and permits granted to it since. */
  readonly #pages: number[]
  readonly #granted: number[]
  readonly #short = new Set<number>()

  constructor(limit: number | null, agents: number) {
    this.#limit = limit
    this.#pages = Array.from({ length: agents }, () => 0)
    this.#granted = Array.from({ length: agents }, () => 0)
  }

  /** Another limit from now on; what was granted stays so. */
  limitTo(limit: number | null): void {
    this.#limit = limit
  }

  /** An agent begins with so many pages, or begins anew: it has no permits, or those of an earlier office. */
  opened(agent: number, pages: number, permits = 0): void {
    this.#pages[agent] = pages
    this.#granted[agent] = permits
    this.#short.delete(agent)
  }

  /** It is gone until it is opened again: nothing may be granted to it, for nobody would count it then. */
  died(agent: number): void {
    this.#short.delete(agent)
  }

  get left(): number {
    if (this.#limit === null) return Infinity
    return this.#limit - sum(this.#pages) - sum(this.#granted)
  }

  /** An agent wants some: how many it gets. 0: it is told when there are more. */
  want(agent: number): number {
    if (this.#limit === null) return 0
    const { left } = this
    if (left <= 0) {
      this.#short.add(agent)
      return 0
    }
    this.#short.delete(agent)
    const pages = Math.max(1, Math.min(left, Math.ceil(left / (4 * this.#pages.length))))
    this.#granted[agent] = (this.#granted[agent] as number) + pages
    return pages
  }

  surrendered(agent: number, pages: number): void {
    this.#granted[agent] = (this.#granted[agent] as number) - pages
  }

  /** Agents that wait for permits. */
  get short(): readonly number[] {
    return [...this.#short]
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
