// Paged through to its end, the merged list is the sorted whole, however nodes cut their parts.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mergeLists, mostSaid, type PartOfList } from './merged-lists.ts'

/** A node's list, of which it gives so many at a time. */
function partOf(all: readonly number[], after: string | null, most: number): PartOfList<number> {
  const from = after === null ? 0 : Number(after)
  const items = all.slice(from, from + most)
  return { items, next: from + most < all.length ? String(from + most) : null, total: all.length }
}

test('every item once and in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.array(fc.nat(1_000), { maxLength: 30 })),
      fc.integer({ min: 1, max: 12 }),
      fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 5 }),
      async (lists, limit, cuts) => {
        const sorted = Object.fromEntries(
          Object.entries(lists).map(([node, list]) => [node, list.toSorted((x, y) => y - x)]),
        )
        let asked = 0
        const shown: number[] = []
        let after: string | undefined
        for (let round = 0; ; round++) {
          expect(round).toBeLessThan(200)
          const { items, next, total } = await mergeLists<number>({
            nodes: Object.keys(sorted),
            limit,
            after,
            // Bounded in bytes: sometimes a part is shorter than asked for.
            ask: async (node, from) =>
              partOf(sorted[node] ?? [], from, Math.min(limit, cuts[asked++ % cuts.length] ?? 1)),
            compare: (x, y) => y - x,
          })
          expect(items.length).toBeLessThanOrEqual(limit)
          if (round === 0) expect(total).toBe(Object.values(lists).flat().length)
          shown.push(...items)
          if (next === null) break
          after = next
        }
        expect(shown).toEqual(
          Object.values(lists)
            .flat()
            .toSorted((x, y) => y - x),
        )
      },
    ),
    { numRuns: 60 },
  )
})

test('a node that does not answer goes on later where it was', async () => {
  const lists: Record<string, readonly number[]> = { a: [9, 7], b: [8, 6] }
  const ask = (isThere: boolean, after: string | undefined) =>
    mergeLists<number>({
      nodes: ['a', 'b'],
      limit: 10,
      after,
      ask: async (node, from) => (node === 'b' && !isThere ? null : partOf(lists[node] ?? [], from, 10)),
      compare: (x, y) => y - x,
    })
  expect((await ask(false, undefined)).items).toEqual([9, 7])
  expect((await ask(true, 'what is no mark')).items).toEqual([9, 8, 7, 6])
})

test('what two nodes have is shown once', async () => {
  const { items } = await mergeLists({
    nodes: ['a', 'b'],
    limit: 10,
    after: undefined,
    ask: async () => ({ items: ['x', 'y'], next: null, total: 2 }),
    compare: (x, y) => (x < y ? -1 : x > y ? 1 : 0),
    keyOf: (item) => item,
  })
  expect(items).toEqual(['x', 'y'])
})

test('of a URL the share that is done with it is believed, for every share knows the seeds', () => {
  const states = (...all: string[]) => mostSaid(all.map((state, share) => ({ state, share })))
  expect(states('waiting', 'page', 'waiting')).toEqual({ state: 'page', share: 1 })
  expect(states('never-met', 'waiting')).toEqual({ state: 'waiting', share: 1 })
  expect(states('waiting', 'never-met', 'failed')).toEqual({ state: 'failed', share: 2 })
  expect(states('never-met', 'never-met')).toEqual({ state: 'never-met', share: 0 })
  expect(states()).toBeNull()
})
