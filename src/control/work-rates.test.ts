// Rates are of work: shares that move, nodes that come, and processes that begin again do not make them jump or fall below nothing.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type WorkCount, WorkRates } from './work-rates.ts'

const count = (pages: number, cpuSeconds = pages): WorkCount => ({ pages, bytes: pages * 10, cpuSeconds })

test('the work of all over the last seconds', () => {
  const rates = new WorkRates(10_000)
  for (let second = 0; second <= 30; second++) {
    rates.note(
      second * 1_000,
      new Map([
        ['a', count(5 * second)],
        ['b', count(1_000 + second)],
      ]),
    )
  }
  expect(rates.perSecond('pages')).toBeCloseTo(6)
  expect(rates.perSecond('bytes')).toBeCloseTo(60)
})

test('a node that comes with a million brings no million a second; one that begins again takes nothing back', () => {
  const rates = new WorkRates(10_000)
  rates.note(0, new Map([['a', count(100)]]))
  rates.note(
    1_000,
    new Map([
      ['a', count(110)],
      ['b', count(1_000_000)],
    ]),
  )
  expect(rates.perSecond('pages')).toBe(10)
  rates.note(
    2_000,
    new Map([
      ['a', count(4)],
      ['b', count(1_000_006)],
    ]),
  )
  expect(rates.perSecond('pages')).toBe(10)
})

test('whatever is heard and whatever is not, no rate is negative or above what was done', () => {
  const step = fc.record({ a: fc.option(fc.nat(100)), b: fc.option(fc.nat(100)) })
  fc.assert(
    fc.property(fc.array(step, { minLength: 2, maxLength: 30 }), (steps) => {
      const rates = new WorkRates(5_000)
      const done = { a: 0, b: 0 }
      steps.forEach((more, second) => {
        const counts = new Map<string, WorkCount>()
        for (const name of ['a', 'b'] as const) {
          done[name] += more[name] ?? 0
          if (more[name] !== null) counts.set(name, count(done[name]))
        }
        rates.note(second * 1_000, counts)
        expect(rates.perSecond('pages')).toBeGreaterThanOrEqual(0)
        expect(rates.perSecond('pages')).toBeLessThanOrEqual(done.a + done.b)
      })
    }),
    { numRuns: 100 },
  )
})
