// When are several agents done? Each knows only itself, and what one has sent another may be on its way.
//
// All are asked how they stand, in rounds. If in two rounds in a row all are quiet (nobody is being asked, everything
// is durable, everything sent is confirmed) and none has said or heard anything between them, nor got or given up a permit, then
// nothing was on its way in the first round, and nothing can come.

import type { Standing } from '../agent/index.ts'
import type { StopReason } from '../base/index.ts'

export class EndWatch {
  #maxWaitMs: number
  /** Of each, in the last round in which all were quiet: what it had said and heard, and its permits. */
  #before: readonly string[] | null = null

  constructor(maxWaitMs: number) {
    this.#maxWaitMs = maxWaitMs
  }

  /** Another patience from now on. */
  waitAtMost(maxWaitMs: number): void {
    this.#maxWaitMs = maxWaitMs
  }

  /** A round of answers, one of each agent: why to stop, or null to go on. `permitsLeft`: pages that may still be granted. */
  round(standings: readonly Standing[], permitsLeft: number): StopReason | null {
    if (!standings.every(({ isQuiet }) => isQuiet)) {
      this.#before = null
      return null
    }
    // A permit that one gives up goes to another, who may have answered that it has none before it heard of it.
    const now = standings.map(({ moves, permits }) => `${moves} ${permits}`)
    const isStill = this.#before !== null && now.every((one, agent) => one === this.#before?.[agent])
    this.#before = now
    return isStill ? this.#decide(standings, permitsLeft) : null
  }

  #decide(standings: readonly Standing[], permitsLeft: number): StopReason | null {
    const waiting = standings.filter((standing) => standing.waiting > 0)
    if (waiting.length === 0) return 'finished'
    if (permitsLeft <= 0 && standings.every(({ isSpent }) => isSpent)) return 'max-pages'
    // An agent that does not know when is reading hosts from its disk.
    const isResting = waiting.every(({ readyInMs }) => readyInMs !== null && readyInMs > this.#maxWaitMs)
    return isResting ? 'only-resting' : null
  }

  /** An agent is new: what was known of it counts no more. */
  forget(): void {
    this.#before = null
  }
}
