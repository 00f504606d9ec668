// Writing or merging runs, done in small steps by those who use the set, so that nobody waits for all of it.
//
//   work(checks)   the steps that are due for so many checks of URLs
//   finish()       all that is left, giving control away again and again: for whoever has to wait
//   finishNow()    all that is left, at once: for whoever cannot wait
//
// When the file is complete the job pauses until it is durable. That is the only part done beside, by a thread of the
// system, and the job goes on by itself afterwards: no sooner than in a later turn of the event loop.

import type { RunWriter } from '../disk/index.ts'

/** Steps of a job: keys done since the last one, or a run that must be durable before it goes on. */
export type Steps = Generator<number | RunWriter, void>

/** Keys between two moments at which finish() gives control away: some ten milliseconds. */
const FINISH_KEYS = 2 ** 16

export class PacedJob {
  readonly #steps: Steps
  readonly #pace: number
  readonly #onFault: (cause: unknown) => void
  #credit = 0
  #isDone = false
  #syncing: { readonly writer: RunWriter; readonly done: Promise<void> } | null = null

  /** `pace` is in keys of work per check. A sync that fails has no caller: `onFault` hears of it. */
  constructor(steps: Steps, pace: number, onFault: (cause: unknown) => void) {
    this.#steps = steps
    this.#pace = pace
    this.#onFault = onFault
  }

  work(checks: number): void {
    if (this.#syncing !== null) return
    this.#credit += checks * this.#pace
    while (this.#credit > 0 && !this.#isDone && this.#syncing === null) this.#credit -= this.#step()
  }

  /** Resolves also when a sync failed: `onFault` was called then. */
  async finish(): Promise<void> {
    let keys = 0
    while (!this.#isDone) {
      if (this.#syncing !== null) {
        await this.#syncing.done
        // After a fault it stays as it is.
        if (this.#syncing !== null) return
        continue
      }
      keys += this.#step()
      if (keys < FINISH_KEYS) continue
      keys = 0
      await new Promise((resolve) => void setImmediate(resolve))
    }
  }

  finishNow(): void {
    while (!this.#isDone) {
      this.#syncing?.writer.syncNow()
      this.#syncing = null
      this.#step()
    }
  }

  /** Ends it where it stands. What it wrote was not promised. */
  async abandon(): Promise<void> {
    this.#isDone = true
    await this.#syncing?.done
    this.#steps.return()
  }

  /** How many keys it was. */
  #step(): number {
    const { value, done } = this.#steps.next()
    if (done === true || value === undefined) this.#isDone = true
    else if (typeof value === 'number') return value
    else this.#syncing = { writer: value, done: this.#sync(value) }
    return 0
  }

  async #sync(writer: RunWriter): Promise<void> {
    try {
      await writer.sync()
      // Where somebody could not wait it is done already.
      if (this.#isDone || this.#syncing?.writer !== writer) return
      this.#syncing = null
      this.#step()
    } catch (cause) {
      // Of a sync that was done over nothing matters: the file may have been merged and closed meanwhile.
      if (!this.#isDone) this.#onFault(cause)
    }
  }
}
