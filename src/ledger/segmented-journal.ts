// The journal on disk: framed logs, each begun when the one before it is long enough.
//
//   state/journal/   batches-0000000001.log   batches-0000000051.log   batches-0000000081.log
//                    sealed                   sealed                   current: commits go here
//                    └─ forget(60) unlinks it └─ stays: holds 61 to 80
//
// A segment is created whole with its head (number and digest it follows), then the one before is
// sealed, then batches are written. So whatever a crash leaves is one of: the same as before; a `.new` that is
// thrown away; a current segment without batches behind one without seal, which is then sealed; a torn last batch.
// Anything else was done by somebody else, and is refused (`segment-chain.ts` says how it is seen).
//
// Opening reads everything once and checks it, without making batches of it; history() reads again what is asked for.

import { existsSync } from 'node:fs'
import { rm, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { assert, diskFault, Fault, type Random } from '../base/index.ts'
import { FramedLog, type FrameScan, makeDirectory, readFrames, syncDirectory } from '../disk/index.ts'
import { decodeBatch, encodeBatch } from './batch-codec.ts'
import { faultOf, refuseHole } from './journal-faults.ts'
import type { Journal, NumberedBatch } from './journal.ts'
import type { CrawlIdentity, LedgerBatch } from './ledger.ts'
import { complaintAbout, isBeingSealed, listSegments, type SegmentFiles, scanSegments } from './segment-chain.ts'
import {
  chainDigest,
  decodeRecord,
  encodeIdentity,
  encodeRecord,
  originDigest,
  SEGMENT_FORMAT_VERSION,
  segmentName,
} from './segment-record.ts'
import { scanSegment, type SegmentScan } from './segment-scan.ts'

/** Long enough that files are few, short enough that forgetting one is worth it. */
const SEGMENT_BYTES = 64 * 2 ** 20

export interface SegmentedJournalOptions {
  /** `state/journal`; made where it is missing. */
  readonly directory: string
  readonly random: Random
  /** Called for a crawl that begins. */
  readonly create: () => CrawlIdentity
  /** A segment that has become this long is the last but one from the next commit on. */
  readonly segmentBytes?: number
}

/** A batch as it will stand in the journal. */
export interface PreparedBatch {
  readonly number: number
  /** As bytes; decodeBatch() reads them. */
  readonly body: Buffer
  /** Stands for this batch and everything before it. */
  readonly digest: Buffer
}

interface Segment {
  readonly path: string
  readonly firstNumber: number
  /** The byte at which the head ends, then each batch. */
  readonly ends: number[]
  /** Seal included. */
  bytes: number
}

export class SegmentedJournal implements Journal {
  readonly identity: CrawlIdentity
  /** Bytes of an unfinished last batch that were cut off: what was in flight when the process died. */
  readonly tornTailBytes: number
  readonly #directory: string
  readonly #random: Random
  readonly #segmentBytes: number
  /** In order, never empty; the last one is written by #log. */
  readonly #segments: Segment[]
  #log: FramedLog
  #lastDigest: Buffer
  #isCommitting = false
  #fault: unknown = null

  private constructor(options: SegmentedJournalOptions, scans: readonly SegmentScan[], log: FramedLog) {
    const current = scans.at(-1)
    assert(current !== undefined && current.identity !== null, 'a journal without a segment')
    this.identity = current.identity
    this.tornTailBytes = log.tornTailBytes
    this.#directory = options.directory
    this.#random = options.random
    this.#segmentBytes = options.segmentBytes ?? SEGMENT_BYTES
    this.#segments = scans.map(({ path, firstNumber, ends, end }) => ({ path, firstNumber, ends, bytes: end }))
    this.#log = log
    this.#lastDigest = current.lastDigest
  }

  /** Reads and checks everything; refuses what cannot be the work of a journal and its crashes. */
  static async open(options: SegmentedJournalOptions): Promise<SegmentedJournal> {
    const { directory, random, create } = options
    const files = await listSegments(directory)
    refuseMisnamed(directory, files)
    refuseFormerLedger(directory, files)
    const scans = await scanSegments(directory, files)
    for (const [index, { path }] of scans.entries()) {
      const complaint = complaintAbout(scans, index)
      if (complaint !== null) throw faultOf(path, complaint)
    }
    for (const name of files.unfinished) await rm(join(directory, name), { force: true })
    if (scans.length === 0) {
      const identity = create()
      await makeDirectory(directory)
      await syncDirectory(dirname(directory))
      const log = await createSegment({ directory, random, identity, follows: 0, digest: originDigest(identity) })
      await log.close()
      scans.push(await scanSegment(directory, segmentName(1), 1))
    }
    const before = scans.at(-2)
    if (before !== undefined && isBeingSealed(scans, scans.length - 2)) {
      await seal(await FramedLog.goOn(framesOf(before)), before.lastNumber, before.lastDigest)
      scans.splice(-2, 1, await scanSegment(directory, before.name, before.firstNumber))
    }
    return new SegmentedJournal(options, scans, await FramedLog.goOn(framesOf(scans.at(-1))))
  }

  /** A journal that goes on where another one stood after a batch; the directory has none. */
  static async beginAt(
    options: Omit<SegmentedJournalOptions, 'create'>,
    identity: CrawlIdentity,
    follows: number,
    digest: Buffer,
  ): Promise<SegmentedJournal> {
    const { directory, random } = options
    await makeDirectory(directory)
    await (await createSegment({ directory, random, identity, follows, digest })).close()
    return SegmentedJournal.open({ ...options, create: () => identity })
  }

  get firstNumber(): number {
    return this.#segments[0]?.firstNumber ?? 1
  }

  /** Of the last batch; of the crawl's identity where there is none. */
  get lastDigest(): Buffer {
    return this.#lastDigest
  }

  get lastNumber(): number {
    return lastNumberOf(this.#current)
  }

  get bytes(): number {
    return this.#segments.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  bytesAfter(number: number): number {
    let sum = 0
    for (const segment of this.#segments) sum += segment.bytes - startAfter(segment, number)
    return sum
  }

  async *history(after: number): AsyncGenerator<NumberedBatch> {
    const { lastNumber } = this
    refuseHole(this.#directory, after, this.firstNumber, lastNumber)
    let number = after
    for (const segment of [...this.#segments]) {
      const last = Math.min(lastNumber, lastNumberOf(segment))
      if (number >= last) continue
      for await (const payload of readFrames(segment.path, SEGMENT_FORMAT_VERSION, startAfter(segment, number))) {
        const record = decodeRecord(payload)
        if (record?.kind !== 'batch' || record.number !== number + 1) break
        number++
        yield { number, batch: decodeBatch(record.body) }
        if (number === last) break
      }
      if (number !== last) {
        const what = `batch ${number + 1} cannot be read, although it could when the journal was opened`
        throw faultOf(segment.path, { code: 'LEDGER_CORRUPT', at: startAfter(segment, number), what })
      }
    }
  }

  async commit(batch: LedgerBatch): Promise<number> {
    return this.commitPrepared([this.prepare(batch)])
  }

  /** The batch as it would be written next. Nothing is promised. */
  prepare(batch: LedgerBatch): PreparedBatch {
    const number = this.lastNumber + 1
    const body = encodeBatch(batch)
    return { number, body, digest: chainDigest(number, this.#lastDigest, body) }
  }

  /**
   * Writes batches with one sync, and says the number of the last. Of several a loss of power may keep the later and lose the
   * earlier, which looks like damage: only for whoever can make the journal anew.
   */
  async commitPrepared(batches: readonly PreparedBatch[]): Promise<number> {
    assert(!this.#isCommitting, 'a batch is committed while another one is')
    if (this.#fault !== null) throw this.#fault
    this.#isCommitting = true
    try {
      // At least one batch in each, however large: a segment without would have the name of the next.
      if (this.#current.ends.length > 1 && this.#log.length >= this.#segmentBytes) await this.#beginSegment()
      const ends: number[] = []
      let digest = this.#lastDigest
      for (const [index, batch] of batches.entries()) {
        const expected = this.lastNumber + 1 + index
        assert(batch.number === expected, `batch ${batch.number} is committed where ${expected} should be`)
        this.#log.append(encodeRecord('batch', batch.number, digest, batch.body))
        ends.push(this.#log.length)
        digest = batch.digest
      }
      await this.#log.sync()
      this.#lastDigest = digest
      this.#current.bytes = this.#log.length
      this.#current.ends.push(...ends)
      return this.lastNumber
    } catch (fault) {
      // Whether the batch is there only the next opening can tell: this journal is over.
      this.#fault = fault
      throw fault
    } finally {
      this.#isCommitting = false
    }
  }

  /** Unlinks the segments of which every batch is forgotten; never the current one. */
  async forget(upTo: number): Promise<void> {
    assert(upTo <= this.lastNumber, `batches up to ${upTo} are forgotten, but the last one is ${this.lastNumber}`)
    for (;;) {
      const [oldest, next] = this.#segments
      if (oldest === undefined || next === undefined || lastNumberOf(oldest) > upTo) return
      this.#segments.shift()
      try {
        await unlink(oldest.path)
        // One by one: were a later one gone after a crash and an earlier one not, that would be a gap.
        await syncDirectory(this.#directory)
      } catch (cause) {
        throw diskFault(`removing ${oldest.path}`, cause)
      }
    }
  }

  close(): Promise<void> {
    return this.#log.close()
  }

  get #current(): Segment {
    const current = this.#segments.at(-1)
    assert(current !== undefined, 'a journal without a segment')
    return current
  }

  async #beginSegment(): Promise<void> {
    const follows = this.lastNumber
    const digest = this.#lastDigest
    const former = this.#log
    const [directory, random, identity] = [this.#directory, this.#random, this.identity]
    this.#log = await createSegment({ directory, random, identity, follows, digest })
    this.#current.bytes = await seal(former, follows, digest)
    const { length } = this.#log
    const path = join(directory, segmentName(follows + 1))
    this.#segments.push({ path, firstNumber: follows + 1, ends: [length], bytes: length })
  }
}

interface NewSegment {
  readonly directory: string
  readonly random: Random
  readonly identity: CrawlIdentity
  /** Number and digest of the batch before its first. */
  readonly follows: number
  readonly digest: Buffer
}

async function createSegment({ directory, random, identity, follows, digest }: NewSegment): Promise<FramedLog> {
  const path = join(directory, segmentName(follows + 1))
  assert(!existsSync(path), `${path} is begun, but it is there already`)
  const first = encodeRecord('head', follows, digest, encodeIdentity(identity))
  return await FramedLog.open(path, { version: SEGMENT_FORMAT_VERSION, random, first })
}

/** Says that a segment follows, and lets go of the log; how long it is now. */
async function seal(log: FramedLog, lastNumber: number, lastDigest: Buffer): Promise<number> {
  log.append(encodeRecord('seal', lastNumber, lastDigest))
  const { length } = log
  await log.close()
  return length
}

function framesOf(scan: SegmentScan | undefined): FrameScan {
  assert(scan !== undefined && scan.frames !== null, 'a segment that was found good cannot be gone on with')
  return scan.frames
}

function lastNumberOf({ firstNumber, ends }: Segment): number {
  return firstNumber + ends.length - 2
}

/** The byte at which the batches after this one begin: the first of the segment, or behind its last. */
function startAfter({ firstNumber, ends, bytes }: Segment, number: number): number {
  const known = number - firstNumber + 1
  if (known < 0) return ends[0] ?? bytes
  return known < ends.length - 1 ? (ends[known] ?? bytes) : bytes
}

function refuseMisnamed(directory: string, { misnamed: [name] }: SegmentFiles): void {
  if (name === undefined) return
  const what = 'this is not the name of a segment: was it renamed or copied?'
  throw faultOf(join(directory, name), { code: 'LEDGER_CORRUPT', at: 0, what })
}

/** Before there were segments, the ledger was one file beside where their directory stands. */
function refuseFormerLedger(directory: string, { segments }: SegmentFiles): void {
  const former = join(dirname(directory), 'ledger.log')
  if (segments.length > 0 || !existsSync(former)) return
  throw new Fault(
    'LEDGER_VERSION',
    `${former} was written by an earlier version of Portolan, which kept the journal in one file; go on with that version, or start in a new directory`,
  )
}
