// Trouble is counted in a row, ends with the first good answer, and being given up ends with time.

import { expect, test } from 'vitest'
import { ManualClock } from '../base/index.ts'
import { type GivenUpNote, Trouble } from './trouble.ts'

test('failures and pauses count in a row and each origin for itself', () => {
  const trouble = new Trouble(new ManualClock(), 1_000)
  expect([trouble.failed('a'), trouble.failed('a'), trouble.failed('b')]).toEqual([1, 2, 1])
  expect([trouble.paused('a'), trouble.paused('a')]).toEqual([1, 2])
})

test('a good answer forgets the trouble', () => {
  const trouble = new Trouble(new ManualClock(), 1_000)
  trouble.failed('a')
  trouble.answered('a')
  expect(trouble.failed('a')).toBe(1)
})

test('an origin that was given up stays so for its time, and is then tried afresh', () => {
  const clock = new ManualClock()
  const trouble = new Trouble(clock, 1_000)
  trouble.failed('a')
  trouble.giveUp('a', 'FETCH_CONNECT_REFUSED', 'nobody listens')
  clock.advance(999)
  expect(trouble.givenUp('a')).toEqual({ code: 'FETCH_CONNECT_REFUSED', detail: 'nobody listens' })
  expect(trouble.givenUp('b')).toBeNull()
  clock.advance(1)
  expect(trouble.givenUp('a')).toBeNull()
  expect(trouble.failed('a')).toBe(1)
})

test('what an earlier run gave up stays so for what is left of its time', () => {
  const clock = new ManualClock()
  const notes: GivenUpNote[] = []
  new Trouble(clock, 1_000, (note) => void notes.push(note)).giveUp('a', 'FETCH_CONNECT_REFUSED', 'nobody listens')
  expect(notes).toMatchObject([{ key: 'a', untilWallMs: clock.wallMs() + 1_000 }])
  clock.advance(400)
  const later = new Trouble(clock, 1_000)
  for (const note of notes) later.restore(note)
  expect(later.givenUp('a')).toEqual({ code: 'FETCH_CONNECT_REFUSED', detail: 'nobody listens' })
  clock.advance(600)
  expect(later.givenUp('a')).toBeNull()
  const stricter = new Trouble(clock, 10)
  stricter.restore({ key: 'a', code: 'FETCH_CONNECT_REFUSED', detail: '', untilWallMs: clock.wallMs() + 5_000 })
  clock.advance(10)
  expect(stricter.givenUp('a')).toBeNull()
})

test('what is to be tried again now is forgiven, in later runs too', () => {
  const clock = new ManualClock()
  const notes: GivenUpNote[] = []
  const trouble = new Trouble(clock, 1_000, (note) => void notes.push(note))
  trouble.giveUp('a', 'FETCH_CONNECT_REFUSED', '')
  trouble.forgive('a')
  trouble.forgive('never in trouble')
  expect(trouble.givenUp('a')).toBeNull()
  expect(notes).toHaveLength(2)
  const later = new Trouble(clock, 1_000)
  for (const note of notes) later.restore(note)
  expect(later.givenUp('a')).toBeNull()
})
