import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { Largest } from './largest.ts'

test('keeps what sorting everything would put first', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20)), fc.nat(6), (sizes, max) => {
      const largest = new Largest<number>(max)
      sizes.forEach((size, index) => largest.add(size, index))
      const expected = sizes
        .map((size, index) => ({ size, index }))
        .sort((a, b) => b.size - a.size || a.index - b.index)
        .slice(0, max)
        .map(({ index }) => index)
      expect(largest.items()).toEqual(expected)
    }),
  )
})
