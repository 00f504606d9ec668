// One timer for all deadlines. Each request has four of them (connect, head, stall, whole) and nearly
// all are met, so setting and clearing timers would be most of the cost; instead all requests under
// way are looked at every tick. A deadline is never early and at most one tick late.
//
// A process that was held up (a long page, a machine that is busy or was stopped) finds all deadlines passed at once, and
// the bytes that would have met them unread. Time in which nobody looked is not the server's: it is excused.

import type { Clock, ClockMs } from '../base/index.ts'

/** Coarse enough to cost nothing (10,000 requests under way: ~0.2 % of a core), fine enough for limits of seconds. */
const TICK_MS = 100

export interface Timed {
  /** Ends itself if a deadline has passed. */
  check(nowMs: ClockMs): void
  /** Its deadlines move by so much: we were not there to see them met. */
  excuse?(lateMs: number): void
}

export class DeadlineSweep<T extends Timed> {
  readonly #clock: Clock
  readonly #timed = new Set<T>()
  #cancelTick: (() => void) | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get size(): number {
    return this.#timed.size
  }

  add(timed: T): void {
    this.#timed.add(timed)
    if (this.#cancelTick === null) this.#arm()
  }

  /** The timer of an empty sweep runs out by itself: requests follow each other closely. */
  remove(timed: T): void {
    this.#timed.delete(timed)
  }

  /** All that is watched. Those met may remove themselves on the way. */
  values(): Iterable<T> {
    return this.#timed.values()
  }

  close(): void {
    this.#cancelTick?.()
    this.#cancelTick = null
    this.#timed.clear()
  }

  #arm(): void {
    const dueMs = (this.#clock.nowMs() + TICK_MS) as ClockMs
    this.#cancelTick = this.#clock.callAt(dueMs, () => {
      this.#cancelTick = null
      const nowMs = this.#clock.nowMs()
      const lateMs = nowMs - dueMs
      if (lateMs > TICK_MS) for (const timed of this.#timed) timed.excuse?.(lateMs)
      // A set may be shortened while it is walked.
      for (const timed of this.#timed) timed.check(nowMs)
      if (this.#timed.size > 0) this.#arm()
    })
  }
}
