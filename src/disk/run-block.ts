// The blocks that a sorted run is made of.
//
//   block, 1 KiB   crc u32 | keys u16 | large u16 | (low u32, high u32) … | count u8 … | large count u16 …
//
// A count of 255 or more stands as 255, its value among the large ones, in the order of the keys. A full block of
// small counts holds 112 keys: 9.14 bytes a key. (Of 4 KiB a key took 9.02, and the crc twice the time
// a look-up.) The crc covers the block and its number, so that a block in another's
// place is damage as well. Numbers are little-endian, as every processor that Node runs on for us.

import { readSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { diskFault, Fault } from '../base/index.ts'

export const RUN_BLOCK_BYTES = 1024
export const BLOCK_WORDS = RUN_BLOCK_BYTES / 4
export const HEAD_BYTES = 8
export const KEY_BYTES = 8
export const COUNT_LARGE = 255
/** With every count large. */
export const BLOCK_KEYS_MIN = Math.floor((RUN_BLOCK_BYTES - HEAD_BYTES) / (KEY_BYTES + 3))
export const BLOCK_KEYS_MAX = Math.floor((RUN_BLOCK_BYTES - HEAD_BYTES) / (KEY_BYTES + 1))
/** Read or written at once when going through a run in order. */
export const RUN_WINDOW_BLOCKS = 256

/** Memory for some blocks, as bytes and as words. */
export class Window {
  readonly bytes: Buffer
  readonly words: Uint32Array<ArrayBuffer>
  constructor(blocks: number) {
    const memory = new ArrayBuffer(blocks * RUN_BLOCK_BYTES)
    this.bytes = Buffer.from(memory)
    this.words = new Uint32Array(memory)
  }

  /** Gives the memory back at once; the garbage collector would let many windows of closed runs wait. */
  release(): void {
    if (!this.words.buffer.detached) this.words.buffer.transfer(0)
  }
}

export function blockCrc(bytes: Buffer, at: number, block: number): number {
  return crc32(bytes.subarray(at + 4, at + RUN_BLOCK_BYTES), block)
}

/** How many keys a block in memory holds; a fault when it is not as it was written. */
export function checkBlock(path: string, window: Window, place: number, block: number): number {
  const word = place * BLOCK_WORDS
  const sizes = window.words[word + 1] as number
  const keys = sizes & 0xffff
  const bytes = HEAD_BYTES + keys * (KEY_BYTES + 1) + 2 * (sizes >>> 16)
  const isWhole = window.words[word] === blockCrc(window.bytes, place * RUN_BLOCK_BYTES, block)
  if (!isWhole || keys === 0 || bytes > RUN_BLOCK_BYTES) throw damaged(path, `block ${block} is not as it was written`)
  return keys
}

export function damaged(path: string, what: string): Fault {
  return new Fault(
    'LEDGER_CORRUPT',
    `${path} is damaged: ${what}. Nothing was changed; restore the file from a copy, or see what \`portolan repair\` can save`,
  )
}

/** The count of the key at `index` of a block of `keys`. */
export function countAt(bytes: Buffer, at: number, keys: number, index: number): number {
  const counts = at + HEAD_BYTES + keys * KEY_BYTES
  const small = bytes[counts + index] as number
  if (small < COUNT_LARGE) return small
  let large = 0
  for (let i = 0; i < index; i++) if (bytes[counts + i] === COUNT_LARGE) large++
  return bytes.readUInt16LE(counts + keys + 2 * large)
}

export function readBlocks(path: string, fd: number, window: Window, first: number, blocks: number): void {
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
