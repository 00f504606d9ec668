// Silence counts from the last sign that was seen, and is believed only when the engine has no later one.

import { expect, test } from 'vitest'
import type { ClockMs } from '../base/index.ts'
import { Sightings, SIGHTINGS_MAX } from './sightings.ts'

const at = (ms: number): ClockMs => ms as ClockMs

test('silence is proven up to the moment the engine was asked, if it knew of no later beat', () => {
  const sightings = new Sightings(at(0))
  sightings.hear('a', 17, false, at(100))
  expect(sightings.provenMs('a')).toBe(-Infinity)
  sightings.answered('a', 17, at(900), at(950))
  expect(sightings.provenMs('a')).toBe(900)
  expect(sightings.lastSeenMs('a')).toBe(100)
})

test('a later beat that the engine knows of counts as seen now, and comes again by the watch without counting twice', () => {
  const sightings = new Sightings(at(0))
  sightings.hear('a', 17, false, at(100))
  sightings.answered('a', 18, at(900), at(950))
  expect(sightings.provenMs('a')).toBe(-Infinity)
  expect(sightings.lastSeenMs('a')).toBe(950)
  sightings.hear('a', 18, false, at(5_000))
  expect(sightings.lastSeenMs('a')).toBe(950)
})

test('a new beat makes an old proof worthless', () => {
  const sightings = new Sightings(at(0))
  sightings.hear('a', 1, false, at(100))
  sightings.answered('a', 1, at(900), at(950))
  sightings.hear('a', 2, false, at(960))
  expect(sightings.provenMs('a')).toBe(-Infinity)
})

test('silence is counted anew after a reconnect', () => {
  const sightings = new Sightings(at(0))
  sightings.hear('a', 1, false, at(100))
  sightings.reconnected(at(60_000))
  expect(sightings.lastSeenMs('a')).toBe(60_000)
  expect(sightings.lastSeenMs('never met')).toBe(60_000)
})

test('a beat from before we watched is a sign, but not a fresh one; a member nobody heard is expected from its view on', () => {
  const sightings = new Sightings(at(0))
  sightings.hear('a', 9, true, at(50))
  expect(sightings.isFresh('a')).toBe(false)
  expect(sightings.lastSeenMs('a')).toBe(50)
  sightings.hear('a', 10, false, at(60))
  expect(sightings.isFresh('a')).toBe(true)
  sightings.expect('b', at(700))
  sightings.expect('a', at(700))
  expect(sightings.lastSeenMs('b')).toBe(700)
  expect(sightings.lastSeenMs('a')).toBe(60)
})

test('what is forgotten counts as seen later than it was, never earlier', () => {
  const sightings = new Sightings(at(0))
  for (let i = 1; i <= SIGHTINGS_MAX + 2; i++) sightings.hear(`i${i}`, 1, false, at(i))
  expect(sightings.lastSeenMs('i1')).toBe(2)
  expect(sightings.lastSeenMs(`i${SIGHTINGS_MAX + 2}`)).toBe(SIGHTINGS_MAX + 2)
})
