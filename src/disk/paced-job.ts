// Writing or merging runs, done in small steps by those who use the set they belong to, so that nobody waits for all of it.
//
//   work(units)    the steps that are due for so many units of other work: checks of URLs, pages kept
//   finish()       all that is left, giving control away again and again: for whoever has to wait
//   finishNow()    all that is left, at once: for whoever cannot wait
//
// When the file is complete the job pauses until it is durable. That is the only part done beside, by a thread of the
// system, and the job goes on by itself afterwards: no sooner than in a later turn of the event loop.

/** A file that is complete and must be durable before the job goes on. */
export interface Syncable {
  sync(): Promise<void>
  /** The same for a caller that cannot wait. */
  syncNow(): void
}

/** Steps of a job: keys done since the last one, or a file that must be durable before it goes on. */
export type Steps = Generator<number | Syncable, void>

/** Keys between two moments at which finish() gives control away: some ten milliseconds. */
const FINISH_KEYS = 2 ** 16

export class PacedJob {
  readonly #steps: Steps
  readonly #pace: number
  readonly #onFault: (cause: unknown) => void
  #credit = 0
  #isDone = false
  #syncing: { readonly file: Syncable; readonly done: Promise<void> } | null = null

  /** `pace` is in keys of work per unit of other work. A sync that fails has no caller: `onFault` hears of it. */
  constructor(steps: Steps, pace: number, onFault: (cause: unknown) => void) {
    this.#steps = steps
    this.#pace = pace
    this.#onFault = onFault
  }

  work(units: number): void {
    if (this.#syncing !== null) return
    this.#credit += units * this.#pace
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
      this.#syncing?.file.syncNow()
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
    else this.#syncing = { file: value, done: this.#sync(value) }
    return 0
  }

  async #sync(file: Syncable): Promise<void> {
    try {
      await file.sync()
      // Where somebody could not wait it is done already.
      if (this.#isDone || this.#syncing?.file !== file) return
      this.#syncing = null
      this.#step()
    } catch (cause) {
      // Of a sync that was done over nothing matters: the file may have been merged and closed meanwhile.
      if (!this.#isDone) this.#onFault(cause)
    }
  }
}
