// What in a block is said by pointing at what came before (LZ77).
//
//     the cat sat, the cat ran            literals "the cat sat, ", match: 8 bytes, 13 back; literals "ran"
//
// The next four bytes of a place are looked up in a table by hash, which knows the last two places with the same hash. That is done for
// two places at once: the longest of up to four matches is taken, the earlier place first.
// Places in the table are hints: bytes are compared before anything is believed. They are kept in 16 bits, which is enough for a
// window of half that, so the table is as large as the first cache of the processor bears.

import {
  BLOCK_BYTES_MAX,
  CELL_BITS,
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

/** A prime that spreads bits. */
const SPREAD: u32 = 2_654_435_761
/** Bytes compared at once. */
const GLANCE: i32 = 16
/** After so many literals there seems to be nothing to find: the more there were, the more bytes are taken without a look. */
const PATIENCE_BITS: usize = 8

/** How many sequences the last block has. */
export let sequences: i32 = 0

/** A record comes: what is known of the one before is forgotten. Places would point before its beginning. */
export function forget(): void {
  memory.fill(CELLS, 0, (4 as usize) << CELL_BITS)
}

/** Finds the sequences of a block that begins at `from`, in a record that ends at `end`, and counts its symbols. Where the block ends. */
export function findMatches(from: usize, end: usize): usize {
  const blockEnd = min(end, from + BLOCK_BYTES_MAX - MATCH_MAX)
  // At both places there are as many bytes as the shortest match has.
  const searchEnd = ((end - from) as i32) <= MATCH_MIN ? from : min(blockEnd - 1, end - MATCH_MIN)
  const sequencesEnd = SEQUENCES + 8 * SEQUENCES_MAX
  let sequence = SEQUENCES
  let literals = from
  let at = from
  // There is nothing before the first byte. An empty cell would point to it.
  if (at === INPUT && at < searchEnd) count(LITERAL_COUNTS, load<u8>(at++), 1)
  // hot: no branch until it is known whether one of both places has a match. What is not foreseen costs more than all comparisons.
  while (at < searchEnd) {
    const place = (at - INPUT) as u32
    const known = lookUp(at)
    const nextKnown = lookUp(at + 1)
    const near = (place - known) & 0xffff
    const far = (place - (known >> 16)) & 0xffff
    const nextNear = (place + 1 - nextKnown) & 0xffff
    const nextFar = (place + 1 - (nextKnown >> 16)) & 0xffff
    const bytes = v128.load(at)
    const nextBytes = v128.load(at, 1)
    const nearAlike = alike(bytes, at, near)
    const farAlike = alike(bytes, at, far)
    const nextNearAlike = alike(nextBytes, at + 1, nextNear)
    const nextFarAlike = alike(nextBytes, at + 1, nextFar)
    const isFar = farAlike > nearAlike
    const isNextFar = nextFarAlike > nextNearAlike
    const hereAlike = max(farAlike, nearAlike)
    const nextAlike = max(nextFarAlike, nextNearAlike)
    const isNext = nextAlike > hereAlike
    let length = max(nextAlike, hereAlike)
    if (length < MATCH_MIN) {
      count(LITERAL_COUNTS, load<u8>(at), 1)
      count(LITERAL_COUNTS, load<u8>(at, 1), 1)
      at += 2
      if (at - literals > 1 << PATIENCE_BITS) {
        const resume = min(at + ((at - literals) >> PATIENCE_BITS), blockEnd)
        countLiterals(at, resume)
        at = resume
      }
      continue
    }
    const distance = select(select(nextFar, nextNear, isNextFar), select(far, near, isFar), isNext)
    const unknown = at + 2
    const skipped = select(1, 0, isNext)
    count(LITERAL_COUNTS, load<u8>(at), skipped)
    at += skipped
    const most = min(MATCH_MAX, (end - at) as i32)
    length = length === GLANCE ? lengthOf(at, at - distance, most) : min(length, most)
    const symbol = distanceSymbol(distance - 1)
    count(LITERAL_COUNTS + 4 * FIRST_LENGTH, load<u8>(LENGTH_SLOTS + (length as usize)), 1)
    count(DISTANCE_COUNTS, symbol, 1)
    store<u64>(
      sequence,
      ((at - literals) as u64) | ((length as u64) << 16) | (((distance - 1) as u64) << 32) | ((symbol as u64) << 48),
    )
    sequence += 8
    at += length as usize
    literals = at
    learn(unknown, at)
    if (sequence === sequencesEnd) break
  }
  const stop = sequence === sequencesEnd ? literals : max(blockEnd, literals)
  countLiterals(at, stop)
  store<u64>(sequence, (stop - literals) as u64)
  sequences = ((sequence - SEQUENCES) >> 3) as i32
  return stop
}

function cellOf(at: usize): usize {
  return CELLS + ((((load<u32>(at) * SPREAD) >> (32 - CELL_BITS)) << 2) as usize)
}

/** The last two places that began like this one, the later in the lower half. From now on it is itself the last. */
function lookUp(at: usize): u32 {
  const cell = cellOf(at)
  const known = load<u32>(cell)
  store<u32>(cell, (known << 16) | (((at - INPUT) as u32) & 0xffff))
  return known
}

/** The places of a match: the first two, and then by four. Which are left out is not worth a branch that nobody can foresee. */
function learn(from: usize, to: usize): void {
  lookUp(from)
  lookUp(from + 1)
  for (let at = from + 2; at + 3 < to; at += 4) {
    lookUp(at)
    lookUp(at + 1)
    lookUp(at + 2)
    lookUp(at + 3)
  }
}

/** How many bytes are alike so far back, of the sixteen at a place. None where that is further than a match may point. */
function alike(bytes: v128, at: usize, distance: u32): i32 {
  return distance - 1 < WINDOW_BYTES ? ctz(~i8x16.bitmask(i8x16.eq(bytes, v128.load(at - distance)))) : 0
}

/** How many bytes are alike, of which the first sixteen are known to be. */
function lengthOf(one: usize, other: usize, most: i32): i32 {
  for (let length = GLANCE; length < most; length += 8) {
    const differ = load<u64>(one + (length as usize)) ^ load<u64>(other + (length as usize))
    if (differ !== 0) return min(length + ((ctz(differ) >> 3) as i32), most)
  }
  return most
}

/** The symbol of a distance less one: twice the place of its highest bit, and the bit below. */
function distanceSymbol(less: u32): u32 {
  if (less < 2) return less
  const high = 31 - clz(less)
  return (high << 1) | ((less >> (high - 1)) & 1)
}

function count(counts: usize, symbol: u32, more: u32): void {
  const at = counts + ((symbol << 2) as usize)
  store<u32>(at, load<u32>(at) + more)
}

function countLiterals(from: usize, to: usize): void {
  for (let at = from; at < to; at++) count(LITERAL_COUNTS, load<u8>(at), 1)
}
