// The frontier on disk keeps the common law, with next to no memory: every few calls a checkpoint is made, lines are cut down
// to their heads, and in one of the runs hosts leave memory altogether.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ManualClock } from '../base/index.ts'
import type { CanonicalUrl, HostKey } from '../url/index.ts'
import { DiskFrontier, type DiskFrontierTuning } from './disk-frontier.ts'
import type { FrontierEntry } from './frontier.ts'
import { checkAgainstModel, operations } from './frontier-model.conformance.ts'
import { frontierConformance, type FrontierSettings } from './frontier.conformance.ts'
import type { LineStore } from './line-store.ts'
import { MemoryLineStore } from './memory-line-store.ts'
import type { Subject } from './steady-frontier.conformance.ts'

const TINY: DiskFrontierTuning = { headEntries: 1, readAhead: 1, blockEntriesMin: 2, hostsMin: 64 }

/** A frontier that makes a checkpoint after every few calls. */
async function spilling(
  settings: FrontierSettings,
  store: LineStore,
  callsPerCheckpoint: number,
  tuning: DiskFrontierTuning,
): Promise<Subject> {
  const frontier = await DiskFrontier.on(store, { ...settings, memoryBytes: 1, tuning }, true)
  await frontier.endReplay()
  let calls = 0
  return {
    frontier,
    keepsPlaces: tuning.hostsMin > 0,
    settled: async () => {
      if (++calls % callsPerCheckpoint === 0) {
        frontier.seal(calls)
        frontier.committed(calls)
        await frontier.written()
      }
      await frontier.idle()
    },
    entries: () => Array.fromAsync(frontier.entries()),
    hostStates: () => Array.fromAsync(frontier.hostStates()),
    close: () => frontier.close(),
  }
}

frontierConformance('DiskFrontier, a checkpoint after every second call', (settings) =>
  spilling(settings, new MemoryLineStore(), 2, TINY),
)

frontierConformance('DiskFrontier, a checkpoint now and then', (settings) =>
  spilling(settings, new MemoryLineStore(), 7, TINY),
)

describe('DiskFrontier, hosts leaving memory', () => {
  test('after any sequence of operations it has kept every law but that of places', async () => {
    const settings = fc.record({
      delayMs: fc.constantFrom(0, 0, 1_000),
      ipDelayMs: fc.constant(0),
      ipConnections: fc.constant(8),
      urlsPerTurn: fc.integer({ min: 1, max: 4 }),
      bands: fc.constantFrom(1, 4),
    })
    // An address is forgotten with its host, and claimed anew in its next turn.
    const sequences = fc
      .array(operations, { maxLength: 150, size: 'max' })
      .map((sequence) => sequence.filter(({ kind }) => kind !== 'claim'))
    await fc.assert(
      fc.asyncProperty(settings, sequences, fc.integer({ min: 1, max: 5 }), async (chosen, sequence, calls) => {
        const clock = new ManualClock()
        const subject = await spilling({ ...chosen, clock }, new MemoryLineStore(), calls, { ...TINY, hostsMin: 0 })
        await checkAgainstModel(subject, { ...chosen, clock }, sequence)
      }),
      { numRuns: 200 },
    )
  })
})

describe('DiskFrontier with more hosts than memory', () => {
  const HOSTS = 3_000
  const URLS = 4

  const entryOf = (host: number, number: number): FrontierEntry => ({
    url: `http://h${host}/${number}` as CanonicalUrl,
    host: `h${host}` as HostKey,
    via: null,
    depth: 0,
    hops: 0,
    band: 1,
    isSeed: false,
    tries: 0,
    pauses: 0,
  })

  /** Serves what can be served, a host at a time, with checkpoints when they are wanted; the hosts in their order. */
  async function serve(frontier: DiskFrontier, clock: ManualClock, turns: number): Promise<string[]> {
    const order: string[] = []
    for (let batch = 100_000; order.length < turns;) {
      const turn = frontier.take()
      if (turn !== null) {
        order.push(turn.host)
        for (const entry of turn.entries) frontier.conclude(entry, true)
        frontier.settle(turn, { restMs: 1 })
      }
      if (turn === null || order.length % 50 === 0) {
        await frontier.idle()
        if (frontier.wantsSeal()) {
          frontier.seal(++batch)
          frontier.committed(batch)
          await frontier.written()
        }
        clock.advance(1)
      }
    }
    return order
  }

  async function filled(clock: ManualClock, hosts = HOSTS, urls = URLS): Promise<DiskFrontier> {
    const settings = { clock, delayMs: 1, ipDelayMs: 0, ipConnections: 8, bands: 4, memoryBytes: 300_000 }
    const frontier = await DiskFrontier.on(new MemoryLineStore(), settings, true)
    await frontier.endReplay()
    for (let host = 0; host < hosts; host++) {
      for (let i = 0; i < urls; i++) frontier.offer(entryOf(host, i))
      if (!frontier.wantsSeal()) continue
      frontier.seal(host + 1)
      frontier.committed(host + 1)
      await frontier.written()
    }
    return frontier
  }

  test('most of them wait on disk, and memory keeps its bound', async () => {
    const frontier = await filled(new ManualClock())
    await frontier.idle()
    const { waiting, hosts, ready } = frontier.figures()
    expect({ waiting, hosts }).toEqual({ waiting: HOSTS * URLS, hosts: HOSTS })
    expect(ready).toBeLessThan(HOSTS / 4)
    frontier.assertSound()
  })

  test('hosts with much to ask for give way to those that wait on disk', async () => {
    const clock = new ManualClock()
    const [hosts, urls] = [1_000, 40]
    const frontier = await filled(clock, hosts, urls)
    // Between 8 and 10 turns a host, by when the disk answers; without giving way it would be 40.
    const order = await serve(frontier, clock, 16 * hosts)
    expect(new Set(order).size).toBe(hosts)
  })

  test('a host that is offered a better URL comes to hand before the others have been served', async () => {
    const clock = new ManualClock()
    const frontier = await filled(clock)
    await serve(frontier, clock, 10)
    frontier.offer({ ...entryOf(HOSTS - 1, 99), band: 0 })
    const order = await serve(frontier, clock, 60)
    expect(order.slice(0, 51)).toContain(`h${HOSTS - 1}`)
  })

  test('a host that is not at hand can be looked at', async () => {
    const frontier = await filled(new ManualClock())
    await frontier.idle()
    for (const host of ['h0', `h${HOSTS - 1}`]) {
      expect(await frontier.look(host as HostKey)).toMatchObject({ host, waiting: URLS, state: 'ready' })
    }
    expect(await frontier.look('nobody' as HostKey)).toBeNull()
  })

  test('while writes are paused no checkpoint is made', async () => {
    const frontier = await filled(new ManualClock())
    await frontier.written()
    const before = frontier.replayFrom
    const goOn = await frontier.pauseWrites()
    frontier.seal(before + 10_000)
    frontier.committed(before + 10_000)
    const written = frontier.written()
    await new Promise(setImmediate)
    expect(frontier.replayFrom).toBe(before)
    goOn()
    await written
    expect(frontier.replayFrom).toBe(before + 10_000)
  })

  test('whoever is pressed waits for a checkpoint that frees memory', async () => {
    const settings = { clock: new ManualClock(), delayMs: 1, ipDelayMs: 0, ipConnections: 8, memoryBytes: 100_000 }
    const frontier = await DiskFrontier.on(new MemoryLineStore(), settings, true)
    await frontier.endReplay()
    expect(frontier.pressure()).toBeUndefined()
    for (let i = 0; frontier.pressure() === undefined; i++) frontier.offer(entryOf(0, i))
    expect(frontier.wantsSeal()).toBe(true)
    const pressed = frontier.pressure()
    frontier.seal(1)
    frontier.committed(1)
    await pressed
    expect(frontier.pressure()).toBeUndefined()
    expect(frontier.wantsSeal()).toBe(false)
  })

  test('what is offered after a seal is not in its checkpoint, though the record of its host was still being read', async () => {
    const store = new MemoryLineStore()
    const settings = { clock: new ManualClock(), delayMs: 1, ipDelayMs: 0, ipConnections: 8, memoryBytes: 1 }
    const tuning = { ...TINY, hostsMin: 0 }
    const frontier = await DiskFrontier.on(store, { ...settings, tuning }, true)
    await frontier.endReplay()
    frontier.offer(entryOf(0, 1))
    frontier.seal(1)
    frontier.committed(1)
    await frontier.written()
    // It has left memory, and nothing is read from now on until we say so.
    store.slowness = 1e6
    frontier.offer(entryOf(0, 2))
    expect(frontier.inspect('h0' as HostKey)?.waiting).toBe(1)
    frontier.seal(2)
    frontier.offer(entryOf(0, 3))
    frontier.committed(2)
    store.slowness = 0
    await frontier.written()
    const reopened = await DiskFrontier.on(new MemoryLineStore(store.values), { ...settings, tuning }, false)
    await reopened.endReplay()
    const urls = async (some: DiskFrontier): Promise<string[]> =>
      (await Array.fromAsync(some.entries())).map(({ url }) => url)
    expect(await urls(reopened)).toEqual(['http://h0/1', 'http://h0/2'])
    expect(await urls(frontier)).toEqual(['http://h0/1', 'http://h0/2', 'http://h0/3'])
  })
})

test('what one frontier hands over another takes: entries in their order, pages, delays and rests, also of hosts on disk', async () => {
  const settings = { clock: new ManualClock(), delayMs: 0, ipDelayMs: 0, ipConnections: 8, memoryBytes: 1 }
  const open = async (): Promise<DiskFrontier> => {
    const tuning = { ...TINY, hostsMin: 0 }
    const frontier = await DiskFrontier.on(new MemoryLineStore(), { ...settings, tuning }, true)
    await frontier.endReplay()
    return frontier
  }
  const write = async (frontier: DiskFrontier): Promise<void> => {
    frontier.seal(1)
    frontier.committed(1)
    await frontier.written()
  }
  const read = async (frontier: DiskFrontier): Promise<Map<HostKey, unknown>> => {
    const all = new Map<HostKey, unknown>()
    for await (const { entries, ...facts } of frontier.handOver()) {
      all.set(facts.host, { ...facts, entries: await Array.fromAsync(entries) })
    }
    return all
  }
  const from = await open()
  for (let place = 0; place < 12; place++) {
    const host = `h${place}.test` as HostKey
    const facts = { host, wasOffered: place !== 3, pages: place, leastRestMs: 10 * place, restMs: 1_000 * place }
    from.takeOver(facts)
    for (let i = 0; i < (place === 3 ? 0 : 5 * place); i++) {
      from.offer({
        url: `http://${host}/${i}` as CanonicalUrl,
        host,
        via: i % 2 === 0 ? null : (`http://${host}/` as CanonicalUrl),
        depth: i,
        hops: i % 3,
        band: i % 4,
        isSeed: i === 1,
        tries: i % 2,
        pauses: i % 5,
      })
    }
    if (place % 2 === 1) await write(from)
  }
  const to = await open()
  for await (const host of from.handOver()) {
    to.takeOver(host)
    for await (const entry of host.entries) to.offer(entry)
    await write(to)
  }
  const expected = await read(from)
  expect(expected.size).toBe(12)
  expect(expected.get('h11.test' as HostKey)).toMatchObject({ pages: 11, leastRestMs: 110, restMs: 11_000 })
  expect(await read(to)).toEqual(expected)
  expect(to.figures()).toMatchObject({ waiting: from.figures().waiting, hosts: 11 })
  to.assertSound()
  await from.close()
  await to.close()
})
