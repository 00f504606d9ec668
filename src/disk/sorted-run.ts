// A sorted run: keys of 64 bits in ascending order, each with a count up to 65,535, in a file that is never changed.
//
//   block, 1 KiB   crc u32 | keys u16 | large u16 | (low u32, high u32) … | count u8 … | large count u16 …
//
// A count of 255 or more stands as 255, its value among the large ones, in the order of the keys. A full block of
// small counts holds 112 keys: 9.14 bytes a key. (Of 4 KiB a key took 9.02, and the crc twice the time
// a look-up.) The crc covers the block and its number, so that a block in another's
// place is damage as well. Numbers are little-endian, as every processor that Node runs on for us.
//
// In memory is only a RunIndex. A look-up reads one block, most look-ups for absent keys none. Reads are synchronous:
// one from the page cache is shorter than the way through Node's thread pool and back.

import { closeSync, constants, fdatasync, fdatasyncSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { crc32 } from 'node:zlib'
import { assert, diskFault, Fault } from '../base/index.ts'
import { syncDirectory } from './atomic-file.ts'
import { RunIndex } from './run-index.ts'

export const RUN_BLOCK_BYTES = 1024
const BLOCK_WORDS = RUN_BLOCK_BYTES / 4
const HEAD_BYTES = 8
const KEY_BYTES = 8
const COUNT_LARGE = 255
/** With every count large. */
const BLOCK_KEYS_MIN = Math.floor((RUN_BLOCK_BYTES - HEAD_BYTES) / (KEY_BYTES + 3))
const BLOCK_KEYS_MAX = Math.floor((RUN_BLOCK_BYTES - HEAD_BYTES) / (KEY_BYTES + 1))
/** Read or written at once when going through a run in order. */
export const RUN_WINDOW_BLOCKS = 256

const fdatasyncLater = promisify(fdatasync)

/** Memory for some blocks, as bytes and as words. */
class Window {
  readonly bytes: Buffer
  readonly words: Uint32Array
  constructor(blocks: number) {
    const memory = new ArrayBuffer(blocks * RUN_BLOCK_BYTES)
    this.bytes = Buffer.from(memory)
    this.words = new Uint32Array(memory)
  }
}

function blockCrc(bytes: Buffer, at: number, block: number): number {
  return crc32(bytes.subarray(at + 4, at + RUN_BLOCK_BYTES), block)
}

/** How many keys a block in memory holds; a fault when it is not as it was written. */
function checkBlock(path: string, window: Window, place: number, block: number): number {
  const word = place * BLOCK_WORDS
  const sizes = window.words[word + 1] as number
  const keys = sizes & 0xffff
  const bytes = HEAD_BYTES + keys * (KEY_BYTES + 1) + 2 * (sizes >>> 16)
  const isWhole = window.words[word] === blockCrc(window.bytes, place * RUN_BLOCK_BYTES, block)
  if (!isWhole || keys === 0 || bytes > RUN_BLOCK_BYTES) throw damaged(path, `block ${block} is not as it was written`)
  return keys
}

function damaged(path: string, what: string): Fault {
  return new Fault(
    'LEDGER_CORRUPT',
    `${path} is damaged: ${what}. Nothing was changed; restore the file from a copy, or start in a new directory`,
  )
}

/** The count of the key at `index` of a block of `keys`. */
function countAt(bytes: Buffer, at: number, keys: number, index: number): number {
  const counts = at + HEAD_BYTES + keys * KEY_BYTES
  const small = bytes[counts + index] as number
  if (small < COUNT_LARGE) return small
  let large = 0
  for (let i = 0; i < index; i++) if (bytes[counts + i] === COUNT_LARGE) large++
  return bytes.readUInt16LE(counts + keys + 2 * large)
}

/** Writes a run. Keys come in strictly ascending order. */
export class RunWriter {
  readonly path: string
  readonly #fd: number
  readonly #index: RunIndex
  readonly #window = new Window(RUN_WINDOW_BLOCKS)
  readonly #counts = new Uint16Array(BLOCK_KEYS_MAX)
  #place = 0
  #blocksWritten = 0
  #blockKeys = 0
  #blockBytes = HEAD_BYTES
  #keys = 0

  /** `keysMax` bounds what will be added. The file must not exist. */
  constructor(path: string, keysMax: number, filterBytes: number) {
    this.path = path
    this.#index = new RunIndex(Math.ceil(keysMax / BLOCK_KEYS_MIN) + 1, filterBytes)
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
    if (++this.#place === RUN_WINDOW_BLOCKS) this.#write()
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
  readonly #window = new Window(RUN_WINDOW_BLOCKS)
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
  }

  /** Reads a run through, checks every block and builds its index: time in proportion to its length. */
  static async open(path: string, { blocks, keys, filterBytes }: RunOpenOptions): Promise<SortedRun> {
    const index = new RunIndex(blocks, filterBytes)
    const window = new Window(4 * RUN_WINDOW_BLOCKS)
    let found = 0
    try {
      const handle = await open(path, 'r')
      try {
        const { size } = await handle.stat()
        if (size !== blocks * RUN_BLOCK_BYTES) {
          throw damaged(path, `it is ${size} bytes long, but ${blocks * RUN_BLOCK_BYTES} were committed`)
        }
        for (let at = 0; at < size;) {
          const { bytesRead } = await handle.read(window.bytes, 0, Math.min(window.bytes.length, size - at), at)
          const whole = Math.floor(bytesRead / RUN_BLOCK_BYTES)
          if (whole === 0) throw damaged(path, `it ends at byte ${at + bytesRead}`)
          for (let place = 0; place < whole; place++) {
            const count = checkBlock(path, window, place, index.blocks)
            index.add(window.words, place * BLOCK_WORDS + 2, count)
            found += count
          }
          at += whole * RUN_BLOCK_BYTES
        }
      } finally {
        await handle.close()
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

  /** The only block that can hold the key, or -1 when it is surely absent. Touches memory only. */
  locate(high: number, low: number): number {
    return this.#index.locate(high, low)
  }

  /** Reads some blocks at once for the loadCount() calls that follow. */
  load(first: number, blocks: number): void {
    assert(blocks <= RUN_WINDOW_BLOCKS && first + blocks <= this.blocks, `${this.path}: no blocks ${first} + ${blocks}`)
    this.#windowBlocks = 0
    readBlocks(this.path, this.#fd, this.#window, first, blocks)
    this.#windowFirst = first
    this.#windowBlocks = blocks
    this.#windowKeys.fill(0)
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

  close(): void {
    closeSync(this.#fd)
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
  readonly #window = new Window(RUN_WINDOW_BLOCKS)
  #nextBlock = 0
  #place = 0
  #placeEnd = 0
  #index = 0
  #keys = 0

  constructor(path: string, fd: number, blocks: number) {
    this.#path = path
    this.#fd = fd
    this.#blocks = blocks
    this.#place = -1
  }

  /** Moves to the next key; false at the end. */
  next(): boolean {
    if (this.#index === this.#keys && !this.#nextKeys()) return false
    const word = this.#place * BLOCK_WORDS + 2 + 2 * this.#index
    this.low = this.#window.words[word] as number
    this.high = this.#window.words[word + 1] as number
    this.count = countAt(this.#window.bytes, this.#place * RUN_BLOCK_BYTES, this.#keys, this.#index)
    this.#index++
    return true
  }

  #nextKeys(): boolean {
    if (++this.#place >= this.#placeEnd) {
      const blocks = Math.min(RUN_WINDOW_BLOCKS, this.#blocks - this.#nextBlock)
      if (blocks === 0) return false
      readBlocks(this.#path, this.#fd, this.#window, this.#nextBlock, blocks)
      this.#nextBlock += blocks
      this.#place = 0
      this.#placeEnd = blocks
    }
    const block = this.#nextBlock - this.#placeEnd + this.#place
    this.#keys = checkBlock(this.#path, this.#window, this.#place, block)
    this.#index = 0
    return true
  }
}

function readBlocks(path: string, fd: number, window: Window, first: number, blocks: number): void {
  const end = blocks * RUN_BLOCK_BYTES
  for (let at = 0; at < end;) {
    let bytesRead: number
    try {
      bytesRead = readSync(fd, window.bytes, at, end - at, first * RUN_BLOCK_BYTES + at)
    } catch (cause) {
      throw diskFault(`reading ${path}`, cause)
    }
    if (bytesRead === 0) throw damaged(path, `it ends in block ${first + Math.floor(at / RUN_BLOCK_BYTES)}`)
    at += bytesRead
  }
}
