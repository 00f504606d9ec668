// Passages of a page that hold no markup: comments, declarations, CDATA, and the content of elements whose text is raw.
// Each function answers the place after the passage; the length of the page when it never ends, for then it swallows the rest, and
// that is what makes the whole scan linear.

import { BANG, byteAt, DASH, find, findDashes, GREATER, LESS, SLASH } from './bytes'
import { length, tags } from './marks'
import { PAGE } from './memory'
import { isNameOf } from './tag'

/** `[CDATA[`, and the id of script as the room gives it. */
const CDATA_SIZE: i32 = 7
const BRACKET_END: i32 = 0x5d
const SCRIPT: i32 = 22

/** Crosses `<!…` at `start`: a comment, a CDATA section where they are allowed, else a doctype or bogus comment up to `>`. */
export function afterDeclaration(start: i32, allowsCdata: bool): i32 {
  const place = start + 2
  if (byteAt(place) === DASH && byteAt(place + 1) === DASH) return afterComment(place + 2)
  if (allowsCdata && isCdata(place)) return afterCdata(place + CDATA_SIZE)
  return afterGreater(place)
}

/** Crosses everything up to `>`. */
export function afterGreater(place: i32): i32 {
  const found = find(GREATER, place)
  return found >= length ? length : found + 1
}

function isCdata(place: i32): bool {
  // "[CDATA[": its first four bytes and, one of them again, its last four.
  const at = (place as usize) + PAGE
  return load<u32>(at) === 0x4144435b && load<u32>(at, 3) === 0x5b415441
}

function afterCdata(place: i32): i32 {
  while (true) {
    const found = find(GREATER, place)
    if (found >= length) return length
    if (found >= place + 2 && byteAt(found - 1) === BRACKET_END && byteAt(found - 2) === BRACKET_END) return found + 1
    place = found + 1
  }
}

/** From behind `<!--`. `-->` and `--!>` end it, and `>` or `->` right at its start. */
function afterComment(start: i32): i32 {
  const first = byteAt(start)
  if (first === GREATER) return start + 1
  if (first === DASH && byteAt(start + 1) === GREATER) return start + 2
  let place = start
  while (true) {
    const dashes = findDashes(place)
    if (dashes >= length) return length
    place = dashes + 2
    while (byteAt(place) === DASH) place++
    const code = byteAt(place)
    if (code === GREATER) return place + 1
    if (code === BANG && byteAt(place + 1) === GREATER) return place + 2
  }
}

/** Where the next `<` stands at or after a place; the length of the page where there is none. */
export function nextTag(place: i32): i32 {
  let block = place >> 6
  let bits = load<u64>(tags + ((block << 3) as usize)) & ((-1 as u64) << ((place & 63) as u64))
  while (bits === 0) {
    block++
    bits = load<u64>(tags + ((block << 3) as usize))
  }
  return (block << 6) + (ctz(bits) as i32)
}

/** Where the end tag of a raw text element stands at or after `start`. */
export function endOfRawText(start: i32, id: i32): i32 {
  let hasComment = false
  for (let place = start; ; place++) {
    place = nextTag(place)
    if (place >= length) break
    const code = byteAt(place + 1)
    if (code === SLASH) {
      if (isNameOf(id, place + 2)) {
        return hasComment && id === SCRIPT ? endOfEscapedScript(start) : place
      }
    } else if (code === BANG && byteAt(place + 2) === DASH && byteAt(place + 3) === DASH) hasComment = true
  }
  return length
}

/**
 * Where the end tag of a script stands that has a comment. It may hide a whole other script in `<!-- … -->` (the double escaped
 * states), whose end tag does not count.
 */
function endOfEscapedScript(start: i32): i32 {
  // Without a comment nothing is escaped; within one, `<script` begins and `</script` ends the double escape.
  let isEscaped = false
  let isDouble = false
  for (let place = start; place < length; place++) {
    const code = byteAt(place)
    if (code === LESS) {
      if (!isEscaped && byteAt(place + 1) === BANG && byteAt(place + 2) === DASH && byteAt(place + 3) === DASH) {
        isEscaped = true
        // `<!-->` and `<!--->` end the comment they begin: its own dashes count towards `-->`.
        place++
      } else if (byteAt(place + 1) === SLASH && isNameOf(SCRIPT, place + 2)) {
        if (!isDouble) return place
        isDouble = false
      } else if (isEscaped && !isDouble && isNameOf(SCRIPT, place + 1)) {
        isDouble = true
      }
    } else if (isEscaped && code === GREATER && byteAt(place - 1) === DASH && byteAt(place - 2) === DASH) {
      isEscaped = false
      isDouble = false
    }
  }
  return length
}
