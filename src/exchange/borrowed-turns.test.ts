// Whoever helps makes the requests of a turn once and while it lasts, and says so when it is over.

import { expect, test } from 'vitest'
import { ManualClock } from '../base/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import { type BorrowedTurn, BorrowedTurns } from './borrowed-turns.ts'
import { type LendMessage, LENT_MAX, LentTurns, TURN_MS } from './lent-turns.ts'
import type { LentAnswer } from './peer-message.ts'

const OWNER = 0
const TURN = { urls: ['http://giant.test/1' as CanonicalUrl], addresses: [] }
const ANSWER: LentAnswer = { kind: 'skipped', url: TURN.urls[0] as CanonicalUrl, reason: 'type-filtered', detail: '' }

interface Stand {
  readonly clock: ManualClock
  readonly borrowed: BorrowedTurns
  readonly said: LendMessage[]
  readonly turns: BorrowedTurn[]
  /** Ends the turn that began first. */
  readonly answer: () => Promise<void>
}

function stand(): Stand {
  const clock = new ManualClock()
  const said: LendMessage[] = []
  const turns: BorrowedTurn[] = []
  const ends: (() => void)[] = []
  const borrowed = new BorrowedTurns({ clock, firstId: 100 })
  borrowed.connect((_, message) => said.push(message))
  borrowed.serve({
    mayHelp: () => true,
    ask: (turn) => {
      turns.push(turn)
      return new Promise((resolve) => ends.push(() => resolve([ANSWER])))
    },
  })
  const answer = async (): Promise<void> => {
    ends.shift()?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { clock, borrowed, said, turns, answer }
}

test('a turn that comes twice is made once; what is said of one that is over does no harm', async () => {
  const { borrowed, said, turns, answer } = stand()
  borrowed.hear(OWNER, { kind: 'lend-wanted' })
  expect(said).toEqual([{ kind: 'lend-offer', id: 101 }])
  borrowed.hear(OWNER, { kind: 'lend-turn', id: 101, forMs: TURN_MS, turn: TURN })
  borrowed.hear(OWNER, { kind: 'lend-turn', id: 101, forMs: TURN_MS, turn: TURN })
  await answer()
  expect(turns).toHaveLength(1)
  expect(said.at(-1)).toEqual({ kind: 'lend-done', id: 101, answers: [ANSWER], next: 102 })
  borrowed.hear(OWNER, { kind: 'lend-turn', id: 101, forMs: TURN_MS, turn: TURN })
  expect(turns).toHaveLength(1)
  expect(said.at(-1)).toEqual({ kind: 'lend-done', id: 101, answers: [], next: null })
})

test('its time runs from the offer: one that was long on its way is not begun', async () => {
  const { clock, borrowed, said, turns } = stand()
  borrowed.hear(OWNER, { kind: 'lend-wanted' })
  clock.advance(TURN_MS)
  borrowed.hear(OWNER, { kind: 'lend-turn', id: 101, forMs: TURN_MS, turn: TURN })
  await Promise.resolve()
  expect(turns).toEqual([])
  expect(said.at(-1)).toMatchObject({ kind: 'lend-done', id: 101, answers: [] })
})

test('at its end it is cut, and nothing is written in the last second', () => {
  const { clock, borrowed, turns } = stand()
  borrowed.hear(OWNER, { kind: 'lend-wanted' })
  borrowed.hear(OWNER, { kind: 'lend-turn', id: 101, forMs: TURN_MS, turn: TURN })
  const [turn] = turns
  expect(turn?.mayWrite()).toBe(true)
  clock.advance(TURN_MS - 1_000)
  expect(turn?.mayWrite()).toBe(false)
  expect(turn?.signal.aborted).toBe(false)
  clock.advance(1_000)
  expect(turn?.signal.aborted).toBe(true)
})

test('a new wire ends what came over the old one, and tells what may not have been heard', async () => {
  const { clock, borrowed, said, turns, answer } = stand()
  borrowed.hear(OWNER, { kind: 'lend-wanted' })
  borrowed.hear(OWNER, { kind: 'lend-turn', id: 101, forMs: TURN_MS, turn: TURN })
  await answer()
  borrowed.hear(OWNER, { kind: 'lend-turn', id: 102, forMs: TURN_MS, turn: TURN })
  said.length = 0
  borrowed.reconnected(OWNER)
  expect(said).toEqual([{ kind: 'lend-done', id: 101, answers: [], next: null }])
  expect(turns.at(-1)?.signal.aborted).toBe(true)
  await answer()
  // A moment later, so that the server knows of it before the owner does.
  expect(said).toHaveLength(1)
  clock.advance(500)
  await answer()
  expect(said.at(-1)).toMatchObject({ kind: 'lend-done', id: 102 })
})

test('offers and turns are bounded on both sides', () => {
  const { clock, borrowed, said } = stand()
  for (let i = 0; i < 20; i++) borrowed.hear(OWNER, { kind: 'lend-wanted' })
  expect(said).toHaveLength(4)
  const lent = new LentTurns({
    clock,
    self: 0,
    agents: 2,
    requestMs: 1_000,
    leaseLeftMs: () => 5_000,
    onFirst: () => {},
  })
  for (let id = 0; id < 100; id++) lent.hear(1, { kind: 'lend-offer', id })
  let count = 0
  for (; lent.mayLend(); count++) void lent.lend(TURN)
  expect(count).toBe(LENT_MAX)
})

test('an owner whose lease is nearly over lends nothing', () => {
  const { clock } = stand()
  const lent = new LentTurns({
    clock,
    self: 0,
    agents: 2,
    requestMs: 1_000,
    leaseLeftMs: () => 1_900,
    onFirst: () => {},
  })
  lent.hear(1, { kind: 'lend-offer', id: 1 })
  expect(lent.mayLend()).toBe(false)
})
