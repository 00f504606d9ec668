// The WARC file that is being written, and the one after it. Puts whole documents at its end and says where they stand;
// who may put, and when, is the writer's business (warc-writer.ts).
//
// Always true:
//   - state() never speaks of half a document, also while one is being streamed;
//   - a full file keeps `.open` until the state that holds all of it was committed.

import type { Transform } from 'node:stream'
import { assert, type Clock, diskFault, type Fault } from '../base/index.ts'
import { AppendFile, type BlockBuffers } from '../disk/index.ts'
import type { ArchiveFile, ArchiveState, OnPlace } from './archive.ts'
import type { Compression } from './compression.ts'
import type { WarcLocation } from './records.ts'
import type { WarcFiles } from './warc-files.ts'
import { buildRecord, type PlannedRecord, planWarcinfo, type RecordSettings } from './warc-record.ts'

export interface WarcOutputSettings {
  readonly files: WarcFiles
  readonly serial: number
  readonly compression: Compression
  readonly records: RecordSettings
  readonly info: Readonly<Record<string, string>>
  readonly clock: Clock
  /** A file that has reached it is closed, so it may be longer by one document. */
  readonly fileBytesMax: number
  /** Null to write through the page cache. */
  readonly buffers: BlockBuffers | null
}

interface OpenFile {
  readonly name: string
  readonly file: AppendFile
  /** Up to the end of the last whole document. */
  wholeBytes: number
  /** Nothing stands in it but what it says of itself: a file takes one document, however small it is meant to be. */
  isFresh: boolean
}

export class WarcOutput {
  readonly #settings: WarcOutputSettings
  #serial: number
  #open: OpenFile | null = null
  #full: ArchiveFile[] = []
  #rolling: Promise<void> | null = null
  /** Why a file could not be closed or begun: what was put may not be durable, and no sync may say so. */
  #rollFault: Fault | null = null

  constructor(settings: WarcOutputSettings) {
    this.#settings = settings
    this.#serial = settings.serial
  }

  /** A file is open and has room: something can be put. */
  get isReady(): boolean {
    const open = this.#open
    return open !== null && (open.isFresh || open.wholeBytes < this.#settings.fileBytesMax)
  }

  get needsDrain(): boolean {
    return this.#open?.file.needsDrain === true
  }

  drained(): Promise<void> {
    return this.#open?.file.drained() ?? Promise.resolve()
  }

  /** Makes it ready: closes a full file and begins the next. One at a time. */
  async roll(): Promise<void> {
    if (this.isReady) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#rolling = promise
    try {
      await this.retire()
      await this.#begin()
    } catch (cause) {
      this.#rollFault = diskFault('closing a WARC file and opening the next', cause)
      throw this.#rollFault
    } finally {
      this.#rolling = null
      resolve()
    }
  }

  /** Puts the records of one document, made here and now. Only when ready, and where nothing goes to the pool. */
  putWhole(records: readonly PlannedRecord[], onPlace?: OnPlace): WarcLocation {
    const open = this.#ready()
    const { file } = open
    const { compression } = this.#settings
    const offset = file.length
    let firstLength = 0
    for (let i = 0; i < records.length; i++) {
      const record = records[i] as PlannedRecord
      const member = compression.inPlace(record)
      if (member === null) {
        // Not compressed: built in the file's own buffer.
        const target = file.reserve(record.bytes)
        buildRecord(record, target, file.fill)
        file.advance(record.bytes)
      } else for (const piece of member) file.append(piece)
      if (i === 0) firstLength = file.length - offset
    }
    return this.#placed(open, offset, firstLength, onPlace)
  }

  /** Puts the members of one document, each in pieces. Only when ready. */
  putMembers(members: readonly (readonly Uint8Array[])[], onPlace?: OnPlace): WarcLocation {
    const open = this.#ready()
    const { file } = open
    const offset = file.length
    let firstLength = 0
    for (const member of members) {
      for (const piece of member) file.append(piece)
      if (firstLength === 0) firstLength = file.length - offset
    }
    return this.#placed(open, offset, firstLength, onPlace)
  }

  /** Writes the records of one document piece by piece, in bounded memory. Only when ready; nothing may be put meanwhile. */
  async stream(records: readonly PlannedRecord[], onPlace?: OnPlace): Promise<WarcLocation> {
    return await this.#stream(this.#ready(), records, onPlace)
  }

  async #stream(open: OpenFile, records: readonly PlannedRecord[], onPlace?: OnPlace): Promise<WarcLocation> {
    const { file } = open
    const offset = file.length
    let firstLength = 0
    for (const record of records) {
      const { pieces, compressor } = this.#settings.compression.stream(record)
      if (compressor === null) await drain(pieces, file)
      else await Promise.all([feed(pieces, compressor), drain(compressor, file)])
      if (firstLength === 0) firstLength = file.length - offset
    }
    return this.#placed(open, offset, firstLength, onPlace)
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
    if (this.#rollFault !== null) throw this.#rollFault
    await this.#open?.file.sync()
  }

  async committed(state: ArchiveState | null): Promise<void> {
    const names = new Set(state?.full.map(({ file }) => file))
    for (const { file } of this.#full.filter((full) => names.has(full.file))) {
      await this.#settings.files.finish(file)
      this.#full = this.#full.filter((full) => full.file !== file)
    }
  }

  /** Closes the open file: it is full, or the last. */
  async retire(): Promise<void> {
    const open = this.#open
    if (open === null) return
    await open.file.close()
    this.#full.push({ file: open.name, length: open.wholeBytes })
    this.#open = null
  }

  /** After a fault: what is in the file beyond the last commit is worth nothing, so it is let go of as it is. */
  async abandon(): Promise<void> {
    await this.#open?.file.close().catch(() => undefined)
    this.#open = null
  }

  /** Goes on in a file cut back to its committed length, unless it is compressed otherwise than we do. */
  async goOn({ file: name, length }: ArchiveFile): Promise<void> {
    const { compression } = this.#settings
    if (!name.endsWith(`.warc${compression.suffix}`)) {
      this.#full.push({ file: name, length })
      return
    }
    const file = await this.#openFile(name, length)
    this.#open = { name, file, wholeBytes: length, isFresh: false }
  }

  async #begin(): Promise<void> {
    const { files, compression, clock, info, records } = this.#settings
    const wallMs = clock.wallMs()
    const name = files.name(this.#serial, wallMs, compression.suffix)
    const file = await this.#openFile(name, 0)
    const open = { name, file, wholeBytes: 0, isFresh: false }
    try {
      await this.#stream(open, [planWarcinfo(info, name.slice(name.lastIndexOf('/') + 1), wallMs, records)])
    } catch (cause) {
      await file.close().catch(() => undefined)
      throw cause
    }
    // Only now: a state that spoke of the file before would have a later run go on in it without its first record.
    this.#serial++
    this.#open = { ...open, isFresh: true }
  }

  #openFile(name: string, committedLength: number): Promise<AppendFile> {
    const { files, buffers } = this.#settings
    return AppendFile.open(files.openPath(name), {
      committedLength,
      ...(buffers === null ? {} : { pastCache: buffers }),
    })
  }

  #ready(): OpenFile {
    assert(this.#open !== null && this.isReady, 'something was put into a file that is not ready')
    return this.#open
  }

  /** In one breath: state() speaks of the document, and whoever notes its place has it. */
  #placed(open: OpenFile, offset: number, length: number, onPlace?: OnPlace): WarcLocation {
    const location = { file: open.name, offset, length }
    open.wholeBytes = open.file.length
    open.isFresh = false
    onPlace?.(location)
    return location
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
