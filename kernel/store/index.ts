// The inner loops of the room `store`: a gzip member of a record. src/store/gzip-kernel.ts speaks with them.
//
//     the record is put at INPUT ─▶ member ─▶ OUTPUT
//
//     member:  header │ block │ block … │ stored block … │ CRC-32 │ size
//              10       up to 65,535 bytes of the record each   8

import { beginCounts, writeBlock, writeStored } from './block'
import { beginAt, endByte, out } from './bits'
import { findMatches, forget } from './matches'
import { BLOCK_BYTES_MAX, INPUT, INPUT_BYTES, LITERAL_COUNTS, LITERAL_LENGTHS, MARGIN, OUTPUT } from './memory'

export { makeLengths } from './codes'
export { memoryBytes } from './memory'

/** Where the room reads and writes. */
export const inputAt: usize = INPUT
export const inputBytes: i32 = INPUT_BYTES
export const outputAt: usize = OUTPUT

/** Where a test of the codes alone reads and writes. */
export const countsAt: usize = LITERAL_COUNTS
export const lengthsAt: usize = LITERAL_LENGTHS

/** As zlib writes it: deflate, no flags, no time, Unix. */
const HEADER_BYTES: usize = 10

/** The member of a record of `length` bytes, of which those up to `packedFrom` are compressed and all others stored as they are. How long it is. */
export function member(length: i32, packedFrom: i32, checksum: u32): i32 {
  store<u64>(OUTPUT, 0x0008_8b1f)
  store<u16>(OUTPUT, 0x0300, 8)
  beginAt(OUTPUT + HEADER_BYTES)
  const end = INPUT + (length as usize)
  // What is compared in one go may end behind the record: there is nothing of an earlier one.
  memory.fill(end, 0, MARGIN)
  const textEnd = INPUT + (packedFrom as usize)
  let at = INPUT
  if (textEnd > at || end === at) {
    forget()
    do {
      beginCounts()
      const next = findMatches(at, textEnd)
      writeBlock(at, next, next === end)
      at = next
    } while (at < textEnd)
  }
  while (at < end) {
    const next = min(at + BLOCK_BYTES_MAX, end)
    writeStored(at, next, next === end)
    at = next
  }
  endByte()
  store<u32>(out, checksum)
  store<u32>(out, length as u32, 4)
  return (out + 8 - OUTPUT) as i32
}
