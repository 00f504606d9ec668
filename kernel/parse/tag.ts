// Reads one tag by the rules of the WHATWG tokenizer: which quotes count, where it really ends, which of two equal
// attributes holds. Cost is linear: an unclosed quote swallows the rest of the page, as the standard says, so it is searched for once.

import {
  APOSTROPHE,
  attributeNameEnds,
  byteAt,
  EQUALS,
  find as findByte,
  GREATER,
  isSpace,
  isSpaceOrSlash,
  nameEnds,
  QUOTE,
  SLASH,
} from './bytes'
import { length } from './marks'
import { PAGE, VALUES } from './memory'
import { ATTRIBUTES, ELEMENTS, find as findName, mayMatter } from './names'

/** `="` */
const EQUALS_QUOTE: u16 = 0x223d

/** Of the tag last read: where its name ends, and its id, 0 for all that the room does not care about. */
export let nameEnd: i32 = 0
export let element: i32 = 0
/** Which attributes it has, as bits by id, and whether it ended in `/>`. */
export let present: i32 = 0
export let isSelfClosing: bool = false

/** Reads the name that begins at `start`, and looks it up where the filter lets it through. */
export function readName(start: i32, filter: usize): void {
  const ends = nameEnds(start)
  const size = ctz(ends)
  nameEnd = start + size
  element = 0
  present = 0
  isSelfClosing = false
  if (ends === 0) nameEnd = afterLongName(start)
  else if (mayMatter(filter, byteAt(start), size)) element = findName(ELEMENTS, (start as usize) + PAGE, size)
}

/** Whether the name of this element stands at `start`, and then what ends a name. */
export function isNameOf(id: i32, start: i32): bool {
  const at = (start as usize) + PAGE
  const ends = nameEnds(start)
  return ends !== 0 && findName(ELEMENTS, at, ctz(ends)) === id
}

function afterLongName(start: i32): i32 {
  for (let place = start + 16; place < length; place += 16) {
    const ends = nameEnds(place)
    if (ends !== 0) return place + ctz(ends)
  }
  return length
}

/** Crosses the attributes that follow at `place` and notes the first of each name that the filter lets through and that has an id. The place after `>`, or -1 when the page ends first. */
export function readAttributes(place: i32, filter: usize): i32 {
  const pageEnd = length
  let noted = 0
  while (true) {
    // Before a name: white space and slashes mean nothing, save `/>` together.
    let before = 0
    let code = byteAt(place)
    while (isSpaceOrSlash(code)) {
      before = code
      place++
      code = byteAt(place)
    }
    if (place >= pageEnd) return -1
    if (code === GREATER) {
      isSelfClosing = before === SLASH
      present = noted
      return place + 1
    }

    const start = place
    const end = afterAttributeName(place)
    if (end >= pageEnd) return -1
    let valueStart = end
    let valueEnd = end
    if (load<u16>(end as usize, PAGE) === EQUALS_QUOTE) {
      // Nearly always.
      valueStart = end + 2
      valueEnd = findByte(QUOTE, valueStart)
      if (valueEnd >= pageEnd) return -1
      place = valueEnd + 1
    } else {
      place = afterSpace(end)
      if (byteAt(place) === EQUALS) {
        place = afterSpace(place + 1)
        code = byteAt(place)
        if (place >= pageEnd) return -1
        if (code === QUOTE || code === APOSTROPHE) {
          valueStart = place + 1
          valueEnd = findByte(code, valueStart)
          if (valueEnd >= pageEnd) return -1
          place = valueEnd + 1
        } else {
          valueStart = place
          place = afterUnquoted(place)
          if (place >= pageEnd) return -1
          valueEnd = place
        }
      }
    }
    if (end - start > 16 || !mayMatter(filter, byteAt(start), end - start)) continue
    const id = findName(ATTRIBUTES, (start as usize) + PAGE, end - start)
    if (id === 0 || ((noted >> id) & 1) !== 0) continue
    noted |= 1 << id
    const slot = VALUES + ((id << 3) as usize)
    store<i32>(slot, valueStart)
    store<i32>(slot, valueEnd, 4)
  }
}

/** The first character of a name may be anything, even `=`. */
function afterAttributeName(start: i32): i32 {
  const ends = attributeNameEnds(start) & ~1
  if (ends !== 0) return start + ctz(ends)
  for (let place = start + 16; place < length; place += 16) {
    const more = attributeNameEnds(place)
    if (more !== 0) return place + ctz(more)
  }
  return length
}

/** Up to white space or `>`. */
function afterUnquoted(place: i32): i32 {
  let code = byteAt(place)
  while (code !== GREATER && !isSpace(code) && place < length) {
    place++
    code = byteAt(place)
  }
  return place
}

function afterSpace(place: i32): i32 {
  while (isSpace(byteAt(place))) place++
  return place
}
