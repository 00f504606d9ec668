// Searches in the bytes of a page, sixteen and more at a time. All answer the length of the page where there is nothing to find.

import { length } from './marks'
import { all, CLASSES, NAME_ENDS, PAGE, SPACE } from './memory'

export const QUOTE: i32 = 0x22
export const AMPERSAND: i32 = 0x26
export const APOSTROPHE: i32 = 0x27
export const DASH: i32 = 0x2d
export const BANG: i32 = 0x21
export const SLASH: i32 = 0x2f
export const LESS: i32 = 0x3c
export const EQUALS: i32 = 0x3d
export const GREATER: i32 = 0x3e
export const QUESTION: i32 = 0x3f

export function byteAt(place: i32): i32 {
  return load<u8>(place as usize, PAGE)
}

/** Tab, line feed, form feed, carriage return, space. */
export function isSpace(code: i32): bool {
  return load<u8>(code as usize, CLASSES) === SPACE
}

/** The same, and `/`. */
export function isSpaceOrSlash(code: i32): bool {
  return load<u8>(code as usize, CLASSES) !== 0
}

export function isLetter(code: i32): bool {
  return (((code | 0x20) - 0x61) as u32) < 26
}

/** Where the byte stands at or after a place. */
export function find(byte: i32, place: i32): i32 {
  const wanted = all(byte)
  for (; place < length; place += 32) {
    const at = (place as usize) + PAGE
    const near = i8x16.bitmask(i8x16.eq(v128.load(at), wanted))
    const far = i8x16.bitmask(i8x16.eq(v128.load(at, 16), wanted))
    const found = near | (far << 16)
    // In the zeros behind the page there is no byte that is looked for.
    if (found !== 0) return place + ctz(found)
  }
  return length
}

/** Where two dashes stand at or after a place. */
export function findDashes(place: i32): i32 {
  const wanted = all(DASH)
  for (; place < length; place += 16) {
    const at = (place as usize) + PAGE
    const found = i8x16.bitmask(v128.and(i8x16.eq(v128.load(at), wanted), i8x16.eq(v128.load(at, 1), wanted)))
    if (found !== 0) return place + ctz(found)
  }
  return length
}

/**
 * White space, `/` and `>`, which end the name of an element, among the sixteen bytes at a place, as bits. Their low halves all
 * differ: one look into a table says which of them a byte must be to be one.
 */
export function nameEnds(place: i32): i32 {
  return i8x16.bitmask(isNameEnd(v128.load(place as usize, PAGE)))
}

/** And `=`, which ends that of an attribute. */
export function attributeNameEnds(place: i32): i32 {
  const bytes = v128.load(place as usize, PAGE)
  return i8x16.bitmask(v128.or(isNameEnd(bytes), i8x16.eq(bytes, all(EQUALS))))
}

function isNameEnd(bytes: v128): v128 {
  return i8x16.eq(i8x16.swizzle(v128.load(NAME_ENDS), v128.and(bytes, all(0x0f))), bytes)
}
