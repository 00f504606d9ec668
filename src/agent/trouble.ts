// Origins in trouble: how often in a row each failed, how often in a row it asked for a pause, and
// which were given up. Only origins in trouble are here; the first good answer takes them out.

import type { Clock, ClockMs, FailureCode } from '../base/index.ts'

export interface GivenUp {
  readonly code: FailureCode
  readonly detail: string
}

/** That an origin was given up, for the runs to come. */
export interface GivenUpNote extends GivenUp {
  readonly key: string
  /** By the wall clock. */
  readonly untilWallMs: number
}

interface Record {
  failures: number
  pauses: number
  givenUp: GivenUp | null
  untilMs: ClockMs
}

/** Beyond this the longest in trouble are forgotten, and so tried afresh. */
const RECORDS_MAX = 100_000

export class Trouble {
  readonly #clock: Clock
  readonly #memoryMs: number
  readonly #onGivenUp: (note: GivenUpNote) => void
  readonly #records = new Map<string, Record>()

  /** `memoryMs`: how long an origin that was given up stays given up. */
  constructor(clock: Clock, memoryMs: number, onGivenUp: (note: GivenUpNote) => void = () => {}) {
    this.#clock = clock
    this.#memoryMs = memoryMs
    this.#onGivenUp = onGivenUp
  }

  /** What an earlier run gave up stays so for what is left of its time, never for longer than it could have been. */
  restore({ key, code, detail, untilWallMs }: GivenUpNote): void {
    const leftMs = Math.min(untilWallMs - this.#clock.wallMs(), this.#memoryMs)
    if (leftMs > 0) this.#giveUp(key, code, detail, leftMs)
    else this.#records.delete(key)
  }

  /** Counts one more failure in a row, and says how many there are now. */
  failed(key: string): number {
    return ++this.#record(key).failures
  }

  /** Counts one more wish for a pause in a row, and says how many there are now. */
  paused(key: string): number {
    return ++this.#record(key).pauses
  }

  answered(key: string): void {
    // Almost always empty; the check spares a hash per page.
    if (this.#records.size > 0) this.#records.delete(key)
  }

  giveUp(key: string, code: FailureCode, detail: string): void {
    this.#giveUp(key, code, detail, this.#memoryMs)
    this.#onGivenUp({ key, code, detail, untilWallMs: this.#clock.wallMs() + this.#memoryMs })
  }

  /** Somebody wants it tried again now. */
  forgive(key: string): void {
    const given = this.givenUp(key)
    if (given === null) return
    this.#records.delete(key)
    this.#onGivenUp({ ...given, key, untilWallMs: 0 })
  }

  #giveUp(key: string, code: FailureCode, detail: string, ms: number): void {
    const record = this.#record(key)
    record.givenUp = { code, detail }
    record.untilMs = (this.#clock.nowMs() + ms) as ClockMs
  }

  givenUp(key: string): GivenUp | null {
    if (this.#records.size === 0) return null
    const record = this.#records.get(key)
    if (record === undefined || record.givenUp === null) return null
    if (this.#clock.nowMs() < record.untilMs) return record.givenUp
    this.#records.delete(key)
    return null
  }

  #record(key: string): Record {
    let record = this.#records.get(key)
    if (record === undefined) {
      record = { failures: 0, pauses: 0, givenUp: null, untilMs: 0 as ClockMs }
      const oldest = this.#records.size >= RECORDS_MAX ? this.#records.keys().next() : null
      if (oldest !== null && oldest.done === false) this.#records.delete(oldest.value)
      this.#records.set(key, record)
    }
    return record
  }
}
