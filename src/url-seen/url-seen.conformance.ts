// The law for every seen set, run on each with a factory; every answer may come at once or later.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Random } from '../base/index.ts'
import { newBatch, type UrlSeen } from './url-seen.ts'

export type MakeUrlSeen = () => UrlSeen | Promise<UrlSeen>

type Fingerprint = readonly [high: number, low: number]

const MEETINGS_MAX = 65_535

/** Meets them as one batch; true where new. */
async function meet(seen: UrlSeen, fingerprints: readonly Fingerprint[]): Promise<boolean[]> {
  const batch = newBatch(fingerprints.length)
  for (const [i, [high, low]] of fingerprints.entries()) {
    batch.high[i] = high
    batch.low[i] = low
  }
  batch.count = fingerprints.length
  await seen.meet(batch)
  return Array.from(batch.isNew, (flag) => flag === 1)
}

function visited(seen: UrlSeen): Map<string, number> {
  const found = new Map<string, number>()
  seen.visit((high, low, meetings) => {
    expect(found.has(`${high}:${low}`)).toBe(false)
    found.set(`${high}:${low}`, meetings)
  })
  return found
}

export function urlSeenConformance(name: string, make: MakeUrlSeen): void {
  describe(name, () => {
    test('a URL is new once, and known from then on', async () => {
      const seen = await make()
      expect(await seen.has(1, 2)).toBe(false)
      expect(await meet(seen, [[1, 2]])).toEqual([true])
      expect(await meet(seen, [[1, 2]])).toEqual([false])
      expect(await seen.has(1, 2)).toBe(true)
      expect(seen.size).toBe(1)
    })

    test('a URL twice in one batch is new the first time only', async () => {
      const seen = await make()
      const batch: Fingerprint[] = [
        [7, 7],
        [8, 8],
        [7, 7],
        [8, 8],
        [9, 9],
      ]
      expect(await meet(seen, batch)).toEqual([true, true, false, false, true])
      expect(seen.size).toBe(3)
    })

    test('asking whether a URL is known does not make it known', async () => {
      const seen = await make()
      expect([await seen.has(5, 5), await seen.meetings(5, 5), await seen.has(5, 5)]).toEqual([false, 0, false])
      expect(seen.size).toBe(0)
    })

    test('every number of 64 bits is a possible fingerprint, zero and all ones included', async () => {
      const seen = await make()
      const edges: Fingerprint[] = [
        [0, 0],
        [0, 1],
        [1, 0],
        [0xffffffff, 0xffffffff],
        [0xffffffff, 0],
        [0, 0xffffffff],
        [0x80000000, 0x80000000],
      ]
      expect(await meet(seen, edges)).toEqual(edges.map(() => true))
      expect(await meet(seen, edges)).toEqual(edges.map(() => false))
      expect(seen.size).toBe(edges.length)
    })

    test('fingerprints that differ in one half only are two URLs', async () => {
      const seen = await make()
      expect(
        await meet(seen, [
          [1, 2],
          [2, 1],
          [1, 1],
          [2, 2],
        ]),
      ).toEqual([true, true, true, true])
    })

    test('only the first places of a batch count', async () => {
      const seen = await make()
      const batch = newBatch(3)
      batch.low.set([1, 2, 3])
      batch.count = 2
      await seen.meet(batch)
      expect(Array.from(batch.isNew)).toEqual([1, 1, 0])
      expect(await seen.has(0, 3)).toBe(false)
    })

    test('an empty batch is answered', async () => {
      const seen = await make()
      expect(await meet(seen, [])).toEqual([])
    })

    test('meetings are counted, and stay at their limit', async () => {
      const seen = await make()
      const many = Array.from({ length: MEETINGS_MAX - 1 }, (): Fingerprint => [3, 4])
      await meet(seen, many)
      expect(await seen.meetings(3, 4)).toBe(MEETINGS_MAX - 1)
      await meet(seen, [
        [3, 4],
        [3, 4],
        [3, 4],
      ])
      expect(await seen.meetings(3, 4)).toBe(MEETINGS_MAX)
      expect(await seen.has(3, 4)).toBe(true)
    })

    test('thousands of URLs of one host, which share their upper half, stay apart', async () => {
      const seen = await make()
      const random = new Random('one-host')
      const lows = new Set(Array.from({ length: 20_000 }, () => random.next32()))
      const fingerprints = [...lows].map((low): Fingerprint => [0xabcd0000, low])
      expect((await meet(seen, fingerprints)).every(Boolean)).toBe(true)
      expect((await meet(seen, fingerprints)).some(Boolean)).toBe(false)
      expect(seen.size).toBe(lows.size)
    })

    test('what visit() shows makes a set that answers alike', async () => {
      const seen = await make()
      const random = new Random('copy')
      const fingerprints = Array.from({ length: 5_000 }, (): Fingerprint => [random.below(40), random.below(40)])
      await meet(seen, fingerprints)
      const copy = await make()
      seen.visit((high, low, meetings) => copy.restore(high, low, meetings))
      expect(copy.size).toBe(seen.size)
      expect(visited(copy)).toEqual(visited(seen))
      expect((await meet(copy, fingerprints)).some(Boolean)).toBe(false)
    })

    test('it says what it holds in memory', async () => {
      const seen = await make()
      expect(seen.memoryBytes).toBeGreaterThan(0)
    })

    test('whatever is met in whatever batches, it answers as a map would', async () => {
      // Few different values, so that meetings repeat; and values in a row, which crowd a bad hash.
      const half = fc.oneof(
        fc.nat({ max: 3 }),
        fc.constantFrom(0xffffffff, 0x80000000, 0x00010000),
        fc.nat({ max: 300 }),
      )
      const batches = fc.array(fc.array(fc.tuple(half, half), { maxLength: 60, size: 'max' }), {
        maxLength: 20,
        size: 'max',
      })
      await fc.assert(
        fc.asyncProperty(batches, async (sequence) => {
          const seen = await make()
          const model = new Map<string, number>()
          for (const batch of sequence) {
            const expected = batch.map(([high, low]) => {
              const met = model.get(`${high}:${low}`) ?? 0
              model.set(`${high}:${low}`, met + 1)
              return met === 0
            })
            expect(await meet(seen, batch)).toEqual(expected)
          }
          expect(seen.size).toBe(model.size)
          expect(visited(seen)).toEqual(model)
          for (const [text, met] of model) {
            const [high = 0, low = 0] = text.split(':').map(Number)
            if ((await seen.meetings(high, low)) !== met) throw new Error(`${text} was met ${met} times`)
          }
        }),
        { numRuns: 40 },
      )
    })
  })
}
