// How long a node may act: until `lease` has passed since its last acknowledged beat was *sent*. Whoever inherits from it waits
// longer than that, so that two never act at once, whatever either of them believes.
//
// The cell is written by the member and read by agents in other threads, before each request: two loads, two clocks.
//
//   index: Int32    0 nobody may act, 1 or 2: the slot that counts
//   slots: 2 × (Float64 end on the monotonic scale that threads share, Float64 by how much the wall clock was ahead of that scale)
//
// The writer fills the slot that is not read and then turns the index, so a reader never meets half a number. It may meet numbers
// of two neighbouring renewals; the clocks agree in both, or it is not valid.
//
// The monotonic clock stands still while a machine sleeps, the wall clock may be set: neither alone is to be trusted. As long as
// they go together since the beat was sent, both are right. Where they do not, something happened to one of them, and nobody may
// act until the next beat. (Only a clock that is set back by as much as the machine sleeps, to the second, deceives it.)

import type { Clock, ClockMs } from '../base/index.ts'

const INDEX_BYTES = 8
const SLOT_NUMBERS = 2
/** Clocks that drift apart by more than this within a lease were set, or the machine slept. Slewing makes 8 ms in 15 s. Well below any margin. */
export const CLOCKS_APART_MS_MAX = 1_000

export class Lease {
  readonly #index: Int32Array
  readonly #numbers: Float64Array
  readonly #clock: Clock
  /** Added to the clock's reading it is common to all threads; for the system clock `performance.timeOrigin`. */
  readonly #timeOriginMs: number

  /** A cell that says: nobody may act. */
  static allocate(): SharedArrayBuffer {
    return new SharedArrayBuffer(INDEX_BYTES + 2 * SLOT_NUMBERS * 8)
  }

  constructor(cell: SharedArrayBuffer, clock: Clock, timeOriginMs: number) {
    this.#index = new Int32Array(cell, 0, 1)
    this.#numbers = new Float64Array(cell, INDEX_BYTES)
    this.#clock = clock
    this.#timeOriginMs = timeOriginMs
  }

  /** Hot: before each request of each agent. */
  isValid(): boolean {
    return this.leftMs() > 0
  }

  /** What is left of it; 0 when it is over. */
  leftMs(): number {
    const slot = Atomics.load(this.#index, 0)
    if (slot === 0) return 0
    const at = (slot - 1) * SLOT_NUMBERS
    const nowMs = this.#timeOriginMs + this.#clock.nowMs()
    const apartMs = this.#clock.wallMs() - nowMs - (this.#numbers[at + 1] ?? 0)
    if (Math.abs(apartMs) > CLOCKS_APART_MS_MAX) return 0
    return Math.max(0, (this.#numbers[at] ?? 0) - nowMs)
  }

  /** Only the member calls it. Times are those at which the beat was sent, not those of its answer. An older beat changes nothing. */
  renew(sentMs: ClockMs, sentWallMs: number, leaseMs: number): void {
    const slot = Atomics.load(this.#index, 0)
    const commonMs = this.#timeOriginMs + sentMs
    const endMs = commonMs + leaseMs
    if (slot !== 0 && endMs < (this.#numbers[(slot - 1) * SLOT_NUMBERS] ?? 0)) return
    const free = slot === 1 ? 2 : 1
    this.#numbers[(free - 1) * SLOT_NUMBERS] = endMs
    this.#numbers[(free - 1) * SLOT_NUMBERS + 1] = sentWallMs - commonMs
    Atomics.store(this.#index, 0, free)
  }

  /** From now on nobody may act, until the next renewal. */
  revoke(): void {
    Atomics.store(this.#index, 0, 0)
  }
}
