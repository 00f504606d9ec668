// The checksum that LevelDB puts behind its blocks: CRC-32C (Castagnoli), sixteen bytes at a step, read as four words; of larger blocks by
// the kernel, which does the same in half the time (docs/decisions/0035).

import { entryKernel } from './entry-kernel.ts'

const POLYNOMIAL = 0x82f63b78
const STEP_BYTES = 16
const MASK_ADDED = 0xa282ead8
/** Less is soon done here too. */
const KERNEL_BYTES_MIN = 256
const IS_LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1

/** For a byte and how many more follow it in the step: what it does to the checksum. */
const T0 = tableOf(0)
const T1 = tableOf(1)
const T2 = tableOf(2)
const T3 = tableOf(3)
const T4 = tableOf(4)
const T5 = tableOf(5)
const T6 = tableOf(6)
const T7 = tableOf(7)
const T8 = tableOf(8)
const T9 = tableOf(9)
const T10 = tableOf(10)
const T11 = tableOf(11)
const T12 = tableOf(12)
const T13 = tableOf(13)
const T14 = tableOf(14)
const T15 = tableOf(15)

function tableOf(following: number): Int32Array {
  return Int32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte
    for (let bit = 0; bit < 8 + 8 * following; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1
    return crc
  })
}

/** Of the bytes from `from` up to `to`, which must lie within. */
export function crc32c(bytes: Uint8Array, from = 0, to = bytes.length): number {
  const byKernel = to - from < KERNEL_BYTES_MIN ? null : entryKernel().checksum(bytes, from, to)
  return byKernel ?? plainCrc32c(bytes, from, to)
}

/** The same without the kernel. */
export function plainCrc32c(bytes: Uint8Array, from: number, to: number): number {
  let crc = -1
  let at = from
  if (IS_LITTLE_ENDIAN && to - from >= STEP_BYTES) {
    const shift = bytes.byteOffset
    const words = new Int32Array(bytes.buffer, 0, bytes.buffer.byteLength >> 2)
    for (; ((shift + at) & 3) !== 0; at++) crc = (crc >>> 8) ^ (T0[(crc ^ (bytes[at] as number)) & 255] as number)
    for (let word = (shift + at) >> 2; at + STEP_BYTES <= to; at += STEP_BYTES, word += 4) {
      const a = crc ^ (words[word] as number)
      const b = words[word + 1] as number
      const c = words[word + 2] as number
      const d = words[word + 3] as number
      crc =
        (T15[a & 255] as number) ^
        (T14[(a >>> 8) & 255] as number) ^
        (T13[(a >>> 16) & 255] as number) ^
        (T12[a >>> 24] as number) ^
        (T11[b & 255] as number) ^
        (T10[(b >>> 8) & 255] as number) ^
        (T9[(b >>> 16) & 255] as number) ^
        (T8[b >>> 24] as number) ^
        (T7[c & 255] as number) ^
        (T6[(c >>> 8) & 255] as number) ^
        (T5[(c >>> 16) & 255] as number) ^
        (T4[c >>> 24] as number) ^
        (T3[d & 255] as number) ^
        (T2[(d >>> 8) & 255] as number) ^
        (T1[(d >>> 16) & 255] as number) ^
        (T0[d >>> 24] as number)
    }
  }
  for (; at < to; at++) crc = (crc >>> 8) ^ (T0[(crc ^ (bytes[at] as number)) & 255] as number)
  return ~crc >>> 0
}

/** As LevelDB stores it: a checksum over bytes that hold checksums would say little. */
export function maskedCrc32c(bytes: Uint8Array, from = 0, to = bytes.length): number {
  const crc = crc32c(bytes, from, to)
  return (((crc >>> 15) | (crc << 17)) + MASK_ADDED) >>> 0
}
