// How much of each source a merged file holds, at the length the file has then. Written after the merged file is synced,
// so what it says is there. It is a memory of work done, not of facts: where it is lost or odd the work is done again.
//
//   | checksum {"sequence":6,…}⏎      | checksum {"sequence":7,…}⏎      |     two slots, written in turn and in place
//   0                                 64 KiB
//
// A write that is torn leaves the slot before it, which is as true, only older: the merged file has grown since. A file
// replaced whole would need no second slot, but five times the CPU (bench/view.ts), which is more than the lines take.

import { type FileHandle, open, readFile, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import { assert, diskFault } from '../base/index.ts'
import { syncDirectory } from '../disk/index.ts'

export interface Cursor {
  readonly format: 1
  /** The higher is the newer. */
  readonly sequence: number
  /** Of the merged file. */
  readonly length: number
  /** By the names of the sources. */
  readonly sources: Readonly<Record<string, Reached>>
}

/** What a merged file holds of a source. */
export interface Reached {
  readonly edition: number
  readonly length: number
  /** A checksum of the bytes before `length`: a source that was cut and has grown again is another one. */
  readonly tail: number
}

/** Room for some hundred sources. */
const SLOT_BYTES = 2 ** 16
const CHECKSUM_DIGITS = 8

/** Null where there is none, or none that can be read. */
export async function loadCursor(path: string): Promise<Cursor | null> {
  let bytes: Buffer
  try {
    bytes = await readFile(path)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw diskFault(`reading ${path}`, cause)
  }
  const [one, other] = [slotIn(bytes.subarray(0, SLOT_BYTES)), slotIn(bytes.subarray(SLOT_BYTES))]
  if (one === null || other === null) return one ?? other
  return one.sequence > other.sequence ? one : other
}

function slotIn(bytes: Buffer): Cursor | null {
  const line = bytes.toString('utf8', 0, Math.max(0, bytes.indexOf('\n')))
  const text = line.slice(CHECKSUM_DIGITS + 1)
  if (text === '' || line !== `${checksumOf(text)} ${text}`) return null
  const said = JSON.parse(text) as Cursor
  // The checksum says that we wrote it; only what we are, or were, is the question.
  return said.format === 1 ? said : null
}

function checksumOf(text: string): string {
  return crc32(text).toString(16).padStart(CHECKSUM_DIGITS, '0')
}

/** Writes cursors of one merged file. */
export class CursorFile {
  readonly #path: string
  readonly #handle: FileHandle
  #sequence: number

  private constructor(path: string, handle: FileHandle, sequence: number) {
    this.#path = path
    this.#handle = handle
    this.#sequence = sequence
  }

  /** Goes on after `last`, which is what loadCursor() found. */
  static async open(path: string, last: Cursor | null): Promise<CursorFile> {
    try {
      // One that has no cursor in it has nothing to keep.
      const handle = await open(path, last === null ? 'w' : 'r+')
      if (last === null) await syncDirectory(dirname(path))
      return new CursorFile(path, handle, last?.sequence ?? 0)
    } catch (cause) {
      throw diskFault(`opening ${path}`, cause)
    }
  }

  /** Durable when it resolves. After a fault the file must be closed. */
  async save(cursor: Pick<Cursor, 'length' | 'sources'>): Promise<void> {
    this.#sequence++
    const text = JSON.stringify({ format: 1, sequence: this.#sequence, ...cursor })
    const bytes = Buffer.from(`${checksumOf(text)} ${text}\n`)
    assert(bytes.length <= SLOT_BYTES, `${this.#path}: a cursor of ${bytes.length} bytes does not fit`)
    const start = (this.#sequence % 2) * SLOT_BYTES
    try {
      for (let at = 0; at < bytes.length;) {
        const { bytesWritten } = await this.#handle.write(bytes, at, bytes.length - at, start + at)
        if (bytesWritten === 0) throw new Error('the disk took no bytes')
        at += bytesWritten
      }
      await this.#handle.datasync()
    } catch (cause) {
      throw diskFault(`writing ${this.#path}`, cause)
    }
  }

  close(): Promise<void> {
    return this.#handle.close()
  }
}

/** Whatever happens, from here on there is none. */
export async function removeCursor(path: string): Promise<void> {
  await rm(path, { force: true })
  await syncDirectory(dirname(path))
}
