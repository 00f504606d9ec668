// Agents that have no memory in common never ask one address more often at once, or sooner, than one agent would, whatever is
// lost or late between them; and everybody comes to its turn.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ClockMs, ManualClock, Random } from '../base/index.ts'
import type { IpGateSettings } from '../frontier/index.ts'
import { ipGateConformance } from '../frontier/ip-gate.conformance.ts'
import { RIGHT_MS, SharedTurns, type TurnMessage } from './shared-turns.ts'

const AGENTS = 3
const REQUEST_MS = 3_000

interface World {
  readonly clock: ManualClock
  readonly agents: SharedTurns[]
}

/** Agents whose messages take a time drawn from `delayMs`, or are lost. */
function world(settings: IpGateSettings, random: Random, loss: number, delayMs: number): World {
  const clock = new ManualClock()
  const agents: SharedTurns[] = []
  for (let self = 0; self < AGENTS; self++) agents.push(begin(self, 1_000_000 * self))
  return { clock, agents }

  function begin(self: number, firstId: number): SharedTurns {
    const turns = new SharedTurns({
      gate: 'address',
      self,
      ownerOf: (door) => door % AGENTS,
      clock,
      settings,
      requestMs: REQUEST_MS,
      firstId,
    })
    turns.connect((agent, message: TurnMessage) => {
      if (random.fraction() < loss) return
      const atMs = clock.nowMs() + random.fraction() * delayMs
      clock.callAt(atMs as ClockMs, () => agents[agent]?.hear(self, message))
    })
    return turns
  }
}

test('a right whose request was cut and has not ended yet goes back when it has, and not before', () => {
  const { clock, agents } = world({ ipDelayMs: 0, ipConnections: 1 }, new Random(1), 0, 1)
  const [owner, other] = agents as [SharedTurns, SharedTurns]
  const claimant = {}
  const door = 3
  other.claim(door, clock.nowMs(), claimant)
  clock.advance(10)
  expect(other.claim(door, clock.nowMs(), claimant)).toBe(0)
  void other.settle()
  clock.advance(10)
  expect(owner.claim(door, clock.nowMs(), {})).not.toBe(0)
  other.release(door, clock.nowMs(), true, claimant)
  clock.advance(10)
  expect(owner.claim(door, clock.nowMs(), {})).toBe(0)
})

interface Visit {
  readonly agent: number
  readonly fromMs: number
  toMs: number
}

/** Every agent wants to ask one address so often; what the address saw. */
function ask(settings: IpGateSettings, seed: number, loss: number, delayMs: number, each: number): Visit[] {
  const random = new Random(seed)
  const { clock, agents } = world(settings, random, loss, delayMs)
  const visits: Visit[] = []
  for (const [agent, turns] of agents.entries()) {
    // Two hosts of each agent stand behind it.
    for (let host = 0; host < 2; host++) {
      let left = each
      const claimant = {}
      const door = turns.doorOf('192.0.2.1')
      const attempt = (): void => {
        const nowMs = clock.nowMs()
        const atMs = turns.claim(door, nowMs, claimant)
        if (atMs !== 0) return void clock.callAt(Math.max(atMs, nowMs + 0.1) as ClockMs, attempt)
        const visit = { agent, fromMs: nowMs, toMs: Number.POSITIVE_INFINITY }
        visits.push(visit)
        clock.callAt((nowMs + random.fraction() * Math.min(200, REQUEST_MS)) as ClockMs, () => {
          visit.toMs = clock.nowMs()
          turns.release(door, clock.nowMs(), true, claimant)
          if (--left > 0) attempt()
        })
      }
      attempt()
    }
  }
  for (let steps = 0; visits.length < each * 2 * AGENTS || visits.some(({ toMs }) => toMs === Infinity); steps++) {
    if (steps > 20_000) throw new Error(`after ${clock.nowMs()} ms ${visits.length} visits were made`)
    clock.advance(10)
  }
  return visits
}

/** The most at once, and the shortest time between one's start or end and another's start. */
function judge(visits: readonly Visit[]): { atOnce: number; restMs: number } {
  let atOnce = 0
  let restMs = Number.POSITIVE_INFINITY
  for (const visit of visits) {
    const others = visits.filter((one) => one !== visit && one.fromMs <= visit.fromMs)
    atOnce = Math.max(atOnce, 1 + others.filter(({ toMs }) => toMs > visit.fromMs).length)
    for (const other of others) {
      restMs = Math.min(restMs, visit.fromMs - other.fromMs)
      if (other.toMs <= visit.fromMs) restMs = Math.min(restMs, visit.fromMs - other.toMs)
    }
  }
  return { atOnce, restMs }
}

ipGateConformance('SharedTurns, of its own doors', (settings) => {
  const clock = new ManualClock()
  return new SharedTurns({ gate: 'address', self: 0, ownerOf: () => 0, clock, settings, requestMs: 1, firstId: 0 })
})

describe('several agents at one address', () => {
  const worlds = fc.record({
    seed: fc.integer(),
    loss: fc.constantFrom(0, 0.02, 0.2),
    delayMs: fc.constantFrom(0, 3, 50, 700),
  })

  test('never more at once than may be, and all are served', () => {
    fc.assert(
      fc.property(worlds, fc.integer({ min: 1, max: 3 }), ({ seed, loss, delayMs }, ipConnections) => {
        expect(judge(ask({ ipDelayMs: 0, ipConnections }, seed, loss, delayMs, 6)).atOnce).toBeLessThanOrEqual(
          ipConnections,
        )
      }),
      { numRuns: 60 },
    )
  })

  test('never sooner than the address has rested', () => {
    fc.assert(
      fc.property(worlds, ({ seed, loss, delayMs }) => {
        const { restMs } = judge(ask({ ipDelayMs: 100, ipConnections: 2 }, seed, loss, delayMs, 3))
        expect(restMs).toBeGreaterThanOrEqual(100 - 1e-6)
      }),
      { numRuns: 40 },
    )
  })
})

/** Agent 0, to whom the test is all the others; every door is `owner`'s. */
function alone(owner: number, ipConnections: number): { clock: ManualClock; turns: SharedTurns } {
  const clock = new ManualClock()
  const settings = { ipDelayMs: 0, ipConnections }
  const ownerOf = (): number => owner
  return {
    clock,
    turns: new SharedTurns({ gate: 'address', self: 0, ownerOf, clock, settings, requestMs: 1, firstId: 0 }),
  }
}

test('a right is used again and again, and goes back when nobody needs it', () => {
  const said: TurnMessage[] = []
  const { clock, turns } = alone(1, 1)
  turns.connect((_, message) => said.push(message))
  const claimant = {}
  expect(turns.claim(7, 0, claimant)).toBeGreaterThan(0)
  turns.hear(1, { kind: 'turn-given', gate: 'address', id: 1, forMs: RIGHT_MS })
  for (let i = 0; i < 10; i++) {
    expect(turns.claim(7, clock.nowMs(), claimant)).toBe(0)
    clock.advance(100)
    turns.release(7, clock.nowMs(), true, claimant)
  }
  expect(said).toHaveLength(1)
  clock.advance(2_000)
  expect(said).toEqual([expect.anything(), { kind: 'turn-back', gate: 'address', id: 1, wasAsked: true }])
})

test('no request is begun when its right is over, counted from when it was wanted', () => {
  const { clock, turns } = alone(1, 1)
  const claimant = {}
  const wantedMs = clock.nowMs()
  turns.claim(7, wantedMs, claimant)
  clock.advance(500)
  turns.hear(1, { kind: 'turn-given', gate: 'address', id: 1, forMs: RIGHT_MS })
  while (clock.nowMs() < wantedMs + RIGHT_MS) {
    expect(turns.claim(7, clock.nowMs(), claimant)).toBe(0)
    clock.advance(100)
    turns.release(7, clock.nowMs(), true, claimant)
  }
  expect(turns.claim(7, clock.nowMs(), claimant)).toBeGreaterThan(0)
})

test('whoever settles gives none any more, and waits for those that are out', async () => {
  const said: TurnMessage[] = []
  const { clock, turns } = alone(0, 2)
  turns.connect((_, message) => said.push(message))
  turns.hear(1, { kind: 'turn-want', gate: 'address', door: 5, id: 9 })
  expect(said).toMatchObject([{ kind: 'turn-given', id: 9 }])
  let isSettled = false
  const settled = turns.settle().then(() => (isSettled = true))
  turns.hear(2, { kind: 'turn-want', gate: 'address', door: 5, id: 3 })
  expect(said.at(-1)).toMatchObject({ kind: 'turn-later', id: 3 })
  clock.advance(1_000)
  await Promise.resolve()
  expect(isSettled).toBe(false)
  turns.hear(1, { kind: 'turn-back', gate: 'address', id: 9, wasAsked: true })
  clock.advance(100)
  await settled
})
