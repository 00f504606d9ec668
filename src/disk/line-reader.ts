// Single lines of a file that only grows, each by the byte at which it begins. The file may be written meanwhile, by
// whoever knows that the line is there.

import { type FileHandle, open } from 'node:fs/promises'
import { diskFault, Fault } from '../base/index.ts'

/** Holds most lines of pages.jsonl; a longer one costs more reads. */
const READ_BYTES = 2048
/** No line of ours is longer: what seems so is not a line. */
const LINE_BYTES_MAX = 2 ** 24
const NEWLINE = 0x0a

export class LineReader {
  readonly #path: string
  readonly #handle: FileHandle

  private constructor(path: string, handle: FileHandle) {
    this.#path = path
    this.#handle = handle
  }

  static async open(path: string): Promise<LineReader> {
    try {
      return new LineReader(path, await open(path, 'r'))
    } catch (cause) {
      throw diskFault(`opening ${path}`, cause)
    }
  }

  /** The line that begins at a byte, without its newline; a fault when none begins there, or none ends. */
  async readAt(offset: number): Promise<string> {
    // With the byte before, which must be the end of another line.
    const start = Math.max(0, offset - 1)
    const skip = offset - start
    for (let bytes = READ_BYTES; ; bytes *= 8) {
      const read = await this.#read(start, bytes)
      if (skip === 1 && read[0] !== NEWLINE) throw this.#damaged(offset, 'no line begins there')
      const end = read.indexOf(NEWLINE, skip)
      if (end !== -1) return read.toString('utf8', skip, end)
      if (read.length < bytes || bytes > LINE_BYTES_MAX) throw this.#damaged(offset, 'the line there has no end')
    }
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }

  async #read(start: number, bytes: number): Promise<Buffer> {
    const buffer = Buffer.allocUnsafe(bytes)
    let filled = 0
    try {
      while (filled < bytes) {
        const { bytesRead } = await this.#handle.read(buffer, filled, bytes - filled, start + filled)
        if (bytesRead === 0) break
        filled += bytesRead
      }
    } catch (cause) {
      throw diskFault(`reading ${this.#path}`, cause)
    }
    return buffer.subarray(0, filled)
  }

  #damaged(offset: number, what: string): Fault {
    return new Fault(
      'LEDGER_CORRUPT',
      `${this.#path} is not as it was written at byte ${offset}: ${what}. It was changed from outside; restore it from a copy`,
    )
  }
}
