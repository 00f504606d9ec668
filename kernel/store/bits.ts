// Bits behind each other, lowest first, as deflate has them.
//
// hot: whoever writes many keeps these three in variables of its own meanwhile.

/** Where the next whole byte goes; bits that do not fill one yet; how many of them, less than eight between two calls. */
export let out: usize = 0
export let bits: u64 = 0
export let bitCount: u32 = 0

export function beginAt(address: usize): void {
  out = address
  bits = 0
  bitCount = 0
}

/** At most 32 bits. */
export function putBits(value: u32, count: u32): void {
  bits |= (value as u64) << (bitCount as u64)
  const sum = bitCount + count
  store<u64>(out, bits)
  out += sum >> 3
  bits >>= (sum & 56) as u64
  bitCount = sum & 7
}

/** Fills up the last byte. */
export function endByte(): void {
  if (bitCount > 0) putBits(0, 8 - bitCount)
}

/** What was written by others meanwhile. */
export function goOnAt(address: usize, rest: u64, restCount: u32): void {
  out = address
  bits = rest
  bitCount = restCount
}
