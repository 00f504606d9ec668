// Deadlines are met by servers or missed by them; what we missed ourselves is not held against them.

import { expect, test } from 'vitest'
import type { Clock, ClockMs } from '../base/index.ts'
import { DeadlineSweep } from './deadline-sweep.ts'

/** A clock whose timers fire when told to, however late. */
class HeldClock implements Clock {
  now = 0
  #callback: (() => void) | null = null

  nowMs(): ClockMs {
    return this.now as ClockMs
  }

  wallMs(): number {
    return this.now
  }

  callAt(_atMs: ClockMs, callback: () => void): () => void {
    this.#callback = callback
    return () => (this.#callback = null)
  }

  fire(now: number): void {
    this.now = now
    const callback = this.#callback
    this.#callback = null
    callback?.()
  }
}

test('all are looked at every tick, and nothing is excused while ticks come in time', () => {
  const clock = new HeldClock()
  const sweep = new DeadlineSweep<{ check(nowMs: number): void; excuse(lateMs: number): void }>(clock)
  const seen: string[] = []
  sweep.add({ check: (nowMs) => seen.push(`check ${nowMs}`), excuse: (lateMs) => seen.push(`excuse ${lateMs}`) })
  clock.fire(100)
  clock.fire(290)
  expect(seen).toEqual(['check 100', 'check 290'])
})

test('a tick that comes late excuses all by as much, before it looks', () => {
  const clock = new HeldClock()
  const sweep = new DeadlineSweep<{ check(nowMs: number): void; excuse?(lateMs: number): void }>(clock)
  const seen: string[] = []
  sweep.add({ check: (nowMs) => seen.push(`check ${nowMs}`), excuse: (lateMs) => seen.push(`excuse ${lateMs}`) })
  sweep.add({ check: () => seen.push('one without excuses') })
  clock.fire(5_100)
  expect(seen).toEqual(['excuse 5000', 'check 5100', 'one without excuses'])
})
