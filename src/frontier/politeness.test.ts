import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Random } from '../base/index.ts'
import { backoffAfter, type BackoffFacts, restAfter, type RestFacts } from './politeness.ts'

const REST: RestFacts = { delayMs: 1_000, crawlDelayMs: 0, latencyFactor: 5, lastResponseMs: 0, restMaxMs: 30_000 }

describe('the rest after an answer', () => {
  test.each<[string, Partial<RestFacts>, number]>([
    ['the configured minimum when the host is quick', { lastResponseMs: 20 }, 1_000],
    ['the Crawl-delay when that is longer', { crawlDelayMs: 7_000 }, 7_000],
    ['the configured minimum when the Crawl-delay is shorter', { crawlDelayMs: 10 }, 1_000],
    ['a multiple of what the answer took', { lastResponseMs: 800 }, 4_000],
    ['capped for a very slow answer', { lastResponseMs: 60_000 }, 30_000],
    ['the minimum even when that is above the cap', { delayMs: 60_000, lastResponseMs: 90_000 }, 60_000],
    ['the Crawl-delay even when that is above the cap', { crawlDelayMs: 90_000, lastResponseMs: 90_000 }, 90_000],
    ['nothing when the delay is 0, however slow the answer', { delayMs: 0, lastResponseMs: 9_000 }, 0],
    ['the Crawl-delay when the delay is 0', { delayMs: 0, crawlDelayMs: 300, lastResponseMs: 9_000 }, 300],
    ['the minimum when the factor is 0', { latencyFactor: 0, lastResponseMs: 9_000 }, 1_000],
  ])('is %s', (_, facts, restMs) => {
    expect(restAfter({ ...REST, ...facts })).toBe(restMs)
  })
})

const BACKOFF: Omit<BackoffFacts, 'random'> = {
  pausesInARow: 1,
  retryAfterMs: null,
  retryAfterMaxMs: 86_400_000,
  baseMs: 5_000,
  maxMs: 600_000,
}
const highest = { fraction: () => 1 - Number.EPSILON }
const lowest = { fraction: () => 0 }

describe('the rest after a 429, a 503 or a failure', () => {
  test('doubles with each in a row, up to its cap', () => {
    const rests = [1, 2, 3, 8, 9, 2_000].map((pausesInARow) =>
      backoffAfter({ ...BACKOFF, pausesInARow, random: highest }),
    )
    expect(rests.map(Math.round)).toEqual([5_000, 10_000, 20_000, 600_000, 600_000, 600_000])
  })

  test('is spread over half of what it may be', () => {
    expect(backoffAfter({ ...BACKOFF, random: lowest })).toBe(2_500)
    const random = new Random('jitter')
    const rests = new Set(Array.from({ length: 100 }, () => Math.round(backoffAfter({ ...BACKOFF, random }))))
    expect(rests.size).toBeGreaterThan(80)
  })

  test('is at least as long as Retry-After asks, beyond the own cap too', () => {
    expect(backoffAfter({ ...BACKOFF, retryAfterMs: 3_600_000, random: lowest })).toBe(3_600_000)
  })

  test('spreads hosts that were told the same over a tenth more, a minute at most', () => {
    const spread = (seconds: number): number =>
      Math.round(backoffAfter({ ...BACKOFF, retryAfterMs: seconds * 1_000, random: highest }))
    expect([spread(120), spread(3_600)]).toEqual([132_000, 3_660_000])
  })

  test('obeys an absurd Retry-After only up to its own cap', () => {
    expect(backoffAfter({ ...BACKOFF, retryAfterMs: 1e12, random: lowest })).toBe(86_400_000)
  })

  test('is the grown one when Retry-After asks for less', () => {
    expect(backoffAfter({ ...BACKOFF, pausesInARow: 4, retryAfterMs: 0, random: lowest })).toBe(20_000)
  })

  test('never gets shorter along a row, nor leaves its bounds', () => {
    const fraction = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        fraction,
        fraction,
        fc.option(fc.nat()),
        (n, first, second, retryAfterMs) => {
          const at = (pausesInARow: number, value: number): number =>
            backoffAfter({ ...BACKOFF, pausesInARow, retryAfterMs, random: { fraction: () => value } })
          const isCapped = BACKOFF.baseMs * 2 ** n > BACKOFF.maxMs
          const [rest, next] = [at(n, first), at(n + 1, second)]
          // Where Retry-After is the longer, each is what it asks for and a spread of its own.
          expect(isCapped || next >= Math.min(rest, BACKOFF.baseMs * 2 ** (n - 1))).toBe(true)
          expect(rest).toBeGreaterThanOrEqual(Math.min(retryAfterMs ?? 0, BACKOFF.retryAfterMaxMs))
          expect(rest).toBeLessThanOrEqual(Math.max(BACKOFF.maxMs, BACKOFF.retryAfterMaxMs + 60_000))
        },
      ),
    )
  })
})
