// All are done when all are quiet, twice, and nothing moved in between; one look is not enough.

import { describe, expect, test } from 'vitest'
import type { Standing } from '../agent/index.ts'
import { EndWatch } from './end-watch.ts'
import { PermitOffice } from './permit-office.ts'

const QUIET: Standing = { isQuiet: true, moves: 3, waiting: 0, isSpent: false, permits: Infinity, readyInMs: null }
const BUSY: Standing = { ...QUIET, isQuiet: false }
const MAX_WAIT_MS = 1_000

/** What is said of the second of two equal rounds. */
function decided(standings: readonly Standing[], permitsLeft = Infinity): ReturnType<EndWatch['round']> {
  const watch = new EndWatch(MAX_WAIT_MS)
  expect(watch.round(standings, permitsLeft)).toBeNull()
  return watch.round(standings, permitsLeft)
}

describe('still', () => {
  test('two quiet rounds in a row in which nobody said or heard anything', () => {
    expect(decided([QUIET, { ...QUIET, moves: 9 }])).toBe('finished')
  })

  test('a move of anybody makes it begin again', () => {
    const watch = new EndWatch(MAX_WAIT_MS)
    watch.round([QUIET, QUIET], Infinity)
    expect(watch.round([QUIET, { ...QUIET, moves: 4 }], Infinity)).toBeNull()
    expect(watch.round([QUIET, { ...QUIET, moves: 5 }], Infinity)).toBeNull()
    expect(watch.round([QUIET, { ...QUIET, moves: 5 }], Infinity)).toBe('finished')
  })

  test('one that is not quiet makes it begin again, whatever was before', () => {
    const watch = new EndWatch(MAX_WAIT_MS)
    watch.round([QUIET, QUIET], Infinity)
    expect(watch.round([QUIET, BUSY], Infinity)).toBeNull()
    expect(watch.round([QUIET, QUIET], Infinity)).toBeNull()
    expect(watch.round([QUIET, QUIET], Infinity)).toBe('finished')
  })

  test('a permit that one gives up, for another who has answered before it was granted, makes it begin again', () => {
    const office = new PermitOffice(9, 2)
    office.opened(0, 1, 1)
    office.opened(1, 7)
    const watch = new EndWatch(MAX_WAIT_MS)
    const has = (permits: number): Standing => ({ ...QUIET, waiting: 5, permits, isSpent: permits === 0 })
    expect(office.want(1)).toBe(0)
    expect(watch.round([has(1), has(0)], office.left)).toBeNull()
    // The second has answered this round; then the first gives its permit up, and the second gets it.
    office.surrendered(0, 1)
    expect(office.want(1)).toBe(1)
    expect(watch.round([has(0), has(0)], office.left)).toBeNull()
    expect(watch.round([has(0), has(1)], office.left)).toBeNull()
    // It has added its page.
    expect(watch.round([has(0), has(0)], office.left)).toBeNull()
    expect(watch.round([has(0), has(0)], office.left)).toBe('max-pages')
  })

  test('an agent that is new makes it begin again, also where it counts as much as the one before', () => {
    const watch = new EndWatch(MAX_WAIT_MS)
    watch.round([QUIET, QUIET], Infinity)
    watch.forget()
    expect(watch.round([QUIET, QUIET], Infinity)).toBeNull()
  })

  test('a round that one did not take part in is not compared with one of all', () => {
    const watch = new EndWatch(MAX_WAIT_MS)
    watch.round([QUIET], Infinity)
    expect(watch.round([QUIET, QUIET], Infinity)).toBeNull()
  })
})

describe('why', () => {
  const ready: Standing = { ...QUIET, waiting: 2, readyInMs: 0 }
  const resting: Standing = { ...QUIET, waiting: 2, readyInMs: MAX_WAIT_MS + 1 }

  test('something that waits and may be asked is no reason', () => {
    expect(decided([QUIET, ready])).toBeNull()
    expect(decided([resting, ready])).toBeNull()
  })

  test('where all that waits rests for longer than one is to wait', () => {
    expect(decided([QUIET, resting])).toBe('only-resting')
    expect(decided([{ ...resting, readyInMs: MAX_WAIT_MS }, resting])).toBeNull()
    // Hosts that are being read from disk.
    expect(decided([{ ...resting, readyInMs: null }, resting])).toBeNull()
  })

  test('where no permit is left anywhere, given out or not', () => {
    const spent: Standing = { ...ready, isSpent: true, permits: 0 }
    expect(decided([spent, spent], 0)).toBe('max-pages')
    expect(decided([spent, spent], 1)).toBeNull()
    expect(decided([spent, ready], 0)).toBeNull()
  })

  test('finished is said rather than that the permits are spent', () => {
    expect(decided([{ ...QUIET, isSpent: true }], 0)).toBe('finished')
  })
})
