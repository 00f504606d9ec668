// A file of lines that grows: read on from where one was, and single lines by their place. Waits for the disk: it is for a thread of its own.

import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { diskFault } from '../base/index.ts'
import { damagedUnless } from './damaged.ts'

const WINDOW_BYTES = 256 * 2 ** 10
const LINE_BYTES = 2_048
/** No line of ours is longer. */
const LINE_BYTES_MAX = 2 ** 24
const TAIL_BYTES = 1_024
const NEWLINE = 10

export class LineFile {
  readonly #path: string
  #file: number | null = null
  #window = Buffer.allocUnsafeSlow(WINDOW_BYTES)

  constructor(path: string) {
    this.#path = path
  }

  /** Its length now; 0 where there is none. */
  size(): number {
    this.#open()
    return this.#file === null ? 0 : fstatSync(this.#file).size
  }

  /** Whether another file has taken the name since it was opened. */
  isReplaced(): boolean {
    if (this.#file === null) return false
    const there = statSync(this.#path, { throwIfNoEntry: false })
    return there?.ino !== fstatSync(this.#file).ino
  }

  /**
   * The whole lines from `position` on, as far as they end at or before `end` and fit into a window; each with its place. Returns where the
   * next one begins: `position` when there is none yet.
   */
  lines(position: number, end: number, onLine: (text: string, place: number) => void): number {
    for (;;) {
      const filled = this.#read(this.#window, Math.min(this.#window.length, end - position), position)
      const bytes = this.#window.subarray(0, filled)
      let from = 0
      for (let to = bytes.indexOf(NEWLINE); to !== -1; to = bytes.indexOf(NEWLINE, from)) {
        onLine(bytes.toString('utf8', from, to), position + from)
        from = to + 1
      }
      if (from > 0 || filled < this.#window.length) {
        if (this.#window.length > WINDOW_BYTES) this.#window = Buffer.allocUnsafeSlow(WINDOW_BYTES)
        return position + from
      }
      damagedUnless(this.#window.length < LINE_BYTES_MAX, `no line ends behind byte ${position} of ${this.#path}`)
      this.#window = Buffer.allocUnsafeSlow(2 * this.#window.length)
    }
  }

  /** The line at a place; throws Damaged where none begins there. */
  lineAt(place: number): string {
    const skip = place === 0 ? 0 : 1
    for (let bytes = LINE_BYTES; bytes <= 2 * LINE_BYTES_MAX; bytes *= 8) {
      const buffer = Buffer.allocUnsafe(bytes)
      const filled = this.#read(buffer, bytes, place - skip)
      damagedUnless(filled > skip && (skip === 0 || buffer[0] === NEWLINE), `no line begins at byte ${place}`)
      const end = buffer.subarray(0, filled).indexOf(NEWLINE, skip)
      if (end !== -1) return buffer.toString('utf8', skip, end)
      if (filled < bytes) break
    }
    damagedUnless(false, `no line ends behind byte ${place}`)
  }

  /** A checksum of what stands before a position, by which a file that was cut and has grown again is told apart. */
  tailBefore(position: number): number {
    const bytes = Math.min(position, TAIL_BYTES)
    const buffer = Buffer.alloc(bytes)
    const filled = this.#read(buffer, bytes, position - bytes)
    return crc32(buffer.subarray(0, filled))
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
  }

  #read(buffer: Buffer, bytes: number, position: number): number {
    this.#open()
    if (this.#file === null) return 0
    let filled = 0
    try {
      while (filled < bytes) {
        const read = readSync(this.#file, buffer, filled, bytes - filled, position + filled)
        if (read === 0) break
        filled += read
      }
    } catch (cause) {
      throw diskFault(`reading ${this.#path}`, cause)
    }
    return filled
  }

  #open(): void {
    if (this.#file !== null) return
    try {
      this.#file = openSync(this.#path, 'r')
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw diskFault(`reading ${this.#path}`, cause)
    }
  }
}
