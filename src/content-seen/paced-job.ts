// A long piece of work on the disk, done in small steps between other work, with syncs that go on beside.
//
//   work(units) ──▶ step step step ──▶ sync …………………… done ──▶ step ──▶ finished
//                                      (nobody waits)
//
// Steps are a generator: it yields how much it has done since the last step, or a file that must be durable before
// it can go on. Always true: a step is never begun within another, nor before its sync is done.

import { setImmediate } from 'node:timers/promises'

export interface Syncable {
  sync(): Promise<void>
  /** The same for a caller that cannot wait. */
  syncNow(): void
}

export type Steps = Generator<number | Syncable, void>

export class PacedJob {
  readonly #steps: Steps
  readonly #pace: number
  #credit = 0
  #syncing: Syncable | null = null
  #synced: Promise<void> = Promise.resolve()
  #isFinished = false
  #fault: { readonly cause: unknown } | null = null

  /** `pace`: how much is done for each unit of other work. */
  constructor(steps: Steps, pace: number) {
    this.#steps = steps
    this.#pace = pace
  }

  /** Does what is due for so many units of other work. */
  work(units: number): void {
    this.#assertSound()
    if (this.#syncing !== null) return
    this.#credit += units * this.#pace
    while (this.#credit > 0 && !this.#isFinished && this.#syncing === null) this.#credit -= this.#step()
  }

  /** Drives it to its end, giving control away after each step. */
  async finish(): Promise<void> {
    while (!this.#isFinished) {
      this.#assertSound()
      if (this.#syncing === null) this.#step()
      await (this.#syncing === null ? setImmediate() : this.#synced)
    }
  }

  finishNow(): void {
    while (!this.#isFinished) {
      this.#assertSound()
      const file = this.#syncing
      this.#syncing = null
      file?.syncNow()
      this.#step()
    }
  }

  /** Ends it where it stands. */
  async cancel(): Promise<void> {
    this.#isFinished = true
    await this.#synced
    this.#steps.return()
  }

  /** One step; how much that was. */
  #step(): number {
    const { value, done } = this.#steps.next()
    if (done === true) {
      this.#isFinished = true
      return 0
    }
    if (typeof value === 'number') return value
    this.#syncing = value
    this.#synced = this.#sync(value)
    return 0
  }

  async #sync(file: Syncable): Promise<void> {
    try {
      await file.sync()
    } catch (cause) {
      // Of a sync that somebody could not wait for nothing matters: it was done over, and the file may be closed by now.
      if (this.#syncing === file) this.#fault = { cause }
      return
    }
    if (this.#syncing !== file || this.#isFinished) return
    this.#syncing = null
    try {
      this.#step()
    } catch (cause) {
      this.#fault = { cause }
    }
  }

  #assertSound(): void {
    if (this.#fault !== null) throw this.#fault.cause
  }
}
