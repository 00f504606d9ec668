import fc from 'fast-check'
import { expect, test } from 'vitest'
import { crc32c, maskedCrc32c, plainCrc32c } from './crc32c.ts'

// RFC 3720, B.4.
test.each([
  ['32 zeros', Buffer.alloc(32), 0x8a9136aa],
  ['32 ones', Buffer.alloc(32, 0xff), 0x62a8ab43],
  ['counting up', Buffer.from(Array.from({ length: 32 }, (_, i) => i)), 0x46dd794e],
  ['counting down', Buffer.from(Array.from({ length: 32 }, (_, i) => 31 - i)), 0x113fdb5c],
  ['digits', Buffer.from('123456789'), 0xe3069283],
  ['nothing', Buffer.alloc(0), 0],
])('the checksum of %s is what the standard says', (_name, bytes, crc) => {
  expect(crc32c(bytes)).toBe(crc)
})

test('wherever bytes lie in memory their checksum is the same, and that of one bit after the other', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(8), fc.nat(8), (bytes, before, behind) => {
      const memory = new Uint8Array(before + bytes.length + behind).fill(0xa5)
      memory.set(bytes, before)
      let slow = -1
      for (const byte of bytes) {
        slow ^= byte
        for (let bit = 0; bit < 8; bit++) slow = (slow & 1) === 1 ? (slow >>> 1) ^ 0x82f63b78 : slow >>> 1
      }
      expect(crc32c(memory, before, before + bytes.length)).toBe(~slow >>> 0)
      expect(crc32c(memory.subarray(before, before + bytes.length))).toBe(~slow >>> 0)
    }),
  )
})

test('of large blocks the kernel says the same, up to more than it has room for', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.integer({ min: 200, max: 5_000 }), fc.constantFrom(16_384, 100_000, 147_456, 200_000)),
      fc.nat(20),
      fc.integer(),
      (length, before, seed) => {
        const bytes = new Uint8Array(before + length + 20)
        for (let i = 0, state = seed; i < bytes.length; i++) {
          state = (Math.imul(state, 0x19660d) + 0x3c6ef35f) | 0
          bytes[i] = state >>> 24
        }
        expect(crc32c(bytes, before, before + length)).toBe(plainCrc32c(bytes, before, before + length))
      },
    ),
    { numRuns: 60 },
  )
})

test('a masked checksum is turned and moved', () => {
  expect(maskedCrc32c(Buffer.alloc(0))).toBe(0xa282ead8)
})
