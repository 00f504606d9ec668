// All agents see the same owners.

import { expect, test } from 'vitest'
import { assignmentNamed, shareOfSlot, SLOTS } from '../placement/index.ts'
import { Owners } from './owners.ts'

test('all agents see the same owners; a digest goes by its first two bytes', () => {
  const views = [0, 1, 2].map((self) => new Owners(self, 3))
  for (let slot = 0; slot < SLOTS; slot += 97) {
    const digest = Buffer.from([slot >> 8, slot & 255, 7])
    const [first, ...others] = views.map((view) => view.ofSlot(slot))
    expect(others).toEqual([first, first])
    for (const view of views) expect(view.ofDigest(digest)).toBe(first)
  }
  expect(new Owners(0, 1).ofSlot(SLOTS - 1)).toBe(0)
})

test('the shares of a crawl may be by another assignment', () => {
  const ring = assignmentNamed('ring:100')
  const owners = new Owners(2, 16, ring)
  const table = shareOfSlot(16, ring)
  expect(Array.from(table, (_, slot) => owners.ofSlot(slot))).toEqual(Array.from(table))
  expect(table).not.toEqual(shareOfSlot(16))
})
