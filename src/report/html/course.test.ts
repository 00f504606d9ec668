// Rates and levels drawn from samples: what goes in is what is seen.

import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { TimelineSample } from '../timeline.ts'
import { course, levels, rates } from './course.ts'

function sample(t: number, pages: number): TimelineSample {
  return { t, pages, bytes: 0, failed: 0, skipped: 0, waiting: pages, hosts: 1, active: 1, rssBytes: 0, cpuSeconds: 0 }
}

test('a steady crawl has a steady rate', () => {
  const timeline = Array.from({ length: 11 }, (_, t) => sample(t, 7 * t))
  for (const point of rates(timeline, (one) => one.pages)) expect(point.y).toBeCloseTo(7)
})

test('the rates of any crawl add up to what it did', () => {
  const steps = fc.array(fc.tuple(fc.double({ min: 0.1, max: 100, noNaN: true }), fc.nat(1_000)), {
    minLength: 2,
    maxLength: 400,
  })
  fc.assert(
    fc.property(steps, (steps) => {
      const timeline: TimelineSample[] = []
      for (const [wait, done] of steps) {
        const { t, pages } = timeline.at(-1) ?? { t: 0, pages: 0 }
        timeline.push(sample(t + wait, pages + done))
      }
      const points = rates(timeline, (one) => one.pages)
      const width = timeline.at(-1)!.t / points.length
      expect(points.reduce((sum, point) => sum + point.y * width, 0)).toBeCloseTo(timeline.at(-1)!.pages, 3)
      expect(points.length).toBeLessThanOrEqual(90)
    }),
  )
})

test('figures that a crash took back make a rate of zero, not a negative one', () => {
  const timeline = [sample(0, 0), sample(1, 100), sample(2, 60), sample(3, 80)]
  for (const point of rates(timeline, (one) => one.pages)) expect(point.y).toBeGreaterThanOrEqual(0)
})

test('a level is drawn from the first sample to the last', () => {
  const points = levels([sample(0, 5), sample(4, 9), sample(8, 1)], (one) => one.waiting)
  expect(points).toEqual([
    { x: 0, y: 5 },
    { x: 4, y: 9 },
    { x: 8, y: 1 },
  ])
})

test.each([[[]], [[sample(0, 0)]], [[sample(0, 0), sample(1, 5)]]])(
  'a crawl too short for a course has none',
  (timeline) => {
    expect(course(timeline)).toBeNull()
  },
)
