import fc from 'fast-check'
import { expect, test } from 'vitest'
import { unpackSnappy } from './snappy.ts'

// That it unpacks what LevelDB packs is shown by level-table.test.ts.
test.each([
  ['nothing', [0], ''],
  ['bytes as they are', [3, 2 << 2, 97, 98, 99], 'abc'],
  ['a length behind the tag', [61, 60 << 2, 60, ...Buffer.alloc(61, 'x')], 'x'.repeat(61)],
  ['a near copy', [7, 2 << 2, 97, 98, 99, 0b000_000_01, 3], 'abcabca'],
  ['a copy that repeats itself', [9, 0, 97, (7 << 2) | 2, 1, 0], 'aaaaaaaaa'],
  ['a far copy', [6, 2 << 2, 97, 98, 99, (2 << 2) | 3, 3, 0, 0, 0], 'abcabc'],
])('%s', (_name, packed, text) => {
  expect(unpackSnappy(Uint8Array.from(packed))?.toString()).toBe(text)
})

test.each([
  ['no length', []],
  ['a length without end', [255, 255, 255, 255, 255, 255]],
  ['more said than can be', [255, 255, 3, 0, 97]],
  ['less than said', [3, 0, 97]],
  ['more than said', [1, 1 << 2, 97, 98]],
  ['bytes that are not there', [3, 2 << 2, 97]],
  ['a copy from before the beginning', [5, 0, 97, 0b000_000_01, 2]],
  ['a copy of nothing', [5, 0, 97, 0b000_000_01, 0]],
  ['a copy that is cut', [5, 0, 97, 0b000_000_10]],
  ['a length that is cut', [70, 61 << 2, 1]],
])('%s is no Snappy', (_name, packed) => {
  expect(unpackSnappy(Uint8Array.from(packed))).toBe(null)
})

test('any bytes are Snappy or are not, and take no more memory than they may', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      const unpacked = unpackSnappy(bytes)
      expect(unpacked === null || unpacked.length <= bytes.length * 22).toBe(true)
    }),
    { numRuns: 2_000 },
  )
})
