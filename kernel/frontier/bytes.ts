// Texts compared, sixteen bytes at a time, and numbers written.

/** How many bytes two texts share at their start, `most` at most. */
export function sharedStart(one: usize, other: usize, most: u32): u32 {
  for (let shared: u32 = 0; shared < most; shared += 16) {
    const unlike = ~i8x16.bitmask(i8x16.eq(v128.load(one + shared), v128.load(other + shared))) & 0xffff
    if (unlike !== 0) return min(shared + (ctz(unlike) as u32), most)
  }
  return most
}

/** How many bytes two texts share that end here, `most` at most. */
export function sharedEnd(one: usize, other: usize, most: u32): u32 {
  for (let shared: u32 = 0; shared < most; shared += 16) {
    const ones = v128.load(one - shared - 16)
    const others = v128.load(other - shared - 16)
    const unlike = ~i8x16.bitmask(i8x16.eq(ones, others)) & 0xffff
    if (unlike !== 0) return min(shared + (clz(unlike) as u32) - 16, most)
  }
  return most
}

/** Whether all bytes are printable ASCII. What stands behind them, up to the next sixteen, is written over. */
export function isPlain(text: usize, length: i32): bool {
  const end = text + (length as usize)
  v128.store(end, i8x16.splat(0x20))
  const space = i8x16.splat(0x20)
  const remove = i8x16.splat(0x7f)
  for (let at = text; at < end; at += 16) {
    const bytes = v128.load(at)
    // With signs: what has the highest bit is below the space too.
    if (v128.any_true(v128.or(i8x16.lt_s(bytes, space), i8x16.eq(bytes, remove)))) return false
  }
  return true
}

/** A varint: seven bits a byte, low ones first. Where it ends. */
export function writeNumber(out: usize, value: u32): usize {
  for (; value > 0x7f; value >>= 7) store<u8>(out++, (value & 0x7f) | 0x80)
  store<u8>(out++, value)
  return out
}
