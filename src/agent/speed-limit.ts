// --max-rate and --max-bandwidth: when the next request may be made.
//
// Both are one number, a moment that every request moves on by what it costs, and before which nobody may start:
//
//   rate        each start costs 1 / rate                    ├──┤├──┤├──┤
//   bandwidth   each start costs what a request brings on    ├───────┤├───────┤ …
//               average; its end sets that right             ├──┤     refunded: it brought less
//                                                            ├───────┤──────────────┤ debt: it brought more
//
// A moment that lies in the past is credit. Credit is kept for 100 ms and no longer: enough that nothing is lost when a
// timer is late, too little for a burst that anyone would notice.
//
// Always true: in any time W there are at most rate × (W + 100 ms) + 1 starts; whenever a start is allowed, no more than
// bandwidth × (the time since the limit + 100 ms) has been received. What is under way is not slowed: a body comes as fast
// as its server sends it, and the next starts wait for what it was too long.

import type { ClockMs } from '../base/index.ts'

export interface SpeedLimits {
  /** Requests of every kind: pages, robots.txt, retries. Null is no limit. */
  readonly ratePerSecond: number | null
  /** Bytes received, as they came over the wire. Null is no limit. */
  readonly bytesPerSecond: number | null
}

/** How long what was not used can be made up for. */
const CREDIT_MS = 100

/** What a request is expected to bring before any has ended: a page of HTML, compressed. */
const BYTES_EXPECTED = 32 * 2 ** 10
/** Weight of the last request in that expectation. */
const BYTES_WEIGHT = 1 / 16
/** A single huge file says little of what comes next: beyond this many times the expectation it counts as that many. */
const BYTES_SURPRISE = 4

export class SpeedLimit {
  /** Milliseconds that a start costs, and a byte; 0 without a limit. */
  #msPerStart = 0
  #msPerByte = 0
  /** The moments. */
  #rateMs = -Infinity
  #bytesMs = -Infinity
  #expectedBytes = BYTES_EXPECTED
  #underWay = 0
  /** What was paid in advance for those under way, in bytes. What was paid in all is this and what was received. */
  #advanceBytes = 0

  constructor(limits: SpeedLimits, nowMs: ClockMs) {
    this.set(limits, nowMs)
  }

  get isUnlimited(): boolean {
    return this.#msPerStart === 0 && this.#msPerByte === 0
  }

  /** Other limits from now on. Debt stays, in requests and bytes: it is paid off at the new speed. */
  set({ ratePerSecond, bytesPerSecond }: SpeedLimits, nowMs: ClockMs): void {
    const msPerStart = ratePerSecond === null ? 0 : 1_000 / ratePerSecond
    const msPerByte = bytesPerSecond === null ? 0 : 1_000 / bytesPerSecond
    this.#rateMs = convert(this.#rateMs, nowMs, this.#msPerStart, msPerStart)
    this.#bytesMs = convert(this.#bytesMs, nowMs, this.#msPerByte, msPerByte)
    // Paid at a price that is gone.
    if (this.#msPerByte === 0 || msPerByte === 0) this.#advanceBytes = 0
    this.#msPerStart = msPerStart
    this.#msPerByte = msPerByte
  }

  /** 0: now. Else when, unless requests that end meanwhile change it. */
  mayStart(nowMs: ClockMs): ClockMs | 0 {
    if (this.isUnlimited) return 0
    const atMs = Math.max(this.#rateMs, this.#bytesMs)
    return nowMs >= atMs ? 0 : (atMs as ClockMs)
  }

  /** A request is being made, in the same breath in which mayStart() said 0. It must end with received(). */
  started(nowMs: ClockMs): void {
    this.#underWay++
    if (this.#msPerStart !== 0) this.#rateMs = Math.max(this.#rateMs, nowMs - CREDIT_MS) + this.#msPerStart
    if (this.#msPerByte === 0) return
    this.#advanceBytes += this.#expectedBytes
    this.#payBytes(this.#expectedBytes, nowMs)
  }

  /** A request has ended and brought this many bytes, 0 where it failed. Once for each start. */
  received(bytes: number, nowMs: ClockMs): void {
    const expected = this.#expectedBytes
    this.#expectedBytes += (Math.min(bytes, Math.max(expected, 1) * BYTES_SURPRISE) - expected) * BYTES_WEIGHT
    // Nobody remembers what this one paid; all together get back exactly what they paid together.
    const advance = this.#underWay === 0 ? 0 : this.#advanceBytes / this.#underWay
    if (this.#underWay > 0) this.#underWay--
    if (this.#msPerByte === 0) return
    this.#advanceBytes = this.#underWay === 0 ? 0 : this.#advanceBytes - advance
    this.#payBytes(bytes - advance, nowMs)
  }

  #payBytes(bytes: number, nowMs: ClockMs): void {
    this.#bytesMs = Math.max(this.#bytesMs, nowMs - CREDIT_MS) + bytes * this.#msPerByte
  }
}

/** A moment after the price has changed. What lies ahead is debt and keeps its worth; a limit that begins has none. */
function convert(momentMs: number, nowMs: number, priceBefore: number, price: number): number {
  if (price === 0) return -Infinity
  // Credit only for what comes: a limit counts from the moment it is set.
  if (priceBefore === 0) return nowMs
  return momentMs <= nowMs ? momentMs : nowMs + ((momentMs - nowMs) * price) / priceBefore
}

/** The limits of one of `agents` that share them. In equal parts: a share of nothing would starve its hosts. */
export function speedShare({ ratePerSecond, bytesPerSecond }: SpeedLimits, agents: number): SpeedLimits {
  return {
    ratePerSecond: ratePerSecond === null ? null : ratePerSecond / agents,
    bytesPerSecond: bytesPerSecond === null ? null : bytesPerSecond / agents,
  }
}

/** The share of the `k`th of `n` in a whole number of things that cannot be divided, such as connections. */
export function shareOf(total: number, n: number, k: number): number {
  return Math.floor((total * (k + 1)) / n) - Math.floor((total * k) / n)
}
