// A tally against the plain count: equal while names are few, bounded and honest when they are not.

import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { Tally } from './tally.ts'

test('while names are few every count is exact', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.nat(100))), (adds) => {
      const tally = new Tally(4)
      const plain = new Map<string, number>()
      for (const [name, bytes] of adds) {
        tally.add(name, bytes)
        plain.set(name, (plain.get(name) ?? 0) + 1)
      }
      const { rows, others, total } = tally.largest(10)
      expect(new Map(rows.map((row) => [row.name, row.count]))).toEqual(plain)
      expect(rows.map((row) => row.count)).toEqual(rows.map((row) => row.count).sort((a, b) => b - a))
      expect(others).toEqual({ names: 0, count: 0, weight: 0 })
      expect(total).toBe(adds.length)
    }),
  )
})

test('rows and others always add up to the total, however many names there are', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50)), fc.integer({ min: 1, max: 8 }), (names, rowsMax) => {
      const tally = new Tally(3)
      for (const name of names) tally.add(`n${name}`, name)
      const { rows, others } = tally.largest(rowsMax)
      expect(rows.reduce((sum, row) => sum + row.count, others.count)).toBe(names.length)
      expect(rows.reduce((sum, row) => sum + row.weight, others.weight)).toBe(
        names.reduce((sum, name) => sum + name, 0),
      )
    }),
  )
})

test('a flood of names cannot push out a large one', () => {
  const tally = new Tally(100)
  for (let i = 0; i < 50_000; i++) {
    tally.add(`once-${i}`)
    if (i % 10 === 0) tally.add('often')
  }
  expect(tally.largest(1).rows).toEqual([{ name: 'often', count: 5_000, weight: 0 }])
})
