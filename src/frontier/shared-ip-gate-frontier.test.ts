// Frontiers at a shared gate: alone they keep the common law; together they keep that of the address,
// leave nobody waiting for ever, and do not ask the gate more often than it told them to.

import * as fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { assert, ManualClock } from '../base/index.ts'
import { DiskFrontier } from './disk-frontier.ts'
import { checkAgainstModel, type ModelSettings, operations } from './frontier-model.conformance.ts'
import type { Turn } from './frontier.ts'
import type { IpGate, IpGateSettings } from './ip-gate.ts'
import { MemoryFrontier } from './memory-frontier.ts'
import { MemoryLineStore } from './memory-line-store.ts'
import { SharedIpGate } from './shared-ip-gate.ts'
import type { Subject } from './steady-frontier.conformance.ts'
import { entryOf } from '../../test/frontier-entry.ts'

const ADDRESS = '10.0.0.1'

const kinds: Record<string, (settings: ModelSettings, ipGate: IpGate) => Promise<Subject>> = {
  MemoryFrontier: async (settings, ipGate) => {
    const frontier = new MemoryFrontier({ ...settings, ipGate })
    return {
      frontier,
      settled: async () => undefined,
      entries: async () => [...frontier.entries()],
      hostStates: async () => [...frontier.hostStates()],
      keepsPlaces: true,
    }
  },
  DiskFrontier: async (settings, ipGate) => {
    const frontier = await DiskFrontier.on(new MemoryLineStore(), { ...settings, ipGate, memoryBytes: 1e6 }, true)
    await frontier.endReplay()
    return {
      frontier,
      settled: () => frontier.idle(),
      entries: () => Array.fromAsync(frontier.entries()),
      hostStates: () => Array.fromAsync(frontier.hostStates()),
      keepsPlaces: true,
      close: () => frontier.close(),
    }
  },
}

describe.each(Object.entries(kinds))('%s, alone at a shared gate', (_, make) => {
  test('after any sequence of operations on few addresses it has kept every law', async () => {
    const settings = fc.record({
      delayMs: fc.constantFrom(0, 1_000),
      ipDelayMs: fc.constantFrom(0, 30),
      ipConnections: fc.integer({ min: 1, max: 3 }),
      urlsPerTurn: fc.integer({ min: 1, max: 4 }),
      bands: fc.constantFrom(1, 4),
    })
    await fc.assert(
      fc.asyncProperty(settings, fc.array(operations, { maxLength: 120, size: 'max' }), async (chosen, sequence) => {
        const clock = new ManualClock()
        const gate = new SharedIpGate(SharedIpGate.allocate(2, 1_024), 1, chosen, 0)
        const subject = await make({ ...chosen, clock }, gate)
        await checkAgainstModel(subject, { ...chosen, clock }, sequence)
        await subject.close?.()
      }),
      { numRuns: 150 },
    )
  })
})

interface Visit {
  readonly agent: number
  readonly turn: Turn
  readonly endMs: number
}

/** Agents with hosts enough on one address to keep it busy for all the time. */
class Crowd {
  readonly served: number[]
  mostOut = 0
  claims = 0
  readonly #clock = new ManualClock()
  readonly #frontiers: MemoryFrontier[]
  readonly #answerMs: number
  #out: Visit[] = []

  constructor(hosts: readonly number[], settings: IpGateSettings, answerMs: number) {
    const buffer = SharedIpGate.allocate(hosts.length, 256)
    this.#answerMs = answerMs
    this.served = hosts.map(() => 0)
    this.#frontiers = hosts.map((count, agent) => {
      const gate = new SharedIpGate(buffer, agent, settings, 0)
      const ipGate: IpGate = {
        doorOf: (address) => gate.doorOf(address),
        claim: (...given) => {
          this.claims++
          return gate.claim(...given)
        },
        release: (...given) => gate.release(...given),
      }
      const frontier = new MemoryFrontier({ clock: this.#clock, delayMs: 0, ...settings, ipGate, urlsPerTurn: 1 })
      for (let i = 0; i < count; i++) frontier.offer(entryOf(`host-${i}.agent-${agent}`))
      return frontier
    })
  }

  get waiting(): number {
    return this.#frontiers.reduce((sum, frontier) => sum + frontier.figures().waiting, 0)
  }

  /** Lets so much time pass, or as much as it takes to serve all. */
  run(ms: number): number {
    const clock = this.#clock
    const startMs = clock.nowMs()
    while (this.waiting > 0 && clock.nowMs() < startMs + ms) {
      this.#frontiers.forEach((frontier, agent) => this.#pump(frontier, agent))
      const timesMs = [
        ...this.#out.map((visit) => visit.endMs),
        ...this.#frontiers.map((frontier) => frontier.nextReadyMs() ?? Infinity),
      ]
      const nextMs = Math.min(...timesMs)
      assert(nextMs > clock.nowMs() && nextMs < Infinity, `at ${clock.nowMs()} the next moment is ${nextMs}`)
      clock.advance(nextMs - clock.nowMs())
      for (const visit of this.#out.filter((one) => one.endMs <= nextMs)) this.#end(visit)
    }
    for (const frontier of this.#frontiers) frontier.assertSound()
    return clock.nowMs() - startMs
  }

  /** The first agent always comes first, and takes again what it has just given back. */
  #pump(frontier: MemoryFrontier, agent: number): void {
    for (let turn = frontier.take(); turn !== null; turn = frontier.take()) {
      const freeAtMs = frontier.claimAddress(turn, ADDRESS)
      if (freeAtMs === 0) this.#out.push({ agent, turn, endMs: this.#clock.nowMs() + this.#answerMs })
      else {
        const restMs = freeAtMs - this.#clock.nowMs()
        frontier.settle(turn, { restMs, unvisited: turn.entries, wasAsked: false })
      }
      this.mostOut = Math.max(this.mostOut, this.#out.length)
    }
  }

  #end(visit: Visit): void {
    const { agent, turn } = visit
    this.#out = this.#out.filter((one) => one !== visit)
    const frontier = this.#frontiers[agent] as MemoryFrontier
    for (const entry of turn.entries) frontier.conclude(entry, true)
    frontier.settle(turn, { restMs: 0 })
    this.served[agent] = (this.served[agent] as number) + 1
    // Before anybody else can move.
    this.#pump(frontier, agent)
  }
}

describe.each([
  { agents: 2, ipConnections: 8, ipDelayMs: 0, answerMs: 100 },
  { agents: 3, ipConnections: 8, ipDelayMs: 0, answerMs: 37 },
  { agents: 2, ipConnections: 1, ipDelayMs: 0, answerMs: 100 },
  { agents: 4, ipConnections: 1, ipDelayMs: 0, answerMs: 33 },
  { agents: 4, ipConnections: 2, ipDelayMs: 0, answerMs: 600 },
  { agents: 2, ipConnections: 8, ipDelayMs: 500, answerMs: 20 },
  { agents: 4, ipConnections: 1, ipDelayMs: 250, answerMs: 100 },
])(
  '$agents agents at an address of $ipConnections, resting $ipDelayMs ms, answering in $answerMs ms',
  ({ agents, ipConnections, ipDelayMs, answerMs }) => {
    const SECONDS = 120
    // A rest begins anew with each answer: where there are rests, and they are longer, requests go one by one.
    const most = Math.floor((SECONDS * 1_000 * (ipDelayMs === 0 ? ipConnections : 1)) / (answerMs + ipDelayMs))
    const crowd = new Crowd(
      Array.from({ length: agents }, () => most),
      { ipConnections, ipDelayMs },
      answerMs,
    )
    beforeAll(() => void crowd.run(SECONDS * 1_000))

    test('are never out with more', () => {
      expect(crowd.mostOut).toBe(ipDelayMs === 0 ? ipConnections : 1)
    })

    test('have each at least half of a fair share', () => {
      expect(Math.min(...crowd.served)).toBeGreaterThan((most / agents) * 0.5)
    })

    test('lose at most a fifth to one another', () => {
      expect(crowd.served.reduce((sum, served) => sum + served, 0)).toBeGreaterThan(most * 0.8)
    })

    test('ask the gate a few times per turn and, each, some fifty times a second', () => {
      // Each host once when its address is first known, then when it is called.
      expect(crowd.claims).toBeLessThan(agents * most + 2 * most + agents * SECONDS * 60)
    })
  },
)

describe('an address', () => {
  test('is left to the one who has most to ask, when the others are done', () => {
    const crowd = new Crowd([20, 2_000], { ipDelayMs: 0, ipConnections: 4 }, 50)
    const tookMs = crowd.run(1e9)
    expect(crowd.waiting).toBe(0)
    expect(tookMs).toBeLessThan(((2_020 * 50) / 4) * 1.1)
  })

  test('that another agent keeps full is asked again at the very time that was told', () => {
    const clock = new ManualClock()
    const settings = { ipDelayMs: 0, ipConnections: 1 }
    const buffer = SharedIpGate.allocate(2)
    const other = new SharedIpGate(buffer, 1, settings, 0)
    const door = other.doorOf(ADDRESS)
    const frontier = new MemoryFrontier({
      clock,
      delayMs: 0,
      ...settings,
      ipGate: new SharedIpGate(buffer, 0, settings, 0),
    })
    frontier.offer(entryOf('a'))
    expect(other.claim(door, clock.nowMs(), other)).toBe(0)
    const turn = frontier.take() as Turn
    const toldMs = frontier.claimAddress(turn, ADDRESS)
    expect(toldMs).toBeGreaterThan(clock.nowMs())
    frontier.settle(turn, { restMs: toldMs - clock.nowMs(), unvisited: turn.entries, wasAsked: false })
    for (let i = 0; i < 5; i++) {
      expect(frontier.take()).toBeNull()
      const atMs = frontier.nextReadyMs()
      assert(atMs !== null && atMs > clock.nowMs(), `told to come back at ${atMs}`)
      clock.advance(atMs - clock.nowMs())
    }
    other.release(door, clock.nowMs(), true, other)
    expect(frontier.take()?.host).toBe('a')
    expect(other.claim(door, clock.nowMs(), other)).toBeGreaterThan(clock.nowMs())
    frontier.assertSound()
  })
})
