// Which block of a run could hold a key, and whether it is worth reading: all that is kept in memory of a run. It is
// saved behind the blocks, so that a run is opened without reading them.
//
//   firsts    the first key of each block: low u32, high u32                 8 bytes a block
//   filters   a small Bloom filter per block                                 0, 16, 32 or 64 bytes a block
//
//   piece     crc u32 | run u32 | firsts of up to 1,024 blocks | their filters
//
// The bits of a key need no further hash: they are of SHA-256, and where a block's keys agree, in their upper bits, the
// filter does not look. A filter may be halved by laying its halves over each other, should there be less memory
// than when it was made.

import { crc32 } from 'node:zlib'

export const FILTER_BYTES_MAX = 64
export const FILTER_BYTES_MIN = 16
const FIRST_BYTES = 8
const PIECE_HEAD_BYTES = 8
const PIECE_BLOCKS = 1024
/** Bits a key sets, each from ten bits of its own. At 7.1 bits a page one absent key in 24 passes, at 3.5 one in 5. */
const PROBE_SHIFTS = [0, 10, 20]

export class PositionIndex {
  readonly blocks: number
  readonly filterBytes: number
  readonly #firsts: Uint32Array
  readonly #filters: Uint32Array
  readonly #filterWords: number
  readonly #filterMask: number

  /** `filterBytes` a block: a power of two, or 0 for no filter. */
  constructor(blocks: number, filterBytes: number) {
    this.blocks = blocks
    this.filterBytes = filterBytes
    this.#filterWords = filterBytes / 4
    this.#filterMask = filterBytes * 8 - 1
    this.#firsts = new Uint32Array(2 * blocks)
    this.#filters = new Uint32Array(blocks * this.#filterWords)
  }

  static bytesFor(blocks: number, filterBytes: number): number {
    return blocks * (FIRST_BYTES + filterBytes)
  }

  /** Bytes of the saved index of so many blocks. */
  static savedBytesFor(blocks: number, filterBytes: number): number {
    return Math.ceil(blocks / PIECE_BLOCKS) * PIECE_HEAD_BYTES + PositionIndex.bytesFor(blocks, filterBytes)
  }

  get memoryBytes(): number {
    return PositionIndex.bytesFor(this.blocks, this.filterBytes)
  }

  /** Takes up a block: `count` keys as pairs (low, high) from `words[from]`. */
  add(block: number, words: Uint32Array, from: number, count: number): void {
    this.#firsts[2 * block] = words[from] as number
    this.#firsts[2 * block + 1] = words[from + 1] as number
    if (this.#filterWords === 0) return
    const base = block * this.#filterWords
    for (let i = 0; i < count; i++) {
      const low = words[from + 2 * i] as number
      for (const shift of PROBE_SHIFTS) {
        const bit = (low >>> shift) & this.#filterMask
        const at = base + (bit >>> 5)
        this.#filters[at] = (this.#filters[at] as number) | (1 << (bit & 31))
      }
    }
  }

  /** The last block that can hold the key, or -1 when none does. Touches memory only. */
  locate(high: number, low: number): number {
    let from = 0
    let to = this.blocks
    while (from < to) {
      const middle = (from + to) >>> 1
      const first = this.#firsts[2 * middle + 1] as number
      if (first < high || (first === high && (this.#firsts[2 * middle] as number) <= low)) from = middle + 1
      else to = middle
    }
    const block = from - 1
    return block >= 0 && this.#mayHold(block, low) ? block : -1
  }

  /** The index as it is saved, piece by piece. A piece is valid until the next one. */
  *pieces(run: number): Generator<Buffer> {
    const buffer = Buffer.alloc(pieceBytes(PIECE_BLOCKS, this.filterBytes))
    for (let block = 0; block < this.blocks; block += PIECE_BLOCKS) {
      const count = Math.min(PIECE_BLOCKS, this.blocks - block)
      const piece = buffer.subarray(0, pieceBytes(count, this.filterBytes))
      const filtersAt = PIECE_HEAD_BYTES + count * FIRST_BYTES
      piece.set(bytesOf(this.#firsts.subarray(2 * block, 2 * (block + count))), PIECE_HEAD_BYTES)
      piece.set(
        bytesOf(this.#filters.subarray(block * this.#filterWords, (block + count) * this.#filterWords)),
        filtersAt,
      )
      piece.writeUInt32LE(run, 4)
      piece.writeUInt32LE(crcOf(piece, block), 0)
      yield piece
    }
  }

  /** How many bytes the piece that begins with a block takes, as it was saved with filters of `savedBytes`. */
  pieceBytesAt(block: number, savedBytes: number): number {
    return pieceBytes(Math.min(PIECE_BLOCKS, this.blocks - block), savedBytes)
  }

  /** Takes a saved piece up; the number of the block after it, or -1 when the piece is not as it was written. */
  takePiece(run: number, block: number, piece: Buffer, savedBytes: number): number {
    if (piece.readUInt32LE(0) !== crcOf(piece, block) || piece.readUInt32LE(4) !== run) return -1
    const count = Math.min(PIECE_BLOCKS, this.blocks - block)
    const filtersAt = PIECE_HEAD_BYTES + count * FIRST_BYTES
    bytesOf(this.#firsts).set(piece.subarray(PIECE_HEAD_BYTES, filtersAt), block * FIRST_BYTES)
    if (this.#filterWords === 0) return block + count
    if (savedBytes === this.filterBytes) {
      bytesOf(this.#filters).set(piece.subarray(filtersAt), block * this.filterBytes)
      return block + count
    }
    const savedWords = savedBytes / 4
    for (let i = 0; i < count * savedWords; i++) {
      const base = (block + Math.floor(i / savedWords)) * this.#filterWords
      const at = base + (i & (this.#filterWords - 1))
      this.#filters[at] = (this.#filters[at] as number) | piece.readUInt32LE(filtersAt + 4 * i)
    }
    return block + count
  }

  #mayHold(block: number, low: number): boolean {
    if (this.#filterWords === 0) return true
    const base = block * this.#filterWords
    for (const shift of PROBE_SHIFTS) {
      const bit = (low >>> shift) & this.#filterMask
      if (((this.#filters[base + (bit >>> 5)] as number) & (1 << (bit & 31))) === 0) return false
    }
    return true
  }
}

function pieceBytes(blocks: number, filterBytes: number): number {
  return PIECE_HEAD_BYTES + PositionIndex.bytesFor(blocks, filterBytes)
}

function crcOf(piece: Buffer, block: number): number {
  return crc32(piece.subarray(4), block)
}

function bytesOf(words: Uint32Array): Buffer {
  return Buffer.from(words.buffer, words.byteOffset, words.byteLength)
}
