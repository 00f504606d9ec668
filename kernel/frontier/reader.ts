// The body of a block as entries: what src/frontier/entry-reader.ts reads. It stops at whatever is not plain, does not fit or makes no
// sense; the plain reader then does it, or says what is wrong.

import { isPlain } from './bytes'
import {
  ENDING_BIT,
  FIRST_URL,
  FIRST_VIA,
  GROUP_ENTRIES,
  LAST_URL,
  NUMBERS_BIT,
  REFERENCE_MASK,
  TEXT_SHIFT,
  VIA,
  VIA_BEFORE,
  VIA_EARLIER,
  VIA_MASK,
  VIA_NONE,
  WIDE_BIT,
} from './format'
import {
  FACT_BYTES,
  FACT_NUMBERS,
  FACTS,
  GROUP_LENGTHS,
  GROUPS,
  HOST_BYTES_MAX,
  PLACES,
  ROOM_BYTES,
  TEXTS,
  VIAS,
} from './memory'
import { readPieces } from './pieces'
import { atOf, copyReference, lengthOf, pushUrl, setReference, startBlock, startGroup } from './references'

/** The next byte of the body, and its end. Past it when something is wrong: all that is read from there on means nothing. */
let next: usize = 0
let bodyEnd: usize = 0
/** Where the next text goes. */
let textsEnd: usize = 0
let vias: u32 = 0

const WRONG: usize = 0xffff_ff00

/**
 * Reads entries from the i-th on up to before the j-th, there are so many in all, and perhaps some before them in their group. The host
 * stands at TEXTS, and the body at GROUPS. What they are is told at FACTS and PLACES. Whether that could be done.
 */
export function readBody(bodyBytes: i32, count: i32, hostBytes: i32, from: i32, to: i32): bool {
  if (hostBytes > HOST_BYTES_MAX || !isPlain(TEXTS, hostBytes)) return false
  startBlock(TEXTS, hostBytes)
  textsEnd = TEXTS
  next = GROUPS
  bodyEnd = GROUPS + (bodyBytes as usize)
  readLengths((count - 1) / GROUP_ENTRIES)
  let hasFirst = false
  for (let group = from / GROUP_ENTRIES; group * GROUP_ENTRIES < to; group++) {
    if (group > 0 && !hasFirst && !readGroup(0, 0, 1)) return false
    if (!readGroup(group, group * GROUP_ENTRIES, min((group + 1) * GROUP_ENTRIES, to))) return false
    hasFirst = true
  }
  return true
}

/** Where each group begins, from the lengths of all but the last. */
function readLengths(lengths: i32): void {
  for (let i = 0; i < lengths; i++) store<u32>(GROUP_LENGTHS + (i << 2), readNumber())
  let start = next as u64
  for (let i = 0; i <= lengths; i++) {
    const length = load<u32>(GROUP_LENGTHS + (i << 2)) as u64
    store<u32>(GROUP_LENGTHS + (i << 2), min(start, WRONG as u64) as u32)
    start += length
  }
}

/** Whether nothing was wrong. */
function readGroup(group: i32, from: i32, to: i32): bool {
  next = load<u32>(GROUP_LENGTHS + (group << 2)) as usize
  startGroup()
  vias = 0
  for (let i = from; i < to; i++) if (!readEntry(i, i === from ? 0 : i - 1)) return false
  return true
}

/** Without a word it has the via and the numbers of `known`. Whether nothing was wrong. */
function readEntry(i: i32, known: i32): bool {
  const facts = FACTS + (i as usize) * FACT_BYTES + FACT_NUMBERS
  const place = PLACES + ((i << 4) as usize)
  const head = readByte()
  const kind = head & VIA_MASK
  if (kind === VIA_NONE || (kind === VIA_BEFORE && i === 0)) store<u64>(place, 0)
  else if (kind === VIA_BEFORE) store<u64>(place, load<u64>(PLACES + ((known << 4) as usize)))
  else readVia(kind, place)
  if ((head & NUMBERS_BIT) !== 0) readNumbers(facts)
  else if (i === 0) memory.fill(facts, 0, FACT_BYTES - FACT_NUMBERS)
  else memory.copy(facts, FACTS + (known as usize) * FACT_BYTES + FACT_NUMBERS, FACT_BYTES - FACT_NUMBERS)
  const at = textsEnd
  const length = readText(head >> TEXT_SHIFT)
  store<u32>(place, at as u32, 8)
  store<u32>(place, length, 12)
  pushUrl(at, length)
  if (i === 0) {
    copyReference(LAST_URL, FIRST_URL)
    copyReference(VIA, FIRST_VIA)
  }
  return next <= bodyEnd
}

function readVia(kind: u32, place: usize): void {
  if (kind === VIA_EARLIER) {
    const earlier = readByte()
    if (earlier >= vias) {
      next = WRONG
      return
    }
    store<u64>(place, load<u64>(VIAS + (earlier << 3)))
  } else {
    const head = readByte()
    const at = textsEnd
    store<u32>(place, at as u32)
    store<u32>(place, readText(head), 4)
    store<u64>(VIAS + (vias << 3), load<u64>(place))
    vias++
  }
  setReference(VIA, load<u32>(place) as usize, load<u32>(place, 4))
}

function readNumbers(facts: usize): void {
  const first = readNumber()
  const hasCounts = (first & 2) !== 0
  store<u32>(facts, first & ~2)
  store<u32>(facts, readNumber(), 4)
  store<u32>(facts, hasCounts ? readNumber() : 0, 8)
  store<u32>(facts, hasCounts ? readNumber() : 0, 12)
  store<u32>(facts, hasCounts ? readNumber() : 0, 16)
}

/** A text, to where the texts end; its length. */
function readText(head: u32): u32 {
  const reference = (head & REFERENCE_MASK) as i32
  const start = readNumber()
  const ending = (head & ENDING_BIT) === 0 ? 0 : readNumber()
  const length = readNumber()
  const shared = (start as u64) + (ending as u64)
  const roomEnd = TEXTS + (ROOM_BYTES as usize)
  const isWrong = (head & WIDE_BIT) !== 0 || shared > (lengthOf(reference) as u64)
  if (isWrong || next > bodyEnd || length > ((bodyEnd - next) as u32) || shared > ((roomEnd - textsEnd) as u64)) {
    next = WRONG
    return 0
  }
  const from = atOf(reference)
  const at = textsEnd
  memory.copy(at, from, start)
  const end = readPieces(next, next + (length as usize), at + (start as usize), roomEnd - (ending as usize))
  if (end + (ending as usize) >= roomEnd) {
    next = WRONG
    return 0
  }
  memory.copy(end, from + ((lengthOf(reference) - ending) as usize), ending)
  next += length as usize
  const textEnd = end + (ending as usize)
  // A byte between them: the room tells texts apart by their places, and there are empty ones.
  textsEnd = textEnd + 1
  return (textEnd - at) as u32
}

function readByte(): u32 {
  if (next >= bodyEnd) {
    next = WRONG
    return 0
  }
  return load<u8>(next++)
}

/** A varint of at most 32 bits. */
function readNumber(): u32 {
  let byte = readByte()
  let value = byte & 0x7f
  for (let shift: u32 = 7; byte > 0x7f; shift += 7) {
    byte = readByte()
    if (shift === 28 && byte > 0x0f) next = WRONG
    if (next > bodyEnd) return 0
    value |= (byte & 0x7f) << shift
  }
  return value
}
