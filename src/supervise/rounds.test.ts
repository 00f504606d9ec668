// Rounds are rare while there is plenty to do, and the end of a crawl is not waited for.

import { expect, test } from 'vitest'
import type { Standing } from '../agent/index.ts'
import { ManualClock } from '../base/index.ts'
import { NEAR_ROUND_MS, ROUND_MS, Rounds } from './rounds.ts'

const BUSY: Standing = { isQuiet: false, moves: 7, waiting: 100, isSpent: false, permits: Infinity, readyInMs: 0 }
const LAST_PAGES: Standing = { ...BUSY, waiting: 0, readyInMs: null }
const QUIET: Standing = { ...LAST_PAGES, isQuiet: true }
const RESTING: Standing = { ...BUSY, isQuiet: true, readyInMs: 900 }

interface Stand {
  readonly clock: ManualClock
  readonly rounds: Rounds
  /** Numbers of the rounds that were asked, and when. */
  readonly asked: { readonly round: number; readonly atMs: number }[]
  /** Both agents answer the round under way; how long it is until the next. */
  readonly answer: (standings: readonly Standing[], permitsLeft?: number) => number
}

/** Two agents, and a first round that is due at once. */
function stand(): Stand {
  const clock = new ManualClock()
  const asked: Stand['asked'] = []
  const rounds = new Rounds(clock, (round) => void asked.push({ round, atMs: clock.nowMs() }))
  rounds.begin(0)
  clock.advance(0)
  const answer: Stand['answer'] = (standings, permitsLeft = Infinity) => {
    const round = asked.at(-1)?.round ?? 0
    expect(rounds.hear(0, round, 2)).toBe(false)
    expect(rounds.hear(1, round, 2)).toBe(true)
    rounds.goOn(standings, permitsLeft)
    return untilAsked(clock, asked)
  }
  return { clock, rounds, asked, answer }
}

function untilAsked(clock: ManualClock, asked: Stand['asked']): number {
  const before = asked.length
  const sinceMs = clock.nowMs()
  for (let i = 0; i < 10 * ROUND_MS && asked.length === before; i++) clock.advance(1)
  expect(asked).toHaveLength(before + 1)
  return (asked.at(-1)?.atMs ?? Infinity) - sinceMs
}

test('while one agent has plenty to do rounds are rare, however many others have ended', () => {
  const { answer } = stand()
  for (let moves = 0; moves < 5; moves++) expect(answer([QUIET, { ...BUSY, moves }])).toBe(ROUND_MS)
})

test('with the last pages under way, and when all are quiet, the next round comes soon', () => {
  const { answer } = stand()
  expect(answer([QUIET, LAST_PAGES])).toBe(NEAR_ROUND_MS)
  expect(answer([QUIET, QUIET])).toBe(NEAR_ROUND_MS)
})

test('so it does when all pages that may be added are granted: what one does not use another waits for', () => {
  expect(stand().answer([BUSY, BUSY], 0)).toBe(NEAR_ROUND_MS)
  expect(stand().answer([BUSY, BUSY], 1)).toBe(ROUND_MS)
})

test('where nothing moves rounds become as rare as ever, each wait a share of those before; and frequent again with the first move', () => {
  const { answer } = stand()
  const gaps = Array.from({ length: 12 }, () => answer([RESTING, QUIET]))
  expect(gaps[0]).toBe(NEAR_ROUND_MS)
  expect(gaps.at(-1)).toBe(ROUND_MS)
  for (const [i, gap] of gaps.entries()) {
    const before = gaps.slice(0, i).reduce((sum, one) => sum + one, 0)
    expect(gap).toBeLessThanOrEqual(before / 2 + NEAR_ROUND_MS + 1)
  }
  expect(answer([{ ...RESTING, moves: 8 }, QUIET])).toBe(NEAR_ROUND_MS)
  expect(answer([{ ...RESTING, moves: 8, waiting: 99 }, QUIET])).toBe(NEAR_ROUND_MS)
})

test('an agent that has nobody to ask brings the next round forward, and never puts it off', () => {
  const { clock, rounds, asked } = stand()
  rounds.begin(ROUND_MS)
  clock.advance(1)
  rounds.hurry()
  clock.advance(NEAR_ROUND_MS - 1)
  // Another one, a moment before the round.
  rounds.hurry()
  clock.advance(1)
  expect(asked).toHaveLength(2)
  expect((asked[1]?.atMs ?? 0) - (asked[0]?.atMs ?? 0)).toBe(1 + NEAR_ROUND_MS)
})

test('one that has answered the round under way and says so then is asked again soon', () => {
  const { rounds, answer } = stand()
  rounds.hurry()
  expect(answer([BUSY, BUSY])).toBe(NEAR_ROUND_MS)
  expect(answer([BUSY, BUSY])).toBe(ROUND_MS)
})

test('only answers of the round under way count, and those of an agent that has died do not', () => {
  const { clock, rounds } = stand()
  expect(rounds.hear(0, null, 2)).toBe(false)
  expect(rounds.hear(0, 1, 2)).toBe(false)
  rounds.forget(0)
  expect(rounds.hear(1, 1, 2)).toBe(false)
  expect(rounds.hear(0, 1, 2)).toBe(true)
  rounds.begin(NEAR_ROUND_MS)
  // Late, or said twice.
  expect(rounds.hear(0, 1, 2)).toBe(false)
  clock.advance(NEAR_ROUND_MS)
  expect(rounds.hear(0, 1, 2)).toBe(false)
  expect(rounds.hear(0, 2, 2)).toBe(false)
  expect(rounds.hear(1, 2, 2)).toBe(true)
})

test('after the end nobody is asked, and nobody is heard', () => {
  const { clock, rounds, asked } = stand()
  rounds.begin(ROUND_MS)
  rounds.end()
  rounds.hurry()
  clock.advance(2 * ROUND_MS)
  expect(asked).toHaveLength(1)
  const other = stand()
  other.rounds.end()
  expect(other.rounds.hear(0, 1, 1)).toBe(false)
})
