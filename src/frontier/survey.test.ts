// What waits, looked through while the crawl goes on: whoever waits all the time is seen once, wherever it waits, and nobody is made up.

import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { entryOf } from '../../test/frontier-entry.ts'
import { ManualClock, Random } from '../base/index.ts'
import { DiskFrontier } from './disk-frontier.ts'
import { MemoryLineStore } from './memory-line-store.ts'

const TINY = { headEntries: 1, readAhead: 1, blockEntriesMin: 2, hostsMin: 0, hostsCalledMin: 64, addendaMax: 2 }

async function frontierOf(hosts: number, urls: number, seals: number): Promise<DiskFrontier> {
  const settings = { clock: new ManualClock(), delayMs: 0, ipDelayMs: 0, ipConnections: 8, urlsPerTurn: 2, bands: 2 }
  const frontier = await DiskFrontier.on(new MemoryLineStore(), { ...settings, memoryBytes: 1, tuning: TINY }, true)
  await frontier.endReplay()
  for (let url = 0; url < urls; url++) {
    for (let host = 0; host < hosts; host++) frontier.offer(entryOf(`h${host}`, url, { band: url % 2 }))
    // Some go to disk, in blocks and in records; the last come after that.
    if (url >= seals) continue
    frontier.seal(url + 1)
    frontier.committed(url + 1)
    await frontier.written()
    await frontier.idle()
  }
  return frontier
}

test('standing still it is all of it; the hosts with something waiting likewise', async () => {
  const frontier = await frontierOf(12, 9, 6)
  const seen = (await Array.fromAsync(frontier.survey())).flat().map(({ url }) => url)
  const all = (await Array.fromAsync(frontier.entries())).map(({ url }) => url)
  expect(seen.toSorted()).toEqual(all.toSorted())
  expect(seen).toHaveLength(12 * 9)
  const waiting = await Array.fromAsync(frontier.waitingHosts())
  expect(waiting.map(({ host }) => host).toSorted()).toEqual(Array.from({ length: 12 }, (_, i) => `h${i}`).toSorted())
  expect(waiting.every((one) => one.waiting === 9)).toBe(true)
  await frontier.close()
})

test('while turns are taken, settled and URLs offered between its steps', async () => {
  const sizes = { hosts: fc.integer({ min: 1, max: 15 }), urls: fc.integer({ min: 1, max: 12 }), seals: fc.nat(12) }
  await fc.assert(
    fc.asyncProperty(fc.record({ ...sizes, seed: fc.nat() }), async ({ hosts, urls, seals, seed }) => {
      const frontier = await frontierOf(hosts, urls, seals)
      const random = new Random(seed)
      const still = new Set((await Array.fromAsync(frontier.entries())).map(({ url }) => url))
      const offered = new Set(still)
      const seen = new Map<string, number>()
      const touch = (): void => {
        const turn = frontier.take()
        if (turn !== null) {
          for (const { url } of turn.entries) still.delete(url)
          const unvisited = turn.entries.filter((entry) => {
            if (random.below(2) === 0) return true
            frontier.conclude(entry, true)
            return false
          })
          frontier.settle(turn, { restMs: 0, unvisited })
        }
        const more = entryOf(`h${random.below(hosts + 2)}`, `new${offered.size}`, { band: random.below(2) })
        offered.add(more.url)
        frontier.offer(more)
      }
      for await (const entries of frontier.survey()) {
        for (const { url } of entries) seen.set(url, (seen.get(url) ?? 0) + 1)
        for (let acts = random.below(3); acts > 0; acts--) touch()
      }
      expect([...seen.keys()].filter((url) => !offered.has(url as never))).toEqual([])
      expect([...still].filter((url) => seen.get(url) !== 1)).toEqual([])
      // It holds nothing back afterwards.
      frontier.seal(1_000)
      frontier.committed(1_000)
      await frontier.written()
      await frontier.idle()
      frontier.assertSound()
      await frontier.close()
    }),
    { numRuns: 60 },
  )
})

test('nothing is told twice while a checkpoint is being finished', async () => {
  const store = new MemoryLineStore()
  store.slowness = 3
  const settings = { clock: new ManualClock(), delayMs: 1, ipDelayMs: 0, ipConnections: 8, memoryBytes: 1 }
  const frontier = await DiskFrontier.on(
    store,
    { ...settings, tuning: { ...TINY, hostsCalledMin: 1, stepMs: -1 } },
    true,
  )
  await frontier.endReplay()
  for (let number = 0; number < 2; number++) {
    for (let host = 0; host < 30; host++) frontier.offer(entryOf(`h${host}`, number, { band: 1 }))
    frontier.seal(number + 1)
    frontier.committed(number + 1)
    if (number === 0) await frontier.written()
  }
  // Until the batch is in the store, and not yet forgotten in memory.
  while (![...store.values.keys()].some((key) => key.startsWith('h') && key.includes('\0'))) await setImmediate()
  const told: string[] = []
  for await (const piece of frontier.survey()) told.push(...piece.map(({ url }) => url))
  expect(told.sort()).toEqual([...new Set(told)])
  expect(told).toHaveLength(60)
  await frontier.close()
})
