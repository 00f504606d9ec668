// Lines as they stand in memory, and the index of them.
//
//     INDEX   of each line: eight bytes of it, as a number (sort.ts) │ where it begins, 4 │ how long it is without its newline, 4

/** What a line takes in the index. */
export const ENTRY: usize = 16
const AT: usize = 8
const LENGTH: usize = 12

const NEWLINE: u8 = 10
const NEWLINES: v128 = i8x16.splat(10)

export function lineOf(entry: usize): usize {
  return load<u32>(entry, AT) as usize
}

export function lengthOf(entry: usize): u32 {
  return load<u32>(entry, LENGTH)
}

/** Where the next newline is; `end` where there is none. */
export function newlineFrom(from: usize, end: usize): usize {
  let at = from
  for (; at + 16 <= end; at += 16) {
    const bits = i8x16.bitmask(i8x16.eq(v128.load(at), NEWLINES))
    if (bits !== 0) return at + (ctz(bits) as usize)
  }
  while (at < end && load<u8>(at) !== NEWLINE) at++
  return at
}

/** How many newlines there are. */
export function count(from: usize, end: usize): i32 {
  let found = 0
  let at = from
  for (; at + 16 <= end; at += 16) {
    found += popcnt(i8x16.bitmask(i8x16.eq(v128.load(at), NEWLINES)))
  }
  for (; at < end; at++) found += i32(load<u8>(at) === NEWLINE)
  return found
}

/** Lists lines, the last of which ends with its newline too. How long the longest is. */
export function list(from: usize, end: usize, index: usize): u32 {
  let longest: u32 = 0
  let entry = index
  for (let at = from; at < end; entry += ENTRY) {
    const newline = newlineFrom(at, end)
    const length = (newline - at) as u32
    store<u32>(entry, at as u32, AT)
    store<u32>(entry, length, LENGTH)
    longest = max(longest, length)
    at = newline + 1
  }
  return longest
}

let emittedBytes: i32 = 0

/** How many bytes the last call of emit() has written. */
export function emitted(): i32 {
  return emittedBytes
}

/** Writes lines in the order of the index, from the one of number `from` on, as many as there is room for. The number of the next. */
export function emit(index: usize, from: i32, lines: i32, out: usize, outBytes: i32): i32 {
  let number = from
  let to = out
  const end = out + (outBytes as usize)
  for (; number < lines; number++) {
    const entry = index + (number as usize) * ENTRY
    const bytes = (lengthOf(entry) as usize) + 1
    if (to + bytes > end) break
    memory.copy(to, lineOf(entry), bytes)
    to += bytes
  }
  emittedBytes = (to - out) as i32
  return number
}

/** Of two texts, by their bytes; one that is the begin of the other comes first. Up to seven bytes behind them are read and not looked at. */
export function compare(one: usize, oneLength: u32, two: usize, twoLength: u32): i32 {
  const shorter = min(oneLength, twoLength)
  let at: u32 = 0
  for (; at + 8 <= shorter; at += 8) {
    const a = load<u64>(one + (at as usize))
    const b = load<u64>(two + (at as usize))
    if (a !== b) return bswap(a) < bswap(b) ? -1 : 1
  }
  if (at < shorter) {
    const shift = 64 - 8 * ((shorter - at) as u64)
    const a = bswap(load<u64>(one + (at as usize))) >> shift
    const b = bswap(load<u64>(two + (at as usize))) >> shift
    if (a !== b) return a < b ? -1 : 1
  }
  return i32(oneLength > twoLength) - i32(oneLength < twoLength)
}
