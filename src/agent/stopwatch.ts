// How long a run has taken: the time in which it was paused does not count, neither for --max-time nor for the figures.

import type { Clock, ClockMs } from '../base/index.ts'

export class Stopwatch {
  readonly #clock: Clock
  readonly #startMs: number
  #pausedMs = 0
  /** Null while it runs. */
  #stoodSinceMs: number | null = null

  constructor(clock: Clock, startMs: ClockMs | number) {
    this.#clock = clock
    this.#startMs = startMs
  }

  get ms(): number {
    const toMs = this.#stoodSinceMs ?? this.#clock.nowMs()
    return toMs - this.#startMs - this.#pausedMs
  }

  /** Twice is once. */
  pause(): void {
    this.#stoodSinceMs ??= this.#clock.nowMs()
  }

  resume(): void {
    if (this.#stoodSinceMs === null) return
    this.#pausedMs += this.#clock.nowMs() - this.#stoodSinceMs
    this.#stoodSinceMs = null
  }
}
