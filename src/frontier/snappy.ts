// Unpacks Snappy, in which LevelDB keeps most of its blocks: a length, then pieces that are either bytes as they are or a stretch of
// what was unpacked before. (The format: google/snappy, format_description.txt.)
//
// For bytes that may be anything: nothing is read or written outside, and no more is made than a true packer could have packed.

/** A piece of three bytes stands for 64 at most. */
const UNPACKED_PER_PACKED_MAX = 22

/** Null when it is no Snappy. */
export function unpackSnappy(packed: Uint8Array): Buffer | null {
  let at = 0
  let length = 0
  for (let unit = 1; ; unit *= 128) {
    const byte = packed[at++]
    if (byte === undefined || unit > 2 ** 28) return null
    length += (byte & 127) * unit
    if (byte < 128) break
  }
  if (length > packed.length * UNPACKED_PER_PACKED_MAX) return null
  const unpacked = Buffer.allocUnsafe(length)
  let done = 0
  while (at < packed.length) {
    const tag = packed[at++] as number
    const kind = tag & 3
    if (kind === 0) {
      let count = (tag >> 2) + 1
      // Longer ones have their length behind the tag, in one to four bytes.
      const lengthBytes = count - 60
      if (lengthBytes > 0) {
        count = 1 + readLittle(packed, at, lengthBytes)
        at += lengthBytes
      }
      if (!(at + count <= packed.length && done + count <= length)) return null
      unpacked.set(packed.subarray(at, at + count), done)
      at += count
      done += count
      continue
    }
    const offsetBytes = kind === 3 ? 4 : kind
    const count = kind === 1 ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1
    const offset = readLittle(packed, at, offsetBytes) + (kind === 1 ? (tag >> 5) * 256 : 0)
    at += offsetBytes
    if (!(offset > 0 && offset <= done && done + count <= length)) return null
    // Byte by byte where it overlaps itself: then it repeats what it has just written.
    if (offset >= count) unpacked.copyWithin(done, done - offset, done - offset + count)
    else for (let i = 0; i < count; i++) unpacked[done + i] = unpacked[done + i - offset] as number
    done += count
  }
  return done === length ? unpacked : null
}

/** NaN behind the end: no comparison with it holds. */
function readLittle(bytes: Uint8Array, at: number, count: number): number {
  let value = 0
  for (let i = count - 1; i >= 0; i--) value = value * 256 + (bytes[at + i] ?? Number.NaN)
  return value
}
