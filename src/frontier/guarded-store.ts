// Host lines in a store that may be damaged without a word: what was written is read back, or a fault is.
//
//   h<host>                    the host's record                  p<page>     hosts in line
//   h<host>\0<number>          what was added to it since         f<batch>    fingerprints of hosts that became known
//   b<host>\0<band><number>    a block of its line
//   checkpoint                 what the last checkpoint was       m<batch>    this batch was written; its blocks
//   t                          the code of bodies (body-code.ts)
//
// Every value begins with a checksum over its key and the rest, so a wrong or misplaced value is seen. A lost batch is
// seen when the store is opened: each batch leaves a numbered marker, and the markers up to the checkpoint's are there
// without a gap. Markers are dropped when so much was written since that their batches are in no log any more: only a log
// loses whole batches. A block that is missing is seen because its host's record names it, and an addendum because others have the numbers after
// its own (of the first, only when hosts are read one after the other). That the last is missing is seen
// only when the run that wrote it reads it, or when fewer URLs wait than should.

import { crc32, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { assert, Fault } from '../base/index.ts'
import type { HostKey } from '../url/index.ts'
import { BodyCode } from './body-code.ts'
import type { LineStore, StoreBatch } from './line-store.ts'

const CRC_BYTES = 4
const MARKER = 'm'
const KNOWN = 'f'
const NUMBER_DIGITS = 9
/** The character that numbers the first addendum. */
const FIRST_ADDENDUM = 48
export const CHECKPOINT = 'checkpoint'
const CODE = 't'
/**
 * For a byte written so many are merged. What is written is mostly written anew or deleted, so a stretch that comes to be merged holds
 * about a quarter of what nobody needs, and all of them together half of that.
 */
const MERGED_PER_WRITTEN = 4
/** Less is not worth the table that it makes. */
const MERGE_BYTES_MIN = 4 * 2 ** 20
/** Several times what a log holds. */
const LOGGED_BYTES_MAX = 64 * 2 ** 20

export const hostKey = (host: HostKey): string => `h${host}`
export const addendumKey = (host: HostKey, number: number): string =>
  `h${host}\0${String.fromCharCode(FIRST_ADDENDUM + number)}`
/** Of the key of an addendum, whose host ends before `end`. */
export const addendumNumber = (key: string, end: number): number => key.charCodeAt(end + 1) - FIRST_ADDENDUM
export const pageKey = (page: number): string => `p${numeral(page)}`
export const blockKey = (host: HostKey, band: number, block: number): string =>
  `b${host}\0${String.fromCharCode(48 + band)}${numeral(block)}`

/** Of equal length, so that they sort by value. */
function numeral(number: number): string {
  return number.toString(36).padStart(NUMBER_DIGITS, '0')
}

/** A record and what was added to it since, in order. */
export interface StoredHost {
  readonly record: Buffer
  readonly addenda: readonly Buffer[]
}

/** A batch that leaves its marker. */
export class GuardedBatch {
  readonly #batch: StoreBatch
  readonly #blocks: string[] = []
  bytes = 0

  constructor(batch: StoreBatch) {
    this.#batch = batch
  }

  put(key: string, value: Uint8Array): void {
    const guarded = guard(key, value)
    this.bytes += key.length + guarded.length
    this.#batch.put(key, guarded)
  }

  /** A block that no record names yet: if none ever does, it is found by the marker. */
  putBlock(key: string, value: Uint8Array): void {
    this.put(key, value)
    this.#blocks.push(key)
  }

  delete(key: string): void {
    this.bytes += key.length
    this.#batch.delete(key)
  }

  /** Only by the store, which counts the batches. */
  async writeAs(number: number): Promise<void> {
    this.put(MARKER + numeral(number), Buffer.from(this.#blocks.join('\n')))
    await this.#batch.write()
  }
}

interface Checkpoint {
  readonly text: string
  /** The number of the batch that wrote it, and the first whose marker is kept. */
  readonly batch: number
  readonly firstMarker: number
}

export class GuardedStore {
  readonly #store: LineStore
  #lastBatch = 0
  #firstMarker = 1
  /** For the markers kept: what had been written before. */
  readonly #writtenBefore: number[] = []
  #written = 0
  #pause: Promise<void> | null = null
  #pauses = 0
  #endPause: (() => void) | null = null
  #writing: Promise<void> | null = null
  #merging: Promise<void> | null = null
  /** What had been written when the last merge began. */
  #mergedAt = 0

  #code: BodyCode | null = null

  constructor(store: LineStore) {
    this.#store = store
  }

  /** What blocks are written in and can be read with; null as long as none was made. */
  get code(): BodyCode | null {
    return this.#code
  }

  /** Reads the code, if there is one; open() does not. */
  async readCode(): Promise<void> {
    const [packed] = await this.getMany([CODE])
    if (packed === undefined) return
    this.#code = BodyCode.of(zstdDecompressSync(packed))
    if (this.#code === null) throw this.damaged('the code of the blocks makes no sense')
  }

  /** From now on blocks are written in this code. Once only: what is written in it cannot be read in another. */
  async writeCode(code: BodyCode): Promise<void> {
    assert(this.#code === null, 'the waiting URLs have a code already')
    const batch = this.batch()
    batch.put(CODE, zstdCompressSync(code.stored()))
    await this.write(batch)
    this.#code = code
  }

  /** The text of the last checkpoint; null in a new store. What an unfinished one left is removed. */
  async open(isNew: boolean): Promise<string | null> {
    const [bytes] = await this.getMany([CHECKPOINT])
    if (bytes === undefined) {
      if (!isNew) throw this.damaged('there is no checkpoint')
      for await (const [key] of this.#store.range('', '\uffff'))
        throw this.damaged(`there is ${JSON.stringify(key)}, but no checkpoint`)
      return null
    }
    const checkpoint = JSON.parse(bytes.toString()) as Checkpoint
    const blocks: string[] = []
    let next = checkpoint.firstMarker
    const late: string[] = []
    for await (const [key, value] of this.#store.range(MARKER, MARKER + '\uffff')) {
      const number = Number.parseInt(key.slice(1), 36)
      const text = this.unguard(key, value).toString()
      if (number <= checkpoint.batch) {
        if (number !== next) throw this.damaged(`batch ${next} is missing`)
        next++
      } else {
        late.push(key)
        if (text !== '') blocks.push(...text.split('\n'))
      }
    }
    if (next !== checkpoint.batch + 1) throw this.damaged(`batch ${next} is missing`)
    this.#firstMarker = checkpoint.firstMarker
    this.#lastBatch = checkpoint.batch
    for (let i = checkpoint.firstMarker; i <= checkpoint.batch; i++) this.#writtenBefore.push(0)
    if (late.length > 0) {
      const batch = this.#store.batch()
      for (const key of [...late, ...blocks]) batch.delete(key)
      await batch.write()
    }
    return checkpoint.text
  }

  batch(): GuardedBatch {
    return new GuardedBatch(this.#store.batch())
  }

  async write(batch: GuardedBatch): Promise<void> {
    while (this.#pause !== null) await this.#pause
    this.#writtenBefore.push(this.#written)
    this.#written += batch.bytes
    this.#writing = batch.writeAs(++this.#lastBatch)
    try {
      await this.#writing
    } finally {
      this.#writing = null
    }
  }

  /** Writes the batch that makes a checkpoint: it and everything before it count from now on. */
  async writeCheckpoint(batch: GuardedBatch, text: string): Promise<void> {
    while (this.#writtenBefore.length > 1 && this.#written - (this.#writtenBefore[1] as number) > LOGGED_BYTES_MAX) {
      batch.delete(MARKER + numeral(this.#firstMarker++))
      this.#writtenBefore.shift()
    }
    const checkpoint: Checkpoint = { text, batch: this.#lastBatch + 1, firstMarker: this.#firstMarker }
    batch.put(CHECKPOINT, Buffer.from(JSON.stringify(checkpoint)))
    await this.write(batch)
  }

  /** Has as much merged as was written since the last time asks for, beside everything else. */
  merge(): void {
    if (this.#merging !== null || this.#pause !== null) return
    const bytes = (this.#written - this.#mergedAt) * MERGED_PER_WRITTEN
    if (bytes < MERGE_BYTES_MIN) return
    this.#mergedAt = this.#written
    // What it may find is found by whoever reads or writes.
    this.#merging = this.#store
      .merge(bytes)
      .catch(() => undefined)
      .finally(() => (this.#merging = null))
  }

  async getMany(keys: readonly string[]): Promise<(Buffer | undefined)[]> {
    const values = await this.#store.getMany(keys)
    return values.map((value, i) => (value === undefined ? undefined : this.unguard(keys[i] as string, value)))
  }

  /** Fingerprints of hosts that became known, to be read by knownHosts(). */
  putKnown(batch: GuardedBatch, fingerprints: Uint32Array): void {
    const bytes = Buffer.from(fingerprints.buffer, fingerprints.byteOffset, fingerprints.byteLength)
    batch.put(KNOWN + numeral(this.#lastBatch + 1), bytes)
  }

  async *knownHosts(): AsyncIterable<Uint32Array> {
    for await (const [key, value] of this.#store.range(KNOWN, KNOWN + '\uffff')) {
      const bytes = Uint8Array.from(this.unguard(key, value))
      yield new Uint32Array(bytes.buffer, 0, bytes.length >> 2)
    }
  }

  /** All hosts that have a record. */
  async *hosts(): AsyncIterable<readonly [HostKey, StoredHost]> {
    yield* this.#hostsBetween('h', 'i')
  }

  /** A host of which it is not known what was added to its record. */
  async host(host: HostKey): Promise<StoredHost | undefined> {
    for await (const [, stored] of this.#hostsBetween(hostKey(host), `${hostKey(host)}\x01`)) return stored
    return undefined
  }

  async *#hostsBetween(from: string, to: string): AsyncIterable<readonly [HostKey, StoredHost]> {
    let host: HostKey | null = null
    let stored: { readonly record: Buffer; readonly addenda: Buffer[] } | null = null
    for await (const [key, value] of this.#store.range(from, to)) {
      const bytes = this.unguard(key, value)
      const end = key.indexOf('\0')
      if (end === -1) {
        if (host !== null && stored !== null) yield [host, stored]
        host = key.slice(1) as HostKey
        stored = { record: bytes, addenda: [] }
      } else {
        if (host === null || stored === null || key !== addendumKey(host, stored.addenda.length))
          throw this.damaged(`something comes before ${JSON.stringify(key)}, but is missing`)
        stored.addenda.push(bytes)
      }
    }
    if (host !== null && stored !== null) yield [host, stored]
  }

  /** No batch is written from then on until the function it gives is called. */
  async pause(): Promise<() => void> {
    if (this.#pauses++ === 0) {
      this.#pause = new Promise((resolve) => {
        this.#endPause = resolve
      })
    }
    await this.#writing?.catch(() => undefined)
    await this.#merging
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      if (--this.#pauses > 0) return
      this.#pause = null
      this.#endPause?.()
    }
  }

  damaged(what: string): Fault {
    return new Fault(
      'LEDGER_CORRUPT',
      `the waiting URLs in ${this.#store.directory} are damaged: ${what}; restore them from a copy, or see what \`portolan repair\` can save`,
    )
  }

  /** A fault of something read, with the place it was read from. */
  named(fault: Fault): Fault {
    const { directory } = this.#store
    return fault.message.includes(directory) ? fault : new Fault(fault.code, `${directory}: ${fault.message}`, fault)
  }

  async close(): Promise<void> {
    await this.#writing?.catch(() => undefined)
    await this.#merging
    await this.#store.close()
  }

  /** What was put under a key, if it is as it was put. */
  unguard(key: string, value: Uint8Array): Buffer {
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    if (bytes.length < CRC_BYTES || bytes.readUInt32LE(0) !== checksum(key, bytes)) {
      throw this.damaged(`the checksum of ${JSON.stringify(key)} is wrong`)
    }
    return bytes.subarray(CRC_BYTES)
  }
}

function guard(key: string, value: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(CRC_BYTES + value.length)
  bytes.set(value, CRC_BYTES)
  bytes.writeUInt32LE(checksum(key, bytes), 0)
  return bytes
}

function checksum(key: string, bytes: Buffer): number {
  return crc32(bytes.subarray(CRC_BYTES), crc32(key))
}
