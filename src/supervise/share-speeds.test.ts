// What a limit comes to on a share: parts add up to the whole, and the last word counts.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SpeedWish } from '../cluster/index.ts'
import { speedOfShare } from './share-speeds.ts'

const OPEN_FILES = 1_000_000

function wish(change: SpeedWish['change'], of: Partial<SpeedWish> = {}): SpeedWish {
  return { node: null, share: null, change, ...of }
}

test('a limit of the crawl is shared by all shares wherever they are; one of a node by those it has', () => {
  fc.assert(
    fc.property(
      fc
        .integer({ min: 1, max: 32 })
        .chain((shares) =>
          fc.tuple(fc.constant(shares), fc.array(fc.boolean(), { minLength: shares, maxLength: shares })),
        ),
      fc.integer({ min: 1, max: 1_000 }),
      ([shares, isHere], rate) => {
        const all = [...isHere.keys()]
        const here = all.filter((share) => isHere[share])
        const place = { node: 'a', shares, here }
        const sum = (of: readonly number[], wishes: readonly SpeedWish[]): number =>
          of.reduce((total, share) => total + (speedOfShare(share, wishes, place, OPEN_FILES).ratePerSecond ?? 0), 0)
        expect(sum(all, [wish({ ratePerSecond: rate })])).toBeCloseTo(rate, 6)
        if (here.length > 0) expect(sum(here, [wish({ ratePerSecond: rate }, { node: 'a' })])).toBeCloseTo(rate, 6)
        expect(sum(all, [wish({ ratePerSecond: rate }, { node: 'b' })])).toBe(0)
      },
    ),
    { numRuns: 50 },
  )
})

test('the last word on a limit counts, and others stay', () => {
  const place = { node: 'a', shares: 4, here: [1, 3] }
  const said = [
    wish({ ratePerSecond: 40 }),
    wish({ connections: 8 }, { node: 'a' }),
    wish({ ratePerSecond: 7 }, { share: 3 }),
    wish({ bytesPerSecond: 100 }, { node: 'b' }),
  ]
  expect(speedOfShare(1, said, place, OPEN_FILES)).toEqual({ ratePerSecond: 10, connections: 4 })
  expect(speedOfShare(3, said, place, OPEN_FILES)).toEqual({ ratePerSecond: 7, connections: 4 })
  expect(speedOfShare(3, [...said, wish({ ratePerSecond: null })], place, OPEN_FILES)).toEqual({
    ratePerSecond: null,
    connections: 4,
  })
})
