// What was met lately is known, what is met again and again stays known, and memory has an end.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newBatch } from '../url-seen/index.ts'
import { RecentUrls } from './recent-urls.ts'

function isNew(recent: RecentUrls, url: number): boolean {
  const batch = newBatch(1)
  batch.high[0] = 7
  batch.low[0] = url
  batch.count = 1
  recent.meet(batch)
  return batch.isNew[0] === 1
}

test('among the last half of the limit nothing is met twice; nothing is known that was never met', () => {
  const limit = 16
  fc.assert(
    fc.property(fc.array(fc.nat(40), { maxLength: 300 }), (urls) => {
      const recent = new RecentUrls(limit)
      const met: number[] = []
      for (const url of urls) {
        const said = isNew(recent, url)
        const lately = new Set(met.slice(-limit / 2))
        if (lately.has(url)) expect(said).toBe(false)
        if (!met.includes(url)) expect(said).toBe(true)
        met.push(url)
      }
    }),
  )
})

test('what is met now and then among many others is not forgotten', () => {
  const recent = new RecentUrls(100)
  expect(isNew(recent, 1)).toBe(true)
  for (let i = 0; i < 1_000; i++) {
    isNew(recent, 1_000 + i)
    if (i % 40 === 0) expect(isNew(recent, 1)).toBe(false)
  }
})

test('what was met long ago is new again', () => {
  const recent = new RecentUrls(100)
  isNew(recent, 1)
  for (let i = 0; i < 200; i++) isNew(recent, 1_000 + i)
  expect(isNew(recent, 1)).toBe(true)
})
