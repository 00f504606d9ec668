// Documents into WARC files, in the order they are offered. Hot: without compression, or where the kernel does it, a document is put
// before write() returns; with zstd or a level of zlib, documents are compressed beside each other in the thread pool.
//
//    write() ──▶ waiting ──▶ │ being compressed, at most 2 MiB of records │ ──▶ file
//                ▢ ▢ ▢       │ ■ ■ ▢ ■ ▢                                   │     each document whole, first come, first put
//                            └ the front one is put as soon as all its members are there
//
// The records of a document (response or revisit, request, metadata) stand together and in one file. A document too large to be
// held is streamed, alone: those before it are put first, those after it wait. Whoever offers more than threads and disk take
// waits in write(), so what is in memory is bounded by the line, the file's buffers and the number of those who wait.
//
// Always true:
//   - a location given out is where the record stands, also under concurrent writes;
//   - documents stand in the order of their write();
//   - after a failed write nothing more is written, and everyone who waits is told.

import { type Clock, diskFault, Fault } from '../base/index.ts'
import { BlockBuffers, BUFFER_BYTES } from '../disk/index.ts'
import type { Document } from '../document/index.ts'
import type { Archive, ArchiveFacts, ArchiveState, OnPlace } from './archive.ts'
import { CompressionPool } from './compression-pool.ts'
import { type Compression, compressionOf } from './compression.ts'
import type { StoreOptions } from './options.ts'
import { recordId } from './record-id.ts'
import type { WarcLocation } from './records.ts'
import { WarcFiles, type WarcPlace } from './warc-files.ts'
import { WarcOutput } from './warc-output.ts'
import { type PlannedRecord, planRecords, type RecordSettings } from './warc-record.ts'

/** Files go to `archive/` in the directory; each agent writes its own. */
export interface WarcWriterSettings extends WarcPlace {
  readonly options: Omit<StoreOptions, 'warc'> & { readonly warc: Exclude<StoreOptions['warc'], 'off'> }
  /** Fields of the warcinfo record: software, robots, http-header-user-agent, isPartOf, description … */
  readonly info: Readonly<Record<string, string>>
  readonly clock: Clock
  /** Source of record ids, which must be unique in the world. */
  readonly uuid?: () => string
  /**
   * The last committed state: what was written beyond it is removed. A state with serial 0 and no files
   * says that nothing was committed. Left out, what is in the directory stays and new files are begun.
   */
  readonly resumeFrom?: ArchiveState | null
}

/** Uncompressed bytes of the documents in the line: some hundred pages, far more than the lanes can have in hand. */
const LINE_BYTES_MAX = 2 * 2 ** 20

/** Four that wait, at which whoever writes is told to, one that is being filled, and one between. */
const BUFFERS = 6

/** A document on its way, and who waits for its place. */
interface Passenger {
  readonly records: readonly PlannedRecord[]
  readonly bytes: number
  /** One per record, as they come. */
  readonly members: (readonly Uint8Array[])[]
  missing: number
  readonly onPlace: OnPlace | undefined
  readonly resolve: (location: WarcLocation | Promise<WarcLocation>) => void
  readonly reject: (fault: Fault) => void
}

export class WarcWriter implements Archive {
  readonly #output: WarcOutput
  readonly #compression: Compression
  readonly #recordSettings: RecordSettings
  /** Null where nothing is compressed elsewhere: then the line is always empty. */
  readonly #pool: CompressionPool | null
  #waiting: Passenger[] = []
  #line: Passenger[] = []
  #lineBytes = 0
  /** A document is being streamed, or the file changed: nothing may be put. */
  #isBusy = false
  #isAdmitting = false
  /** To be told when nothing is on its way any more. */
  #whenIdle: (() => void)[] = []
  #fault: Fault | null = null

  private constructor(files: WarcFiles, serial: number, settings: WarcWriterSettings) {
    const { options } = settings
    this.#compression = compressionOf(options.warc, options)
    this.#pool = this.#compression.engines === null ? null : new CompressionPool(this.#compression.engines)
    this.#recordSettings = {
      uuid: settings.uuid ?? recordId,
      requests: options.requests,
      metadata: options.metadata,
      blockDigest: options.blockDigest,
    }
    this.#output = new WarcOutput({
      files,
      serial,
      compression: this.#compression,
      records: this.#recordSettings,
      info: settings.info,
      clock: settings.clock,
      fileBytesMax: options.warcSize,
      buffers: options.pastCache ? new BlockBuffers(BUFFERS, BUFFER_BYTES) : null,
    })
  }

  static async open(settings: WarcWriterSettings): Promise<WarcWriter> {
    const files = new WarcFiles(settings)
    const state = settings.resumeFrom ?? null
    const serial = await files.begin()
    if (state === null) return new WarcWriter(files, serial, settings)
    const unfinished = await files.recover(state)
    const writer = new WarcWriter(files, state.serial, settings)
    if (unfinished !== null) await writer.#output.goOn(unfinished)
    return writer
  }

  write(document: Document, facts: ArchiveFacts, onPlace?: OnPlace): Promise<WarcLocation> | WarcLocation {
    if (this.#fault !== null) return Promise.reject(this.#fault)
    const records = planRecords(document, facts, this.#recordSettings)
    let bytes = 0
    for (let i = 0; i < records.length; i++) bytes += (records[i] as PlannedRecord).bytes
    // Nearly always the file is open and has room. If nobody is before it, a document that need not go to the pool is put
    // at once, and no promise is made.
    const isFree = !this.#isBusy && this.#line.length + this.#waiting.length === 0 && this.#output.isReady
    if (isFree && bytes <= this.#compression.wholeBytesMax) {
      try {
        const location = this.#putAtOnce(records, onPlace)
        if (location !== null) return this.#afterDrain(location)
      } catch (cause) {
        return Promise.reject(this.#fail(cause))
      }
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ records, bytes, members: [], missing: records.length, onPlace, resolve, reject })
      this.#admit()
    })
  }

  state(): ArchiveState {
    return this.#output.state()
  }

  async sync(): Promise<void> {
    if (this.#fault !== null) throw this.#fault
    await this.#output.sync()
  }

  async committed(state: ArchiveState | null): Promise<void> {
    await this.#output.committed(state)
  }

  async close(): Promise<void> {
    await this.#end(async () => {
      await this.#output.retire()
      await this.#output.committed(this.#output.state())
    })
  }

  /** Lets go of the files as they are: what of them was not committed is cut off by whoever opens them next. */
  async abandon(): Promise<void> {
    await this.#end(() => this.#output.abandon())
  }

  async #end(finish: () => Promise<void>): Promise<void> {
    while (this.#isBusy || this.#line.length + this.#waiting.length > 0) {
      await new Promise<void>((resolve) => {
        this.#whenIdle.push(resolve)
      })
    }
    this.#pool?.close()
    if (this.#fault !== null) {
      await this.#output.abandon()
      return
    }
    this.#fault = new Fault('ASSERTION', 'the archive was used after it was closed')
    await finish()
  }

  /** Null for documents that go to the pool. */
  #putAtOnce(records: readonly PlannedRecord[], onPlace?: OnPlace): WarcLocation | null {
    if (this.#pool === null) return this.#output.putWhole(records, onPlace)
    const members: (readonly Uint8Array[])[] = []
    for (const record of records) {
      const member = this.#compression.inPlace(record)
      if (member === null) return null
      members.push(member)
    }
    return this.#output.putMembers(members, onPlace)
  }

  /** Lets those in who wait, in their order, as far as there is room. */
  #admit(): void {
    this.#isAdmitting = true
    for (;;) {
      const next = this.#waiting[0]
      if (next === undefined || this.#isBusy) break
      const goesAlone = this.#pool === null || next.bytes > this.#compression.wholeBytesMax
      const isThereRoom = goesAlone ? this.#line.length === 0 : this.#lineBytes + next.bytes <= LINE_BYTES_MAX
      if (!isThereRoom) break
      this.#waiting.shift()
      if (goesAlone) void this.#busyWith(() => this.#putAlone(next))
      else this.#compress(next)
    }
    this.#isAdmitting = false
    this.#wakeIfIdle()
  }

  #compress(passenger: Passenger): void {
    this.#line.push(passenger)
    this.#lineBytes += passenger.bytes
    const done = (i: number, member: readonly Uint8Array[]): void => {
      passenger.members[i] = member
      passenger.missing--
      if (passenger.missing === 0) this.#land()
    }
    // The response is mostly on its way to another thread when the request is compressed here.
    for (const [i, record] of passenger.records.entries()) {
      try {
        const member = this.#compression.inPlace(record)
        if (member !== null) done(i, member)
        else this.#pool?.take({ record, done: (made) => done(i, made), failed: (cause) => this.#fail(cause) })
      } catch (cause) {
        this.#fail(cause)
        return
      }
    }
  }

  /** Puts the documents at the front of the line that are ready. */
  #land(): void {
    while (!this.#isBusy && this.#line[0]?.missing === 0) {
      if (!this.#output.isReady) {
        void this.#busyWith(() => this.#roll())
        return
      }
      const passenger = this.#line.shift() as Passenger
      this.#lineBytes -= passenger.bytes
      try {
        passenger.resolve(this.#afterDrain(this.#output.putMembers(passenger.members, passenger.onPlace)))
      } catch (cause) {
        passenger.reject(this.#fail(cause))
      }
    }
    if (!this.#isAdmitting) this.#admit()
  }

  /** A document that is streamed, or one that does not go to the pool and came while it could not be put at once. */
  async #putAlone({ records, bytes, onPlace, resolve, reject }: Passenger): Promise<() => void> {
    try {
      await this.#output.roll()
      const location =
        bytes <= this.#compression.wholeBytesMax
          ? this.#output.putWhole(records, onPlace)
          : await this.#output.stream(records, onPlace)
      const settled = this.#afterDrain(location)
      return () => resolve(settled)
    } catch (cause) {
      const fault = this.#fail(cause)
      return () => reject(fault)
    }
  }

  async #roll(): Promise<() => void> {
    try {
      await this.#output.roll()
    } catch (cause) {
      this.#fail(cause)
    }
    return () => undefined
  }

  /** Nothing is put until the work is done. It gives back whom to tell, and never fails. */
  async #busyWith(work: () => Promise<() => void>): Promise<void> {
    this.#isBusy = true
    const tell = await work()
    this.#isBusy = false
    tell()
    this.#land()
  }

  /** The place, once the disk has taken enough of what was put before. */
  #afterDrain(location: WarcLocation): Promise<WarcLocation> | WarcLocation {
    return this.#output.needsDrain ? this.#output.drained().then(() => location) : location
  }

  #fail(cause: unknown): Fault {
    this.#fault ??= diskFault('writing the archive', cause)
    const told = [...this.#line, ...this.#waiting]
    this.#line = []
    this.#waiting = []
    this.#lineBytes = 0
    for (const { reject } of told) reject(this.#fault)
    this.#wakeIfIdle()
    return this.#fault
  }

  #wakeIfIdle(): void {
    if (this.#isBusy || this.#line.length + this.#waiting.length > 0) return
    const told = this.#whenIdle
    this.#whenIdle = []
    for (const resolve of told) resolve()
  }
}
