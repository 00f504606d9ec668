// One seed explains everything: the same seed gives the same numbers, another one others, evenly spread.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Random } from './random.ts'

const draw = (random: Random, count: number): number[] => Array.from({ length: count }, () => random.next32())

test('a seed gives the same numbers every time, as a number and as a text', () => {
  fc.assert(
    fc.property(fc.oneof(fc.integer(), fc.string()), (seed) => {
      expect(draw(new Random(seed), 20)).toEqual(draw(new Random(seed), 20))
    }),
  )
})

test('different seeds give different numbers', () => {
  const first = new Set(Array.from({ length: 10_000 }, (_, seed) => new Random(seed).next32()))
  expect(first.size).toBeGreaterThan(9_990)
})

test('numbers below a bound are all reached, about equally often', () => {
  const random = new Random('dice')
  const counts = new Uint32Array(6)
  for (let i = 0; i < 60_000; i++) counts[random.below(6)]!++
  for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(500)
})

test('there is nothing to pick from nothing', () => {
  expect(() => new Random(1).pick([])).toThrow(RangeError)
})
