// A request at the speed that is allowed, whose outcome is a value even where the fetcher breaks.

import { Fault } from '../base/index.ts'
import type { Fetcher, FetchOutcome, FetchRequest } from '../fetch/index.ts'
import type { BrokenVisits } from './broken-visits.ts'
import type { Pace } from './pace.ts'

export class PacedFetcher {
  readonly #fetcher: Fetcher
  readonly #pace: Pick<Pace, 'pass' | 'ended'>
  readonly #broken: BrokenVisits
  readonly #isStopping: () => boolean

  readonly #mayAsk: () => boolean

  constructor(
    fetcher: Fetcher,
    pace: Pick<Pace, 'pass' | 'ended'>,
    broken: BrokenVisits,
    isStopping: () => boolean,
    mayAsk: () => boolean = () => true,
  ) {
    this.#mayAsk = mayAsk
    this.#fetcher = fetcher
    this.#pace = pace
    this.#broken = broken
    this.#isStopping = isStopping
  }

  /** Null: not made, since the crawl stops. */
  fetch(request: FetchRequest, signal: AbortSignal): Promise<FetchOutcome | null> {
    const wait = this.#pace.pass()
    return wait === undefined ? this.#fetchNow(request, signal) : this.#fetchAfter(wait, request, signal)
  }

  async #fetchAfter(wait: Promise<void>, request: FetchRequest, signal: AbortSignal): Promise<FetchOutcome | null> {
    await wait
    if (!this.#isStopping() && !signal.aborted) return this.#fetchNow(request, signal)
    this.#pace.ended(null)
    return null
  }

  /** hot: of the promises between a request and its visitor this is the only one beside the fetcher's own. */
  #fetchNow(request: FetchRequest, signal: AbortSignal): Promise<FetchOutcome> {
    let asked: Promise<FetchOutcome>
    try {
      if (!this.#mayAsk())
        throw new Fault('NODE_FENCED', `${request.url} is not asked for: the lease of this node is over`)
      asked = this.#fetcher.fetch(request, signal)
    } catch (cause) {
      // What must end the agent rejects.
      return new Promise((resolve) => resolve(this.#broke(request, cause)))
    }
    return asked.then(this.#ended, (cause: unknown) => this.#broke(request, cause))
  }

  readonly #ended = (outcome: FetchOutcome): FetchOutcome => {
    this.#pace.ended(outcome)
    return outcome
  }

  #broke(request: FetchRequest, cause: unknown): FetchOutcome {
    let outcome: FetchOutcome | null = null
    try {
      outcome = { kind: 'failed', code: 'VISIT_BROKEN', detail: this.#broken.take(request.url, cause), durationMs: 0 }
      return outcome
    } finally {
      this.#pace.ended(outcome)
    }
  }
}
