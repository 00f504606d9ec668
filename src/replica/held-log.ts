// The log of a share in the hands of its owner: appends, and finds out what became of an append that was not answered.
//
//   refused, or not answered ──▶ look at what stands behind the place we know
//        nothing new            append again
//        entries of ours        they have arrived: go on behind them
//        another's begin        SHARE_LOST
//        less than we know      the engine has lost what it had acknowledged: whoever has the batches tells them again
//
// A server that lost entries has been started again, so connections to it were lost: after every loss the last entry is looked at
// before the next append. Between that look and the append another may still have filled the gap; what is appended then counts
// for nobody (it is of an epoch that is over), and is found out with the next append.

import { assert } from '../base/index.ts'
import type { Engine, Stop } from '../engine/index.ts'
import { type BatchSet, partsOf } from './batch-set.ts'
import {
  encodeEntry,
  type EntryHead,
  type EntryKind,
  type LogState,
  type ReadEntry,
  type SnapshotMark,
} from './log-entry.ts'
import { beginAgain, type HeldShare, isFault, isSame, ShareLog, shareLost } from './share-log.ts'

const NO_PAYLOAD = new Uint8Array()
/** What a head takes, nearly. */
const HEAD_BYTES = 300

export class HeldLog {
  readonly log: ShareLog
  readonly #held: HeldShare
  readonly #stopListening: Stop
  #place: number
  /** False where an entry stands at our place that counts for nothing. */
  #isPlaceOurs = true
  #state: LogState
  /** What stands at our place is to be looked at before anything is appended. */
  #isUnclear = false
  #queue: Promise<unknown> = Promise.resolve()
  /** How often the engine was found to have lost entries. */
  losses = 0

  private constructor(engine: Engine, log: ShareLog, held: HeldShare) {
    this.log = log
    this.#held = held
    this.#place = held.at
    const { last, digest, snapshotAt, since } = held
    this.#state = { last, digest, snapshotAt, since }
    this.#stopListening = engine.onConnection(() => {
      this.#isUnclear = true
    })
  }

  /**
   * Goes on with a share that is ours. An entry marks it: what an earlier thread of ours had sent and is still on its way is
   * refused from here on.
   */
  static async resume(engine: Engine, held: HeldShare): Promise<HeldLog> {
    const log = await ShareLog.open(engine, held.share)
    return new HeldLog(engine, log, await beginAgain(log, held))
  }

  get share(): number {
    return this.#held.share
  }

  get node(): string {
    return this.#held.node
  }

  get epoch(): number {
    return this.#held.epoch
  }

  /** Where the share stands by what is known here. */
  get state(): LogState & { readonly at: number } {
    return { ...this.#state, at: this.#place }
  }

  /** False: the engine has lost what comes before it; `state` says from where on it is to be told again. */
  appendBatches(set: BatchSet): Promise<boolean> {
    return this.#alone(async () => {
      for (;;) {
        if (this.#isUnclear) await this.#look()
        const { last, digest } = this.#state
        if (last >= set.last) {
          assert(
            last > set.last || digest === set.digest,
            `batch ${last} of share ${this.share} is there as another one`,
          )
          return true
        }
        if (last !== set.first - 1) return false
        assert(last === 0 || digest === set.before, `batch ${set.first} of share ${this.share} does not follow ${last}`)
        if (await this.#appendParts(set)) return true
      }
    })
  }

  /** False: the engine has lost entries since `losses` were counted, or was told another number of batches than it holds. */
  appendSnapshot(mark: SnapshotMark, former: SnapshotMark | null, sinceAt: number, losses: number): Promise<boolean> {
    return this.#alone(async () => {
      for (;;) {
        if (this.#isUnclear) await this.#look()
        if (this.losses !== losses || this.#state.last < mark.upTo) return false
        // Found behind the place we knew.
        if (this.#snapshot?.manifest === mark.manifest) return true
        const state = { ...this.#state, snapshotAt: this.#place + 1, since: this.#state.since - sinceAt }
        if (await this.#append({ kind: 'snapshot', mark, former }, state, NO_PAYLOAD)) return true
      }
    })
  }

  /**
   * The engine has lost the entry of a snapshot, and batches before it: says again that there is one, and that the batches up to
   * it stand. Null where that is not needed.
   */
  restateSnapshot(mark: SnapshotMark, digest: string, former: SnapshotMark | null): Promise<SnapshotMark | null> {
    return this.#alone(async () => {
      for (;;) {
        if (this.#isUnclear) await this.#look()
        if (this.#state.last >= mark.upTo) return null
        const at = this.#place + 1
        // What completes it comes behind this very entry.
        const anew = { ...mark, from: at }
        const state = { last: mark.upTo, digest, snapshotAt: at, since: 0 }
        if (await this.#append({ kind: 'snapshot', mark: anew, former }, state, NO_PAYLOAD)) return anew
      }
    })
  }

  /** Gives up the share: the next may begin. */
  release(): Promise<void> {
    return this.#alone(async () => {
      for (;;) {
        if (this.#isUnclear) await this.#look()
        if (this.#isReleased || (await this.#append({ kind: 'release' }, this.#state, NO_PAYLOAD))) return
      }
    })
  }

  /** Entries up to this place are not needed any more. */
  trim(upTo: number): Promise<void> {
    return this.log.log.trim(upTo)
  }

  close(): void {
    this.#stopListening()
  }

  #snapshot: SnapshotMark | null = null
  #isReleased = false

  async #alone<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#queue
    const done = (async (): Promise<T> => {
      await before
      return work()
    })()
    this.#queue = done.catch(() => {})
    return done
  }

  async #appendParts(set: BatchSet): Promise<boolean> {
    const { first, before } = set
    let part = 0
    let waiting: Buffer | null = null
    for await (const payload of partsOf(set)) {
      if (waiting !== null) {
        if (!(await this.#append({ kind: 'batch', part, isLast: false, first, before }, this.#state, waiting)))
          return false
        part++
      }
      waiting = payload
    }
    assert(waiting !== null, 'a set of batches without a part')
    const state = { ...this.#state, last: set.last, digest: set.digest }
    return this.#append({ kind: 'batch', part, isLast: true, first, before }, state, waiting)
  }

  /** False when it does not stand where it should: somebody or something else was there first. */
  async #append(kind: EntryKind, state: LogState, payload: Uint8Array): Promise<boolean> {
    const { epoch, node, incarnation } = this.#held
    const since = state.since + payload.length + HEAD_BYTES
    const head: EntryHead = { ...kind, epoch, node, incarnation, after: this.#place, ...state, since }
    try {
      const answer = await this.log.log.append(encodeEntry(head, payload), this.#place)
      if (answer.kind === 'appended') {
        this.#take({ at: answer.at, head, payload })
        return true
      }
    } catch (fault) {
      this.#isUnclear = true
      throw fault
    }
    this.#isUnclear = true
    return false
  }

  /** An entry of ours stands. */
  #take({ at, head }: ReadEntry): void {
    const { last, digest, snapshotAt, since } = head
    this.#place = at
    this.#isPlaceOurs = true
    this.#state = { last, digest, snapshotAt, since }
    if (head.kind === 'snapshot') this.#snapshot = head.mark
    this.#isReleased = head.kind === 'release'
  }

  async #look(): Promise<void> {
    const last = await this.log.log.last()
    if (last < this.#place || !(await this.#lookBehind())) await this.#takeLoss()
    this.#isUnclear = false
  }

  /** False where not even what we know is there. */
  async #lookBehind(): Promise<boolean> {
    try {
      // From our own last entry on, which must still be the one we know.
      for await (const entry of this.log.read(this.#place - 1)) {
        if (this.#isOurs(entry.head)) this.#take(entry)
        else if (entry.head.epoch >= this.#held.epoch) throw shareLost(this.share, entry.head)
        else if (entry.at === this.#place && this.#isPlaceOurs) return false
        else {
          this.#place = entry.at
          this.#isPlaceOurs = false
        }
      }
      return true
    } catch (fault) {
      if (!isFault(fault, 'LOG_TRIMMED')) throw fault
      // We trim nothing behind our own place, so somebody else did.
      const tail = await this.log.tail()
      throw tail === null ? fault : shareLost(this.share, tail.head)
    }
  }

  async #takeLoss(): Promise<void> {
    this.losses++
    // Appends a begin where ours is gone; throws where somebody else has begun.
    const { at, last, digest, snapshotAt, since } = await beginAgain(this.log, this.#held)
    this.#place = at
    this.#isPlaceOurs = true
    this.#state = { last, digest, snapshotAt, since }
    this.#snapshot = null
  }

  #isOurs(head: EntryHead): boolean {
    return head.epoch === this.#held.epoch && isSame(head, this.#held)
  }
}
