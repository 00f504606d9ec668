// Time comes in from outside, so that a test can hold it still and move it.
//
// Two readings, never mixed: `nowMs` is monotonic and measures rests and time-outs (a jump of the
// wall clock must not make us rude); `wallMs` is what people and archives call the date.

/** Milliseconds on the monotonic scale of one clock. Meaningless in another process. */
export type ClockMs = number & { readonly __unit: 'clock-ms' }

export interface Clock {
  /** Monotonic, sub-millisecond, starts anywhere. */
  nowMs(): ClockMs
  /** Milliseconds since 1970, UTC. */
  wallMs(): number
  /** Calls back once, not before `atMs`. The returned function cancels it. */
  callAt(atMs: ClockMs, callback: () => void): () => void
}

/** The longest delay a Node timer takes without firing at once. */
const TIMER_MS_MAX = 2 ** 31 - 1

export const systemClock: Clock = {
  nowMs: () => performance.now() as ClockMs,
  wallMs: () => Date.now(),
  callAt(atMs, callback) {
    let timer: NodeJS.Timeout
    const arm = (): void => {
      const leftMs = atMs - performance.now()
      if (leftMs <= 0) {
        timer = setTimeout(callback, 0)
        return
      }
      // Node may fire up to a millisecond early; arming again keeps the promise "not before".
      timer = setTimeout(
        () => (performance.now() < atMs ? arm() : callback()),
        Math.min(Math.ceil(leftMs), TIMER_MS_MAX),
      )
    }
    arm()
    return () => clearTimeout(timer)
  },
}

/** A clock that moves only when told to; timers fire in order of their time as it passes them. */
export class ManualClock implements Clock {
  #nowMs: number
  readonly #wallOffsetMs: number
  #timers: { atMs: number; callback: () => void }[] = []

  constructor(nowMs = 1_000, wallMs = Date.UTC(2026, 0, 1)) {
    this.#nowMs = nowMs
    this.#wallOffsetMs = wallMs - nowMs
  }

  nowMs(): ClockMs {
    return this.#nowMs as ClockMs
  }

  wallMs(): number {
    return this.#nowMs + this.#wallOffsetMs
  }

  callAt(atMs: ClockMs, callback: () => void): () => void {
    const timer = { atMs, callback }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }

  /** Moves time forward by `ms`, firing every timer that comes due on the way. */
  advance(ms: number): void {
    const endMs = this.#nowMs + ms
    for (;;) {
      const due = this.#timers.filter((timer) => timer.atMs <= endMs).sort((a, b) => a.atMs - b.atMs)[0]
      if (due === undefined) break
      this.#timers = this.#timers.filter((other) => other !== due)
      this.#nowMs = Math.max(this.#nowMs, due.atMs)
      due.callback()
    }
    this.#nowMs = endMs
  }
}
