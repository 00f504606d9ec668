// A file that only grows, written from memory in the background and in order.
//
//      on disk                    being written        in memory
//    | …………………………………………… | ########## ########## | +++++++          |
//    0                   written                                  length
//
// append() copies and returns the offset at which the bytes will stand; it never waits. Bytes leave
// memory when a buffer is full, or with flush(); they are durable only after sync(). A caller that
// appends faster than the disk takes it sees `needsDrain` and waits for drained().
//
// Always true:
//   - bytes reach the file in the order of their append, each at the offset append() returned;
//   - once a write has failed nothing more is written, and every later call fails with that fault:
//     whatever was promised durable before still is, whatever was not is cut off by the next open.

import { dirname } from 'node:path'
import { assert, diskFault, Fault } from '../base/index.ts'
import { type AppendHandle, openForAppending } from './append-handle.ts'
import { syncDirectory } from './atomic-file.ts'
import { BLOCK_BYTES, type BlockBuffers, type OpenDirect, pastCache } from './past-cache.ts'

export interface AppendFileOptions {
  /** The length the file had when its last facts were committed. What stands beyond is cut off. */
  readonly committedLength?: number
  /** Size of one buffer, and so of one write. */
  readonly bufferBytes?: number
  /** More than this in memory, and `needsDrain` asks the caller to wait. */
  readonly waitingBytesMax?: number
  /** To write past the page cache from: buffers of `bufferBytes`, which may serve one file after the other. */
  readonly pastCache?: BlockBuffers
  readonly openHandle?: (path: string) => Promise<AppendHandle>
  /** For tests, as `openHandle`. */
  readonly openDirect?: OpenDirect
}

/** Measured on ext4: writes below 256 KiB cost CPU per call, above 1 MiB nothing more is won. */
export const BUFFER_BYTES = 2 ** 20

const SPARES_MAX = 4

const NEWLINE = 10
/** Of one unit of a JavaScript string. */
const UTF8_BYTES_MAX = 3

interface Range {
  readonly buffer: Buffer
  readonly start: number
  readonly end: number
  /** Nothing more will be put into the buffer: it may be used again once this range is written. */
  readonly isLast: boolean
}

interface Waiter {
  readonly length: number
  readonly resolve: () => void
  readonly reject: (fault: Fault) => void
}

export class AppendFile {
  readonly path: string
  readonly #handle: AppendHandle
  readonly #bufferBytes: number
  readonly #waitingBytesMax: number
  readonly #blockBuffers: BlockBuffers | null
  #buffer: Buffer | null = null
  /** In `#buffer`: filled up to `#fill`, handed to the writer up to `#handed`. */
  #fill = 0
  #handed = 0
  /** Buffers written out, to be filled again: fresh ones cost a page fault per 4 KiB. */
  readonly #spares: Buffer[] = []
  #ranges: Range[] = []
  #length: number
  #writtenLength: number
  #syncedLength: number
  #writing: Promise<void> | null = null
  /** In order of length, because lengths only grow. */
  #waiters: Waiter[] = []
  #fault: Fault | null = null

  private constructor(path: string, handle: AppendHandle, length: number, options: AppendFileOptions) {
    this.path = path
    this.#handle = handle
    this.#length = length
    this.#writtenLength = length
    this.#syncedLength = length
    this.#bufferBytes = options.bufferBytes ?? BUFFER_BYTES
    this.#waitingBytesMax = options.waitingBytesMax ?? 4 * this.#bufferBytes
    this.#blockBuffers = options.pastCache ?? null
    // The part of the buffer not handed over yet counts as waiting, so a smaller bound could never be met.
    assert(this.#waitingBytesMax >= 2 * this.#bufferBytes, `${path}: waitingBytesMax below two buffers`)
  }

  /** Opens or creates. A file shorter than its committed length has lost durable bytes: a fault. */
  static async open(path: string, options: AppendFileOptions = {}): Promise<AppendFile> {
    const { pastCache: buffers, openDirect, bufferBytes = BUFFER_BYTES } = options
    assert(buffers === undefined || buffers.bytes >= bufferBytes, `${path}: buffers are smaller than they should be`)
    try {
      const handle = await (options.openHandle ?? openForAppending)(path)
      try {
        const { size } = await handle.stat()
        const length = options.committedLength ?? size
        if (size < length) {
          throw new Fault(
            'LEDGER_CORRUPT',
            `${path} is ${size} bytes long, but ${length} were committed: the file was cut or replaced from outside; restore it from a copy, or see what \`portolan repair\` can save`,
          )
        }
        if (size > length) {
          await handle.truncate(length)
          await handle.datasync()
        }
        await syncDirectory(dirname(path))
        const writer = buffers === undefined ? handle : await pastCache(path, handle, buffers, openDirect)
        return new AppendFile(path, writer, length, options)
      } catch (cause) {
        await handle.close()
        throw cause
      }
    } catch (cause) {
      throw diskFault(`opening ${path}`, cause)
    }
  }

  /** All bytes appended, written or not. */
  get length(): number {
    return this.#length
  }

  /** Too much waits in memory; the caller should await drained() before it appends more. */
  get needsDrain(): boolean {
    return this.#length - this.#writtenLength > this.#waitingBytesMax
  }

  /** Copies the bytes in and returns the offset at which they stand. */
  append(data: Uint8Array | string, encoding: 'utf8' | 'latin1' = 'utf8'): number {
    if (typeof data === 'string') {
      // What it may take, not what it takes: counting would be a second walk over the text.
      const bytesMax = encoding === 'latin1' ? data.length : UTF8_BYTES_MAX * data.length
      if (bytesMax > this.#bufferBytes) return this.append(Buffer.from(data, encoding))
      return this.advance(this.reserve(bytesMax).write(data, this.#fill, encoding))
    }
    const offset = this.#length
    for (let from = 0; from < data.length;) {
      if (this.#fault !== null) throw this.#fault
      const buffer = this.#room(1)
      const count = Math.min(buffer.length - this.#fill, data.length - from)
      buffer.set(from === 0 && count === data.length ? data : data.subarray(from, from + count), this.#fill)
      this.#advance(count)
      from += count
    }
    return offset
  }

  /** The same for a text and the end of its line. Not put together before: a text in two pieces would be copied to be written. */
  appendLine(text: string): number {
    const bytesMax = UTF8_BYTES_MAX * text.length + 1
    if (bytesMax > this.#bufferBytes) return this.append(`${text}\n`)
    const memory = this.reserve(bytesMax)
    const bytes = memory.write(text, this.#fill)
    memory[this.#fill + bytes] = NEWLINE
    return this.advance(bytes + 1)
  }

  /**
   * Memory in which the next bytes of the file can be built, without a copy: `bytesMax` from `fill` on. They are filled in before
   * control is given away, and advance() says how many they have become. Not as a view: making one takes longer than
   * writing a line (bench/settle.ts).
   */
  reserve(bytesMax: number): Buffer {
    if (this.#fault !== null) throw this.#fault
    return this.#room(bytesMax)
  }

  /** Where in the memory of the last reserve() the next byte of the file stands. */
  get fill(): number {
    return this.#fill
  }

  /** The file has grown by so many bytes, written behind `fill`. Returns the offset at which they stand. */
  advance(bytes: number): number {
    const offset = this.#length
    this.#advance(bytes)
    return offset
  }

  /** Resolves when all that was appended before is with the operating system. */
  flush(): Promise<void> {
    if (this.#fault !== null) return Promise.reject(this.#fault)
    this.#handOver(false)
    return this.#reach(this.#length)
  }

  /** Resolves when all that was appended before would survive a loss of power. */
  async sync(): Promise<void> {
    const target = this.#length
    await this.flush()
    if (this.#syncedLength >= target) return
    const written = this.#writtenLength
    try {
      await this.#handle.datasync()
    } catch (cause) {
      // After a failed fsync the kernel may have dropped the pages: trying again would lie.
      throw this.#fail(cause)
    }
    this.#syncedLength = Math.max(this.#syncedLength, written)
  }

  /** Resolves when half of the bound is free again. */
  drained(): Promise<void> {
    if (this.#fault !== null) return Promise.reject(this.#fault)
    return this.needsDrain ? this.#reach(this.#length - this.#waitingBytesMax / 2) : Promise.resolve()
  }

  /** Syncs and closes. After a fault it closes only, and reports the fault. */
  async close(): Promise<void> {
    try {
      await this.sync()
    } finally {
      this.#fault ??= new Fault('ASSERTION', `${this.path} was used after it was closed`)
      await this.#writing
      const last = this.#buffer
      // Once, also where it is closed again after a fault.
      this.#buffer = null
      if (last !== null) this.#blockBuffers?.giveBack(last)
      await this.#handle.close()
    }
  }

  /** A buffer with at least `bytes` free. */
  #room(bytes: number): Buffer {
    if (bytes > this.#bufferBytes) {
      assert(false, `${this.path}: ${bytes} bytes do not fit a buffer of ${this.#bufferBytes}`)
    }
    if (this.#buffer !== null) {
      if (this.#buffer.length - this.#fill >= bytes) return this.#buffer
      this.#handOver(true)
    }
    this.#buffer = this.#blockBuffers?.take() ?? this.#spares.pop() ?? Buffer.allocUnsafeSlow(this.#bufferBytes)
    // Blocks of the file are blocks in memory.
    this.#fill = this.#blockBuffers?.holds(this.#buffer) === true ? this.#length % BLOCK_BYTES : 0
    this.#handed = this.#fill
    return this.#buffer
  }

  #advance(bytes: number): void {
    this.#fill += bytes
    this.#length += bytes
    if (this.#fill === this.#buffer?.length) this.#handOver(true)
  }

  #handOver(isLast: boolean): void {
    const buffer = this.#buffer
    if (buffer === null) return
    if (this.#fill > this.#handed || isLast) {
      this.#ranges.push({ buffer, start: this.#handed, end: this.#fill, isLast })
      this.#handed = this.#fill
    }
    if (isLast) this.#buffer = null
    this.#writing ??= this.#write()
  }

  async #write(): Promise<void> {
    // Not in the middle of an append(), which may hand over more.
    await Promise.resolve()
    try {
      for (let range = this.#ranges.shift(); range !== undefined; range = this.#ranges.shift()) {
        for (let at = range.start; at < range.end;) {
          const { bytesWritten } = await this.#handle.write(range.buffer, at, range.end - at, this.#writtenLength)
          if (bytesWritten === 0) throw new Error('the disk took no bytes')
          at += bytesWritten
          this.#writtenLength += bytesWritten
          this.#wake()
        }
        if (range.isLast && this.#blockBuffers?.giveBack(range.buffer) !== true && this.#spares.length < SPARES_MAX) {
          this.#spares.push(range.buffer)
        }
      }
    } catch (cause) {
      this.#fail(cause)
    }
    // In the same breath as finding no range left: one handed over from here on starts a new writer.
    this.#writing = null
  }

  #reach(length: number): Promise<void> {
    if (this.#writtenLength >= length) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { length, resolve, reject }
      const after = this.#waiters.findIndex((other) => other.length > length)
      if (after === -1) this.#waiters.push(waiter)
      else this.#waiters.splice(after, 0, waiter)
    })
  }

  #wake(): void {
    while (this.#waiters[0] !== undefined && this.#waiters[0].length <= this.#writtenLength) {
      this.#waiters.shift()?.resolve()
    }
  }

  #fail(cause: unknown): Fault {
    this.#fault ??= diskFault(`writing ${this.path}`, cause)
    this.#ranges = []
    for (const waiter of this.#waiters) waiter.reject(this.#fault)
    this.#waiters = []
    return this.#fault
  }
}
