// The inner loops of the room `frontier`: waiting URLs as the body of a block, and back. src/frontier/entry-kernel.ts speaks with them.
//
//     texts are put at TEXTS, what is no text at FACTS ─▶ writeBody ─▶ the body, at bodyAt ─▶ codeBody ─▶ TEXTS
//     a body in the code is put at TEXTS ─▶ decodeBody ─▶ the body, at GROUPS
//     the host is put at TEXTS, a body at GROUPS ─▶ readBody ─▶ TEXTS, PLACES, FACTS
//     a block of LevelDB is put at TEXTS ─▶ checksum

import { readCoded, writeCoded } from './code'
import {
  CODE_STARTS,
  CODES,
  FACTS,
  FIRST_CODES,
  GROUPS,
  LOOKS,
  ORDERED,
  PIECES,
  PLACES,
  ROOM_BYTES,
  STARTS,
  TEXT_BYTES,
  TEXTS,
} from './memory'
import { bodyAt } from './writer'

export { checksum } from './checksum'
export { memoryBytes } from './memory'
export { readBody } from './reader'
export { bodyAt, writeBody } from './writer'

/** Where the room reads and writes. */
export const startsAt: usize = STARTS
export const piecesAt: usize = PIECES
export const codesAt: usize = CODES
export const looksAt: usize = LOOKS
export const orderedAt: usize = ORDERED
export const firstCodesAt: usize = FIRST_CODES
export const codeStartsAt: usize = CODE_STARTS
export const factsAt: usize = FACTS
export const placesAt: usize = PLACES
export const groupsAt: usize = GROUPS
export const textsAt: usize = TEXTS
export const textBytes: i32 = TEXT_BYTES
export const roomBytes: i32 = ROOM_BYTES

/** The body that was written last, of so many bytes, in the code, in the place of its texts. Its bytes; more than `length` when there would be more. */
export function codeBody(length: i32): i32 {
  return writeCoded(bodyAt(), length, TEXTS, length)
}

/** The body of `length` bytes that stands at TEXTS in the code, to GROUPS; whether its bytes are as many as it takes. */
export function decodeBody(codedBytes: i32, length: i32): bool {
  return readCoded(TEXTS, codedBytes, length, GROUPS)
}
