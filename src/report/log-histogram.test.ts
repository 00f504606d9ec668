import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { LogHistogram } from './log-histogram.ts'

const values = fc.array(fc.double({ min: 0, max: 1e9, noNaN: true }), { minLength: 1 })

test('every value is counted in the bucket whose bounds hold it', () => {
  fc.assert(
    fc.property(values, (list) => {
      const histogram = new LogHistogram()
      for (const value of list) histogram.add(value)
      for (const { from, to, count } of histogram.buckets()) {
        expect(list.filter((value) => value >= from && value < to)).toHaveLength(count)
      }
      expect(histogram.total).toBe(list.length)
    }),
  )
})

test('a quantile is off by no more than one bucket', () => {
  fc.assert(
    fc.property(values, fc.constantFrom(0.5, 0.95, 0.99), (list, q) => {
      const histogram = new LogHistogram(2)
      for (const value of list) histogram.add(value)
      const exact = list.sort((a, b) => a - b)[Math.max(0, Math.ceil(q * list.length) - 1)]!
      const read = histogram.quantile(q)
      expect(read).toBeLessThanOrEqual(Math.max(1, exact * Math.SQRT2 * 1.000001))
      expect(read).toBeGreaterThanOrEqual(exact < 1 ? 0 : exact / Math.SQRT2 / 1.000001)
    }),
  )
})

test('nothing counted: no bucket, and quantiles of 0', () => {
  const histogram = new LogHistogram()
  expect(histogram.buckets()).toEqual([])
  expect(histogram.quantile(0.5)).toBe(0)
  expect(histogram.mean).toBe(0)
})

test('what is beyond the last bucket is counted in it', () => {
  const histogram = new LogHistogram(1, 4)
  histogram.add(1e12)
  expect(histogram.buckets()).toEqual([{ from: 8, to: 16, count: 1 }])
  expect(histogram.max).toBe(1e12)
})
