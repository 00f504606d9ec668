import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Timers } from './timers.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('one that is set again under its name replaces the earlier one, and no other', () => {
  const fired: string[] = []
  const timers = new Timers()
  timers.after('a', 10, () => fired.push('first a'))
  timers.after('b', 10, () => fired.push('b'))
  timers.after('a', 30, () => fired.push('second a'))
  vi.advanceTimersByTime(20)
  expect(fired).toEqual(['b'])
  vi.advanceTimersByTime(20)
  expect(fired).toEqual(['b', 'second a'])
})

test('all end together', () => {
  let fired = 0
  const timers = new Timers()
  timers.every(10, () => fired++)
  timers.after('a', 25, () => fired++)
  vi.advanceTimersByTime(20)
  expect(fired).toBe(2)
  timers.clear()
  vi.advanceTimersByTime(100)
  expect(fired).toBe(2)
  expect(vi.getTimerCount()).toBe(0)
})

test('a time that is longer than a timer takes is not at once', () => {
  let fired = 0
  new Timers().after('a', 2 ** 40, () => fired++)
  vi.advanceTimersByTime(1_000_000)
  expect(fired).toBe(0)
})
