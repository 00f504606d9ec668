// Where requests wait for the speed limit: in the order they came, with one timer for all of them.
//
//   pump ── isOpen? ──▶ turn ──▶ dns ▸ robots ──▶ pass() ──▶ request ──▶ ended(bytes)
//     ▲                                             │ │ │
//     └────────────── onOpen ◀── the last has passed ┘─┘─┘
//
// Whoever takes turns asks isOpen() first, so that only those wait here who took theirs before the limit was reached: their
// hosts and addresses are theirs meanwhile. Who is told that the gate is closed is rung when it opens.

import type { Clock, ClockMs } from '../base/index.ts'
import type { SpeedLimit, SpeedLimits } from './speed-limit.ts'

export class SpeedGate {
  readonly #clock: Clock
  readonly #limit: SpeedLimit
  readonly #onOpen: () => void
  /** Oldest first, from `#next` on. */
  #waiting: (() => void)[] = []
  #next = 0
  #cancelTimer: (() => void) | null = null
  #armedMs = Infinity
  #isRingWanted = false
  #isDown = false

  constructor(clock: Clock, limit: SpeedLimit, onOpen: () => void) {
    this.#clock = clock
    this.#limit = limit
    this.#onOpen = onOpen
  }

  /** Requests that wait here. */
  get waiting(): number {
    return this.#waiting.length - this.#next
  }

  /** Whether a request made now would pass at once. If not, onOpen() is called when it would. */
  isOpen(): boolean {
    if (this.#isDown || this.#limit.isUnlimited) return true
    if (this.waiting === 0 && this.#limit.mayStart(this.#clock.nowMs()) === 0) return true
    this.#isRingWanted = true
    this.#arm()
    return false
  }

  /** Right before a request. Undefined: go. Else go when it resolves, if there is still reason to. Then ended() is due, always. */
  pass(): Promise<void> | undefined {
    const nowMs = this.#timeOfLimit()
    if (this.#isDown || (this.waiting === 0 && this.#limit.mayStart(nowMs) === 0)) {
      this.#limit.started(nowMs)
      return undefined
    }
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#arm()
    })
  }

  /** The request that passed has brought this many bytes; 0 where it failed, or was not made after all. */
  ended(bytes: number): void {
    this.#limit.received(bytes, this.#timeOfLimit())
    // It may have brought less than expected, and others may go sooner.
    if (this.waiting > 0 || this.#isRingWanted) this.#arm()
  }

  /** Other limits, from now on. */
  set(limits: SpeedLimits): void {
    this.#limit.set(limits, this.#clock.nowMs())
    if (this.waiting > 0 || this.#isRingWanted) this.#arm()
  }

  /** All who wait pass, and see for themselves that nobody is to be asked now; whoever comes later waits as ever. */
  flush(): void {
    while (this.waiting > 0) this.#letOnePass(this.#clock.nowMs())
  }

  /** No limits any more, for a crawl that stops: all who wait pass, and see for themselves that there is nothing to do. */
  takeDown(): void {
    this.#isDown = true
    this.#cancelTimer?.()
    this.#cancelTimer = null
    this.flush()
  }

  /** Where nothing is limited the time does not matter, and is not asked for: two of a page's readings of the clock. */
  #timeOfLimit(): ClockMs {
    return this.#limit.isUnlimited ? (0 as ClockMs) : this.#clock.nowMs()
  }

  #arm(): void {
    const nowMs = this.#clock.nowMs()
    const atMs = this.#limit.mayStart(nowMs) || nowMs
    // Too early does no harm; and a timer that is due is not put off by setting it again.
    if (this.#isDown || (this.#cancelTimer !== null && this.#armedMs <= atMs)) return
    this.#cancelTimer?.()
    this.#armedMs = atMs
    this.#cancelTimer = this.#clock.callAt(atMs, () => {
      this.#cancelTimer = null
      this.#open()
    })
  }

  #open(): void {
    const nowMs = this.#clock.nowMs()
    while (this.waiting > 0 && this.#limit.mayStart(nowMs) === 0) this.#letOnePass(nowMs)
    if (this.waiting > 0) return this.#arm()
    if (!this.#isRingWanted) return
    if (this.#limit.mayStart(nowMs) !== 0) return this.#arm()
    this.#isRingWanted = false
    this.#onOpen()
  }

  #letOnePass(nowMs: ClockMs): void {
    const go = this.#waiting[this.#next++] as () => void
    // Amortised: each is moved at most once on average.
    if (this.#next * 2 >= this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#next)
      this.#next = 0
    }
    this.#limit.started(nowMs)
    go()
  }
}
