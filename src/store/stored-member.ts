// A gzip member around a body that is compressed already: the text before it is deflated, the body stands in stored blocks.
//
//    10 bytes │ text, deflated, ending on a byte │ 00 │ length │ ~length │ bytes │ … │ 01 │ … │ CRC-32 │ size
//    header     Z_SYNC_FLUSH                       └─── stored blocks of at most 65,535 bytes ──┘  trailer
//
// Any reader of gzip takes it, and it is as long as the body and what little the text takes. Storing the text too would save 22 µs
// and cost 250 bytes a page, a twentieth of one that came gzipped (decision 0020).

import { constants, crc32, deflateRawSync } from 'node:zlib'

/** As zlib writes it: deflate, no flags, no time, Unix. */
const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])
const BLOCK_BYTES_MAX = 65_535
const BLOCK_HEADER_BYTES = 5
const TRAILER_BYTES = 8
/** Most texts fit; the default of 16 KiB makes small outputs a third dearer. */
const TEXT_OUTPUT_BYTES = 1_024

/** The pieces of a member, for a record in one piece of which the first `textLength` bytes are worth deflating. */
export function storedMember(record: Uint8Array, textLength: number, level: number): readonly Uint8Array[] {
  return [GZIP_HEADER, deflatedText(record.subarray(0, textLength), level), storedTail(record, textLength)]
}

/** Whole blocks, the last of them not marked as such, ending on a byte. */
function deflatedText(text: Uint8Array, level: number): Uint8Array {
  return deflateRawSync(text, { level, chunkSize: TEXT_OUTPUT_BYTES, finishFlush: constants.Z_SYNC_FLUSH })
}

function storedTail(record: Uint8Array, textLength: number): Buffer {
  const bytes = record.length - textLength
  const blocks = Math.ceil(bytes / BLOCK_BYTES_MAX)
  const tail = Buffer.allocUnsafe(bytes + blocks * BLOCK_HEADER_BYTES + TRAILER_BYTES)
  let at = 0
  for (let from = textLength; from < record.length; from += BLOCK_BYTES_MAX) {
    const block = record.subarray(from, from + BLOCK_BYTES_MAX)
    at = writeBlockHeader(tail, at, block.length, from + BLOCK_BYTES_MAX >= record.length)
    tail.set(block, at)
    at += block.length
  }
  writeTrailer(tail, at, crc32(record), record.length)
  return tail
}

/** A member piece by piece, for a body too large to be held. The first piece is the text; each is valid until the next. */
export function* storedPieces(pieces: Iterable<Uint8Array>, level: number): Generator<Uint8Array> {
  let checksum = 0
  let length = 0
  for (const piece of pieces) {
    if (length === 0) {
      yield GZIP_HEADER
      yield deflatedText(piece, level)
    } else {
      for (let from = 0; from < piece.length; from += BLOCK_BYTES_MAX) {
        const block = piece.subarray(from, from + BLOCK_BYTES_MAX)
        const header = Buffer.alloc(BLOCK_HEADER_BYTES)
        writeBlockHeader(header, 0, block.length, false)
        yield header
        yield block
      }
    }
    checksum = crc32(piece, checksum)
    length += piece.length
  }
  // Which block is the last is known only behind it: an empty one says so.
  const end = Buffer.alloc(BLOCK_HEADER_BYTES + TRAILER_BYTES)
  writeTrailer(end, writeBlockHeader(end, 0, 0, true), checksum, length)
  yield end
}

function writeBlockHeader(target: Buffer, at: number, length: number, isLast: boolean): number {
  target[at] = isLast ? 1 : 0
  target.writeUInt16LE(length, at + 1)
  target.writeUInt16LE(length ^ 0xffff, at + 3)
  return at + BLOCK_HEADER_BYTES
}

function writeTrailer(target: Buffer, at: number, checksum: number, length: number): void {
  target.writeUInt32LE(checksum, at)
  // Modulo 2^32, as the format has it.
  target.writeUInt32LE(length % 2 ** 32, at + 4)
}
