// The SimHash of a page's text, from the words that are left in the marks: src/parse/text-sketch.ts says what it is, and
// test/oracle/plain-sketch.ts says the same again in plain words.
//
// hot: a word is one load of sixteen bytes and two multiplications. Votes are counted in upright bit planes, sixteen
// at a time (Harley and Seal), instead of 64 additions each.

import { length, starts, stops } from './marks'
import { all, KEPT, PAGE, PLANES, SKETCH, VOTES, VOTES_MAX } from './memory'

const WORD_FACTOR: u64 = ((0x9e3779b9 as u64) << 32) | 0x7f4a7c15
const VOTE_FACTOR: u64 = ((0xa0761d64 as u64) << 32) | 0x78bd642f

/** Bytes of votes after which those of another block, a word for each byte, may not find room. */
const VOTES_FULL: usize = 8 * (VOTES_MAX - 64)

/** Planes of the counters: more votes than a page of any size has. */
const PLANE_COUNT: i32 = 32

/** Makes the sketch of all words that were not hidden. Answers how many they are. */
export function sketch(): i32 {
  memory.fill(PLANES, 0, 16 * PLANE_COUNT)
  const blocks = (length + 63) >> 6
  let before: u64 = 0
  let last: u64 = 0
  let sum: u64 = 0
  let votes = 0
  let kept: usize = 0
  for (let block = 0; block < blocks; block++) {
    let bits = load<u64>(starts + ((block << 3) as usize))
    const base = block << 6
    while (bits !== 0) {
      const start = base + (ctz(bits) as i32)
      bits &= bits - 1
      const word = wordAt(start)
      const triple = word + rotl(last, 21) + rotl(before, 42)
      const product = triple * VOTE_FACTOR
      const vote = product ^ (product >> 32)
      store<u64>(VOTES + kept, vote)
      kept += 8
      sum += vote
      before = last
      last = word
    }
    if (kept > VOTES_FULL) {
      votes += (kept >> 3) as i32
      count(kept)
      kept = 0
    }
  }
  votes += (kept >> 3) as i32
  count(kept)
  addRows()
  store<i32>(SKETCH, (sum ^ (sum >> 32)) as i32)
  store<u64>(SKETCH, majority(votes), 8)
  return votes
}

/** The hash of the word at `start`. Letters lose their case. */
function wordAt(start: i32): u64 {
  const after = start + 1
  const ends = load<u64>(stops + ((after >> 3) as usize)) >> ((after & 7) as u64)
  const size = (ctz(ends) as i32) + 1
  if (size > 16) return longWordAt(start)
  return hashOf((start as usize) + PAGE, size)
}

/** Sixteen bytes after the other. */
function longWordAt(start: i32): u64 {
  let hash: u64 = 0
  let at = start
  while (true) {
    const after = at + 1
    const ends = load<u64>(stops + ((after >> 3) as usize)) >> ((after & 7) as u64)
    const size = (ctz(ends) as i32) + 1
    hash = rotl(hash, 7) + hashOf((at as usize) + PAGE, min(size, 16))
    if (size <= 16) return hash
    at += 16
  }
}

/** Of one to sixteen bytes. */
function hashOf(at: usize, size: i32): u64 {
  const bytes = v128.and(v128.load(at), v128.load(KEPT + 16 - size))
  // Only letters have the bit 0x40; beyond ASCII it is as good as any.
  const lower = v128.or(bytes, i64x2.shr_u(v128.and(bytes, all(0x40)), 1))
  const low: u64 = i64x2.extract_lane(lower, 0)
  const high: u64 = i64x2.extract_lane(lower, 1)
  const hash = (low ^ rotl(high, 29)) * WORD_FACTOR
  return hash ^ (hash >> 32)
}

/**
 * Adds the votes that wait, so many bytes of them, to counters that stand upright: plane p holds bit p of each. Votes are taken in two
 * rows, so that a plane is a vector: 64 counters for one row, and 64 for the other.
 */
function count(kept: usize): void {
  // Up to the next sixteen: no vote for anything.
  memory.fill(VOTES + kept, 0, 128)
  let ones = v128.load(PLANES)
  let twos = v128.load(PLANES, 16)
  let fours = v128.load(PLANES, 32)
  let eights = v128.load(PLANES, 48)
  let sixteens = v128.load(PLANES, 64)
  let more = v128.load(PLANES, 80)
  for (let at = VOTES; at < VOTES + kept; at += 128) {
    // Two at a time: the sum stays, the carry goes one up; two carries make the next.
    let vote = v128.load(at, 16)
    let half = v128.xor(ones, v128.load(at))
    let twosA = v128.or(v128.and(ones, v128.load(at)), v128.and(half, vote))
    ones = v128.xor(half, vote)
    vote = v128.load(at, 48)
    half = v128.xor(ones, v128.load(at, 32))
    let twosB = v128.or(v128.and(ones, v128.load(at, 32)), v128.and(half, vote))
    ones = v128.xor(half, vote)
    half = v128.xor(twos, twosA)
    const foursA = v128.or(v128.and(twos, twosA), v128.and(half, twosB))
    twos = v128.xor(half, twosB)
    vote = v128.load(at, 80)
    half = v128.xor(ones, v128.load(at, 64))
    twosA = v128.or(v128.and(ones, v128.load(at, 64)), v128.and(half, vote))
    ones = v128.xor(half, vote)
    vote = v128.load(at, 112)
    half = v128.xor(ones, v128.load(at, 96))
    twosB = v128.or(v128.and(ones, v128.load(at, 96)), v128.and(half, vote))
    ones = v128.xor(half, vote)
    half = v128.xor(twos, twosA)
    const foursB = v128.or(v128.and(twos, twosA), v128.and(half, twosB))
    twos = v128.xor(half, twosB)
    half = v128.xor(fours, foursA)
    let carry = v128.or(v128.and(fours, foursA), v128.and(half, foursB))
    fours = v128.xor(half, foursB)
    // How far a carry goes nobody can foretell: it is taken through these planes in any case, and seldom leaves them.
    let held = eights
    eights = v128.xor(held, carry)
    carry = v128.and(carry, held)
    held = sixteens
    sixteens = v128.xor(held, carry)
    carry = v128.and(carry, held)
    held = more
    more = v128.xor(held, carry)
    carry = v128.and(carry, held)
    for (let plane = PLANES + 96; v128.any_true(carry) && plane < PLANES + 16 * PLANE_COUNT; plane += 16) {
      held = v128.load(plane)
      v128.store(plane, v128.xor(held, carry))
      carry = v128.and(carry, held)
    }
  }
  v128.store(PLANES, ones)
  v128.store(PLANES, twos, 16)
  v128.store(PLANES, fours, 32)
  v128.store(PLANES, eights, 48)
  v128.store(PLANES, sixteens, 64)
  v128.store(PLANES, more, 80)
}

/** Adds the counters of the second row to those of the first, which then stand in the first halves of the planes. */
function addRows(): void {
  let carry: u64 = 0
  for (let plane = PLANES; plane < PLANES + 16 * PLANE_COUNT; plane += 16) {
    const one = load<u64>(plane)
    const two = load<u64>(plane, 8)
    const half = one ^ two
    store<u64>(plane, half ^ carry)
    carry = (one & two) | (half & carry)
  }
}

/** The bits for which more than half have voted. Compared from the highest plane down, all counters at once. */
function majority(votes: i32): u64 {
  const half = votes >> 1
  let above: u64 = 0
  let equal: u64 = -1
  for (let plane = PLANE_COUNT - 1; plane >= 0; plane--) {
    const held = load<u64>(PLANES + ((plane << 4) as usize))
    if (((half >> plane) & 1) === 0) {
      above |= equal & held
      equal &= ~held
    } else equal &= held
  }
  return above
}
