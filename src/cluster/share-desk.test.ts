// Which shares are tried when, and that a try that failed in the middle is set right.

import { expect, test } from 'vitest'
import type { ClockMs } from '../base/index.ts'
import { ShareDesk, type ShareEffect, type ShareStanding } from './share-desk.ts'

const FREE: ShareStanding = { epoch: 0, holder: null, last: 0, released: false }
const at = (ms: number): ClockMs => ms as ClockMs
const may = (): true => true

function desk(shares = 1): ShareDesk {
  return new ShareDesk({ shares, pollMs: 1_000, backOffMsMax: 8_000, takesAtOnceMax: 2, givesAtOnceMax: 2 })
}

function said(effects: readonly ShareEffect[]): string {
  return effects.map(({ kind, share }) => `${kind} ${share}`).join(', ')
}

const always = (): boolean => true
const never = (): boolean => false

test('a share is looked at, then taken, then held; when it is not wanted any more it is given up', () => {
  const shares = desk()
  expect(said(shares.step(always, may, at(0), false))).toBe('look 0')
  expect(said(shares.step(always, may, at(0), false))).toBe('')
  shares.looked(0, FREE)
  expect(shares.step(always, may, at(0), false)).toEqual([{ kind: 'take', share: 0, seen: FREE }])
  shares.taken(0, 7)
  expect(shares.held()).toEqual([0])
  expect(said(shares.step(always, may, at(0), false))).toBe('')
  expect(said(shares.step(never, may, at(0), false))).toBe('give-up 0')
  expect(shares.isEmpty).toBe(false)
  shares.givenUp(0)
  expect(shares.isEmpty).toBe(true)
})

test('a share that must be waited for is looked at again and again, and says what it waits for', () => {
  const shares = desk()
  shares.step(always, may, at(0), false)
  shares.looked(0, FREE)
  expect(said(shares.step(always, () => 'ada has it', at(0), false))).toBe('')
  expect(shares.report()).toEqual([{ share: 0, phase: 'away', epoch: 0, waitsFor: 'ada has it' }])
  expect(said(shares.step(always, may, at(999), false))).toBe('')
  expect(said(shares.step(always, may, at(1_000), false))).toBe('look 0')
})

test('a hint makes it look before its time, but not while it backs off', () => {
  const shares = desk()
  shares.step(always, may, at(0), false)
  shares.looked(0, FREE)
  shares.step(always, () => 'no', at(0), false)
  shares.hint(0)
  expect(said(shares.step(always, may, at(1), false))).toBe('look 0')
  shares.lookFailed(0, at(1))
  shares.hint(0)
  shares.hint(99)
  expect(said(shares.step(always, may, at(2), false))).toBe('')
})

test('failures are tried again later and later, up to a bound', () => {
  const shares = desk()
  const waits: number[] = []
  let nowMs = 0
  for (let i = 0; i < 6; i++) {
    let waitMs = 0
    while (shares.step(always, may, at(nowMs), false).length === 0) {
      nowMs += 500
      waitMs += 500
    }
    waits.push(waitMs)
    shares.lookFailed(0, at(nowMs))
  }
  expect(waits).toEqual([0, 1_000, 2_000, 4_000, 8_000, 8_000])
})

test('a take that failed may have begun the share in our name: it is released if it is not wanted any more', () => {
  const shares = desk()
  shares.step(always, may, at(0), false)
  shares.looked(0, FREE)
  shares.step(always, may, at(0), false)
  shares.takeFailed(0, at(0))
  expect(shares.isEmpty).toBe(false)
  expect(said(shares.step(never, may, at(1_000), false))).toBe('give-up 0')
  shares.givenUp(0)
  expect(shares.isEmpty).toBe(true)
})

test('a give-up that failed goes on, also when the share is wanted again', () => {
  const shares = desk()
  shares.taken(0, 1)
  shares.step(never, may, at(0), false)
  shares.giveUpFailed(0, at(0))
  expect(shares.held()).toEqual([])
  expect(said(shares.step(always, may, at(1_000), false))).toBe('give-up 0')
})

test('only so many are taken or given up at once; in a hurry all are given up', () => {
  const shares = desk(5)
  for (let share = 0; share < 5; share++) shares.taken(share, 1)
  expect(said(shares.step(never, may, at(0), false))).toBe('give-up 0, give-up 1')
  expect(said(shares.step(never, may, at(0), true))).toBe('give-up 2, give-up 3, give-up 4')
  const other = desk(5)
  const looks = other.step(always, may, at(0), false)
  for (const { share } of looks) other.looked(share, FREE)
  expect(said(other.step(always, may, at(0), false))).toBe('take 0, take 1')
  expect(other.report().filter(({ waitsFor }) => waitsFor === 'others are taken first')).toHaveLength(3)
})

test('a share that was lost is looked at anew', () => {
  const shares = desk()
  shares.taken(0, 1)
  shares.lost(0)
  expect(said(shares.step(always, may, at(0), false))).toBe('look 0')
})
