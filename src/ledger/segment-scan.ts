// One segment read from end to end: which batches it holds, where each ends, and what is wrong with it.
// Nothing is thrown for what is found in the file and nothing is changed, so opening, inspecting and repairing
// all judge by the same reading.

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault } from '../base/index.ts'
import { type FrameScan, scanFrames } from '../disk/index.ts'
import type { Complaint } from './journal-faults.ts'
import type { CrawlIdentity } from './ledger.ts'
import {
  decodeIdentity,
  decodeRecord,
  digestOf,
  originDigest,
  SEGMENT_FORMAT_VERSION,
  type SegmentRecord,
} from './segment-record.ts'

export interface SegmentScan {
  readonly name: string
  readonly path: string
  /** By its name. */
  readonly firstNumber: number
  /** Null when not even the head can be read: then nothing of the segment can be used. */
  readonly identity: CrawlIdentity | null
  /** Digest of the batch before the first. */
  readonly followsDigest: Buffer
  /** The byte at which the head ends, then each good batch. */
  readonly ends: number[]
  /** firstNumber - 1 where there is no good batch. */
  readonly lastNumber: number
  readonly lastDigest: Buffer
  readonly isSealed: boolean
  /** The byte at which the good records end, seal included. */
  readonly end: number
  readonly size: number
  /** Null for a segment that is whole but perhaps for a torn tail (end < size). */
  readonly complaint: Complaint | null
  /** What the framed log needs to be gone on with; null when its header cannot be read. */
  readonly frames: FrameScan | null
}

const NO_DIGEST = Buffer.alloc(0)

/** Gathers what the good records say; the first one out of place ends it. */
class SegmentReading {
  readonly firstNumber: number
  readonly ends: number[] = []
  identity: CrawlIdentity | null = null
  followsDigest: Buffer = NO_DIGEST
  lastDigest: Buffer = NO_DIGEST
  isSealed = false
  end = 0
  complaint: Complaint | null = null

  constructor(firstNumber: number) {
    this.firstNumber = firstNumber
  }

  get lastNumber(): number {
    return this.firstNumber + Math.max(0, this.ends.length - 1) - 1
  }

  take(payload: Buffer, end: number): void {
    if (this.complaint !== null) return
    const record = decodeRecord(payload)
    const what = record === null ? 'a record of a kind that is not known' : this.#refuse(record)
    if (record === null || what !== null) {
      this.complaint = { code: 'LEDGER_CORRUPT', at: this.end, what: what ?? '' }
      return
    }
    if (record.kind === 'head') {
      this.identity = decodeIdentity(record.body)
      // A copy: the record lies in a window of the file that need not be kept for it.
      this.followsDigest = Buffer.from(record.digest)
      this.lastDigest = this.followsDigest
    } else if (record.kind === 'batch') this.lastDigest = digestOf(payload)
    else this.isSealed = true
    if (record.kind !== 'seal') this.ends.push(end)
    this.end = end
  }

  /** Why this record cannot stand here. */
  #refuse({ kind, number, digest, body }: SegmentRecord): string | null {
    if (this.ends.length === 0) {
      const identity = kind === 'head' ? decodeIdentity(body) : null
      if (identity === null) return 'the first record does not say of which crawl it is'
      if (number !== this.firstNumber - 1) return `its name is that of a segment from batch ${number + 1} on`
      const isOrigin = number > 0 || digest.equals(originDigest(identity))
      return isOrigin ? null : 'it begins a crawl, but not the one it names'
    }
    const expected = kind === 'batch' ? this.lastNumber + 1 : this.lastNumber
    if (kind === 'head' || this.isSealed) return 'a record behind the end of the segment'
    if (number !== expected) return `batch ${number} stands where batch ${expected} should`
    return digest.equals(this.lastDigest) ? null : `batch ${number} does not follow the one before it`
  }
}

export async function scanSegment(directory: string, name: string, firstNumber: number): Promise<SegmentScan> {
  const path = join(directory, name)
  const reading = new SegmentReading(firstNumber)
  let frames: FrameScan | null = null
  try {
    frames = await scanFrames(path, SEGMENT_FORMAT_VERSION, (payload, end) => reading.take(payload, end))
    reading.complaint ??= complaintOf(frames, reading)
  } catch (fault) {
    if (!(fault instanceof Fault) || (fault.code !== 'LEDGER_CORRUPT' && fault.code !== 'LEDGER_VERSION')) throw fault
    const what = fault.code === 'LEDGER_VERSION' ? fault.message : 'the header is not that of a segment'
    reading.complaint = { code: fault.code, at: 0, what }
  }
  const { identity, followsDigest, ends, lastNumber, lastDigest, isSealed, end, complaint } = reading
  const found = { identity, followsDigest, ends, lastNumber, lastDigest, isSealed, end, complaint }
  return { name, path, firstNumber, ...found, size: frames?.size ?? (await stat(path)).size, frames }
}

function complaintOf({ end, damage }: FrameScan, reading: SegmentReading): Complaint | null {
  if (damage !== null) return { code: 'LEDGER_CORRUPT', at: end, what: damage.what }
  // A segment is created together with its head, so a crash cannot have left it without.
  if (reading.identity === null)
    return { code: 'LEDGER_CORRUPT', at: end, what: 'the head of the segment is unreadable' }
  return null
}
