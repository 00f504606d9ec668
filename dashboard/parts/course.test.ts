// What a plot shows adds up to what was counted.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { courseOf, joinSamples } from './course.ts'

const steps = fc.array(
  fc.record({ gap: fc.double({ min: 0.25, max: 1_000, noNaN: true }), pages: fc.integer({ min: 0, max: 500 }) }),
  { minLength: 2, maxLength: 300 },
)

function samplesOf(given: readonly { gap: number; pages: number }[]) {
  let t = 0
  let pages = 0
  return given.map((one) => {
    t += one.gap
    pages += one.pages
    return {
      t,
      pages,
      bytes: pages * 10,
      failed: 0,
      skipped: 0,
      waiting: 3,
      hosts: 1,
      active: 1,
      rssBytes: 1,
      cpuSeconds: 1,
    }
  })
}

test('rates times their time are the pages counted, however uneven the samples', () => {
  fc.assert(
    fc.property(steps, (given) => {
      const samples = samplesOf(given)
      const { times, pagesPerSecond, pages } = courseOf(samples, null)
      expect(times.length).toBeLessThanOrEqual(240)
      const begin = samples[0]?.t ?? 0
      const gap = ((samples.at(-1)?.t ?? 0) - begin) / times.length
      const sum = pagesPerSecond.reduce((all, one) => all + one * gap, 0)
      const counted = (samples.at(-1)?.pages ?? 0) - (samples[0]?.pages ?? 0)
      expect(sum).toBeCloseTo(counted, 3)
      expect(pages.at(-1)).toBeCloseTo(samples.at(-1)?.pages ?? 0, 3)
    }),
  )
})

test('a count that fell gives no negative rate', () => {
  const [a, b, c] = samplesOf([
    { gap: 1, pages: 5 },
    { gap: 1, pages: 5 },
    { gap: 1, pages: 5 },
  ])
  if (a === undefined || b === undefined || c === undefined) throw new Error('three samples')
  expect(Math.min(...courseOf([a, { ...b, pages: 2 }, c], null).pagesPerSecond)).toBe(0)
})

test('samples of the moment follow the kept ones, and none counts twice', () => {
  const kept = samplesOf([
    { gap: 1, pages: 1 },
    { gap: 1, pages: 1 },
  ])
  const joined = joinSamples(
    kept,
    samplesOf([
      { gap: 2, pages: 2 },
      { gap: 1, pages: 9 },
    ]),
  )
  expect(joined.map(({ t }) => t)).toEqual([1, 2, 3])
})

test('of one sample there is no course', () => {
  expect(courseOf(samplesOf([{ gap: 1, pages: 1 }]), null).times).toEqual([])
})
