// The law for every gate, as one asker meets it: sentences first, then random claims and releases
// against a history that is slow and obvious. Call ipGateConformance() from the implementation's test.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assert } from '../base/index.ts'
import type { IpGate, IpGateSettings } from './ip-gate.ts'
import { DoorHistory } from './ip-gate-history.conformance.ts'

type Step =
  | { readonly kind: 'claim'; readonly door: number }
  | { readonly kind: 'release'; readonly door: number; readonly which: number; readonly wasAsked: boolean }
  | { readonly kind: 'advance'; readonly ms: number }

const DOORS = 2
const door = fc.nat({ max: DOORS - 1 })
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('claim' as const), door }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('release' as const),
      door,
      which: fc.nat({ max: 3 }),
      wasAsked: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.constantFrom(0.5, 1, 5, 9.5, 10, 2_000) }),
  },
)

/** @param lateMs So much longer than it must may a door rest. */
export function ipGateConformance(name: string, make: (settings: IpGateSettings) => IpGate, lateMs = 0): void {
  const [a, b, c] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }]

  describe(name, () => {
    test('has one door for the addresses that count as one', () => {
      const gate = make({ ipDelayMs: 0, ipConnections: 1 })
      expect(gate.doorOf('2001:db8:1::1')).toBe(gate.doorOf('2001:db8:1:8000::2'))
      expect(gate.doorOf('192.0.2.1')).not.toBe(gate.doorOf('192.0.2.2'))
    })

    test('grants ipConnections at once, and then only after a release', () => {
      const gate = make({ ipDelayMs: 0, ipConnections: 2 })
      const door = gate.doorOf('192.0.2.1')
      expect([gate.claim(door, 1, a), gate.claim(door, 1, b)]).toEqual([0, 0])
      expect(gate.claim(door, 1, c)).toBeGreaterThan(1)
      gate.release(door, 2, true, a)
      expect(gate.claim(door, 2, c)).toBe(0)
    })

    test('says when its rest is over, counted from the last start or end', () => {
      const gate = make({ ipDelayMs: 10, ipConnections: 2 })
      const door = gate.doorOf('192.0.2.1')
      expect(gate.claim(door, 100, a)).toBe(0)
      expect(gate.claim(door, 105, b)).toBe(110)
      expect(gate.claim(door, 110, b)).toBe(0)
      gate.release(door, 115, true, a)
      expect(gate.claim(door, 120, c)).toBe(125)
    })

    test('does not rest for a claim that asked nothing', () => {
      const gate = make({ ipDelayMs: 10, ipConnections: 2 })
      const door = gate.doorOf('192.0.2.1')
      expect(gate.claim(door, 100, a)).toBe(0)
      gate.release(door, 101, false, a)
      expect(gate.claim(door, 101, b)).toBe(0)
    })

    test('does rest for another that ended while it was out', () => {
      const gate = make({ ipDelayMs: 10, ipConnections: 2 })
      const door = gate.doorOf('192.0.2.1')
      expect([gate.claim(door, 101, a), gate.claim(door, 111, b)]).toEqual([0, 0])
      gate.release(door, 111, true, a)
      gate.release(door, 113, false, b)
      expect(gate.claim(door, 114, c)).toBe(121)
    })

    test('does rest for another that began while it was out', () => {
      const gate = make({ ipDelayMs: 10, ipConnections: 3 })
      const door = gate.doorOf('192.0.2.1')
      expect([gate.claim(door, 100, a), gate.claim(door, 110, b)]).toEqual([0, 0])
      gate.release(door, 112, false, a)
      expect(gate.claim(door, 113, c)).toBe(120)
    })

    test('keeps doors apart', () => {
      const gate = make({ ipDelayMs: 0, ipConnections: 1 })
      const doors = new Set(Array.from({ length: 1_000 }, (_, i) => gate.doorOf(`10.0.${i >> 8}.${i & 255}`)))
      // A gate that hashes may let a few addresses share a door.
      expect(doors.size).toBeGreaterThan(950)
      expect([...doors].filter((door) => gate.claim(door, 1, a) !== 0)).toEqual([])
      expect([...doors].filter((door) => gate.claim(door, 1, b) <= 1)).toEqual([])
    })

    test('refuses to be given back what it did not grant, and to be closed for ever', () => {
      const gate = make({ ipDelayMs: 0, ipConnections: 1 })
      expect(() => gate.release(gate.doorOf('192.0.2.1'), 1, true, a)).toThrow(/more often/)
      expect(() => make({ ipDelayMs: 0, ipConnections: 0 })).toThrow(/ipConnections/)
    })

    test('grants exactly what the history allows, and says when it will', () => {
      const settings = fc.record({
        ipDelayMs: fc.constantFrom(0, 1, 10),
        ipConnections: fc.integer({ min: 1, max: 3 }),
      })
      fc.assert(
        fc.property(settings, fc.array(steps, { maxLength: 60, size: 'max' }), (chosen, sequence) => {
          const gate = make(chosen)
          const doors = Array.from({ length: DOORS }, (_, i) => gate.doorOf(`192.0.2.${i}`))
          const histories = doors.map(() => new DoorHistory(chosen))
          let nowMs = 1_000
          for (const step of sequence) {
            if (step.kind === 'advance') {
              nowMs += step.ms
              continue
            }
            const door = doors[step.door] as number
            const history = histories[step.door] as DoorHistory
            if (step.kind === 'release') {
              const claim = history.out[step.which % Math.max(1, history.out.length)]
              if (claim === undefined) continue
              gate.release(door, nowMs, step.wasAsked, claim)
              history.release(claim, nowMs, step.wasAsked)
              continue
            }
            const claim = { startMs: nowMs }
            const atMs = gate.claim(door, nowMs, claim)
            const isFull = history.out.length >= chosen.ipConnections
            const restUntilMs = history.restUntilMs
            if (atMs === 0) {
              assert(
                !isFull && restUntilMs <= nowMs,
                `granted at ${nowMs}, full: ${isFull}, rests until ${restUntilMs}`,
              )
              history.grant(claim)
            } else {
              assert(atMs > nowMs, `told to come back at ${atMs} at ${nowMs}`)
              const isRight = isFull || (atMs >= restUntilMs && atMs <= restUntilMs + lateMs)
              assert(isRight, `told to come back at ${atMs}, but it rests until ${restUntilMs}`)
            }
          }
        }),
        { numRuns: 300 },
      )
    })
  })
}
