import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { isoDate } from './iso-date.ts'

test('a date is written as Date writes it, whatever was written before', () => {
  const years = fc.integer({ min: -1e12, max: 9e12 })
  const near = fc.integer({ min: 1_767_312_245_000, max: 1_767_312_247_000 })
  const odd = fc.constantFrom(0, -1, 8.64e15, -8.64e15, 253_402_300_800_000, 1_767_312_245_678.75)
  fc.assert(
    fc.property(fc.array(fc.oneof(years, near, near, odd), { minLength: 1 }), (dates) => {
      for (const wallMs of dates) expect(isoDate(wallMs)).toBe(new Date(wallMs).toISOString())
    }),
  )
})

test('what is no date is refused', () => {
  expect(() => isoDate(Number.NaN)).toThrow(RangeError)
})
