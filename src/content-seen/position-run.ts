// A run: digests in ascending order, each with the position of its page's record, in a file that is never changed.
//
//   | block | block | … | index |
//
//   block, 1 KiB   crc u32 | run u32 | (low u32, high u32) × 72 | position u32 × 72 | its upper part u16 × 72
//
// Of a digest only the first 64 bits are there, the *key*: 14 bytes a page with its position, 14.2 with the rest of
// the block. Who finds a key reads the page's record and compares the whole digest, so a key that two contents share
// costs one more read and no wrong answer; it may stand more than once. Every block but the last is full. The crc covers
// the block, the number of its run, and its own, so that a block in another's place is damage as well. Numbers are
// little-endian, as every processor that Node runs on for us. Positions have 48 bits.
//
// In memory is only a PositionIndex. A look-up reads one block (two for a key that is the first of its block), most
// look-ups for absent keys none. Reads are synchronous: one from the page cache is shorter than the way through Node's
// thread pool and back.

import { closeSync, openSync, readSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { diskFault, Fault } from '../base/index.ts'
import { PositionIndex } from './position-index.ts'

export const BLOCK_BYTES = 1024
const BLOCK_WORDS = BLOCK_BYTES / 4
export const BLOCK_PAGES = 72
export const POSITION_MAX = 2 ** 48 - 1
/** In words from the begin of a block, and in bytes. */
const KEYS_WORD = 2
const POSITIONS_WORD = KEYS_WORD + 2 * BLOCK_PAGES
const UPPER_BYTE = 4 * (POSITIONS_WORD + BLOCK_PAGES)
/** Read at once when going through a run in order. */
const CURSOR_BLOCKS = 64

export function blocksFor(pages: number): number {
  return Math.ceil(pages / BLOCK_PAGES)
}

/** Memory for some blocks, and where what stands in them. */
export class BlockWindow {
  readonly bytes: Buffer
  readonly words: Uint32Array

  constructor(blocks: number) {
    const memory = new ArrayBuffer(blocks * BLOCK_BYTES)
    this.bytes = Buffer.from(memory)
    this.words = new Uint32Array(memory)
  }

  low(place: number, page: number): number {
    return this.words[place * BLOCK_WORDS + KEYS_WORD + 2 * page] as number
  }

  high(place: number, page: number): number {
    return this.words[place * BLOCK_WORDS + KEYS_WORD + 2 * page + 1] as number
  }

  position(place: number, page: number): number {
    const upper = this.bytes.readUInt16LE(place * BLOCK_BYTES + UPPER_BYTE + 2 * page)
    return upper * 2 ** 32 + (this.words[place * BLOCK_WORDS + POSITIONS_WORD + page] as number)
  }

  set(place: number, page: number, high: number, low: number, position: number): void {
    const word = place * BLOCK_WORDS
    this.words[word + KEYS_WORD + 2 * page] = low
    this.words[word + KEYS_WORD + 2 * page + 1] = high
    this.words[word + POSITIONS_WORD + page] = position % 2 ** 32
    this.bytes.writeUInt16LE(Math.floor(position / 2 ** 32), place * BLOCK_BYTES + UPPER_BYTE + 2 * page)
  }

  /** Where the keys of a block begin, in words. */
  keysWord(place: number): number {
    return place * BLOCK_WORDS + KEYS_WORD
  }

  seal(place: number, run: number, block: number): void {
    this.words[place * BLOCK_WORDS + 1] = run
    this.words[place * BLOCK_WORDS] = this.#crc(place, block)
  }

  isSealed(place: number, run: number, block: number): boolean {
    const word = place * BLOCK_WORDS
    return this.words[word + 1] === run && this.words[word] === this.#crc(place, block)
  }

  #crc(place: number, block: number): number {
    return crc32(this.bytes.subarray(place * BLOCK_BYTES + 4, (place + 1) * BLOCK_BYTES), block)
  }
}

export interface PositionRunFacts {
  readonly path: string
  /** Its number among all runs ever made of the set. */
  readonly number: number
  readonly pages: number
  /** Bytes of filter a block, as saved. */
  readonly savedFilterBytes: number
}

export class PositionRun {
  readonly facts: PositionRunFacts
  readonly #fd: number
  readonly #index: PositionIndex
  readonly #window = new BlockWindow(1)
  #windowBlock = -1
  /** Blocks read by look-ups so far. */
  blocksRead = 0

  constructor(facts: PositionRunFacts, fd: number, index: PositionIndex) {
    this.facts = facts
    this.#fd = fd
    this.#index = index
  }

  /** Reads the index of a run, a fifteenth of it; blocks are checked when they are read. */
  static async open(facts: PositionRunFacts, filterBytes: number): Promise<PositionRun> {
    const { path, number, savedFilterBytes } = facts
    const blocks = blocksFor(facts.pages)
    const index = new PositionIndex(blocks, Math.min(filterBytes, savedFilterBytes))
    const bytes = blocks * BLOCK_BYTES + PositionIndex.savedBytesFor(blocks, savedFilterBytes)
    try {
      const handle = await open(path, 'r')
      try {
        const { size } = await handle.stat()
        if (size !== bytes) throw damaged(path, `it is ${size} bytes long, but ${bytes} were committed`)
        let at = blocks * BLOCK_BYTES
        for (let block = 0; block < blocks;) {
          const piece = Buffer.alloc(index.pieceBytesAt(block, savedFilterBytes))
          for (let filled = 0; filled < piece.length;) {
            const { bytesRead } = await handle.read(piece, filled, piece.length - filled, at + filled)
            if (bytesRead === 0) throw damaged(path, `it ends at byte ${at + filled}`)
            filled += bytesRead
          }
          block = index.takePiece(number, block, piece, savedFilterBytes)
          if (block === -1) throw damaged(path, `its index is not as it was written at byte ${at}`)
          at += piece.length
        }
      } finally {
        await handle.close()
      }
      return new PositionRun(facts, openSync(path, 'r'), index)
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') throw damaged(path, 'the file is missing')
      throw diskFault(`reading ${path}`, cause)
    }
  }

  get bytes(): number {
    const { blocks } = this.#index
    return blocks * BLOCK_BYTES + PositionIndex.savedBytesFor(blocks, this.facts.savedFilterBytes)
  }

  get memoryBytes(): number {
    return this.#index.memoryBytes + BLOCK_BYTES
  }

  /** Adds the positions of all pages with this key to a list. */
  find(high: number, low: number, found: number[]): void {
    for (let block = this.#index.locate(high, low); block >= 0; block--) {
      const window = this.#load(block)
      let page = this.#firstNotBelow(block, high, low)
      const isFirst = page === 0
      const pages = this.#pagesIn(block)
      for (; page < pages && window.high(0, page) === high && window.low(0, page) === low; page++) {
        found.push(window.position(0, page))
      }
      // The key's first page may stand in the block before only when this block begins with the key.
      if (!isFirst || page === 0) return
    }
  }

  /** Stands before the first key. */
  cursor(): PositionCursor {
    return new PositionCursor(this.facts, this.#fd)
  }

  close(): void {
    closeSync(this.#fd)
  }

  #pagesIn(block: number): number {
    return Math.min(BLOCK_PAGES, this.facts.pages - block * BLOCK_PAGES)
  }

  #load(block: number): BlockWindow {
    if (this.#windowBlock === block) return this.#window
    this.#windowBlock = -1
    readBlocks(this.facts, this.#fd, this.#window, block, 1)
    this.#windowBlock = block
    this.blocksRead++
    return this.#window
  }

  #firstNotBelow(block: number, high: number, low: number): number {
    let from = 0
    let to = this.#pagesIn(block)
    while (from < to) {
      const middle = (from + to) >>> 1
      const found = this.#window.high(0, middle)
      if (found < high || (found === high && this.#window.low(0, middle) < low)) from = middle + 1
      else to = middle
    }
    return from
  }
}

/** Goes through a run in order. */
export class PositionCursor {
  high = 0
  low = 0
  position = 0
  readonly #facts: PositionRunFacts
  readonly #fd: number
  readonly #window = new BlockWindow(CURSOR_BLOCKS)
  #next = 0

  constructor(facts: PositionRunFacts, fd: number) {
    this.#facts = facts
    this.#fd = fd
  }

  /** Moves to the next key; false at the end. */
  next(): boolean {
    const { pages } = this.#facts
    if (this.#next === pages) return false
    const block = Math.floor(this.#next / BLOCK_PAGES)
    const page = this.#next % BLOCK_PAGES
    const place = block % CURSOR_BLOCKS
    if (page === 0 && place === 0) {
      const blocks = Math.min(CURSOR_BLOCKS, blocksFor(pages) - block)
      readBlocks(this.#facts, this.#fd, this.#window, block, blocks)
    }
    this.high = this.#window.high(place, page)
    this.low = this.#window.low(place, page)
    this.position = this.#window.position(place, page)
    this.#next++
    return true
  }
}

/** Reads some blocks and checks each. */
function readBlocks(facts: PositionRunFacts, fd: number, window: BlockWindow, first: number, blocks: number): void {
  const { path, number } = facts
  const end = blocks * BLOCK_BYTES
  for (let at = 0; at < end;) {
    let bytesRead: number
    try {
      bytesRead = readSync(fd, window.bytes, at, end - at, first * BLOCK_BYTES + at)
    } catch (cause) {
      throw diskFault(`reading ${path}`, cause)
    }
    if (bytesRead === 0) throw damaged(path, `it ends in block ${first + Math.floor(at / BLOCK_BYTES)}`)
    at += bytesRead
  }
  for (let place = 0; place < blocks; place++) {
    if (!window.isSealed(place, number, first + place)) {
      throw damaged(path, `block ${first + place} is not as it was written`)
    }
  }
}

function damaged(path: string, what: string): Fault {
  return new Fault(
    'LEDGER_CORRUPT',
    `${path} is damaged: ${what}. Nothing was changed; restore the file from a copy, or see what \`portolan repair\` can save`,
  )
}
