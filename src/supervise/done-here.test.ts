// Work only grows, whatever shares come and go.

import { expect, test } from 'vitest'
import { DoneHere } from './done-here.ts'

test('what a share did elsewhere is not done here, and what it did here stays done when it goes', () => {
  const done = new DoneHere()
  done.began(3, { pages: 100_000, bytes: 1e9 })
  expect(done.work).toEqual({ pages: 0, bytes: 0 })
  done.stands(3, { pages: 100_010, bytes: 1e9 + 500 })
  done.began(5, { pages: 0, bytes: 0 })
  done.stands(5, { pages: 1, bytes: 10 })
  done.gone(3)
  expect(done.work).toEqual({ pages: 11, bytes: 510 })
  // It comes back with what was done elsewhere meanwhile.
  done.began(3, { pages: 200_000, bytes: 2e9 })
  done.stands(3, { pages: 200_001, bytes: 2e9 + 1 })
  expect(done.work).toEqual({ pages: 12, bytes: 511 })
})

test('an agent that goes on from its last commit takes nothing back', () => {
  const done = new DoneHere()
  done.began(0, { pages: 10, bytes: 10 })
  done.stands(0, { pages: 20, bytes: 20 })
  done.began(0, { pages: 15, bytes: 15 })
  done.stands(0, { pages: 16, bytes: 16 })
  expect(done.work).toEqual({ pages: 11, bytes: 11 })
  // A status that is older than what is known of a share that is gone.
  done.gone(0)
  done.stands(0, { pages: 99, bytes: 99 })
  expect(done.work.pages).toBe(11)
})
