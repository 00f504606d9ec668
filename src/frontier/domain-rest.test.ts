// A thousand shops of one domain are one shop: asked one at a time, with the domain's own rest between two requests, whichever of
// them it is, and without a scan of those that wait.

import { expect, test } from 'vitest'
import { ManualClock } from '../base/index.ts'
import type { HostKey } from '../url/index.ts'
import { DiskFrontier } from './disk-frontier.ts'
import { domainGateSettings } from './frontier-of-hosts.ts'
import { MemoryIpGate } from './ip-gate.ts'
import { MemoryFrontier } from './memory-frontier.ts'
import { MemoryLineStore } from './memory-line-store.ts'
import { SharedIpGate } from './shared-ip-gate.ts'
import { entryOf } from '../../test/frontier-entry.ts'

const COMMON = { delayMs: 0, ipDelayMs: 0, ipConnections: 8 }

class CountingGate extends MemoryIpGate {
  claims = 0

  override claim(door: number, nowMs: number, claimant: object): number {
    this.claims++
    return super.claim(door, nowMs, claimant)
  }
}

test('a thousand hosts of one domain are asked one at a time, a rest apart, each in its turn', () => {
  const clock = new ManualClock()
  const gate = new CountingGate(domainGateSettings(100))
  const frontier = new MemoryFrontier({ ...COMMON, clock, domainDelayMs: 100, domainGate: gate })
  const HOSTS = 1_000
  for (let host = 0; host < HOSTS; host++) {
    frontier.offer(entryOf(`s${host}.shop.co.uk`, 1))
    frontier.offer(entryOf(`s${host}.shop.co.uk`, 2))
  }
  const served = new Map<string, number>()
  let endedMs = -Infinity
  for (let turns = 0; turns < 2 * HOSTS;) {
    const turn = frontier.take()
    if (turn === null) {
      clock.advance((frontier.nextReadyMs() ?? 0) - clock.nowMs())
      continue
    }
    turns++
    expect(clock.nowMs() - endedMs).toBeGreaterThanOrEqual(100)
    expect(turn.entries).toHaveLength(1)
    frontier.claimAddress(turn, `10.0.0.${turns % 4}`)
    expect(frontier.take()).toBeNull()
    clock.advance(10)
    for (const entry of turn.entries) frontier.conclude(entry, true)
    frontier.settle(turn, { restMs: 0 })
    endedMs = clock.nowMs()
    const times = (served.get(turn.host) ?? 0) + 1
    served.set(turn.host, times)
    // Nobody twice before everybody once.
    expect(times === 1 || served.size === HOSTS).toBe(true)
  }
  expect(frontier.take()).toBeNull()
  expect(frontier.figures().waiting).toBe(0)
  expect(gate.claims).toBeLessThan(4 * 2 * HOSTS)
  frontier.assertSound()
})

test('other domains, and addresses without one, go on meanwhile', () => {
  const clock = new ManualClock()
  const frontier = new MemoryFrontier({ ...COMMON, clock, domainDelayMs: 60_000 })
  for (const host of [
    'a.one.test',
    'b.one.test',
    'a.two.test',
    '10.0.0.1',
    '10.0.0.2',
    'alice.github.io',
    'bob.github.io',
  ])
    frontier.offer(entryOf(host, 1))
  const hosts: string[] = []
  for (let turn = frontier.take(); turn !== null; turn = frontier.take()) hosts.push(turn.host)
  expect(hosts).toEqual(['a.one.test', 'a.two.test', '10.0.0.1', '10.0.0.2', 'alice.github.io', 'bob.github.io'])
})

test('a turn in which nobody was asked costs the domain no rest', () => {
  const clock = new ManualClock()
  const frontier = new MemoryFrontier({ ...COMMON, clock, domainDelayMs: 60_000 })
  for (const host of ['a.one.test', 'b.one.test']) frontier.offer(entryOf(host, 1))
  const turn = frontier.take()
  if (turn === null) throw new Error('nobody may be asked')
  frontier.settle(turn, { restMs: 5, unvisited: turn.entries, wasAsked: false })
  expect(frontier.take()?.host).toBe('b.one.test')
  frontier.assertSound()
})

test('agents that share a domain ask it in turns', () => {
  const clock = new ManualClock()
  const buffer = SharedIpGate.allocate(2, 64)
  const frontiers = [0, 1].map((agent) => {
    const domainGate = new SharedIpGate(buffer, agent, domainGateSettings(1_000), 0)
    return new MemoryFrontier({ ...COMMON, clock, domainDelayMs: 1_000, domainGate })
  })
  for (const [agent, frontier] of frontiers.entries()) {
    for (let i = 0; i < 20; i++) frontier.offer(entryOf(`h${i}-${agent}.one.test`, i))
  }
  const asked: { atMs: number; agent: number }[] = []
  while (asked.length < 20) {
    for (const [agent, frontier] of frontiers.entries()) {
      const turn = frontier.take()
      if (turn === null) continue
      asked.push({ atMs: clock.nowMs(), agent })
      for (const entry of turn.entries) frontier.conclude(entry, true)
      frontier.settle(turn, { restMs: 0 })
    }
    clock.advance(10)
  }
  for (const [i, { atMs }] of asked.entries()) {
    if (i > 0) expect(atMs - (asked[i - 1]?.atMs ?? 0)).toBeGreaterThanOrEqual(1_000)
  }
  expect(new Set(asked.map(({ agent }) => agent)).size).toBe(2)
})

test('a run that goes on lets every domain rest first, also for hosts that are new to it', async () => {
  const clock = new ManualClock()
  const store = new MemoryLineStore()
  const settings = { ...COMMON, clock, domainDelayMs: 500, memoryBytes: 1_000_000 }
  const first = await DiskFrontier.on(store, settings, true)
  await first.endReplay()
  first.offer(entryOf('a.one.test', 1))
  expect(first.take()?.host).toBe('a.one.test')
  first.seal(1)
  first.committed(1)
  await first.written()
  const next = await DiskFrontier.on(store, settings, false)
  await next.endReplay()
  next.offer(entryOf('new.one.test', 1))
  expect(next.take()).toBeNull()
  expect(next.nextReadyMs()).toBe(clock.nowMs() + 500)
  clock.advance(500)
  expect(next.take()).not.toBeNull()
})

test('a host that its hours keep closed waits for them, and a run that goes on asks for its hours anew', async () => {
  const clock = new ManualClock()
  const store = new MemoryLineStore()
  const settings = { ...COMMON, delayMs: 10, clock, memoryBytes: 1_000_000 }
  const first = await DiskFrontier.on(store, settings, true)
  await first.endReplay()
  first.offer(entryOf('a.test', 1))
  const turn = first.take()
  if (turn === null) throw new Error('nobody may be asked')
  first.settle(turn, { restMs: 0, closedMs: 3_600_000, unvisited: turn.entries, wasAsked: false })
  expect(first.take()).toBeNull()
  expect(first.nextReadyMs()).toBe(clock.nowMs() + 3_600_000)
  const [handed] = await Array.fromAsync(first.handOver())
  expect(handed?.restMs).toBe(0)
  first.seal(1)
  first.committed(1)
  await first.written()
  const next = await DiskFrontier.on(store, settings, false)
  await next.endReplay()
  clock.advance(10)
  expect(next.take()).toBeNull()
  await next.idle()
  expect(next.take()?.host).toBe('a.test')
})

test('a rest that was asked for outlives hours that end later', async () => {
  const clock = new ManualClock()
  const frontier = await DiskFrontier.on(new MemoryLineStore(), { ...COMMON, clock, memoryBytes: 1_000_000 }, true)
  await frontier.endReplay()
  frontier.offer(entryOf('a.test', 1))
  const turn = frontier.take()
  if (turn === null) throw new Error('nobody may be asked')
  frontier.rest('a.test' as HostKey, 60_000)
  frontier.settle(turn, { restMs: 0, closedMs: 3_600_000, unvisited: turn.entries, wasAsked: false })
  const [handed] = await Array.fromAsync(frontier.handOver())
  expect(handed?.restMs).toBe(60_000)
})
