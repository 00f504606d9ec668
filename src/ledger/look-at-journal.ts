// Looking at a journal that another process may be writing: no lock, nothing touched. Not for going on.

import { join } from 'node:path'
import { Fault } from '../base/index.ts'
import { frameBytes, LOG_START, readFrames } from '../disk/index.ts'
import { decodeBatch } from './batch-codec.ts'
import { faultOf } from './journal-faults.ts'
import type { NumberedBatch } from './journal.ts'
import { listSegments } from './segment-chain.ts'
import type { CrawlIdentity } from './ledger.ts'
import { decodeIdentity, decodeRecord, SEGMENT_FORMAT_VERSION } from './segment-record.ts'

/** A batch as it stands in a journal. */
export interface BatchRecord {
  readonly number: number
  /** Digest of the batch before it. */
  readonly follows: Buffer
  readonly body: Buffer
}

/** Whether a crawl was begun in this directory (`state/journal`). */
export async function journalBegun(directory: string): Promise<boolean> {
  return (await listSegments(directory)).segments.length > 0
}

/** Whose journal this is; null where none was begun, or its first bytes cannot be read. */
export async function lookAtIdentity(directory: string): Promise<CrawlIdentity | null> {
  const [first] = (await listSegments(directory)).segments
  if (first === undefined) return null
  for await (const payload of readFrames(join(directory, first.name), SEGMENT_FORMAT_VERSION)) {
    const record = decodeRecord(payload)
    return record?.kind === 'head' ? decodeIdentity(record.body) : null
  }
  return null
}

/** The last batch, or null where there is none yet: everything is read, and only this one made a batch of. */
export async function lookAtLastBatch(directory: string): Promise<NumberedBatch | null> {
  let last: BatchRecord | null = null
  for await (const record of lookAtRecords(directory, 0)) last = record
  return last === null ? null : { number: last.number, batch: decodeBatch(last.body) }
}

/**
 * The batches after this one, as far as they are still there and were there when the reading began. A batch
 * on its way is not seen. A jump in the numbers means that what lies between was forgotten before it
 * could be read; batches that are missing for any other reason are a fault.
 */
export async function* lookAtJournal(directory: string, after = 0): AsyncGenerator<NumberedBatch> {
  for await (const { number, body } of lookAtRecords(directory, after)) yield { number, batch: decodeBatch(body) }
}

/** How far a journal was read, for whoever looks again and again: a segment has up to 64 MiB. */
export interface JournalPlace {
  segment: string
  /** Where its next frame begins. */
  at: number
}

export function journalStart(): JournalPlace {
  return { segment: '', at: LOG_START }
}

/** The same without making batches of them. What lies before `place` is not read again, and it moves on with what is. */
export async function* lookAtRecords(
  directory: string,
  after: number,
  place: JournalPlace = journalStart(),
): AsyncGenerator<BatchRecord> {
  let number = after
  for (;;) {
    const { segments } = await listSegments(directory)
    for (const [index, { name, firstNumber }] of segments.entries()) {
      const next = segments[index + 1]
      if (next !== undefined && next.firstNumber <= number + 1) continue
      const path = join(directory, name)
      try {
        if (place.segment !== name) Object.assign(place, { ...journalStart(), segment: name })
        for await (const payload of readFrames(path, SEGMENT_FORMAT_VERSION, place.at)) {
          place.at += frameBytes(payload)
          const record = decodeRecord(payload)
          if (record?.kind !== 'batch' || record.number <= number) continue
          number = record.number
          yield { number, follows: record.digest, body: record.body }
        }
        // When the directory was read the next segment was there, so this one was complete.
        if (next === undefined) return
        const read = Math.max(number, firstNumber - 1)
        if (next.firstNumber > read + 1) {
          throw faultOf(path, { code: 'LEDGER_CORRUPT', at: 0, what: `batch ${read + 1} should be in it and is not` })
        }
      } catch (fault) {
        // Forgotten since the directory was read.
        if (!isGone(fault)) throw fault
      }
    }
    // Also the segment that was the last one is gone: look for those that came after it.
    if (segments.length === 0) return
  }
}

function isGone(fault: unknown): boolean {
  return fault instanceof Fault && (fault.cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT'
}
