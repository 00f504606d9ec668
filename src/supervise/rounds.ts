// When are agents asked how they stand? Every answer costs them a moment, and a crawl of many waits up to a round longer for its end than it
// must. So rounds are rare while there is plenty to do, and frequent when the end may be near: at first, when an agent says
// that it has nobody to ask, and again whenever something has moved. Where nothing moves, as in a crawl that rests, they become rarer by and by.
//
//   begin ──▶ waits ──▶ all are asked ──▶ all have answered ──▶ waits …
//               ▲ hurry: not longer than NEAR_ROUND_MS

import type { Standing } from '../agent/index.ts'
import type { Clock, ClockMs } from '../base/index.ts'

/** While there is plenty to do, and the longest in any case. */
export const ROUND_MS = 200
/** Where the end may be near: what an agent did last is being committed, so asked at once it would not be quiet yet. */
export const NEAR_ROUND_MS = 20
/** So a crawl waits for its end half as long again as it took to come to it, at most. */
const SLOWER = 1.5

export class Rounds {
  readonly #clock: Clock
  readonly #ask: (round: number) => void
  readonly #answered = new Set<number>()
  #round = 0
  /** When the next one begins; null while one is under way, and before the first. */
  #atMs: number | null = null
  #isHurried = false
  #isOver = false
  #cancel: () => void = () => {}
  #nearMs = NEAR_ROUND_MS
  #before = ''

  /** `ask`: has every agent say how it stands, with the number of the round. */
  constructor(clock: Clock, ask: (round: number) => void) {
    this.#clock = clock
    this.#ask = ask
  }

  /** The next round in so long, whatever has become of the one under way. */
  begin(ms: number): void {
    this.#cancel()
    if (this.#isOver) return
    const atMs = (this.#clock.nowMs() + ms) as ClockMs
    this.#atMs = atMs
    this.#cancel = this.#clock.callAt(atMs, () => {
      this.#atMs = null
      this.#isHurried = false
      this.#answered.clear()
      this.#ask(++this.#round)
    })
  }

  /** An agent has answered. True when it was the last of so many in the round under way; the next begins when it is told to. */
  hear(agent: number, round: number | null, agents: number): boolean {
    if (round !== this.#round || this.#atMs !== null || this.#isOver) return false
    this.#answered.add(agent)
    return this.#answered.size >= agents
  }

  /** All have answered, and nothing follows from it. `permitsLeft`: pages that may still be granted; Infinity where pages are not limited. */
  goOn(standings: readonly Standing[], permitsLeft: number): void {
    const ms = this.#pause(standings, permitsLeft)
    // One that had answered already may have become idle since then.
    this.begin(this.#isHurried ? NEAR_ROUND_MS : ms)
  }

  #pause(standings: readonly Standing[], permitsLeft: number): number {
    // What one does not use of the last permits another waits for.
    const isNear = permitsLeft <= 0 || standings.every(({ isQuiet, waiting }) => isQuiet || waiting === 0)
    if (!isNear) return ROUND_MS
    const now = standings.map(({ isQuiet, moves, waiting, permits }) => `${isQuiet} ${moves} ${waiting} ${permits}`)
    const text = now.join()
    this.#nearMs = text === this.#before ? Math.min(ROUND_MS, this.#nearMs * SLOWER) : NEAR_ROUND_MS
    this.#before = text
    return this.#nearMs
  }

  /** An agent has nobody to ask: the end may be near. */
  hurry(): void {
    if (this.#atMs === null) this.#isHurried = true
    else if (this.#atMs > this.#clock.nowMs() + NEAR_ROUND_MS) this.begin(NEAR_ROUND_MS)
  }

  /** An agent is new: what it said in this round counts no more. */
  forget(agent: number): void {
    this.#answered.delete(agent)
  }

  /** Nobody is asked or heard from now on. */
  end(): void {
    this.#isOver = true
    this.#cancel()
  }
}
