import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { byteTicks, ticks, timeTicks } from './scale.ts'

test.each([
  [59, [0, 20, 40, 60]],
  [0.37, [0, 0.1, 0.2, 0.3, 0.4]],
  [12_000, [0, 5_000, 10_000, 15_000]],
  [100, [0, 50, 100]],
  [0, [0, 1]],
])('an axis for values up to %d', (max, expected) => expect(ticks(max)).toEqual(expected))

test.each([
  [3.5 * 2 ** 20, [0, 2 ** 20, 2 * 2 ** 20, 3 * 2 ** 20, 4 * 2 ** 20]],
  [3, [0, 1, 2, 3]],
  [0, [0, 1]],
])('an axis for sizes up to %d', (max, expected) => expect(byteTicks(max)).toEqual(expected))

test.each([
  [0.7, [0, 0.2, 0.4, 0.6]],
  [1, [0, 0.2, 0.4, 0.6, 0.8, 1]],
  [2.4, [0, 0.5, 1, 1.5, 2]],
  [3.1, [0, 1, 2, 3]],
  [8, [0, 2, 4, 6, 8]],
  [476, [0, 120, 240, 360]],
  [86_400 * 3, [0, 86_400, 172_800, 259_200]],
])('an axis of %d seconds', (seconds, expected) => expect(timeTicks(seconds)).toEqual(expected))

test('an axis holds its largest value in few steps, whatever it is', () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-6, max: 1e15, noNaN: true }), (max) => {
      for (const axis of [ticks(max), byteTicks(max)]) {
        expect(axis[0]).toBe(0)
        expect(axis.at(-1)!).toBeGreaterThanOrEqual(max * (1 - 1e-6))
        expect(axis.length).toBeLessThanOrEqual(6)
      }
      expect(timeTicks(max).length).toBeLessThanOrEqual(6)
      expect(timeTicks(max).at(-1)!).toBeLessThanOrEqual(max)
    }),
  )
})
