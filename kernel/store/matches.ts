// What in a block is said by pointing at what came before (LZ77).
//
//     the cat sat, the cat ran            literals "the cat sat, ", match: 8 bytes, 13 back; literals "ran"
//
// At every place its next four bytes are looked up in a table by hash, which knows the last two places with the same hash. The longer
// of both matches is taken, at once: whether the next place would have a better one is not asked.
// Places in the table are hints: bytes are compared before anything is believed. They are kept in 16 bits, which is enough for a
// window of half that; so the table is as large as the first cache of the processor bears.

import {
  BLOCK_BYTES_MAX,
  CELL_BITS_MAX,
  CELLS,
  DISTANCE_COUNTS,
  FIRST_LENGTH,
  INPUT,
  LENGTH_SLOTS,
  LITERAL_COUNTS,
  MATCH_MAX,
  MATCH_MIN,
  SEQUENCES,
  SEQUENCES_MAX,
  WINDOW_BYTES,
} from './memory'

/** A spread of bits, prime. */
const SPREAD: u32 = 2_654_435_761

/** How many sequences the last block has. */
export let sequences: i32 = 0
let cellShift: u32 = 0

/** A record of this length comes: what is known of the one before is forgotten. */
export function forget(length: i32): void {
  // Small records have small tables, which are emptied sooner.
  const bits = min(max(32 - clz(length), 8), CELL_BITS_MAX)
  cellShift = 32 - bits
  memory.fill(CELLS, 0, (4 as usize) << bits)
}

/** Finds the sequences of a block that begins at `from`, in a record that ends at `end`, and counts its symbols. Where the block ends. */
export function findMatches(from: usize, end: usize): usize {
  const shift = cellShift
  const blockEnd = min(end, from + BLOCK_BYTES_MAX - MATCH_MAX)
  // There is no match in what is shorter than one; and none at the first byte, where an empty cell would point to it.
  const searchEnd = end - from < MATCH_MIN ? from : min(blockEnd, end - MATCH_MIN + 1)
  let sequence = SEQUENCES
  const sequencesEnd = SEQUENCES + 8 * SEQUENCES_MAX
  let literals = from
  let at = from
  if (at === INPUT) at++
  while (at < searchEnd) {
    const word = load<u32>(at)
    const cell = CELLS + ((((word * SPREAD) >> shift) << 2) as usize)
    const known = load<u32>(cell)
    const place = (at - INPUT) as u32
    store<u32>(cell, (known << 16) | (place & 0xffff))
    const near = (place - known) & 0xffff
    const far = (place - (known >> 16)) & 0xffff
    let length = 0
    let distance: u32 = 0
    const most = min(MATCH_MAX, (end - at) as i32)
    if (load<u32>(at - near) === word && near - 1 < WINDOW_BYTES) {
      length = lengthOf(at, at - near, most)
      distance = near
    }
    if (load<u32>(at - far) === word && far - 1 < WINDOW_BYTES) {
      const other = lengthOf(at, at - far, most)
      if (other > length) {
        length = other
        distance = far
      }
    }
    if (length === 0) {
      at += 1 + ((at - literals) >> 6)
      continue
    }
    countLiterals(literals, at)
    const slot = slotOf(distance - 1)
    store<u64>(
      sequence,
      ((at - literals) as u64) |
        ((length as u64) << 16) |
        (((distance - 1) as u64) << 32) |
        ((slot as u64) << 48),
    )
    sequence += 8
    count(LITERAL_COUNTS + 4 * FIRST_LENGTH, load<u8>(LENGTH_SLOTS + (length as usize)))
    count(DISTANCE_COUNTS, slot)
    const matchEnd = at + length
    const noteEnd = min(matchEnd, searchEnd)
    for (at++; at < noteEnd; at++) {
      const cell = CELLS + ((((load<u32>(at) * SPREAD) >> shift) << 2) as usize)
      store<u32>(cell, (load<u32>(cell) << 16) | (((at - INPUT) as u32) & 0xffff))
    }
    at = matchEnd
    literals = matchEnd
    if (sequence === sequencesEnd) break
  }
  const stop = sequence === sequencesEnd ? literals : max(blockEnd, literals)
  countLiterals(literals, stop)
  store<u64>(sequence, (stop - literals) as u64)
  sequences = ((sequence - SEQUENCES) >> 3) as i32
  return stop
}

/** The symbol of a distance less one: twice the place of its highest bit, and the bit below. */
function slotOf(less: u32): u32 {
  if (less < 2) return less
  const high = 31 - clz(less)
  return (high << 1) | ((less >> (high - 1)) & 1)
}

function count(counts: usize, symbol: u32): void {
  const at = counts + ((symbol << 2) as usize)
  store<u32>(at, load<u32>(at) + 1)
}

function countLiterals(from: usize, to: usize): void {
  for (let at = from; at < to; at++) count(LITERAL_COUNTS, load<u8>(at))
}

/** How many bytes are alike, from the fifth on. */
function lengthOf(one: usize, other: usize, most: i32): i32 {
  for (let length = MATCH_MIN as i32; length < most; length += 8) {
    const differ = load<u64>(one + (length as usize)) ^ load<u64>(other + (length as usize))
    if (differ !== 0) return min(length + ((ctz(differ) >> 3) as i32), most)
  }
  return most
}
