// Texts in pieces: src/frontier/url-pieces.ts says what they are.

import { NO_PIECE, PIECE_LENGTH, PIECE_NEXT, PIECES, STARTS } from './memory'

/** Writes a plain text, the longest piece at each place; where it ends. hot: most places have no piece, or one of two characters. */
export function writePieces(text: usize, end: usize, out: usize): usize {
  while (text < end) {
    const two = load<u16>(text) as u32
    let code = two & 0x7f
    let length: usize = 1
    if (text + 1 < end) {
      let piece = load<u8>(STARTS + (((two & 0x7f) << 7) | (two >> 8))) as u32
      while (piece !== NO_PIECE) {
        const known = PIECES + (piece << 5)
        const size = load<u8>(known, PIECE_LENGTH) as usize
        if (text + size <= end && beginsWith(text, known, size)) {
          code = piece
          length = size
          break
        }
        piece = load<u8>(known, PIECE_NEXT) as u32
      }
    }
    store<u8>(out++, code)
    text += length
  }
  return out
}

function beginsWith(text: usize, piece: usize, size: usize): bool {
  if (size <= 8) return (load<u64>(text) ^ load<u64>(piece)) << ((64 - (size << 3)) as u64) === 0
  if (load<u64>(text) !== load<u64>(piece)) return false
  const alike = i8x16.bitmask(i8x16.eq(v128.load(text, 8), v128.load(piece, 8)))
  return (ctz(~alike) as usize) >= size - 8
}

/** Writes the text of bytes in pieces, up to where there is no more room; where it ends. Behind it, what was written in one go with its last piece. */
export function readPieces(bytes: usize, end: usize, out: usize, roomEnd: usize): usize {
  for (; bytes < end && out <= roomEnd; bytes++) {
    const piece = PIECES + ((load<u8>(bytes) as usize) << 5)
    const size = load<u8>(piece, PIECE_LENGTH) as usize
    store<u64>(out, load<u64>(piece))
    if (size > 8) v128.store(out, v128.load(piece, 8), 8)
    out += size
  }
  return out
}
