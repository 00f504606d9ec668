// Documents into WARC files, rotated by size. Hot: without compression a document is built in the
// file's own buffer; with it, in one scratch buffer that all documents share.
//
// The records of a document (response or revisit, request, metadata) stand together and in one file.
// Small ones are written in one go; a large one is streamed, and others wait for it, because bytes
// of two records must not mix. A file is closed once it has reached the size asked for, so it may be
// longer by one document.
//
// Always true:
//   - a location given out is where the record stands, also under concurrent writes;
//   - state() never speaks of half a document, also while one is being streamed;
//   - a full file keeps `.open` until the state that holds all of it was committed;
//   - after a failed write nothing more is written.

import { randomUUID } from 'node:crypto'
import type { Transform } from 'node:stream'
import { type Clock, diskFault, Fault } from '../base/index.ts'
import { AppendFile } from '../disk/index.ts'
import type { Document } from '../document/index.ts'
import type { Archive, ArchiveFacts, ArchiveFile, ArchiveState, OnPlace } from './archive.ts'
import { type Compression, compressionOf } from './compression.ts'
import type { StoreOptions } from './options.ts'
import type { WarcLocation } from './records.ts'
import { WarcFiles } from './warc-files.ts'
import {
  buildRecord,
  type PlannedRecord,
  planRecords,
  planWarcinfo,
  recordPieces,
  type RecordSettings,
} from './warc-record.ts'

export interface WarcWriterSettings {
  /** The crawl's directory; files go to `archive/` in it. */
  readonly directory: string
  readonly crawlName: string
  /** Number of the agent: each writes files of its own. */
  readonly agent: number
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

interface OpenFile {
  readonly name: string
  readonly file: AppendFile
  /** Up to the end of the last whole document. */
  wholeBytes: number
}

export class WarcWriter implements Archive {
  readonly #files: WarcFiles
  readonly #compression: Compression
  readonly #recordSettings: RecordSettings
  readonly #info: Readonly<Record<string, string>>
  readonly #clock: Clock
  readonly #fileBytesMax: number
  /** Records are built here before they are compressed; without compression it is not used. */
  readonly #scratch: Buffer
  #serial: number
  #open: OpenFile | null = null
  #full: ArchiveFile[] = []
  /** Someone streams or rolls: no other write may begin. */
  #busy: Promise<void> | null = null
  #rolling: Promise<void> | null = null
  #fault: Fault | null = null

  private constructor(files: WarcFiles, serial: number, settings: WarcWriterSettings) {
    const { options } = settings
    this.#files = files
    this.#serial = serial
    this.#compression = compressionOf(options.warc, options)
    this.#scratch = Buffer.allocUnsafeSlow(this.#compression.suffix === '' ? 0 : this.#compression.inPlaceBytesMax)
    this.#fileBytesMax = options.warcSize
    this.#info = settings.info
    this.#clock = settings.clock
    this.#recordSettings = {
      uuid: settings.uuid ?? randomUUID,
      requests: options.requests,
      metadata: options.metadata,
    }
  }

  static async open(settings: WarcWriterSettings): Promise<WarcWriter> {
    const files = new WarcFiles(settings.directory, settings.crawlName, settings.agent)
    const state = settings.resumeFrom ?? null
    const serial = await files.begin()
    if (state === null) return new WarcWriter(files, serial, settings)
    const unfinished = await files.recover(state)
    const writer = new WarcWriter(files, state.serial, settings)
    if (unfinished !== null) await writer.#goOn(unfinished)
    return writer
  }

  write(document: Document, facts: ArchiveFacts, onPlace?: OnPlace): Promise<WarcLocation> | WarcLocation {
    const records = planRecords(document, facts, this.#recordSettings)
    let bytes = 0
    for (const record of records) bytes += record.bytes
    // Nearly always the file is open, has room and nobody is at it: then no promise is made.
    const open = this.#open
    const canPut = this.#busy === null && this.#fault === null && open !== null && open.wholeBytes < this.#fileBytesMax
    if (!canPut || bytes > this.#compression.inPlaceBytesMax) return this.#writeLater(records, bytes, onPlace)
    try {
      const location = this.#put(open, records, bytes, onPlace)
      return open.file.needsDrain ? open.file.drained().then(() => location) : location
    } catch (fault) {
      return Promise.reject(fault)
    }
  }

  async #writeLater(records: readonly PlannedRecord[], bytes: number, onPlace?: OnPlace): Promise<WarcLocation> {
    while (this.#busy !== null) await this.#busy
    if (this.#fault !== null) throw this.#fault
    const open = this.#open
    const isSmall = bytes <= this.#compression.inPlaceBytesMax
    const location =
      isSmall && open !== null && open.wholeBytes < this.#fileBytesMax
        ? this.#put(open, records, bytes, onPlace)
        : await this.#alone(async () => {
            const ready = await this.#ready()
            return isSmall ? this.#put(ready, records, bytes, onPlace) : await this.#stream(ready, records, onPlace)
          })
    const file = this.#open?.file
    if (file?.needsDrain === true) await file.drained()
    return location
  }

  state(): ArchiveState {
    const open = this.#open
    return {
      serial: this.#serial,
      open: open === null ? null : { file: open.name, length: open.wholeBytes },
      full: [...this.#full],
    }
  }

  async sync(): Promise<void> {
    // A file that is being rolled is synced by that.
    while (this.#rolling !== null) await this.#rolling
    if (this.#fault !== null) throw this.#fault
    await this.#open?.file.sync()
  }

  async committed(state: ArchiveState | null): Promise<void> {
    const names = new Set(state?.full.map(({ file }) => file))
    for (const { file } of this.#full.filter((full) => names.has(full.file))) {
      await this.#files.finish(file)
      this.#full = this.#full.filter((full) => full.file !== file)
    }
  }

  async close(): Promise<void> {
    while (this.#busy !== null) await this.#busy
    if (this.#fault !== null) {
      // What is in the files beyond the last commit is worth nothing: let go of them as they are.
      await this.#open?.file.close().catch(() => undefined)
      this.#open = null
      return
    }
    await this.#alone(async () => {
      await this.#retire()
      await this.committed(this.state())
    })
    this.#fault = new Fault('ASSERTION', 'the archive was used after it was closed')
  }

  /** Writes the records of one document in one go. */
  #put(open: OpenFile, records: readonly PlannedRecord[], bytes: number, onPlace?: OnPlace): WarcLocation {
    const { file, name } = open
    const offset = file.length
    let firstLength = 0
    try {
      if (this.#compression.suffix === '') {
        const target = file.claim(bytes)
        let at = 0
        for (const record of records) at = buildRecord(record, target, at)
        firstLength = records[0]?.bytes ?? 0
      } else {
        for (const record of records) {
          const end = buildRecord(record, this.#scratch, 0)
          file.append(this.#compression.compress(this.#scratch.subarray(0, end)))
          if (firstLength === 0) firstLength = file.length - offset
        }
      }
    } catch (cause) {
      throw this.#fail(cause)
    }
    const location = { file: name, offset, length: firstLength }
    open.wholeBytes = file.length
    onPlace?.(location)
    return location
  }

  /** Writes the records of one document piece by piece, in bounded memory. Only alone. */
  async #stream(open: OpenFile, records: readonly PlannedRecord[], onPlace?: OnPlace): Promise<WarcLocation> {
    const { file, name } = open
    const offset = file.length
    let firstLength = 0
    for (const record of records) {
      const compressor = this.#compression.stream(record.bytes)
      if (compressor === null) await drain(recordPieces(record), file)
      else await Promise.all([feed(recordPieces(record), compressor), drain(compressor, file)])
      if (firstLength === 0) firstLength = file.length - offset
    }
    const location = { file: name, offset, length: firstLength }
    open.wholeBytes = file.length
    onPlace?.(location)
    return location
  }

  /** The open file, with room. Only alone. */
  async #ready(): Promise<OpenFile> {
    if (this.#open !== null && this.#open.wholeBytes < this.#fileBytesMax) return this.#open
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#rolling = promise
    try {
      await this.#retire()
      return await this.#begin()
    } finally {
      this.#rolling = null
      resolve()
    }
  }

  async #retire(): Promise<void> {
    const open = this.#open
    if (open === null) return
    await open.file.close()
    this.#full.push({ file: open.name, length: open.wholeBytes })
    this.#open = null
  }

  async #begin(): Promise<OpenFile> {
    const wallMs = this.#clock.wallMs()
    const name = this.#files.name(this.#serial, wallMs, this.#compression.suffix)
    const file = await AppendFile.open(this.#files.openPath(name), { committedLength: 0 })
    this.#serial++
    const open = { name, file, wholeBytes: 0 }
    this.#open = open
    const info = planWarcinfo(this.#info, name.slice(name.lastIndexOf('/') + 1), wallMs, this.#recordSettings.uuid)
    if (info.bytes <= this.#compression.inPlaceBytesMax) this.#put(open, [info], info.bytes)
    else await this.#stream(open, [info])
    return open
  }

  /** Goes on in a file cut back to its committed length, unless it is compressed otherwise than we do. */
  async #goOn({ file: name, length }: ArchiveFile): Promise<void> {
    if (!name.endsWith(`.warc${this.#compression.suffix}`)) {
      this.#full.push({ file: name, length })
      return
    }
    const file = await AppendFile.open(this.#files.openPath(name), { committedLength: length })
    this.#open = { name, file, wholeBytes: length }
  }

  async #alone<T>(work: () => Promise<T>): Promise<T> {
    while (this.#busy !== null) await this.#busy
    if (this.#fault !== null) throw this.#fault
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#busy = promise
    try {
      return await work()
    } catch (cause) {
      throw this.#fail(cause)
    } finally {
      this.#busy = null
      resolve()
    }
  }

  #fail(cause: unknown): Fault {
    this.#fault ??= diskFault('writing the archive', cause)
    return this.#fault
  }
}

/**
 * Hands over one piece at a time: each is valid only until the next, and a zstd stream that is ended
 * while a piece still waits in it adds an empty frame.
 */
async function feed(pieces: Iterable<Uint8Array>, compressor: Transform): Promise<void> {
  try {
    for (const piece of pieces) {
      await new Promise<void>((resolve, reject) => {
        compressor.write(piece, (error) => (error ? reject(error) : resolve()))
      })
    }
    compressor.end()
  } catch (cause) {
    compressor.destroy(cause as Error)
    throw cause
  }
}

async function drain(source: Iterable<Uint8Array> | AsyncIterable<Uint8Array>, file: AppendFile): Promise<void> {
  for await (const piece of source) {
    file.append(piece)
    if (file.needsDrain) await file.drained()
  }
}
