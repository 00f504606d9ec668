// Reads entries of a share's log in order and hands on what counts: batches that follow one another, and the ends of files that come
// with them. What is of an epoch that is over, and sets that were never finished, count for nothing.

import { chainDigest, type PreparedBatch } from '../ledger/index.ts'
import { readPart } from './batch-set.ts'
import type { Slice } from './file-tails.ts'
import type { ReadEntry } from './log-entry.ts'

/** What the log holds cannot follow what is here: they are of different pasts. */
export class Diverged extends Error {}

export interface WholeSet {
  readonly batches: readonly PreparedBatch[]
  /** The node that had written it. */
  readonly node: string
}

interface Pending {
  nextPart: number
  readonly epoch: number
  readonly batches: PreparedBatch[]
  /** The last of its batches so far, those that are here already included. */
  last: number
  digest: Buffer
  /** Of the batch that is being read. */
  pieces: Buffer[]
}

export class SetReader {
  readonly #onTail: (slice: Slice, bytes: Buffer) => Promise<void>
  #last: number
  #digest: Buffer
  #epoch = 0
  #pending: Pending | null = null

  /** What is here already: its last batch, and the digest of that. Tails are told before it is known that their set is whole. */
  constructor(last: number, digest: Buffer, onTail: (slice: Slice, bytes: Buffer) => Promise<void>) {
    this.#last = last
    this.#digest = digest
    this.#onTail = onTail
  }

  get last(): number {
    return this.#last
  }

  get digest(): Buffer {
    return this.#digest
  }

  /** The batches that the entry completes; null where it completes none that are not here. */
  async take({ head, payload }: ReadEntry): Promise<WholeSet | null> {
    if (head.epoch < this.#epoch) return null
    this.#epoch = head.epoch
    if (head.kind === 'begin') this.#pending = null
    if (head.kind !== 'batch') return null
    if (head.part === 0) {
      if (head.first > this.#last + 1)
        throw new Diverged(`batch ${head.first} in the log comes after ${this.#last} here`)
      const digest = Buffer.from(head.before, 'hex')
      this.#pending = { nextPart: 0, epoch: head.epoch, batches: [], last: head.first - 1, digest, pieces: [] }
      this.#compare(head.first - 1, digest)
    }
    const pending = this.#pending
    if (pending === null || pending.nextPart !== head.part || pending.epoch !== head.epoch) {
      this.#pending = null
      return null
    }
    pending.nextPart++
    for (const piece of readPart(payload)) {
      if (piece.kind === 'batch') this.#read(pending, piece.number, piece.bytes, piece.digest, piece.isEnd)
      // Of batches that are all here the files are here too.
      else if (pending.last > this.#last) await this.#onTail(piece.slice, piece.bytes)
    }
    if (!head.isLast) return null
    this.#pending = null
    if (pending.batches.length === 0) return null
    this.#last = pending.last
    this.#digest = pending.digest
    return { batches: pending.batches, node: head.node }
  }

  #read(pending: Pending, number: number, bytes: Buffer, digest: string, isEnd: boolean): void {
    pending.pieces.push(bytes)
    if (!isEnd) return
    const body = Buffer.concat(pending.pieces)
    pending.pieces = []
    const own = chainDigest(number, pending.digest, body)
    if (number !== pending.last + 1 || own.toString('hex') !== digest) {
      throw new Diverged(`batch ${number} in the log does not follow the one before it`)
    }
    pending.last = number
    pending.digest = own
    this.#compare(number, own)
    if (number > this.#last) pending.batches.push({ number, digest: own, body })
  }

  #compare(number: number, digest: Buffer): void {
    if (number !== this.#last || digest.equals(this.#digest)) return
    throw new Diverged(`batch ${number} in the log is another one than here`)
  }
}
