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
  async fetch(request: FetchRequest, signal: AbortSignal): Promise<FetchOutcome | null> {
    const wait = this.#pace.pass()
    let outcome: FetchOutcome | null = null
    try {
      if (wait !== undefined) {
        await wait
        if (this.#isStopping() || signal.aborted) return null
      }
      if (!this.#mayAsk())
        throw new Fault('NODE_FENCED', `${request.url} is not asked for: the lease of this node is over`)
      outcome = await this.#fetcher.fetch(request, signal)
    } catch (cause) {
      const detail = this.#broken.take(request.url, cause)
      outcome = { kind: 'failed', code: 'VISIT_BROKEN', detail, durationMs: 0 }
    } finally {
      this.#pace.ended(outcome)
    }
    return outcome
  }
}
