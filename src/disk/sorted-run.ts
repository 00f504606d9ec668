// A sorted run: keys of 64 bits in ascending order, each with a count up to 65,535, in a file that is never changed.
//
// The file is a row of checked blocks (`run-block.ts`). In memory is only a RunIndex. A look-up reads one block, most look-ups for absent keys none. Reads are synchronous:
// one from the page cache is shorter than the way through Node's thread pool and back.

import { closeSync, openSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { diskFault, Fault } from '../base/index.ts'
import {
  BLOCK_WORDS,
  checkBlock,
  COUNT_LARGE,
  countAt,
  damaged,
  HEAD_BYTES,
  KEY_BYTES,
  readBlocks,
  RUN_BLOCK_BYTES,
  RUN_WINDOW_BLOCKS,
  Window,
} from './run-block.ts'
import { RunIndex } from './run-index.ts'

export interface RunOpenOptions {
  readonly blocks: number
  readonly keys: number
  readonly filterBytes: number
}

export class SortedRun {
  readonly path: string
  readonly keys: number
  readonly #fd: number
  readonly #index: RunIndex
  readonly #window: Window
  /** Keys in each block of the window; 0 where it was not checked yet. */
  readonly #windowKeys = new Uint16Array(RUN_WINDOW_BLOCKS)
  #windowFirst = 0
  #windowBlocks = 0
  /** Blocks read by look-ups so far. */
  blocksRead = 0

  constructor(path: string, fd: number, keys: number, index: RunIndex) {
    this.path = path
    this.keys = keys
    this.#fd = fd
    this.#index = index
    this.#window = new Window(Math.min(RUN_WINDOW_BLOCKS, index.blocks))
  }

  /**
   * Reads a run through, checks every block and builds its index: time in proportion to its length. While one window is looked through the
   * next is being read, for cold files take about as long to read as to check.
   */
  static async open(path: string, { blocks, keys, filterBytes }: RunOpenOptions): Promise<SortedRun> {
    const index = new RunIndex(blocks, filterBytes)
    let window = new Window(Math.min(4 * RUN_WINDOW_BLOCKS, blocks))
    let ahead = new Window(Math.min(4 * RUN_WINDOW_BLOCKS, blocks))
    let found = 0
    try {
      const handle = await open(path, 'r')
      try {
        const { size } = await handle.stat()
        if (size !== blocks * RUN_BLOCK_BYTES) {
          throw damaged(path, `it is ${size} bytes long, but ${blocks * RUN_BLOCK_BYTES} were committed`)
        }
        const readAhead = async (at: number): Promise<number> =>
          at < size ? (await handle.read(ahead.bytes, 0, Math.min(ahead.bytes.length, size - at), at)).bytesRead : 0
        let reading = readAhead(0)
        try {
          for (let at = 0; at < size;) {
            const bytesRead = await reading
            const whole = Math.floor(bytesRead / RUN_BLOCK_BYTES)
            if (whole === 0) throw damaged(path, `it ends at byte ${at + bytesRead}`)
            at += whole * RUN_BLOCK_BYTES
            ;[window, ahead] = [ahead, window]
            reading = readAhead(at)
            for (let place = 0; place < whole; place++) {
              const count = checkBlock(path, window, place, index.blocks)
              index.add(window.words, place * BLOCK_WORDS + 2, count)
              found += count
            }
          }
        } finally {
          // Nothing may be written to a window that was given back.
          await reading.catch(() => undefined)
        }
      } finally {
        await handle.close()
        window.release()
        ahead.release()
      }
      if (found !== keys) throw damaged(path, `it holds ${found} keys, but ${keys} were committed`)
      index.finish()
      return new SortedRun(path, openSync(path, 'r'), keys, index)
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') throw damaged(path, 'the file is missing')
      throw diskFault(`reading ${path}`, cause)
    }
  }

  get blocks(): number {
    return this.#index.blocks
  }

  get bytes(): number {
    return this.blocks * RUN_BLOCK_BYTES
  }

  get memoryBytes(): number {
    return this.#index.memoryBytes + this.#window.bytes.length
  }

  /** Of memory, and of the above. */
  get filterBytes(): number {
    return this.#index.filterBytes
  }

  /** The only block that can hold the key, or -1 when it is surely absent. Touches memory only. */
  locate(high: number, low: number): number {
    return this.#index.locate(high, low)
  }

  /** Reads some blocks at once for the loadCount() calls that follow. */
  load(first: number, blocks: number): void {
    // Not assert(): its message would be made for every read.
    if (blocks > RUN_WINDOW_BLOCKS || first + blocks > this.blocks) {
      throw new Fault('ASSERTION', `${this.path}: no blocks ${first} + ${blocks}`)
    }
    this.#windowBlocks = 0
    readBlocks(this.path, this.#fd, this.#window, first, blocks)
    this.#windowFirst = first
    this.#windowBlocks = blocks
    this.#windowKeys.fill(0, 0, blocks)
    this.blocksRead += blocks
  }

  /** The count of a key in the block where locate() says it would be; 0 when it is not there. */
  loadCount(block: number, high: number, low: number): number {
    if (block < this.#windowFirst || block >= this.#windowFirst + this.#windowBlocks) this.load(block, 1)
    const place = block - this.#windowFirst
    let keys = this.#windowKeys[place] as number
    if (keys === 0) {
      keys = checkBlock(this.path, this.#window, place, block)
      this.#windowKeys[place] = keys
    }
    const words = this.#window.words
    const base = place * BLOCK_WORDS + 2
    let from = 0
    let to = keys
    while (from < to) {
      const middle = (from + to) >>> 1
      const found = words[base + 2 * middle + 1] as number
      if (found < high || (found === high && (words[base + 2 * middle] as number) < low)) from = middle + 1
      else to = middle
    }
    if (from === keys || words[base + 2 * from] !== low || words[base + 2 * from + 1] !== high) return 0
    return countAt(this.#window.bytes, place * RUN_BLOCK_BYTES, keys, from)
  }

  /** Stands before the first key. */
  cursor(): RunCursor {
    return new RunCursor(this.path, this.#fd, this.blocks)
  }

  /** After this nothing may be asked. */
  close(): void {
    closeSync(this.#fd)
    this.#window.release()
    this.#index.release()
  }
}

/** Goes through a run in order. */
export class RunCursor {
  high = 0
  low = 0
  count = 0
  readonly #path: string
  readonly #fd: number
  readonly #blocks: number
  readonly #window: Window
  readonly #words: Uint32Array
  readonly #bytes: Buffer
  #nextBlock = 0
  #place = -1
  #placeEnd = 0
  /** Where in the window the next key stands, the last one ends, and the next counts are. */
  #word = 0
  #wordEnd = 0
  #countAt = 0
  #largeAt = 0

  constructor(path: string, fd: number, blocks: number) {
    this.#path = path
    this.#fd = fd
    this.#blocks = blocks
    this.#window = new Window(Math.min(RUN_WINDOW_BLOCKS, blocks))
    this.#words = this.#window.words
    this.#bytes = this.#window.bytes
  }

  /** Moves to the next key; false at the end. */
  next(): boolean {
    if (this.#word === this.#wordEnd && !this.#nextKeys()) return false
    this.low = this.#words[this.#word] as number
    this.high = this.#words[this.#word + 1] as number
    this.#word += 2
    this.count = this.#bytes[this.#countAt++] as number
    if (this.count === COUNT_LARGE) {
      this.count = this.#bytes.readUInt16LE(this.#largeAt)
      this.#largeAt += 2
    }
    return true
  }

  #nextKeys(): boolean {
    if (++this.#place >= this.#placeEnd) {
      const blocks = Math.min(RUN_WINDOW_BLOCKS, this.#blocks - this.#nextBlock)
      if (blocks === 0) {
        this.#window.release()
        return false
      }
      readBlocks(this.#path, this.#fd, this.#window, this.#nextBlock, blocks)
      this.#nextBlock += blocks
      this.#place = 0
      this.#placeEnd = blocks
    }
    const block = this.#nextBlock - this.#placeEnd + this.#place
    const keys = checkBlock(this.#path, this.#window, this.#place, block)
    this.#word = this.#place * BLOCK_WORDS + 2
    this.#wordEnd = this.#word + 2 * keys
    this.#countAt = this.#place * RUN_BLOCK_BYTES + HEAD_BYTES + keys * KEY_BYTES
    this.#largeAt = this.#countAt + keys
    return true
  }
}
