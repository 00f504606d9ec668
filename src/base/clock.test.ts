// Time that is held still moves only when told, and fires what comes due in order.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ClockMs, ManualClock, systemClock } from './clock.ts'

test('a manual clock stands still until it is moved, and both its readings move together', () => {
  const clock = new ManualClock(50, 1_000_000)
  expect(clock.nowMs()).toBe(50)
  clock.advance(25)
  expect(clock.nowMs()).toBe(75)
  expect(clock.wallMs()).toBe(1_000_025)
})

test('timers fire in the order of their times, each at its own moment, and never when cancelled', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ delay: fc.nat(100), isCancelled: fc.boolean() })), (plans) => {
      const clock = new ManualClock(0)
      const fired: number[] = []
      for (const { delay, isCancelled } of plans) {
        const cancel = clock.callAt(delay as ClockMs, () => {
          expect(clock.nowMs()).toBe(delay)
          fired.push(delay)
        })
        if (isCancelled) cancel()
      }
      clock.advance(100)
      const expected = plans.filter((plan) => !plan.isCancelled).map((plan) => plan.delay)
      expect(fired).toEqual(expected.sort((a, b) => a - b))
    }),
  )
})

test('a timer set while another fires is served in the same advance if it is due', () => {
  const clock = new ManualClock(0)
  const fired: string[] = []
  clock.callAt(10 as ClockMs, () => {
    fired.push('first')
    clock.callAt(20 as ClockMs, () => fired.push('second'))
  })
  clock.advance(30)
  expect(fired).toEqual(['first', 'second'])
})

test('the system clock never calls before the time, and not at all when cancelled', async () => {
  const startMs = systemClock.nowMs()
  const cancel = systemClock.callAt((startMs + 5) as ClockMs, () => expect.unreachable('it was cancelled'))
  cancel()
  const calledMs = await new Promise<number>((resolve) => {
    systemClock.callAt((startMs + 10) as ClockMs, () => resolve(systemClock.nowMs()))
  })
  expect(calledMs).toBeGreaterThanOrEqual(startMs + 10)
})
