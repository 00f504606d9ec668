// Agents at one gate, their steps interleaved in one thread. Threads that really run at once: shared-ip-gate-threads.test.ts.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assert } from '../base/index.ts'
import { ipGateConformance } from './ip-gate.conformance.ts'
import { DoorHistory, type HistoricClaim } from './ip-gate-history.conformance.ts'
import { SharedIpGate } from './shared-ip-gate.ts'
import { shareOf } from './shared-ip-gate-share.ts'

/** Ticks are counted modulo 2³². */
const WRAP_MS = 2 ** 30

for (const offsetMs of [0, 1.5 * WRAP_MS, 1_794_816_358_909.5]) {
  ipGateConformance(`SharedIpGate, ${offsetMs} ms on the common scale`, (settings) => {
    return new SharedIpGate(SharedIpGate.allocate(3), 1, settings, offsetMs)
  })
}

// A rest that ends when the count is 0 is made longer: 0 says that there is none.
ipGateConformance(
  'SharedIpGate, while the count of ticks begins anew',
  (settings) => new SharedIpGate(SharedIpGate.allocate(3), 1, settings, WRAP_MS - 1_020),
  0.5,
)

const CLAIMANT = { name: 'any' }

function gatesOf(agents: number, settings: { ipDelayMs: number; ipConnections: number }, doors?: number) {
  const buffer = SharedIpGate.allocate(agents, doors)
  return { buffer, gates: Array.from({ length: agents }, (_, agent) => new SharedIpGate(buffer, agent, settings, 0)) }
}

type Step =
  | { readonly kind: 'claim'; readonly agent: number; readonly door: number }
  | { readonly kind: 'release'; readonly which: number; readonly wasAsked: boolean }
  | { readonly kind: 'die'; readonly agent: number }
  | { readonly kind: 'advance'; readonly ms: number }

const AGENTS = 3
const agent = fc.nat({ max: AGENTS - 1 })
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('claim' as const), agent, door: fc.nat({ max: 1 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('release' as const),
      which: fc.nat({ max: 9 }),
      wasAsked: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('die' as const), agent }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.constantFrom(0.5, 5, 10, 25, 80, 200) }),
  },
)

describe('agents at one gate', () => {
  test('are together granted no more than the history allows, and refused only with a reason', () => {
    /** So much later than it was told to come back nobody counts as waiting. */
    const LATE_MS = 120
    const settings = fc.record({
      ipDelayMs: fc.constantFrom(0, 0, 10),
      ipConnections: fc.integer({ min: 1, max: 5 }),
    })
    fc.assert(
      fc.property(settings, fc.array(steps, { maxLength: 100, size: 'max' }), (chosen, sequence) => {
        const { buffer, gates } = gatesOf(AGENTS, chosen, 2)
        const histories = [new DoorHistory(chosen), new DoorHistory(chosen)]
        let out: { agent: number; door: number; claim: HistoricClaim }[] = []
        const toldMs = gates.map(() => [-Infinity, -Infinity])
        let nowMs = 1_000
        for (const step of sequence) {
          switch (step.kind) {
            case 'advance':
              nowMs += step.ms
              break
            case 'release': {
              const [one] = out.splice(step.which % Math.max(1, out.length), 1)
              if (one === undefined) break
              gates[one.agent]!.release(one.door, nowMs, step.wasAsked, one.claim)
              histories[one.door]!.release(one.claim, nowMs, step.wasAsked)
              break
            }
            case 'die': {
              const lost = out.filter((one) => one.agent === step.agent)
              const freed = SharedIpGate.freeAgent(buffer, step.agent, chosen, nowMs)
              assert(freed === lost.length, `${freed} freed of ${lost.length}`)
              for (const one of lost) histories[one.door]!.release(one.claim, nowMs, true)
              out = out.filter((one) => one.agent !== step.agent)
              toldMs[step.agent] = [-Infinity, -Infinity]
              gates[step.agent] = new SharedIpGate(buffer, step.agent, chosen, 0)
              break
            }
            case 'claim': {
              const claim = { startMs: nowMs }
              const history = histories[step.door]!
              const isFull = history.out.length >= chosen.ipConnections
              const isResting = history.restUntilMs > nowMs
              const atMs = gates[step.agent]!.claim(step.door, nowMs, claim)
              if (atMs === 0) {
                assert(!isFull && !isResting, `granted at ${nowMs}, full: ${isFull}, resting: ${isResting}`)
                history.grant(claim)
                out.push({ agent: step.agent, door: step.door, claim })
                toldMs[step.agent]![step.door] = -Infinity
                break
              }
              assert(atMs > nowMs && atMs < Infinity, `told to come back at ${atMs} at ${nowMs}`)
              const isWaitedFor = toldMs.some(
                (times, other) => other !== step.agent && nowMs < times[step.door]! + LATE_MS,
              )
              toldMs[step.agent]![step.door] = atMs
              if (isResting) {
                assert(atMs === history.restUntilMs, `told ${atMs}, but it rests until ${history.restUntilMs}`)
                break
              }
              assert(isFull || isWaitedFor, 'refused though it is free and nobody waits')
            }
          }
        }
      }),
      { numRuns: 500 },
    )
  })

  test('are not told times of one another that are no times of their own', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e10, noNaN: true }),
        fc.double({ min: 0, max: 2e12, noNaN: true }),
        fc.double({ min: 0, max: 1e4, noNaN: true }),
        fc.double({ min: 0.01, max: 1e6, noNaN: true }),
        (nowMs, offsetMs, passedMs, ipDelayMs) => {
          const settings = { ipDelayMs, ipConnections: 2 }
          const buffer = SharedIpGate.allocate(2, 1)
          const early = new SharedIpGate(buffer, 0, settings, offsetMs)
          const late = new SharedIpGate(buffer, 1, settings, 0)
          expect(early.claim(0, nowMs, CLAIMANT)).toBe(0)
          const lateNowMs = nowMs + offsetMs + passedMs
          const atMs = late.claim(0, lateNowMs, CLAIMANT)
          if (atMs === 0) expect(passedMs).toBeGreaterThan(ipDelayMs - 0.002)
          else {
            expect(atMs).toBeGreaterThan(lateNowMs)
            expect(atMs - nowMs - offsetMs).toBeGreaterThan(ipDelayMs - 0.002)
            expect(atMs - nowMs - offsetMs).toBeLessThan(ipDelayMs + 0.502)
            expect(late.claim(0, atMs, CLAIMANT)).toBe(0)
          }
        },
      ),
      { numRuns: 500 },
    )
  })

  test('do not take a rest of many days ago for one to come', () => {
    const { gates } = gatesOf(1, { ipDelayMs: 1_000, ipConnections: 1 }, 1)
    for (let day = 0; day < 100; day++) {
      const nowMs = 1_000 + day * 86_400_000
      expect(gates[0]!.claim(0, nowMs, CLAIMANT)).toBe(0)
      expect(gates[0]!.claim(0, nowMs + 1, CLAIMANT)).toBe(nowMs + 1_000)
      gates[0]!.release(0, nowMs + 1, true, CLAIMANT)
      expect(gates[0]!.claim(0, nowMs + 2, CLAIMANT)).toBe(nowMs + 1_001)
    }
  })

  test('free a door that a dead one filled, which rests from then on', () => {
    const settings = { ipDelayMs: 100, ipConnections: 1 }
    const { buffer, gates } = gatesOf(2, settings)
    const door = gates[0]!.doorOf('192.0.2.1')
    expect(gates[0]!.claim(door, 1_000, CLAIMANT)).toBe(0)
    expect(gates[1]!.claim(door, 5_000, CLAIMANT)).toBeGreaterThan(5_000)
    expect(SharedIpGate.freeAgent(buffer, 0, settings, 5_500)).toBe(1)
    expect(gates[1]!.claim(door, 5_510, CLAIMANT)).toBe(5_600)
    expect(gates[1]!.claim(door, 5_600, CLAIMANT)).toBe(0)
  })

  test('must be those the gate was made for', () => {
    const settings = { ipDelayMs: 0, ipConnections: 1 }
    const buffer = SharedIpGate.allocate(2)
    expect(() => new SharedIpGate(buffer, 2, settings, 0)).toThrow(/no agent 2 of 2/)
    expect(() => SharedIpGate.freeAgent(buffer, 2, settings, 0)).toThrow(/no agent 2 of 2/)
    expect(() => new SharedIpGate(buffer, 0, { ...settings, ipDelayMs: 1e9 }, 0)).toThrow(/ipDelay/)
  })
})

describe('the shares of those who wait', () => {
  test('are all of what there is, and differ by one at most', () => {
    fc.assert(
      fc.property(fc.nat({ max: 100 }), fc.integer({ min: 1, max: 20 }), fc.nat(), (connections, contenders, ticks) => {
        const shares = Array.from({ length: contenders }, (_, rank) => shareOf(connections, contenders, rank, ticks))
        expect(shares.reduce((sum, share) => sum + share, 0)).toBe(connections)
        expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1)
      }),
    )
  })

  test('come to the same in the long run, whatever the period at which they are asked for', () => {
    for (const contenders of [2, 3, 5]) {
      for (let periodTicks = 200; periodTicks < 20_000; periodTicks += 40) {
        const had = Array.from({ length: contenders }, () => 0)
        for (let i = 0; i < 300; i++) {
          const first = had.findIndex((_, rank) => shareOf(1, contenders, rank, i * periodTicks) === 1)
          had[first] = (had[first] as number) + 1
        }
        assert(Math.min(...had) > 100 / contenders, `period ${periodTicks}: ${had.join()}`)
      }
    }
  })
})
