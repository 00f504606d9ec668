// The ledger as a journal: numbered batches in order, which can be shortened at its front.
//
//      forgotten            needed to open            the next commit
//   1 ············· first ─────────────────▶ last
//                       ▲ the least of what the parts on disk hold durably
//
// The parts of the state that live on disk each remember the number of the last batch they hold. On
// opening they are given what came after it (`history`); what all of them hold may go (`forget`).
//
// Laws
//   - Numbers begin at 1 and have no gaps. A number once given out by commit() is never given again.
//   - A batch is there whole or not at all; what was committed is there until it is forgotten.
//   - What is asked for and not there, at either end, is a fault: never a history with a hole.

import type { CrawlIdentity, LedgerBatch } from './ledger.ts'

export interface NumberedBatch {
  readonly number: number
  readonly batch: LedgerBatch
}

export interface Journal {
  readonly identity: CrawlIdentity
  /** The oldest batch that is still there; lastNumber + 1 where there is none. */
  readonly firstNumber: number
  /** The latest batch; 0 in a crawl that begins. */
  readonly lastNumber: number
  /** What the journal takes on disk. */
  readonly bytes: number
  /** What of it would have to be read by somebody who holds everything up to this batch. */
  bytesAfter(number: number): number
  /**
   * The batches after this one, in order. Refused when the journal does not reach back that far, and
   * when it ends before: then it has lost what somebody else already holds.
   */
  history(after: number): AsyncIterable<NumberedBatch>
  /** Writes a batch, syncs it and says its number. One at a time. A failure is a fault of the agent. */
  commit(batch: LedgerBatch): Promise<number>
  /** Nobody needs the batches up to this one any more. Some of them may stay. */
  forget(upTo: number): Promise<void>
  close(): Promise<void>
}
