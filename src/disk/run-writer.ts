import { closeSync, constants, fdatasync, fdatasyncSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { diskFault } from '../base/index.ts'
import { syncDirectory } from './atomic-file.ts'
import {
  BLOCK_KEYS_MAX,
  BLOCK_KEYS_MIN,
  BLOCK_WORDS,
  blockCrc,
  COUNT_LARGE,
  HEAD_BYTES,
  KEY_BYTES,
  RUN_BLOCK_BYTES,
  RUN_WINDOW_BLOCKS,
  Window,
} from './run-block.ts'
import { RunIndex } from './run-index.ts'
import { SortedRun } from './sorted-run.ts'

const fdatasyncLater = promisify(fdatasync)

/** Writes a run. Keys come in strictly ascending order. */
export class RunWriter {
  readonly path: string
  readonly #fd: number
  readonly #index: RunIndex
  readonly #window: Window
  readonly #counts = new Uint16Array(BLOCK_KEYS_MAX)
  #place = 0
  #blocksWritten = 0
  #blockKeys = 0
  #blockBytes = HEAD_BYTES
  #keys = 0

  /** `keysMax` bounds what will be added. The file must not exist. */
  constructor(path: string, keysMax: number, filterBytes: number) {
    this.path = path
    const blocksMax = Math.ceil(keysMax / BLOCK_KEYS_MIN) + 1
    this.#index = new RunIndex(blocksMax, filterBytes)
    this.#window = new Window(Math.min(RUN_WINDOW_BLOCKS, blocksMax))
    try {
      this.#fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL)
    } catch (cause) {
      throw diskFault(`creating ${path}`, cause)
    }
  }

  get keys(): number {
    return this.#keys
  }

  add(high: number, low: number, count: number): void {
    const bytes = KEY_BYTES + (count < COUNT_LARGE ? 1 : 3)
    if (this.#blockBytes + bytes > RUN_BLOCK_BYTES) this.#endBlock()
    const word = this.#place * BLOCK_WORDS + 2 + 2 * this.#blockKeys
    this.#window.words[word] = low
    this.#window.words[word + 1] = high
    this.#counts[this.#blockKeys++] = count
    this.#blockBytes += bytes
    this.#keys++
  }

  /** No more keys. The bytes are with the system after this, and durable after sync(). */
  finish(): void {
    if (this.#blockKeys > 0) this.#endBlock()
    this.#write()
    this.#window.release()
    this.#index.finish()
  }

  /** Makes a finished run durable, with its name. */
  async sync(): Promise<void> {
    try {
      await fdatasyncLater(this.#fd)
      await syncDirectory(dirname(this.path))
    } catch (cause) {
      throw diskFault(`writing ${this.path}`, cause)
    }
  }

  /** The same at once, for callers that cannot wait. */
  syncNow(): void {
    try {
      fdatasyncSync(this.#fd)
      const directory = openSync(dirname(this.path), 'r')
      fsyncSync(directory)
      closeSync(directory)
    } catch (cause) {
      throw diskFault(`writing ${this.path}`, cause)
    }
  }

  /** The finished run, to be read. */
  toRun(): SortedRun {
    return new SortedRun(this.path, this.#fd, this.#keys, this.#index)
  }

  /** Gives the file up, unfinished. */
  abandon(): void {
    closeSync(this.#fd)
    this.#index.release()
  }

  #endBlock(): void {
    const { bytes, words } = this.#window
    const keys = this.#blockKeys
    const at = this.#place * RUN_BLOCK_BYTES
    let counts = at + HEAD_BYTES + keys * KEY_BYTES
    let larges = counts + keys
    let large = 0
    for (let i = 0; i < keys; i++) {
      const count = this.#counts[i] as number
      bytes[counts++] = Math.min(count, COUNT_LARGE)
      if (count < COUNT_LARGE) continue
      larges = bytes.writeUInt16LE(count, larges)
      large++
    }
    bytes.fill(0, larges, at + RUN_BLOCK_BYTES)
    words[this.#place * BLOCK_WORDS + 1] = keys | (large << 16)
    words[this.#place * BLOCK_WORDS] = blockCrc(bytes, at, this.#blocksWritten + this.#place)
    this.#index.add(words, this.#place * BLOCK_WORDS + 2, keys)
    this.#blockKeys = 0
    this.#blockBytes = HEAD_BYTES
    if (++this.#place * RUN_BLOCK_BYTES === this.#window.bytes.length) this.#write()
  }

  #write(): void {
    const end = this.#place * RUN_BLOCK_BYTES
    const offset = this.#blocksWritten * RUN_BLOCK_BYTES
    try {
      for (let at = 0; at < end;) at += writeSync(this.#fd, this.#window.bytes, at, end - at, offset + at)
    } catch (cause) {
      throw diskFault(`writing ${this.path}`, cause)
    }
    this.#blocksWritten += this.#place
    this.#place = 0
  }
}
