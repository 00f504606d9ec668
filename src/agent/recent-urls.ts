// URLs met lately, as many as may be remembered: two generations, of which the older is forgotten when the younger is full.
//
//   meet ─▶ younger ── full ──▶ older ──▶ forgotten
//             ▲                   │
//             └── met again ──────┘       what is met again and again is never forgotten
//
// At 19 bytes each. What is not in it may have been met all the same.

import { type FingerprintBatch, MemoryUrlSeen } from '../url-seen/index.ts'

export class RecentUrls {
  readonly #limit: number
  #younger = new MemoryUrlSeen()
  #older = new MemoryUrlSeen()

  /** Remembers between half as many URLs and so many, and those of one batch. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Says of each whether it is new, as far as is remembered. */
  meet(batch: FingerprintBatch): void {
    if (2 * this.#younger.size >= this.#limit) {
      this.#older = this.#younger
      this.#younger = new MemoryUrlSeen()
    }
    this.#younger.meet(batch)
    const { count, high, low, isNew } = batch
    if (this.#older.size === 0) return
    for (let i = 0; i < count; i++) {
      if (isNew[i] === 1 && this.#older.has(high[i] as number, low[i] as number)) isNew[i] = 0
    }
  }
}
