// The frontier on disk keeps the common law, with next to no memory: every few calls a checkpoint is made, lines are cut down
// to their heads, and in one of the runs hosts leave memory altogether.

import * as fc from 'fast-check'
import { assert, describe, expect, test } from 'vitest'
import { ManualClock } from '../base/index.ts'
import type { CanonicalUrl, HostKey } from '../url/index.ts'
import { DiskFrontier, type DiskFrontierSettings, type DiskFrontierTuning } from './disk-frontier.ts'
import type { FrontierEntry } from './frontier.ts'
import { checkAgainstModel, operations } from './frontier-model.conformance.ts'
import { frontierConformance, type FrontierSettings } from './frontier.conformance.ts'
import type { LineStore } from './line-store.ts'
import { MemoryLineStore } from './memory-line-store.ts'
import type { Subject } from './steady-frontier.conformance.ts'

const TINY: DiskFrontierTuning = {
  headEntries: 1,
  readAhead: 1,
  blockEntriesMin: 2,
  hostsMin: 64,
  hostsCalledMin: 64,
  addendaMax: 2,
}

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

describe('DiskFrontier with more hosts than memory', () => {
  const HOSTS = 3_000
  const URLS = 4

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

  test('of a host with URLs in many bands memory has those that come next, not the first of each band', async () => {
    const clock = new ManualClock()
    const settings = { clock, delayMs: 0, ipDelayMs: 0, ipConnections: 8, bands: 4, memoryBytes: 10_000 }
    const frontier = await DiskFrontier.on(new MemoryLineStore(), settings, true)
    await frontier.endReplay()
    const emptyBytes = frontier.bytesInMemory
    const offered: string[] = []
    for (let band = 0; band < 4; band++) {
      for (let i = 0; i < 600; i++) {
        const entry = { ...entryOf(1, band * 1_000 + i), band }
        frontier.offer(entry)
        offered.push(entry.url)
      }
    }
    frontier.seal(1)
    frontier.committed(1)
    await frontier.written()
    // Sixty-four rows of 120 bytes, a dozen segments, the host; with sixty-four of each band it would be 31,000.
    expect(frontier.bytesInMemory - emptyBytes).toBeLessThan(16_000)
    const taken: string[] = []
    while (taken.length < offered.length) {
      const turn = frontier.take()
      if (turn === null) {
        await frontier.idle()
        continue
      }
      for (const entry of turn.entries) {
        taken.push(entry.url)
        frontier.conclude(entry, true)
      }
      frontier.settle(turn, { restMs: 0 })
    }
    expect(taken).toEqual(offered)
    await frontier.close()
  })

  test('while URLs only arrive, hosts that came from the line leave again, however many of the URLs are theirs', async () => {
    const memoryBytes = 2_000_000
    const settings = { clock: new ManualClock(), delayMs: 0, ipDelayMs: 0, ipConnections: 8, bands: 4, memoryBytes }
    const frontier = await DiskFrontier.on(new MemoryLineStore(), settings, true)
    await frontier.endReplay()
    let checkpoints = 0
    let settledBytes = 0
    for (let i = 0; i < 100_000; i++) {
      // Every second one is for one of a hundred hosts.
      frontier.offer({ ...entryOf(i % 2 === 0 ? i % 200 : i % 4_001, i), band: i % 4 })
      if (i % 100 === 0) await frontier.idle()
      if (!frontier.wantsSeal()) continue
      frontier.seal(++checkpoints)
      frontier.committed(checkpoints)
      await frontier.written()
      await frontier.idle()
      settledBytes = Math.max(settledBytes, frontier.bytesInMemory)
    }
    // Those hundred stayed at hand before, and took several times as much.
    expect(settledBytes).toBeLessThan(memoryBytes)
    // Each takes in some 1,500 URLs: there is room for them.
    expect(checkpoints).toBeLessThan(150)
    await frontier.close()
  })

  /** Of fifteen hundred hosts with many URLs each, opened with memory for few of them. */
  async function opened(memoryBytes: number): Promise<DiskFrontier> {
    const store = new MemoryLineStore()
    const settings = { clock: new ManualClock(), delayMs: 0, ipDelayMs: 0, ipConnections: 8, bands: 4 }
    const filling = await DiskFrontier.on(store, { ...settings, memoryBytes: 2 ** 29 }, true)
    await filling.endReplay()
    for (let host = 0; host < 1_500; host++) for (let i = 0; i < 130; i++) filling.offer(entryOf(host, i))
    filling.seal(1)
    filling.committed(1)
    await filling.written()
    const frontier = await DiskFrontier.on(store, { ...settings, memoryBytes }, false)
    await frontier.endReplay()
    await frontier.idle()
    return frontier
  }

  test('while URLs only arrive, checkpoints do not call hosts that the next one has to write again', async () => {
    const frontier = await opened(1_000_000)
    let checkpoints = 1
    for (let i = 0; i < 12_000; i++) {
      frontier.offer(entryOf(1_500 + (i % 20), 100_000 + i))
      if (i % 50 === 0) await frontier.idle()
      if (!frontier.wantsSeal()) continue
      frontier.seal(++checkpoints)
      frontier.committed(checkpoints)
      await frontier.written()
    }
    // Some two thousand URLs fit beside the hosts that stay.
    expect(checkpoints).toBeLessThan(15)
    await frontier.close()
  })

  test('who came from the line and had to leave unserved stands at its front again', async () => {
    const served: string[][] = []
    for (const arrivals of [0, 4_000]) {
      const clock = new ManualClock()
      const frontier = await filled(clock, HOSTS, 1)
      await serve(frontier, clock, 500)
      for (let i = 0; i < arrivals; i++) {
        frontier.offer(entryOf(HOSTS + (i % 20), i))
        if (i % 1_000 < 999) continue
        frontier.seal(200_000 + i)
        frontier.committed(200_000 + i)
        await frontier.written()
      }
      // Time for those that have just come.
      served.push(await serve(frontier, clock, arrivals === 0 ? 200 : 400))
      await frontier.close()
    }
    const [undisturbed = [], disturbed = []] = served
    expect(undisturbed.filter((host) => !disturbed.includes(host))).toEqual([])
  })

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

test('a host that was offered its first URL after a seal is not counted by it, though its record was still being read', async () => {
  const store = new MemoryLineStore()
  const settings = {
    clock: new ManualClock(),
    delayMs: 1,
    ipDelayMs: 0,
    ipConnections: 8,
    memoryBytes: 2 ** 20,
    tuning: TINY,
  }
  const { host } = entryOf(1, 1)
  const first = await DiskFrontier.on(store, settings, true)
  await first.endReplay()
  first.rest(host, 60_000)
  first.seal(1)
  first.committed(1)
  await first.written()

  const second = await DiskFrontier.on(store, settings, false)
  await second.endReplay()
  second.rest(host, 120_000)
  second.seal(2)
  second.offer(entryOf(1, 1))
  second.committed(2)
  await second.written()
  expect(second.figures()).toMatchObject({ hosts: 1, waiting: 1 })

  const third = await DiskFrontier.on(store, settings, false)
  await third.endReplay()
  expect(third.figures()).toMatchObject({ hosts: 0, waiting: 0 })
})

describe('DiskFrontier, hosts that are left on disk', () => {
  /** One host with a URL, on disk and in line. */
  async function withHostOnDisk(): Promise<{
    frontier: DiskFrontier
    store: CountingStore
    clock: ManualClock
    settings: DiskFrontierSettings
  }> {
    const clock = new ManualClock()
    const store = new CountingStore()
    const tuning = { ...TINY, hostsMin: 0 }
    const settings = { clock, delayMs: 1, ipDelayMs: 0, ipConnections: 8, memoryBytes: 1, tuning }
    const frontier = await DiskFrontier.on(store, settings, true)
    await frontier.endReplay()
    // Another that comes to hand before it, and is asked.
    frontier.offer({ ...entryOf(1, 0), band: 0 })
    frontier.offer(entryOf(0, 0))
    await checkpoint(frontier, 1)
    return { frontier, store, clock, settings }
  }

  async function checkpoint(frontier: DiskFrontier, batch: number): Promise<void> {
    frontier.seal(batch)
    frontier.committed(batch)
    await frontier.written()
  }

  const urlsOf = async (frontier: DiskFrontier): Promise<string[]> =>
    (await Array.fromAsync(frontier.entries())).filter(({ host }) => host === 'h0').map(({ url }) => url)

  test('a URL for one is filed without reading its record, and found behind what it had', async () => {
    const { frontier, store, settings } = await withHostOnDisk()
    await frontier.idle()
    const host = 'h0' as HostKey
    const before = store.asked(host)
    for (let batch = 2; batch <= 3; batch++) {
      frontier.offer(entryOf(0, batch))
      expect((await frontier.look(host))?.waiting).toBe(batch)
      await checkpoint(frontier, batch)
      frontier.assertSound()
    }
    const lookedAt = 2
    expect(store.asked(host) - before).toBeLessThanOrEqual(lookedAt)
    expect(await urlsOf(frontier)).toEqual(['http://h0/0', 'http://h0/2', 'http://h0/3'])
    const reopened = await DiskFrontier.on(new MemoryLineStore(store.values), settings, false)
    await reopened.endReplay()
    expect(await urlsOf(reopened)).toEqual(['http://h0/0', 'http://h0/2', 'http://h0/3'])
  })

  test('URLs that come back unvisited after a checkpoint are not taken for arrivals', async () => {
    const store = new MemoryLineStore()
    const clock = new ManualClock()
    const settings = { clock, delayMs: 1, ipDelayMs: 0, ipConnections: 8, memoryBytes: 1e9 }
    const frontier = await DiskFrontier.on(store, settings, true)
    await frontier.endReplay()
    frontier.offer(entryOf(0, 0))
    const turn = frontier.take()
    assert(turn !== null)
    frontier.offer(entryOf(0, 1))
    await checkpoint(frontier, 2)
    frontier.settle(turn, { restMs: 1, unvisited: turn.entries })
    frontier.offer(entryOf(0, 2))
    await checkpoint(frontier, 3)
    const expected = ['http://h0/0', 'http://h0/1', 'http://h0/2']
    expect(await urlsOf(frontier)).toEqual(expected)
    const reopened = await DiskFrontier.on(new MemoryLineStore(store.values), settings, false)
    await reopened.endReplay()
    expect(await urlsOf(reopened)).toEqual(expected)
  })

  test('one that is called while a checkpoint adds to its record is not taken for lost', async () => {
    for (const slowness of [0, 5, 40, 200]) {
      const clock = new ManualClock()
      const store = new MemoryLineStore()
      store.slowness = slowness
      const tuning = { ...TINY, hostsMin: 0 }
      const settings = { clock, delayMs: 1, ipDelayMs: 0, ipConnections: 8, memoryBytes: 1, tuning }
      const frontier = await DiskFrontier.on(store, settings, true)
      await frontier.endReplay()
      frontier.offer(entryOf(0, 0))
      await checkpoint(frontier, 1)
      // Its page is being read now, and it is listed still.
      frontier.offer(entryOf(0, 1))
      frontier.seal(2)
      frontier.committed(2)
      const served: string[] = []
      for (let i = 0; i < 1_000 && served.length < 2; i++) {
        const turn = frontier.take()
        served.push(...(turn?.entries.map(({ url }) => url) ?? []))
        for (const entry of turn?.entries ?? []) frontier.conclude(entry, true)
        if (turn !== null) frontier.settle(turn, { restMs: 0 })
        if (i % 20 === 0) await new Promise(setImmediate)
        else await Promise.resolve()
        clock.advance(1)
      }
      expect(served).toEqual(['http://h0/0', 'http://h0/1'])
      await frontier.close()
    }
  })

  /** One host keeps the only place in memory: its turn is out. Whatever else is offered goes to disk and stays there. */
  async function crowded(): Promise<{ frontier: DiskFrontier; clock: ManualClock; leave: () => void }> {
    const clock = new ManualClock()
    const tuning = { ...TINY, hostsMin: 0, hostsCalledMin: 1 }
    const settings = { clock, delayMs: 1, ipDelayMs: 0, ipConnections: 8, memoryBytes: 1, tuning }
    const frontier = await DiskFrontier.on(new MemoryLineStore(), settings, true)
    await frontier.endReplay()
    return { frontier, clock, leave: occupy(frontier, 9) }
  }

  /** Takes the only place; what it returns frees it. */
  function occupy(frontier: DiskFrontier, host: number): () => void {
    frontier.offer({ ...entryOf(host, 0), band: 0 })
    const turn = frontier.take()
    assert(turn?.host === `h${host}`)
    return () => {
      for (const entry of turn.entries) frontier.conclude(entry, true)
      frontier.settle(turn, { restMs: 0 })
    }
  }

  /** With a checkpoint after each turn, unless there is no batch to begin with. */
  async function serveAll(frontier: DiskFrontier, clock: ManualClock, firstBatch: number | null): Promise<string[]> {
    const served: string[] = []
    for (let i = 0; i < 20; i++) {
      await frontier.idle()
      clock.advance(10)
      const turn = frontier.take()
      served.push(...(turn?.entries.map(({ url }) => url) ?? []))
      for (const entry of turn?.entries ?? []) frontier.conclude(entry, true)
      if (turn !== null) frontier.settle(turn, { restMs: 0 })
      if (firstBatch !== null) await checkpoint(frontier, firstBatch + i)
    }
    return served
  }

  test('one comes to hand at once when something of a better band arrives for it', async () => {
    const { frontier } = await crowded()
    frontier.offer({ ...entryOf(0, 0), band: 2 })
    await checkpoint(frontier, 1)
    await frontier.idle()
    const inMemory = (): number | undefined => frontier.inspect('h0' as HostKey)?.waiting
    expect(inMemory()).toBeUndefined()
    frontier.offer({ ...entryOf(0, 1), band: 2 })
    await frontier.idle()
    expect(inMemory()).toBe(1)
    frontier.offer({ ...entryOf(0, 2), band: 1 })
    await frontier.idle()
    expect(inMemory()).toBe(3)
  })

  test('one whose page was read when nothing waited for it is called again when something does', async () => {
    const { frontier, clock, leave } = await crowded()
    frontier.offer(entryOf(0, 0))
    await checkpoint(frontier, 1)
    // It comes by a link, is asked to the end and leaves, and still a page in line names it.
    frontier.offer({ ...entryOf(0, 1), band: 0 })
    expect(await serveAll(frontier, clock, null)).toEqual(['http://h0/1', 'http://h0/0'])
    await checkpoint(frontier, 2)
    leave()
    await serveAll(frontier, clock, 100)
    const leaveAgain = occupy(frontier, 8)
    frontier.offer(entryOf(5, 0))
    await checkpoint(frontier, 200)
    // Others are in line, and it is not.
    frontier.offer(entryOf(0, 2))
    await checkpoint(frontier, 201)
    leaveAgain()
    expect((await serveAll(frontier, clock, 202)).sort()).toEqual(['http://h0/2', 'http://h5/0'])
  })

  test('one that is parked while a checkpoint adds to its record is counted once', async () => {
    const { frontier } = await withHostOnDisk()
    await frontier.idle()
    frontier.offer(entryOf(0, 1))
    frontier.seal(2)
    frontier.park('h0' as HostKey)
    frontier.committed(2)
    await frontier.written()
    frontier.assertSound()
    await frontier.idle()
    frontier.assertSound()
    expect(frontier.figures().parked).toBe(1)
  })
})

/** Counts how often a host was looked up. */
class CountingStore extends MemoryLineStore {
  readonly #keys: string[] = []

  override async getMany(keys: readonly string[]): Promise<(Uint8Array | undefined)[]> {
    this.#keys.push(...keys)
    return await super.getMany(keys)
  }

  override range(from: string, to: string): AsyncIterable<readonly [string, Uint8Array]> {
    this.#keys.push(from)
    return super.range(from, to)
  }

  asked(host: HostKey): number {
    return this.#keys.filter((key) => key === `h${host}`).length
  }
}

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
