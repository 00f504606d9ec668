// The memory frontier keeps the common law, and beside it what it alone promises: its cost.

import { beforeAll, describe, expect, test } from 'vitest'
import { ManualClock } from '../base/index.ts'
import type { HostKey } from '../url/index.ts'
import { frontierConformance } from './frontier.conformance.ts'
import type { Turn } from './frontier.ts'
import { type IpGate, MemoryIpGate } from './ip-gate.ts'
import { MemoryFrontier } from './memory-frontier.ts'
import { entryOf } from '../../test/frontier-entry.ts'

frontierConformance('MemoryFrontier', async (settings) => {
  const frontier = new MemoryFrontier(settings)
  return {
    frontier,
    settled: async () => undefined,
    entries: async () => [...frontier.entries()],
    hostStates: async () => [...frontier.hostStates()],
    keepsPlaces: true,
  }
})

class CountingGate extends MemoryIpGate {
  claims = 0

  override claim(door: number, nowMs: number, claimant: object): number {
    this.claims++
    return super.claim(door, nowMs, claimant)
  }
}

describe('five thousand hosts behind one address', () => {
  const HOSTS = 5_000
  const ROUNDS = 3
  const CONNECTIONS = 8
  /** Each answer takes this long, during which its connection is taken. */
  const ANSWER_MS = 10

  const crawl = (): { served: Map<HostKey, number[]>; mostOut: number; claims: number } => {
    const clock = new ManualClock()
    const gate = new CountingGate({ ipDelayMs: 0, ipConnections: CONNECTIONS })
    const frontier = new MemoryFrontier({
      clock,
      delayMs: 1_000,
      ipDelayMs: 0,
      ipConnections: CONNECTIONS,
      ipGate: gate,
    })
    for (let i = 0; i < HOSTS; i++) for (let j = 0; j < ROUNDS; j++) frontier.offer(entryOf(`h${i}`, j))
    const served = new Map<HostKey, number[]>()
    let mostOut = 0
    let order = 0
    for (;;) {
      const out: Turn[] = []
      for (let turn = frontier.take(); turn !== null; turn = frontier.take()) {
        if (frontier.claimAddress(turn, '10.0.0.1') === 0) out.push(turn)
        else frontier.settle(turn, { restMs: 0, unvisited: turn.entries })
      }
      mostOut = Math.max(mostOut, out.length)
      if (out.length === 0) {
        const atMs = frontier.nextReadyMs()
        if (atMs === null) break
        clock.advance(atMs - clock.nowMs())
        continue
      }
      clock.advance(ANSWER_MS)
      for (const turn of out) {
        const orders = served.get(turn.host) ?? []
        orders.push(order++)
        served.set(turn.host, orders)
        for (const entry of turn.entries) frontier.conclude(entry, true)
        frontier.settle(turn, { restMs: 1_000 })
      }
    }
    frontier.assertSound()
    expect(frontier.figures().waiting).toBe(0)
    return { served, mostOut, claims: gate.claims }
  }

  let { served, mostOut, claims }: ReturnType<typeof crawl> = { served: new Map(), mostOut: 0, claims: Infinity }
  beforeAll(() => {
    ;({ served, mostOut, claims } = crawl())
  })

  test('are never asked by more than ipConnections at once', () => {
    expect(mostOut).toBe(CONNECTIONS)
  })

  test('are all served, none twice before every other was served once', () => {
    expect(served.size).toBe(HOSTS)
    const rounds = new Set(
      [...served.values()].map((orders) => orders.map((order) => Math.floor(order / HOSTS)).join()),
    )
    expect([...rounds]).toEqual(['0,1,2'])
  })

  test('cost a bounded number of questions at the gate per turn, however many wait', () => {
    // One when first met, one when called, one refused because the call came while the gate was full.
    expect(claims).toBeLessThan(4 * HOSTS * ROUNDS)
  })
})

describe('a gate shared with others', () => {
  test('that became free behind our back does not let anybody overtake the line', () => {
    const clock = new ManualClock()
    let isFree = false
    const gate: IpGate = {
      doorOf: () => 0,
      claim: (_, nowMs) => (isFree ? 0 : nowMs + 10),
      release: () => undefined,
    }
    const frontier = new MemoryFrontier({ clock, delayMs: 0, ipDelayMs: 0, ipConnections: 1, ipGate: gate })
    for (const host of ['first', 'second']) {
      for (let i = 0; i < 2; i++) frontier.offer(entryOf(host, i))
      const turn = frontier.take()!
      frontier.claimAddress(turn, '10.0.0.1')
      frontier.settle(turn, { restMs: host === 'second' ? 5 : 0, unvisited: turn.entries })
    }
    expect(frontier.take()).toBeNull()
    clock.advance(5)
    isFree = true
    expect(frontier.take()).toBeNull()
    expect(frontier.nextReadyMs()).toBe(clock.nowMs() + 5)
    clock.advance(5)
    expect([frontier.take()?.host, frontier.take()?.host]).toEqual(['first', 'second'])
    frontier.assertSound()
  })
})

describe('a giant host', () => {
  test('gives its URLs in order, though half of every turn goes back to the head of the line', () => {
    const clock = new ManualClock()
    const frontier = new MemoryFrontier({ clock, delayMs: 0, ipDelayMs: 0, ipConnections: 8, urlsPerTurn: 1_000 })
    // Enough that a line which moves all its URLs to give one would not end in time.
    const COUNT = 300_000
    for (let i = 0; i < COUNT; i++) frontier.offer(entryOf('giant', i))
    let next = 0
    for (let turn = frontier.take(); turn !== null; turn = frontier.take()) {
      const half = turn.entries.slice(0, 500)
      for (const entry of half) if (entry.url !== `http://giant/${next++}`) throw new Error(`${entry.url} out of order`)
      for (const entry of half) frontier.conclude(entry, true)
      frontier.settle(turn, { restMs: 0, unvisited: turn.entries.slice(500) })
    }
    expect(next).toBe(COUNT)
    frontier.assertSound()
  })
})
