// How long a node may act: until `lease` has passed since its last acknowledged beat was *sent*. Whoever inherits from it waits
// longer than that, so that two never act at once, whatever either of them believes.
//
// The cell is written by the member and read by agents in other threads, before each request: two loads, two clocks.
//
//   index: Int32    0 nobody may act, 1 or 2: the slot that counts
//   slots: 2 × (Float64 end on the monotonic scale that threads share, Float64 end on the wall clock)
//
// The writer fills the slot that is not read and then turns the index, so a reader never meets half a number. It may meet the ends
// of two neighbouring renewals; both were true, and the earlier one decides.
//
// Elapsed time is the larger of two clocks: the monotonic one stands still while a machine sleeps, the wall clock may be set back.
// Neither alone can lengthen a lease.

import type { Clock, ClockMs } from '../base/index.ts'

const INDEX_BYTES = 8
const SLOT_NUMBERS = 2

export class Lease {
  readonly #index: Int32Array
  readonly #ends: Float64Array
  readonly #clock: Clock
  /** Added to the clock's reading it is common to all threads; for the system clock `performance.timeOrigin`. */
  readonly #timeOriginMs: number

  /** A cell that says: nobody may act. */
  static allocate(): SharedArrayBuffer {
    return new SharedArrayBuffer(INDEX_BYTES + 2 * SLOT_NUMBERS * 8)
  }

  constructor(cell: SharedArrayBuffer, clock: Clock, timeOriginMs: number) {
    this.#index = new Int32Array(cell, 0, 1)
    this.#ends = new Float64Array(cell, INDEX_BYTES)
    this.#clock = clock
    this.#timeOriginMs = timeOriginMs
  }

  /** Hot: before each request of each agent. */
  isValid(): boolean {
    const slot = Atomics.load(this.#index, 0)
    if (slot === 0) return false
    const at = (slot - 1) * SLOT_NUMBERS
    return (
      this.#timeOriginMs + this.#clock.nowMs() < (this.#ends[at] ?? 0) &&
      this.#clock.wallMs() < (this.#ends[at + 1] ?? 0)
    )
  }

  /** What is left of it, by the clock that leaves less; 0 when it is over. */
  leftMs(): number {
    const slot = Atomics.load(this.#index, 0)
    if (slot === 0) return 0
    const at = (slot - 1) * SLOT_NUMBERS
    const monotonicMs = (this.#ends[at] ?? 0) - this.#timeOriginMs - this.#clock.nowMs()
    const wallMs = (this.#ends[at + 1] ?? 0) - this.#clock.wallMs()
    return Math.max(0, Math.min(monotonicMs, wallMs))
  }

  /** Only the member calls it. Times are those at which the beat was sent, not those of its answer. An older beat changes nothing. */
  renew(sentMs: ClockMs, sentWallMs: number, leaseMs: number): void {
    const slot = Atomics.load(this.#index, 0)
    const endMs = this.#timeOriginMs + sentMs + leaseMs
    if (slot !== 0 && endMs <= (this.#ends[(slot - 1) * SLOT_NUMBERS] ?? 0)) return
    const free = slot === 1 ? 2 : 1
    this.#ends[(free - 1) * SLOT_NUMBERS] = endMs
    this.#ends[(free - 1) * SLOT_NUMBERS + 1] = sentWallMs + leaseMs
    Atomics.store(this.#index, 0, free)
  }

  /** From now on nobody may act, until the next renewal. */
  revoke(): void {
    Atomics.store(this.#index, 0, 0)
  }
}
