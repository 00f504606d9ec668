// One place says how fast an agent may go: what people set, what the machine bears, and a change of it at any time.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { plainDocument } from '../../test/plain-document.ts'
import { ManualClock } from '../base/index.ts'
import type { FetchOutcome } from '../fetch/index.ts'
import { Pace, type Speed, shareOfSpeed } from './pace.ts'

interface Stand {
  readonly clock: ManualClock
  readonly pace: Pace
  /** Moments at which there was said to be room. */
  readonly rooms: number[]
  load: { utilisation: number; lagMs: number }
  memoryShare: number
  ready: number
}

function stand(speed: Partial<Speed>): Stand {
  const clock = new ManualClock(0)
  const rooms: number[] = []
  const it: Omit<Stand, 'pace'> = { clock, rooms, load: { utilisation: 0.1, lagMs: 0 }, memoryShare: 0.1, ready: 0 }
  const pace = new Pace({
    clock,
    speed: { ratePerSecond: null, bytesPerSecond: null, connections: 256, ...speed },
    timeoutMs: 10_000,
    load: { read: () => it.load },
    memoryShare: () => it.memoryShare,
    ready: () => it.ready,
    onRoom: () => rooms.push(clock.nowMs()),
  })
  return Object.assign(it, { pace })
}

const failed = (code: 'FETCH_CONNECT_TIMEOUT' | 'FETCH_HEAD_TIMEOUT' | 'FETCH_CONNECTION_LOST'): FetchOutcome => ({
  kind: 'failed',
  code,
  detail: '',
  durationMs: 0,
})

test('there is room below the limit, which grows while more are wanted and the machine is idle', () => {
  const it = stand({ connections: 10_000 })
  it.pace.begin()
  expect(it.pace.hasRoom(127)).toBe(true)
  expect(it.pace.hasRoom(128)).toBe(false)
  it.ready = 5_000
  it.clock.advance(1_000)
  expect(it.rooms).toEqual([1_000])
  expect(it.pace.figures.limit).toBe(256)
  expect(it.pace.hasRoom(128)).toBe(true)
  it.pace.end()
  it.pace.hasRoom(256)
  it.clock.advance(10_000)
  expect(it.pace.figures.limit).toBe(256)
})

test('hosts that wait for their address are no reason for more', () => {
  const it = stand({ connections: 10_000 })
  it.pace.begin()
  it.pace.hasRoom(8)
  it.ready = 5_000
  it.clock.advance(3_000)
  expect(it.pace.figures).toMatchObject({ limit: 128, bottleneck: 'demand' })
})

test('a limit that is full for a while stays full for whoever looks, though nobody asks', () => {
  const it = stand({ connections: 1_000 })
  it.pace.begin()
  it.load = { utilisation: 1, lagMs: 150 }
  it.pace.hasRoom(128)
  it.clock.advance(5_000)
  expect(it.pace.figures).toMatchObject({ limit: 128, bottleneck: 'cpu' })
  it.load = { utilisation: 0.1, lagMs: 0 }
  it.clock.advance(1_000)
  expect(it.pace.figures.limit).toBeGreaterThan(128)
})

test('too much memory, and a processor that is late, allow fewer', () => {
  const it = stand({ connections: 128 })
  it.pace.begin()
  it.pace.hasRoom(128)
  it.memoryShare = 1.2
  it.clock.advance(1_000)
  expect(it.pace.figures).toMatchObject({ limit: 102, bottleneck: 'memory' })
  it.memoryShare = 0.5
  it.load = { utilisation: 1, lagMs: 400 }
  it.clock.advance(10_000)
  expect(it.pace.figures.limit).toBeLessThan(102)
})

test.for(['FETCH_CONNECT_TIMEOUT', 'FETCH_HEAD_TIMEOUT'] as const)('%s in numbers is a trial with fewer', (code) => {
  const fewer = (): number => {
    const it = stand({ connections: 256 })
    it.pace.begin()
    for (let second = 0; second < 5; second++) {
      it.pace.hasRoom(200)
      for (let i = 0; i < 100; i++) {
        expect(it.pace.pass()).toBeUndefined()
        it.pace.ended(failed(i < 40 && second > 2 ? code : 'FETCH_CONNECTION_LOST'))
      }
      it.clock.advance(1_000)
    }
    return it.pace.figures.limit
  }
  expect(fewer()).toBe(100)
})

test('requests wait for the rate, and those that were not made count as made', async () => {
  const it = stand({ ratePerSecond: 10 })
  const passed: number[] = []
  const ask = async (): Promise<void> => {
    await it.pace.pass()
    passed.push(it.clock.nowMs())
    it.pace.ended(null)
  }
  const all = Array.from({ length: 5 }, ask)
  expect(it.pace.isOpen()).toBe(false)
  for (let i = 0; i < 60; i++) {
    it.clock.advance(10)
    await Promise.resolve()
  }
  await Promise.all(all)
  expect(passed.at(-1)).toBeGreaterThanOrEqual(300)
  expect(it.pace.figures.waiting).toBe(0)
  // Whoever was told that the gate is closed is called.
  expect(it.rooms.length).toBeGreaterThan(0)
})

test('bytes count as they came over the wire, with the head', () => {
  const it = stand({ bytesPerSecond: 1_000 })
  const document = plainDocument('http://a.example/', 'x'.repeat(10_000), { responseHead: 'HTTP/1.1 200 OK\r\n\r\n' })
  expect(it.pace.pass()).toBeUndefined()
  it.pace.ended({ kind: 'fetched', document })
  expect(it.pace.isOpen()).toBe(false)
  it.clock.advance(10_000 + 'HTTP/1.1 200 OK\r\n\r\n'.length - 1)
  expect(it.pace.isOpen()).toBe(false)
  it.clock.advance(1)
  expect(it.pace.isOpen()).toBe(true)
})

test('what is set holds at once, what is not named stays, and whoever waits goes on', async () => {
  const it = stand({ ratePerSecond: 0.01, bytesPerSecond: 1e9 })
  expect(it.pace.pass()).toBeUndefined()
  const wait = it.pace.pass()
  expect(wait).toBeDefined()
  it.pace.set({ ratePerSecond: null, connections: 3 })
  expect(it.rooms).toHaveLength(1)
  it.clock.advance(1)
  await wait
  expect(it.pace.figures.speed).toEqual({ ratePerSecond: null, bytesPerSecond: 1e9, connections: 3 })
  expect(it.pace.hasRoom(2)).toBe(true)
  expect(it.pace.hasRoom(3)).toBe(false)
})

test('when it is taken down nobody waits any more', async () => {
  const it = stand({ ratePerSecond: 0.01 })
  const waits = [it.pace.pass(), it.pace.pass(), it.pace.pass()]
  it.pace.takeDown()
  for (const wait of waits) await wait
  expect(it.pace.pass()).toBeUndefined()
})

test('the shares of agents come to the whole, and none is left without a connection', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 100_000 }),
      fc.integer({ min: 1, max: 64 }),
      fc.double({ min: 0.01, max: 1e6, noNaN: true }),
      (connections, agents, ratePerSecond) => {
        const shares = Array.from({ length: agents }, (_, k) =>
          shareOfSpeed({ connections, ratePerSecond, bytesPerSecond: null }, agents, k),
        )
        const sum = (of: (share: Partial<Speed>) => number): number => shares.reduce((all, one) => all + of(one), 0)
        expect(sum((one) => one.connections ?? 0)).toBe(
          Math.max(
            connections,
            sum((one) => one.connections ?? 0),
          ),
        )
        if (connections >= agents) expect(sum((one) => one.connections ?? 0)).toBe(connections)
        expect(Math.min(...shares.map((one) => one.connections ?? 0))).toBeGreaterThanOrEqual(1)
        expect(sum((one) => one.ratePerSecond ?? 0)).toBeCloseTo(ratePerSecond, 3)
        expect(shares.every((one) => one.bytesPerSecond === null)).toBe(true)
      },
    ),
  )
  expect(shareOfSpeed({ connections: 10 }, 2, 0)).toEqual({ connections: 5 })
})
