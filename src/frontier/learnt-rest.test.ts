// A server with a bucket of tokens and the rest it teaches, on a clock of numbers: that refusals become rare and the pace comes near
// to what is allowed is what the constants of learnt-rest.ts were chosen by.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Random } from '../base/index.ts'
import { learnAnswer, learnRefusal, type LearntRest } from './learnt-rest.ts'
import { backoffAfter } from './politeness.ts'

const MAX_MS = 60_000

interface Server {
  readonly perSecond: number
  readonly burst: number
}

interface Run {
  /** Of the second half: shares of the requests that were refused, and of the allowed pace that was used. */
  readonly refused: number
  readonly used: number
  readonly rests: readonly number[]
}

function ask(
  server: Server,
  {
    delayMs,
    requests,
    liftedAt = Infinity,
    learns = true,
    seed = 'bucket',
  }: {
    delayMs: number
    requests: number
    liftedAt?: number
    learns?: boolean
    seed?: string
  },
): Run {
  const random = new Random(seed)
  let [nowMs, filledMs, tokens, inARow] = [0, 0, server.burst, 0]
  let learnt: LearntRest | null = null
  const rests: number[] = []
  let half = { nowMs: 0, answers: 0, refusals: 0 }
  let [answers, refusals] = [0, 0]
  for (let i = 0; i < requests; i++) {
    if (i === requests / 2) half = { nowMs, answers, refusals }
    tokens = Math.min(server.burst, tokens + ((nowMs - filledMs) / 1_000) * server.perSecond)
    filledMs = nowMs
    nowMs += 20 + 60 * random.fraction()
    const usedMs: number = Math.max(delayMs, learnt?.restMs ?? 0)
    if (i >= liftedAt || tokens >= 1) {
      tokens -= 1
      answers++
      inARow = 0
      if (learnt !== null) learnt = learnAnswer(learnt, delayMs)
      nowMs += Math.max(delayMs, learnt?.restMs ?? 0)
    } else {
      refusals++
      inARow++
      if (learns && inARow === 1) learnt = learnRefusal(learnt, usedMs, MAX_MS)
      const facts = { pausesInARow: inARow, retryAfterMs: null, retryAfterMaxMs: 0, baseMs: 5_000, maxMs: 600_000 }
      nowMs += Math.max(learnt?.restMs ?? 0, backoffAfter({ ...facts, random }))
    }
    rests.push(learnt?.restMs ?? 0)
  }
  const seconds = (nowMs - half.nowMs) / 1_000
  return {
    refused: (refusals - half.refusals) / (requests / 2),
    used: (answers - half.answers) / seconds / server.perSecond,
    rests,
  }
}

describe('a server that bears less than it is asked', () => {
  const SERVERS: readonly [string, Server][] = [
    ['half a request a second, ten at once', { perSecond: 0.5, burst: 10 }],
    ['one in ten seconds', { perSecond: 0.1, burst: 1 }],
    ['one in ten seconds, twenty at once', { perSecond: 0.1, burst: 20 }],
    ['nearly as much as it is asked', { perSecond: 0.9, burst: 5 }],
    ['one in half a minute, sixty at once', { perSecond: 1 / 30, burst: 60 }],
  ]

  test.each(SERVERS)('of %s: refuses four in a hundred at most, and its pace is used', (_, server) => {
    const { refused, used } = ask(server, { delayMs: 1_000, requests: 4_000 })
    expect(refused).toBeLessThan(0.04)
    expect(used).toBeGreaterThan(0.85)
  })

  test('whoever does not learn is refused more often than answered', () => {
    const { refused } = ask({ perSecond: 0.1, burst: 1 }, { delayMs: 1_000, requests: 4_000, learns: false })
    expect(refused).toBeGreaterThan(0.5)
  })

  test('that bears more one day is asked as configured again', () => {
    const { rests } = ask({ perSecond: 0.1, burst: 1 }, { delayMs: 1_000, requests: 3_000, liftedAt: 1_500 })
    expect(rests[1_499]).toBeGreaterThan(8_000)
    const forgivenAt = rests.findIndex((rest, i) => i >= 1_500 && rest === 0)
    expect(forgivenAt).toBeGreaterThan(1_500)
    expect(forgivenAt).toBeLessThan(1_700)
    expect(rests.at(-1)).toBe(0)
  })

  test('that bears less than the longest rest is asked no slower than that', () => {
    const { rests } = ask({ perSecond: 1 / 600, burst: 1 }, { delayMs: 1_000, requests: 500 })
    expect(Math.max(...rests)).toBeLessThanOrEqual(MAX_MS)
  })
})

test('refusals that have nothing to do with the pace, two in a hundred, cost little', () => {
  const random = new Random('by chance')
  let learnt: LearntRest | null = null
  let sumMs = 0
  for (let i = 0; i < 20_000; i++) {
    const usedMs: number = Math.max(1_000, learnt?.restMs ?? 0)
    if (random.fraction() < 0.02) learnt = learnRefusal(learnt, usedMs, MAX_MS)
    else if (learnt !== null) learnt = learnAnswer(learnt, 1_000)
    sumMs += usedMs
  }
  expect(sumMs / 20_000).toBeLessThan(1_500)
})

describe('a learnt rest', () => {
  const learnt = fc.record({
    restMs: fc.double({ min: 1, max: MAX_MS, noNaN: true }),
    refusedMs: fc.double({ min: 0, max: MAX_MS, noNaN: true }),
    refusals: fc.nat(),
    answers: fc.nat(),
  })

  test('never shrinks by a refusal, nor grows by an answer, and leaves no bounds', () => {
    fc.assert(
      fc.property(learnt, fc.double({ min: 1, max: 2 * MAX_MS, noNaN: true }), (before, usedMs) => {
        const refused = learnRefusal(before, usedMs, MAX_MS)
        expect(refused.restMs).toBeGreaterThanOrEqual(usedMs)
        expect(refused.restMs).toBeLessThanOrEqual(Math.max(usedMs, MAX_MS))
        expect(refused.refusals).toBe(before.refusals + 1)
        const answered = learnAnswer(before, 0)
        expect(answered === null || answered.restMs < before.restMs).toBe(true)
      }),
    )
  })

  test('is forgiven after so many good answers, however it came about', () => {
    fc.assert(
      fc.property(learnt, (before) => {
        let left: LearntRest | null = before
        let answers = 0
        for (; left !== null; answers++) left = learnAnswer(left, 1)
        // From the longest to a millisecond, with one stretch of caution on the way.
        expect(answers).toBeLessThan(1_000)
      }),
      { numRuns: 200 },
    )
  })
})
