// Entries of one host as the body of a block: byte for byte what src/frontier/entry-writer.ts makes of them.

import { isPlain, sharedEnd, sharedStart, writeNumber } from './bytes'
import {
  ENDING_BIT,
  ENDING_MIN,
  FIRST_URL,
  FIRST_VIA,
  GROUP_ENTRIES,
  NUMBERS_BIT,
  REFERENCE_COUNT,
  TEXT_SHIFT,
  VIA,
  VIA_BEFORE,
  VIA_EARLIER,
  VIA_NEW,
  VIA_NONE,
} from './format'
import {
  FACT_BYTES,
  FACT_NUMBERS,
  FACT_URL,
  FACTS,
  GROUP_LENGTHS,
  GROUPS,
  HOST_BYTES_MAX,
  TEXTS,
  VIA_IS_BEFORE,
  VIA_IS_NONE,
  VIAS,
} from './memory'
import { writePieces } from './pieces'
import { atOf, copyReference, lengthOf, pushUrl, setReference, startBlock, startGroup } from './references'

/** Where the body begins, and the next byte of it. */
let start: usize = 0
let out: usize = 0
/** How many vias were new in this group. */
let vias: u32 = 0

export function bodyAt(): usize {
  return start
}

/**
 * The body of so many entries, as FACTS tell them. At TEXTS stand the host and then, without anything between them, vias that are not
 * those of the entry before, and URLs. How long it is; -1 when something is not plain.
 */
export function writeBody(count: i32, hostBytes: i32, textBytes: i32): i32 {
  if (hostBytes > HOST_BYTES_MAX || !isPlain(TEXTS, textBytes)) return -1
  startBlock(TEXTS, hostBytes)
  out = GROUPS
  let text = TEXTS + (hostBytes as usize)
  for (let from = 0; from < count; from += GROUP_ENTRIES) {
    const startedAt = out
    startGroup()
    vias = 0
    text = writeGroup(from, min(from + GROUP_ENTRIES, count), text)
    store<u32>(GROUP_LENGTHS + ((from / GROUP_ENTRIES) << 2), (out - startedAt) as u32)
  }
  writeLengths((count - 1) / GROUP_ENTRIES)
  return (out - start) as i32
}

/** The lengths of the first groups, before the groups. */
function writeLengths(lengths: i32): void {
  // As many bytes as they take, found by writing them to where they do no harm.
  let end = out
  for (let i = 0; i < lengths; i++) end = writeNumber(end, load<u32>(GROUP_LENGTHS + (i << 2)))
  start = GROUPS - (end - out)
  memory.copy(start, out, end - out)
}

/** Where the texts behind those of the group begin. */
function writeGroup(from: i32, to: i32, text: usize): usize {
  // The numbers that need not be told: of the entry before, and at first those of the block's first entry, or zeros.
  let known = FACTS + FACT_NUMBERS
  for (let i = from; i < to; i++) {
    const facts = FACTS + (i as usize) * FACT_BYTES
    const numbers = facts + FACT_NUMBERS
    const headAt = out++
    const viaLength = load<u32>(facts)
    let head = VIA_NONE
    if (viaLength === VIA_IS_BEFORE) head = VIA_BEFORE
    else if (viaLength !== VIA_IS_NONE) {
      head = writeVia(text, viaLength)
      text += viaLength as usize
    }
    if (i === 0 ? !areZero(numbers) : !areAlike(numbers, known)) {
      head |= NUMBERS_BIT
      writeNumbers(numbers)
    }
    known = numbers
    const length = load<u32>(facts, FACT_URL)
    store<u8>(headAt, head | (writeText(text, length) << TEXT_SHIFT))
    pushUrl(text, length)
    if (i === 0) {
      setReference(FIRST_URL, text, length)
      copyReference(VIA, FIRST_VIA)
    }
    text += length as usize
  }
  return text
}

/** Its part of the entry's head. */
function writeVia(via: usize, length: u32): u32 {
  for (let earlier: u32 = 0; earlier < vias; earlier++) {
    const known = VIAS + (earlier << 3)
    if (load<u32>(known, 4) !== length || sharedStart(load<u32>(known), via, length) !== length) continue
    store<u8>(out++, earlier)
    setReference(VIA, via, length)
    return VIA_EARLIER
  }
  const headAt = out++
  store<u8>(headAt, writeText(via, length))
  store<u32>(VIAS + (vias << 3), via as u32)
  store<u32>(VIAS + (vias << 3), length, 4)
  vias++
  setReference(VIA, via, length)
  return VIA_NEW
}

function areZero(numbers: usize): bool {
  return load<u64>(numbers) === 0 && !v128.any_true(v128.load(numbers, 8))
}

function areAlike(one: usize, other: usize): bool {
  if (load<u64>(one) !== load<u64>(other)) return false
  return !v128.any_true(v128.xor(v128.load(one, 8), v128.load(other, 8)))
}

function writeNumbers(numbers: usize): void {
  const hops = load<u32>(numbers, 8)
  const tries = load<u32>(numbers, 12)
  const pauses = load<u32>(numbers, 16)
  const hasCounts = (hops | tries | pauses) !== 0
  out = writeNumber(out, load<u32>(numbers) + (hasCounts ? 2 : 0))
  out = writeNumber(out, load<u32>(numbers, 4))
  if (!hasCounts) return
  out = writeNumber(out, hops)
  out = writeNumber(out, tries)
  out = writeNumber(out, pauses)
}

/** Its head, which the caller writes. */
function writeText(text: usize, length: u32): u32 {
  let best: i32 = 0
  let start: u32 = 0
  for (let i: i32 = REFERENCE_COUNT - 1; i >= 0; i--) {
    const at = atOf(i)
    const most = min(lengthOf(i), length)
    // Only a longer start is of use, and it would have to agree here.
    if (most <= start || load<u8>(at + start) !== load<u8>(text + start)) continue
    const shared = sharedStart(at, text, most)
    if (shared <= start) continue
    best = i
    start = shared
  }
  const end = text + (length as usize)
  let ending = sharedEnd(atOf(best) + (lengthOf(best) as usize), end, min(lengthOf(best), length) - start)
  if (ending < ENDING_MIN) ending = 0
  out = writeNumber(out, start)
  if (ending > 0) out = writeNumber(out, ending)
  writeRest(text + (start as usize), end - (ending as usize))
  return (best as u32) | (ending > 0 ? ENDING_BIT : 0)
}

/** The length in pieces, and the pieces. The length is known last and mostly one byte; if it is not, they move up. */
function writeRest(from: usize, to: usize): void {
  const pieces = out + 1
  const length = (writePieces(from, to, pieces) - pieces) as u32
  if (length > 0x7f) memory.copy(out + (length > 0x3fff ? 3 : 2), pieces, length)
  out = writeNumber(out, length) + (length as usize)
}
