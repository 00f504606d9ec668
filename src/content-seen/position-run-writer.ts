// Writes a run of positions: blocks as they fill, then their index. In steps, because an index has a byte or so a page.

import { closeSync, constants, fdatasync, fdatasyncSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { assert, diskFault } from '../base/index.ts'
import { syncDirectory } from '../disk/index.ts'
import { PositionIndex } from './position-index.ts'
import { BLOCK_BYTES, BLOCK_PAGES, blocksFor, BlockWindow, PositionRun, type PositionRunFacts } from './position-run.ts'

/** Written at once. */
const WINDOW_BLOCKS = 128

const fdatasyncLater = promisify(fdatasync)

export class PositionRunWriter {
  readonly #facts: PositionRunFacts
  readonly #fd: number
  readonly #index: PositionIndex
  readonly #window = new BlockWindow(WINDOW_BLOCKS)
  #place = 0
  #page = 0
  #blocksWritten = 0
  #bytesWritten = 0
  #added = 0

  /** The file must not exist. */
  constructor(facts: PositionRunFacts) {
    this.#facts = facts
    this.#index = new PositionIndex(blocksFor(facts.pages), facts.savedFilterBytes)
    try {
      this.#fd = openSync(facts.path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL)
    } catch (cause) {
      throw diskFault(`creating ${facts.path}`, cause)
    }
  }

  /** Keys come in ascending order. */
  add(high: number, low: number, position: number): void {
    this.#window.set(this.#place, this.#page, high, low, position)
    this.#added++
    if (++this.#page === BLOCK_PAGES) this.#endBlock()
  }

  /** No more keys: writes the index. The bytes are with the system after this, and durable after a sync. */
  *finish(): Generator<number> {
    const { pages, path, number } = this.#facts
    assert(this.#added === pages, `${path}: ${this.#added} pages were added, not ${pages}`)
    if (this.#page > 0) this.#endBlock()
    this.#write(this.#window.bytes.subarray(0, this.#place * BLOCK_BYTES))
    for (const piece of this.#index.pieces(number)) {
      this.#write(piece)
      // Copying and checking a piece takes as long as some thousand keys of a merge.
      yield 1024
    }
  }

  /** Makes a finished run durable, with its name. */
  async sync(): Promise<void> {
    try {
      await fdatasyncLater(this.#fd)
      await syncDirectory(dirname(this.#facts.path))
    } catch (cause) {
      throw diskFault(`writing ${this.#facts.path}`, cause)
    }
  }

  /** The same at once, for callers that cannot wait. */
  syncNow(): void {
    try {
      fdatasyncSync(this.#fd)
      const directory = openSync(dirname(this.#facts.path), 'r')
      fsyncSync(directory)
      closeSync(directory)
    } catch (cause) {
      throw diskFault(`writing ${this.#facts.path}`, cause)
    }
  }

  /** The finished run, to be read. */
  toRun(): PositionRun {
    return new PositionRun(this.#facts, this.#fd, this.#index)
  }

  /** Gives the file up, unfinished. */
  abandon(): void {
    closeSync(this.#fd)
  }

  #endBlock(): void {
    const block = this.#blocksWritten + this.#place
    this.#index.add(block, this.#window.words, this.#window.keysWord(this.#place), this.#page)
    this.#window.seal(this.#place, this.#facts.number, block)
    this.#page = 0
    if (++this.#place < WINDOW_BLOCKS) return
    this.#write(this.#window.bytes)
    this.#blocksWritten += WINDOW_BLOCKS
    this.#place = 0
  }

  #write(bytes: Buffer): void {
    try {
      for (let at = 0; at < bytes.length;) {
        const count = writeSync(this.#fd, bytes, at, bytes.length - at, this.#bytesWritten)
        this.#bytesWritten += count
        at += count
      }
    } catch (cause) {
      throw diskFault(`writing ${this.#facts.path}`, cause)
    }
  }
}
