// A journal that is kept beyond its machine: a batch is in the share's log before it is in the local journal, so nothing that is
// known here can be unknown there.
//
//   files synced ──▶ batch and tails of the files ──▶ log, acknowledged ──▶ local journal
//                                                       │ not answered: tried again until the node is fenced
//                                                       └ another has begun: SHARE_LOST, and nothing is written here
//
// What the engine loses after it was acknowledged is told again from here: batches and the ends of the files. So batches stay in
// the local journal until the last snapshot but one holds them.

import { assert, type Clock, type ClockMs, Fault } from '../base/index.ts'
import {
  chainDigest,
  type CrawlIdentity,
  decodeBatch,
  type Journal,
  type LedgerBatch,
  lookAtRecords,
  type NumberedBatch,
  type PreparedBatch,
  type SegmentedJournal,
} from '../ledger/index.ts'
import type { BatchSet } from './batch-set.ts'
import { type ReplicaFile, type States, tailsBetween } from './file-tails.ts'
import type { HeldLog } from './held-log.ts'
import { isFault } from './share-log.ts'

/** Between two tries while the engine does not answer. */
const RETRY_MS = 250
/** Batches that were lost are told again in sets of about so many bytes. */
const SET_BYTES_MAX = 8 * 2 ** 20

export interface ReplicatedJournalParts {
  readonly local: SegmentedJournal
  /** Of the local journal. */
  readonly directory: string
  readonly log: HeldLog
  /** Of the share. */
  readonly dir: string
  readonly files: readonly ReplicaFile[]
  /** What the last batch says of files. */
  readonly states: States
  readonly clock: Clock
  /** Whether the node may not act any more: then an engine that does not answer is not waited for. */
  readonly isFenced: () => boolean
  /** Batches before this one are in the last snapshot but one. */
  readonly neededFrom: () => number
  /** Says anew in the log that there is the snapshot from which this journal begins; false where there is none any more. */
  readonly restateSnapshot: () => Promise<boolean>
  /** What a batch says of files that is not in this journal, by the engine. */
  readonly statesInLog: (number: number) => Promise<States | null>
}

export interface ReplicationFigures {
  readonly batches: number
  /** Tries that the engine did not answer. */
  readonly unanswered: number
  /** Batches that were told again because the engine had lost them. */
  readonly toldAgain: number
}

export class ReplicatedJournal implements Journal {
  readonly #parts: ReplicatedJournalParts
  #states: States
  #batches = 0
  #unanswered = 0
  #toldAgain = 0
  #fault: unknown = null

  constructor(parts: ReplicatedJournalParts) {
    this.#parts = parts
    this.#states = parts.states
  }

  get identity(): CrawlIdentity {
    return this.#parts.local.identity
  }

  get firstNumber(): number {
    return this.#parts.local.firstNumber
  }

  get lastNumber(): number {
    return this.#parts.local.lastNumber
  }

  get bytes(): number {
    return this.#parts.local.bytes
  }

  bytesAfter(number: number): number {
    return this.#parts.local.bytesAfter(number)
  }

  history(after: number): AsyncIterable<NumberedBatch> {
    return this.#parts.local.history(after)
  }

  get figures(): ReplicationFigures {
    return { batches: this.#batches, unanswered: this.#unanswered, toldAgain: this.#toldAgain }
  }

  async commit(batch: LedgerBatch): Promise<number> {
    if (this.#fault !== null) throw this.#fault
    const { local, files, dir } = this.#parts
    try {
      const prepared = local.prepare(batch)
      const { number, digest } = prepared
      const tails = tailsBetween(files, dir, this.#states, batch.files)
      const before = local.lastDigest.toString('hex')
      const set: BatchSet = {
        first: number,
        last: number,
        before,
        digest: digest.toString('hex'),
        batches: () => [prepared],
        tails,
      }
      await this.#untilAnswered(async () => {
        while (!(await this.#parts.log.appendBatches(set))) await this.#tellAgain(batch.files)
      })
      await local.commitPrepared([prepared])
      this.#states = batch.files
      this.#batches++
      return number
    } catch (fault) {
      // Whether the log has the batch is not known: whoever opens the share next finds out.
      this.#fault = fault
      throw fault
    }
  }

  /** Has the log hold everything that is here; for a share that is opened after the engine has lost something. */
  async catchUp(): Promise<void> {
    await this.#untilAnswered(async () => {
      while (this.#parts.log.state.last < this.lastNumber) await this.#tellAgain(this.#states)
    })
  }

  async forget(upTo: number): Promise<void> {
    const { local, neededFrom } = this.#parts
    assert(upTo <= this.lastNumber, `batches up to ${upTo} are forgotten, but the last one is ${this.lastNumber}`)
    const may = Math.min(upTo, neededFrom() - 1)
    if (may >= local.firstNumber) await local.forget(may)
  }

  close(): Promise<void> {
    return this.#parts.local.close()
  }

  /**
   * Tells the next of the batches that the engine has lost. Those of an edition of a file that is no more cannot be told alone: they
   * go together with the ones up to the edition that is there. `now`: what is on disk.
   */
  async #tellAgain(now: States): Promise<void> {
    const { log, local, files, dir, directory } = this.#parts
    const { last: after, digest: before } = log.state
    if (after >= local.lastNumber) return
    // What comes before the snapshot that this share was made from is in no journal here.
    if (after + 1 < local.firstNumber) {
      if (await this.#parts.restateSnapshot()) return
      throw new Fault(
        'LEDGER_CORRUPT',
        `the engine has lost share ${log.share} from batch ${after + 1} on, and this node keeps batches from ${local.firstNumber} on only`,
      )
    }
    const batches: PreparedBatch[] = []
    let states: States = {}
    let bytes = 0
    let from = after === 0 || after >= local.firstNumber ? {} : await this.#parts.statesInLog(after)
    if (from === null) throw new Fault('LEDGER_CORRUPT', `the engine has lost batch ${after} of share ${log.share}`)
    let origin = before
    for await (const { number, follows, body } of lookAtRecords(directory, Math.max(0, after - 1))) {
      const digest = chainDigest(number, follows, body)
      const said = decodeBatch(body).files
      if (number === after) {
        assert(digest.toString('hex') === before, `batch ${number} in the log is not the one in ${directory}`)
        from = said
        continue
      }
      if (batches.length === 0) origin = follows.toString('hex')
      states = said
      batches.push({ number, digest, body: Buffer.from(body) })
      bytes += body.length
      if (bytes >= SET_BYTES_MAX && files.every((file) => isThere(file, said, now))) break
    }
    const first = batches[0]
    const last = batches.at(-1)
    assert(first !== undefined && last !== undefined, `no batch after ${after} in ${directory}`)
    await log.appendBatches({
      first: first.number,
      last: last.number,
      before: origin,
      digest: last.digest.toString('hex'),
      batches: () => batches,
      tails: tailsBetween(files, dir, from, states),
    })
    this.#toldAgain += batches.length
  }

  async #untilAnswered(work: () => Promise<void>): Promise<void> {
    const { clock, isFenced } = this.#parts
    for (;;) {
      try {
        await work()
        return
      } catch (fault) {
        if (!isFault(fault, 'ENGINE_UNREACHABLE') || isFenced()) throw fault
        this.#unanswered++
        await new Promise<void>((resolve) => {
          clock.callAt((clock.nowMs() + RETRY_MS) as ClockMs, resolve)
        })
      }
    }
  }
}

/** Whether the edition that a batch speaks of is the one on disk. */
function isThere(file: ReplicaFile, said: States, now: States): boolean {
  return file.stateOf(said[file.name])?.edition === file.stateOf(now[file.name])?.edition
}
