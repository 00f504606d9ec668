import { assert } from '../base/index.ts'
import { encodeBatch } from './batch-codec.ts'
import { refuseHole } from './journal-faults.ts'
import type { Journal, NumberedBatch } from './journal.ts'
import type { CrawlIdentity, LedgerBatch } from './ledger.ts'

/** The plain twin: remembers batches as they are, for tests. Forgets to the letter. */
export class MemoryJournal implements Journal {
  readonly identity: CrawlIdentity
  readonly batches: NumberedBatch[] = []
  #lastNumber = 0

  constructor(identity: CrawlIdentity) {
    this.identity = identity
  }

  get firstNumber(): number {
    return this.batches[0]?.number ?? this.#lastNumber + 1
  }

  get lastNumber(): number {
    return this.#lastNumber
  }

  get bytes(): number {
    return this.bytesAfter(0)
  }

  bytesAfter(number: number): number {
    const after = this.batches.filter((one) => one.number > number)
    return after.reduce((sum, { batch }) => sum + encodeBatch(batch).length, 0)
  }

  async *history(after: number): AsyncGenerator<NumberedBatch> {
    refuseHole('the journal', after, this.firstNumber, this.lastNumber)
    yield* this.batches.filter((one) => one.number > after)
  }

  async commit(batch: LedgerBatch): Promise<number> {
    this.#lastNumber++
    this.batches.push({ number: this.#lastNumber, batch: structuredClone(batch) })
    return this.#lastNumber
  }

  async forget(upTo: number): Promise<void> {
    assert(upTo <= this.#lastNumber, `batches up to ${upTo} are forgotten, but the last one is ${this.#lastNumber}`)
    while (this.batches[0] !== undefined && this.batches[0].number <= upTo) this.batches.shift()
  }

  async close(): Promise<void> {}
}
