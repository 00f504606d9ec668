// Visits that broke: something of ours threw on one odd name, answer or page. One page must not end a crawl of millions,
// so the URL is tried again, and given up as VISIT_BROKEN when its tries are spent.
//
//   thrown ─┬─ a Fault (disk, ledger, a broken promise), or the books are broken ─▶ the agent ends
//           └─ anything else, where only what came from the web was handled ──────▶ the visit fails
//
// What is thrown by frontier, books or permits is never brought here: their state may be wrong, and the agent is
// started again from its last commit.

import { Fault } from '../base/index.ts'

export interface BrokenVisit {
  readonly url: string
  readonly why: string
  readonly stack: string | null
}

export interface BrokenFigures {
  readonly count: number
  /** The others are mostly the same. */
  readonly first: BrokenVisit | null
}

export class BrokenVisits {
  readonly #areBooksBroken: () => boolean
  #count = 0
  #first: BrokenVisit | null = null

  constructor(areBooksBroken: () => boolean) {
    this.#areBooksBroken = areBooksBroken
  }

  get figures(): BrokenFigures {
    return { count: this.#count, first: this.#first }
  }

  /** Counts what was thrown while `url` was handled, and says it in one line; throws on what must end the agent. */
  take(url: string, cause: unknown): string {
    if (cause instanceof Fault || this.#areBooksBroken()) throw cause
    const why = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause)
    this.#count++
    this.#first ??= { url, why, stack: cause instanceof Error ? (cause.stack ?? null) : null }
    return why
  }
}

/** What was thrown where half of something is done: a broken promise, whatever it was. */
export function inDoubt(what: string, cause: unknown): Fault {
  if (cause instanceof Fault) return cause
  return new Fault('ASSERTION', `${what}: ${cause instanceof Error ? cause.message : String(cause)}`, cause)
}
