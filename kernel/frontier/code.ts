// Bodies in the code of the crawl: src/frontier/body-code.ts says what it is.

import { BITS_MAX, CODE_STARTS, CODES, FIRST_CODES, LOOK_BITS, LOOKS, ORDERED } from './memory'

/** Bits are written so many at a time: what is left and one more code are 64 at most. */
const STEP_BITS: u32 = 48

/** Writes a body in the code; how many bytes it takes, or a number above `most` when that is not enough. */
export function writeCoded(body: usize, length: i32, to: usize, most: i32): i32 {
  const end = body + (length as usize)
  const last = to + (most as usize)
  let out = to
  let bits: u64 = 0
  let count: u32 = 0
  let before: u32 = 0
  for (let at = body; at < end; at++) {
    const byte = load<u8>(at) as u32
    const code = load<u32>(CODES + (((before << 8) | byte) << 2))
    before = byte
    bits = (bits << ((code >> 16) as u64)) | ((code & 0xffff) as u64)
    count += code >> 16
    if (count < STEP_BITS) continue
    store<u64>(out, bswap(bits << ((64 - count) as u64)))
    out += STEP_BITS >> 3
    count -= STEP_BITS
    if (out > last) return most + 1
  }
  if (count > 0) store<u64>(out, bswap(bits << ((64 - count) as u64)))
  return ((out - to) as i32) + (((count + 7) >> 3) as i32)
}

/** Reads a body of so many bytes out of coded ones, behind which there is room for eight more; whether they are as many as it takes. */
export function readCoded(coded: usize, codedBytes: i32, length: i32, to: usize): bool {
  const end = to + (length as usize)
  const last = coded + (codedBytes as usize)
  // Behind the end there are zeros; that too many were read is seen afterwards.
  store<u64>(last, 0)
  /** The first of those not used yet stands in the highest of `count` bits. */
  let bits: u64 = 0
  let count: u32 = 0
  let next = coded
  let before: u32 = 0
  for (let out = to; out < end; out++) {
    if (count < BITS_MAX) {
      // Enough for two codes at least.
      bits = (bits << 32) | (bswap(load<u32>(min(next, last))) as u64)
      next += 4
      count += 32
    }
    const look = ((bits >> ((count - LOOK_BITS) as u64)) as u32) & ((1 << LOOK_BITS) - 1)
    let found = load<u16>(LOOKS + (((before << LOOK_BITS) | look) << 1)) as u32
    if (found === 0) found = longCode(before, ((bits >> ((count - BITS_MAX) as u64)) as u32) & ((1 << BITS_MAX) - 1))
    before = found >> 4
    count -= found & 15
    store<u8>(out, before)
  }
  return next - ((count >> 3) as usize) === last
}

/** The byte, times 16, and the length of the code that begins these fifteen bits and is longer than a look. Every byte has a code, so there is one. */
function longCode(before: u32, bits: u32): u32 {
  for (let length = LOOK_BITS + 1; length <= BITS_MAX; length++) {
    const row = (before * (BITS_MAX + 2) + length) << 2
    const start = load<u32>(CODE_STARTS + row)
    const among = (bits >> (BITS_MAX - length)) - load<u32>(FIRST_CODES + row)
    // Without signs: what is before the first code is far behind the last.
    if (among >= load<u32>(CODE_STARTS + row, 4) - start) continue
    return ((load<u8>(ORDERED + ((before << 8) + start + among)) as u32) << 4) | length
  }
  return BITS_MAX
}
