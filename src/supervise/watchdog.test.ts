// An agent is hung when its counter stood still for so many looks in a row, and never sooner.

import { expect, test } from 'vitest'
import { LOOKS_MAX, Watchdog } from './watchdog.ts'

function stand(agents: number): { watchdog: Watchdog; beats: Int32Array } {
  const heartbeats = new SharedArrayBuffer(agents * Int32Array.BYTES_PER_ELEMENT)
  return { watchdog: new Watchdog(heartbeats), beats: new Int32Array(heartbeats) }
}

function lookTimes(watchdog: Watchdog, times: number): readonly number[] {
  let hung: readonly number[] = []
  for (let i = 0; i < times; i++) hung = watchdog.look()
  return hung
}

test('only the one that stands still is hung', () => {
  const { watchdog, beats } = stand(3)
  for (let i = 1; i < LOOKS_MAX; i++) {
    beats[0] = i
    beats[2] = i
    expect(watchdog.look()).toEqual([])
  }
  beats[0] = -1
  beats[2] = -1
  expect(watchdog.look()).toEqual([1])
})

test('one beat gives it its full time again', () => {
  const { watchdog, beats } = stand(1)
  expect(lookTimes(watchdog, LOOKS_MAX - 1)).toEqual([])
  beats[0] = 1
  expect(lookTimes(watchdog, LOOKS_MAX)).toEqual([])
  expect(watchdog.look()).toEqual([0])
})

test('one that was begun anew has its full time, wherever its counter stands', () => {
  const { watchdog, beats } = stand(1)
  beats[0] = 5
  lookTimes(watchdog, LOOKS_MAX)
  watchdog.begun(0)
  expect(lookTimes(watchdog, LOOKS_MAX - 1)).toEqual([])
  expect(watchdog.look()).toEqual([0])
})

test('a counter that comes round moves too', () => {
  const { watchdog, beats } = stand(1)
  beats[0] = 2 ** 31 - 1
  watchdog.begun(0)
  lookTimes(watchdog, LOOKS_MAX - 1)
  Atomics.add(beats, 0, 1)
  expect(watchdog.look()).toEqual([])
})
