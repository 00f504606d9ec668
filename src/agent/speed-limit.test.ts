// No faster than was asked for, whatever the requests bring; and not slower either.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ClockMs, Random } from '../base/index.ts'
import { shareOf, SpeedLimit, type SpeedLimits, speedShare } from './speed-limit.ts'

const ms = (value: number): ClockMs => value as ClockMs
/** What may be made up for. */
const CREDIT_MS = 100
const NO_LIMITS: SpeedLimits = { ratePerSecond: null, bytesPerSecond: null }

/** Starts whenever it may, woken up to `lateMs` late each time, as by a busy event loop. */
function startsOf(limit: SpeedLimit, untilMs: number, lateMs: () => number): number[] {
  const starts: number[] = []
  for (let nowMs = 0; nowMs < untilMs;) {
    const atMs = limit.mayStart(ms(nowMs))
    if (atMs !== 0) {
      nowMs = atMs + lateMs()
      continue
    }
    limit.started(ms(nowMs))
    limit.received(0, ms(nowMs))
    starts.push(nowMs)
  }
  return starts
}

test('in no window there are more starts than the rate allows and 100 ms of it, and one', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0.2, max: 2_000, noNaN: true }),
      fc.array(fc.integer({ min: 0, max: 700 }), { minLength: 1, maxLength: 20 }),
      (ratePerSecond, latenesses) => {
        let i = 0
        const limit = new SpeedLimit({ ...NO_LIMITS, ratePerSecond }, ms(0))
        const starts = startsOf(limit, 3_000, () => latenesses[i++ % latenesses.length] as number)
        // Windows that begin and end with a start are the worst ones. Of each length in starts, the shortest in time.
        for (let count = 1; count <= Math.min(starts.length, 300); count++) {
          for (let first = 0; first + count <= starts.length; first++) {
            const windowMs = (starts[first + count - 1] as number) - (starts[first] as number)
            if (count > (ratePerSecond * (windowMs + CREDIT_MS)) / 1_000 + 1 + 1e-6) {
              expect.unreachable(`${count} starts in ${windowMs} ms at ${ratePerSecond} a second`)
            }
          }
        }
      },
    ),
    { numRuns: 60 },
  )
})

test('whoever always wants to start gets 95 % of the rate, also when woken late', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0.5, max: 5_000, noNaN: true }),
      fc.integer({ min: 0, max: 100 }),
      (ratePerSecond, late) => {
        const untilMs = Math.max(10_000, 100_000 / ratePerSecond)
        const random = new Random('late')
        const limit = new SpeedLimit({ ...NO_LIMITS, ratePerSecond }, ms(0))
        const starts = startsOf(limit, untilMs, () => random.below(late + 1))
        expect(starts.length).toBeGreaterThanOrEqual((0.95 * ratePerSecond * untilMs) / 1_000)
      },
    ),
    { numRuns: 60 },
  )
})

interface Line {
  readonly bytesPerSecond: number
  readonly connections: number
  readonly answerMs: number
  readonly bytesOf: () => number
}

/** A crawl that always has something to ask, over a line of its own speed. Gives bytes received in all, at each start. */
function crawl(line: Line, untilMs: number, limit: SpeedLimit): { atMs: number; received: number }[] {
  const underWay: { endMs: number; bytes: number }[] = []
  const starts: { atMs: number; received: number }[] = []
  let received = 0
  for (let nowMs = 0; nowMs < untilMs;) {
    const next = underWay.reduce((best, one, i) => (one.endMs < (underWay[best]?.endMs ?? Infinity) ? i : best), 0)
    const endMs = underWay[next]?.endMs ?? Infinity
    if (endMs <= nowMs) {
      const bytes = underWay.splice(next, 1)[0]?.bytes ?? 0
      received += bytes
      limit.received(bytes, ms(nowMs))
      continue
    }
    const atMs = underWay.length < line.connections ? limit.mayStart(ms(nowMs)) : Infinity
    if (atMs === 0) {
      limit.started(ms(nowMs))
      starts.push({ atMs: nowMs, received })
      underWay.push({ endMs: nowMs + line.answerMs, bytes: line.bytesOf() })
    } else nowMs = Math.min(atMs, endMs)
  }
  return starts
}

/** Sizes as on the web: mostly small, some very large. */
function webSizes(seed: string): () => number {
  const random = new Random(seed)
  return () => Math.floor(8_000 / (random.fraction() + 0.002))
}

test('whenever a start is allowed, no more was received than the bandwidth allows and 100 ms of it', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1_000, max: 10_000_000 }),
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 1, max: 5_000 }),
      fc.array(fc.integer({ min: 0, max: 3_000_000 }), { minLength: 1, maxLength: 30 }),
      (bytesPerSecond, connections, answerMs, sizes) => {
        let i = 0
        const bytesOf = (): number => sizes[i++ % sizes.length] as number
        const limit = new SpeedLimit({ ...NO_LIMITS, bytesPerSecond }, ms(0))
        for (const { atMs, received } of crawl({ bytesPerSecond, connections, answerMs, bytesOf }, 20_000, limit).slice(
          0,
          2_000,
        )) {
          expect(received).toBeLessThanOrEqual((bytesPerSecond * (atMs + CREDIT_MS)) / 1_000 + 1)
        }
      },
    ),
    { numRuns: 40 },
  )
})

test.for([
  [50_000, 4, 900],
  [1_000_000, 64, 300],
  [1_000_000, 200, 2_000],
  [10_000_000, 256, 500],
] as const)(
  'of %i bytes a second 95 in 100 are used with %i connections and answers in %i ms',
  ([bytesPerSecond, connections, answerMs]) => {
    const limit = new SpeedLimit({ ...NO_LIMITS, bytesPerSecond }, ms(0))
    const line = { bytesPerSecond, connections, answerMs, bytesOf: webSizes('web') }
    const last = crawl(line, 600_000, limit).at(-1)
    expect(last?.received).toBeGreaterThanOrEqual((0.95 * bytesPerSecond * (last?.atMs ?? 0)) / 1_000)
    expect(last?.atMs).toBeGreaterThan(500_000)
  },
)

test('what requests are expected to bring is paid before they bring it: they do not all start at once', () => {
  const limit = new SpeedLimit({ ...NO_LIMITS, bytesPerSecond: 1_000_000 }, ms(0))
  const line = { bytesPerSecond: 1_000_000, connections: 256, answerMs: 3_000, bytesOf: () => 30_000 }
  const starts = crawl(line, 2_000, limit)
  expect(starts.length).toBeGreaterThan(50)
  expect(starts.length).toBeLessThan(80)
})

test('without limits everything may start, and a limit that is set holds from then on', () => {
  const limit = new SpeedLimit(NO_LIMITS, ms(0))
  for (let i = 0; i < 1_000; i++) {
    expect(limit.mayStart(ms(0))).toBe(0)
    limit.started(ms(0))
  }
  limit.set({ ratePerSecond: 10, bytesPerSecond: null }, ms(5_000))
  const starts = startsOf(limit, 15_000, () => 0)
  expect(starts.length).toBeGreaterThanOrEqual(99)
  // Time that passed before the limit is no credit: nothing is asked for in a heap.
  expect(starts.filter((atMs) => atMs < 5_000)).toHaveLength(0)
  expect(starts.length).toBeLessThanOrEqual(102)
})

test('a limit that is raised or lowered keeps the debt in bytes; one that is lifted forgets it', () => {
  const limit = new SpeedLimit({ ...NO_LIMITS, bytesPerSecond: 1_000 }, ms(0))
  limit.started(ms(0))
  limit.received(10_000, ms(0))
  expect(limit.mayStart(ms(0))).toBeCloseTo(10_000)
  limit.set({ ...NO_LIMITS, bytesPerSecond: 2_000 }, ms(0))
  expect(limit.mayStart(ms(0))).toBeCloseTo(5_000)
  limit.set({ ...NO_LIMITS, bytesPerSecond: 500 }, ms(1_000))
  expect(limit.mayStart(ms(1_000))).toBeCloseTo(17_000)
  limit.set(NO_LIMITS, ms(1_000))
  expect(limit.mayStart(ms(1_000))).toBe(0)
})

test('shares are parts of the whole: equal ones of speeds, whole ones of connections', () => {
  expect(speedShare({ ratePerSecond: 3, bytesPerSecond: null }, 4)).toEqual({
    ratePerSecond: 0.75,
    bytesPerSecond: null,
  })
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 100_000 }), fc.integer({ min: 1, max: 100 }), (total, n) => {
      const shares = Array.from({ length: n }, (_, k) => shareOf(total, n, k))
      expect(shares.reduce((sum, share) => sum + share)).toBe(total)
      expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1)
    }),
  )
})
