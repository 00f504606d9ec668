// Changes of a crawl: numbered, in order, none lost and none twice, whoever makes them at once and whatever answers are lost.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MemoryEngine } from '../engine/index.ts'
import { Changes, makeChange, readChanges } from './changes.ts'
import type { CrawlChange } from './records.ts'

let ids = 0
const change = (more: Partial<CrawlChange> = {}): CrawlChange => {
  return { id: String(++ids), seeds: [], settings: null, options: null, isLive: false, by: 'me', at: 'now', ...more }
}

test('of many who change at once each gets a number of its own, and hears what was changed meanwhile', async () => {
  const engine = MemoryEngine.create()
  const heard: number[] = []
  const numbers = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      makeChange(engine.client(), (_now, since) => {
        heard[i] = since.length
        return change({ seeds: [`http://h${i}.test/`] })
      }),
    ),
  )
  expect(numbers.toSorted((a, b) => (a ?? 0) - (b ?? 0))).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
  // Whoever was asked once knew of nobody; all began when there was nothing.
  expect(heard.map((count) => count + 1)).toEqual(numbers)
  const changes = await readChanges(engine.client())
  expect(changes.upTo).toBe(20)
  expect(new Set(changes.seedsAfter(0)).size).toBe(20)
})

test.each(['done', 'not-done'] as const)('a change whose answer was lost (%s) is made once', async (how) => {
  const client = MemoryEngine.create({ operationMs: 1 }).client()
  client.failNext('create', how)
  const made = change({ seeds: ['http://a.test/'] })
  const number = await makeChange(client, () => made).catch(() =>
    makeChange(client, (now) => (now.upTo > 0 ? null : made)),
  )
  expect([1, null]).toContain(number)
  expect((await readChanges(client)).all).toEqual([made])
})

test('whoever finds nothing to change changes nothing; what is too large is refused', async () => {
  const client = MemoryEngine.create().client()
  expect(await makeChange(client, () => null)).toBeNull()
  const large = change({ settings: { url: { block: ['x'.repeat(600_000)] } } })
  await expect(makeChange(client, () => large)).rejects.toMatchObject({ code: 'CLUSTER_REFUSED' })
  expect((await readChanges(client)).upTo).toBe(0)
})

test('whoever takes changes in, by parts or at once, comes to the same', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          seeds: fc.array(fc.constantFrom('a', 'b', 'c', 'd')),
          settings: fc.option(fc.integer()),
          isLive: fc.boolean(),
        }),
        { maxLength: 12 },
      ),
      fc.nat(12),
      (all, cut) => {
        const changes = new Changes()
        for (const [index, one] of all.entries()) expect(changes.add(index + 1, change(one))).toBe(true)
        expect(changes.add(all.length + 2, change())).toBe(false)
        const part = new Changes()
        for (const [index, one] of all.slice(0, cut).entries()) part.add(index + 1, change(one))
        const seeds = new Set([...part.seedsAfter(0), ...changes.seedsAfter(part.upTo)])
        expect([...seeds]).toEqual(changes.seedsAfter(0))
        expect(changes.settingsAfter(part.upTo) ?? part.settingsAfter(0)).toBe(changes.settingsAfter(0))
        expect(changes.needsOpening(0)).toBe(part.needsOpening(0) || changes.needsOpening(part.upTo))
      },
    ),
  )
})
