// What a chair takes for an answer, when it grants, and when it says that it is the end.

import { expect, test } from 'vitest'
import { ManualClock, type StopReason } from '../base/index.ts'
import { Chair, type ChairPlan } from './chair.ts'
import type { DeskAnswer, DeskQuestion, PlainStanding, ShareReport } from './share-desk.ts'

const QUIET: PlainStanding = { isQuiet: true, moves: 3, waiting: 0, isSpent: false, permits: null, readyInMs: null }
const BUSY: PlainStanding = { ...QUIET, isQuiet: false, waiting: 1, readyInMs: 0 }

const NO_LIMITS = { change: 0, maxPages: null, maxTimeMs: null, maxWaitMs: 1_000 }

const reportOf = (share: number, change: Partial<ShareReport> = {}): ShareReport => ({
  share,
  epoch: 1,
  life: 1,
  pages: 0,
  granted: 0,
  surrendered: 0,
  isShort: false,
  change: 0,
  ms: 5,
  standing: QUIET,
  ...change,
})

interface Stand {
  readonly chair: Chair
  /** What the nodes answer from now on; nothing where it is null. */
  answers: Record<string, DeskAnswer | null>
  begun: number[]
  readonly asked: { readonly node: string; readonly question: DeskQuestion }[]
  readonly decided: StopReason[]
  readonly rounds: (count: number) => Promise<void>
}

/** Two shares on two nodes. */
function stand(plan: Partial<ChairPlan> = {}): Stand {
  const clock = new ManualClock()
  const asked: Stand['asked'] = []
  const decided: StopReason[] = []
  const one: Stand = {
    answers: { a: shares(reportOf(0)), b: shares(reportOf(1)) },
    begun: [1, 1],
    asked,
    decided,
    chair: new Chair({
      shares: 2,
      chair: 1,
      limits: NO_LIMITS,
      lastChange: async () => 0,
      clock,
      nodes: () => Object.keys(one.answers),
      askNode: async (node, question) => {
        asked.push({ node, question })
        const answer = one.answers[node]
        if (answer == null) throw new Error('no answer')
        return answer
      },
      epochs: async () => [...one.begun],
      decided: (reason) => void decided.push(reason),
      ...plan,
    }),
    rounds: async (count) => {
      for (let i = 0; i < count; i++) {
        clock.advance(250)
        await new Promise((resolve) => void setImmediate(resolve))
      }
    },
  }
  return one
}

const shares = (...all: readonly ShareReport[]): DeskAnswer => ({ kind: 'shares', shares: all })

test('the end is said after two rounds in which all were quiet, once', async () => {
  const { decided, rounds, chair } = stand()
  await rounds(1)
  expect(decided).toEqual([])
  await rounds(5)
  expect(decided).toEqual(['finished'])
  expect(chair.isOver).toBe(true)
})

test('a pause is no end, whatever was quiet before it and in it', async () => {
  let isPaused = false
  const one = stand({ isPaused: () => isPaused, limits: { ...NO_LIMITS, maxTimeMs: 1 } })
  one.answers['a'] = shares(reportOf(0, { ms: 0 }))
  one.answers['b'] = shares(reportOf(1, { ms: 0 }))
  await one.rounds(1)
  isPaused = true
  one.answers['b'] = shares(reportOf(1))
  await one.rounds(5)
  expect(one.decided).toEqual([])
  isPaused = false
  one.answers['b'] = shares(reportOf(1, { ms: 0 }))
  await one.rounds(1)
  expect(one.decided).toEqual([])
  await one.rounds(1)
  expect(one.decided).toEqual(['finished'])
})

test('there is no end before all shares have taken in what was changed last', async () => {
  let last = 0
  const one = stand({ lastChange: async () => last })
  await one.rounds(1)
  // It stands in the engine, and nobody has heard of it yet.
  last = 1
  await one.rounds(5)
  expect(one.decided).toEqual([])
  one.chair.change({ ...NO_LIMITS, change: 1 })
  one.answers['a'] = shares(reportOf(0, { change: 1 }))
  await one.rounds(5)
  expect(one.decided).toEqual([])
  one.answers['b'] = shares(reportOf(1, { change: 1 }))
  await one.rounds(3)
  expect(one.decided).toEqual(['finished'])
})

test('an end that was said is none when a change comes after it', async () => {
  let last = 0
  const one = stand({ lastChange: async () => last })
  await one.rounds(3)
  expect(one.decided).toEqual(['finished'])
  last = 1
  one.chair.change({ ...NO_LIMITS, change: 1 })
  expect(one.chair.isOver).toBe(false)
  one.answers['a'] = shares(reportOf(0, { change: 1 }))
  one.answers['b'] = shares(reportOf(1, { change: 1, standing: BUSY }))
  await one.rounds(5)
  expect(one.decided).toEqual(['finished'])
  one.answers['b'] = shares(reportOf(1, { change: 1 }))
  await one.rounds(3)
  expect(one.decided).toEqual(['finished', 'finished'])
  // But one that has lost the chair has lost it.
  one.chair.stop()
  one.chair.change({ ...NO_LIMITS, change: 2 })
  expect(one.chair.isOver).toBe(true)
})

test('a limit that is new is granted from when all run under it: what others had without one is not known before', async () => {
  const one = stand()
  const short = (change: number, pages: number) => (share: number) => {
    const standing = { ...BUSY, permits: change === 0 ? null : 0 }
    return shares(reportOf(share, { change, pages, isShort: change > 0, standing, life: change }))
  }
  one.answers = { a: short(0, 0)(0), b: short(0, 0)(1) }
  await one.rounds(2)
  one.chair.change({ ...NO_LIMITS, change: 1, maxPages: 10 })
  one.answers['a'] = short(1, 4)(0)
  await one.rounds(4)
  expect(one.chair.figures.granted).toBe(0)
  one.answers['b'] = short(1, 3)(1)
  await one.rounds(4)
  expect(one.chair.figures.granted).toBeGreaterThan(0)
  expect(one.chair.figures.granted).toBeLessThanOrEqual(3)
})

test('a share that nobody answers for is no end', async () => {
  const one = stand()
  one.answers['b'] = shares()
  await one.rounds(5)
  one.answers['b'] = null
  await one.rounds(5)
  expect(one.decided).toEqual([])
  expect(one.chair.figures.incomplete).toBeGreaterThan(0)
  one.answers['b'] = shares(reportOf(1))
  await one.rounds(2)
  expect(one.decided).toEqual(['finished'])
})

test('a former owner that does not know it is no end: the log says who has begun', async () => {
  const one = stand()
  await one.rounds(1)
  one.begun = [1, 2]
  await one.rounds(5)
  expect(one.decided).toEqual([])
  // The one that began answers beside it, and has something to do.
  one.answers['c'] = shares(reportOf(1, { epoch: 2, standing: BUSY }))
  await one.rounds(5)
  expect(one.decided).toEqual([])
  one.answers['c'] = shares(reportOf(1, { epoch: 2 }))
  await one.rounds(3)
  expect(one.decided).toEqual(['finished'])
})

test('another life is compared with nothing that was before it, though it has said and heard as much', async () => {
  const one = stand()
  await one.rounds(1)
  one.answers['b'] = shares(reportOf(1, { life: 2 }))
  await one.rounds(1)
  expect(one.decided).toEqual([])
  await one.rounds(1)
  expect(one.decided).toEqual(['finished'])
})

test('who is not the chair any more says nothing', async () => {
  const refused = stand()
  refused.answers['b'] = { kind: 'refused', chair: 2 }
  await refused.rounds(3)
  const followed = stand()
  await followed.rounds(1)
  followed.begun = [2, 1]
  await followed.rounds(3)
  for (const { chair, decided } of [refused, followed]) {
    expect(decided).toEqual([])
    expect(chair.isOver).toBe(true)
  }
})

test('the time that a crawl may take is over when a share says so', async () => {
  const one = stand({ limits: { ...NO_LIMITS, maxTimeMs: 6 } })
  one.answers['a'] = shares(reportOf(0, { standing: BUSY }))
  await one.rounds(3)
  expect(one.decided).toEqual([])
  one.answers['a'] = shares(reportOf(0, { standing: BUSY, ms: 6 }))
  await one.rounds(1)
  expect(one.decided).toEqual(['max-time'])
})

test('where all that waits rests for too long, that is the end', async () => {
  const one = stand()
  one.answers['a'] = shares(reportOf(0, { standing: { ...QUIET, waiting: 1, readyInMs: 1_001 } }))
  await one.rounds(3)
  expect(one.decided).toEqual(['only-resting'])
})

const SHORT = { isShort: true, standing: { ...BUSY, permits: 0, isSpent: true } }

test('nothing is granted before every share has been heard of, and of owners that had begun before this chair', async () => {
  const one = stand({ limits: { ...NO_LIMITS, maxPages: 100 } })
  one.begun = [1, 2]
  one.answers = { a: shares(reportOf(0, SHORT)), b: shares(reportOf(1, SHORT)) }
  await one.rounds(3)
  expect(one.asked.flatMap(({ question }) => question.orders)).toEqual([])
  // It had been granted all but two by an earlier chair.
  one.answers['c'] = shares(reportOf(1, { epoch: 2, pages: 38, granted: 70, surrendered: 10 }))
  await one.rounds(2)
  expect(one.asked.at(-3)?.question.orders).toEqual([{ share: 0, epoch: 1, life: 1, granted: 1, recall: false }])
})

test('what is promised counts until its life is over; an order that nobody answers is said again', async () => {
  const one = stand({ limits: { ...NO_LIMITS, maxPages: 1 } })
  one.answers = { a: shares(reportOf(0, SHORT)), b: shares(reportOf(1)) }
  await one.rounds(1)
  one.answers['a'] = null
  one.answers['b'] = shares(reportOf(1, SHORT))
  await one.rounds(3)
  const orders = one.asked.filter(({ node }) => node === 'a').flatMap(({ question }) => question.orders)
  expect(new Set(orders.map(({ granted }) => granted))).toEqual(new Set([1]))
  expect(one.asked.filter(({ node }) => node === 'b').flatMap(({ question }) => question.orders)).toEqual([])
  // Its share has begun elsewhere, without a page: the permit is free.
  one.answers['c'] = shares(reportOf(0, { epoch: 2 }))
  await one.rounds(2)
  expect(one.asked.findLast(({ node }) => node === 'b')?.question.orders).toMatchObject([{ share: 1, granted: 1 }])
})

test('who has permits and does not use them gives them up when others are short', async () => {
  const one = stand({ limits: { ...NO_LIMITS, maxPages: 2 } })
  one.answers = {
    a: shares(reportOf(0, { granted: 2, standing: { ...QUIET, permits: 2 } })),
    b: shares(reportOf(1, SHORT)),
  }
  await one.rounds(2)
  expect(one.asked.findLast(({ node }) => node === 'a')?.question.orders).toMatchObject([{ share: 0, recall: true }])
  one.answers['a'] = shares(reportOf(0, { granted: 2, surrendered: 2, standing: { ...QUIET, permits: 0 } }))
  await one.rounds(2)
  expect(one.asked.findLast(({ node }) => node === 'b')?.question.orders).toMatchObject([{ share: 1, granted: 1 }])
})
