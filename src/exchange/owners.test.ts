// Everybody gets about the same, nobody's share changes hands without need, and all come to the same answer.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type AgentWeight, assignSlots, Owners, SLOTS } from './owners.ts'

const equals = (count: number): AgentWeight[] => Array.from({ length: count }, (_, id) => ({ id, weight: 1 }))

/** Slots by agent's id. */
function countsOf(agents: readonly AgentWeight[]): Map<number, number> {
  const counts = new Map(agents.map(({ id }) => [id, 0]))
  for (const place of assignSlots(agents)) {
    const { id } = agents[place] as AgentWeight
    counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  return counts
}

/** By how much the share of one is off what its weight says, at worst. */
function worstDeviation(agents: readonly AgentWeight[]): number {
  const sum = agents.reduce((total, { weight }) => total + weight, 0)
  const counts = countsOf(agents)
  return Math.max(...agents.map(({ id, weight }) => Math.abs((counts.get(id) ?? 0) / ((SLOTS * weight) / sum) - 1)))
}

const agentList = fc
  .uniqueArray(fc.nat(1_000), { minLength: 1, maxLength: 6 })
  .chain((ids) =>
    fc.tuple(...ids.map((id) => fc.integer({ min: 1, max: 8 }).map((weight): AgentWeight => ({ id, weight })))),
  )

/** Whose each slot is, by id. */
const ownersOf = (agents: readonly AgentWeight[]): number[] =>
  Array.from(assignSlots(agents), (place) => (agents[place] as AgentWeight).id)

describe('balance', () => {
  // Fair draws are off by 0.3, 1.8, 2.9 and 7.7 % at worst in the middle of many tries, by 0.7, 2.8, 4.5 and 10.4 in one of twenty.
  // Ours are 0.28, 1.05, 3.03 and 9.67: which draw an agent's number gives is luck, and fixed.
  test.for([
    [2, 0.003],
    [8, 0.011],
    [16, 0.031],
    [64, 0.097],
  ] as const)('%d equal agents are within %f of their share', ([count, most]) => {
    expect(worstDeviation(equals(count))).toBeLessThan(most)
  })

  test('whichever agents take part: five standard deviations of fair draws, and no more', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(1_000_000), { minLength: 2, maxLength: 8 }), (ids) => {
        const share = 1 / ids.length
        const deviation = Math.sqrt(SLOTS * share * (1 - share))
        for (const count of countsOf(ids.map((id) => ({ id, weight: 1 }))).values()) {
          expect(Math.abs(count - SLOTS * share)).toBeLessThan(5 * deviation)
        }
      }),
      { numRuns: 5 },
    )
  })

  test('an agent of weight three has three times as much', () => {
    const agents = [
      { id: 0, weight: 1 },
      { id: 1, weight: 3 },
      { id: 2, weight: 0.5 },
    ]
    expect(worstDeviation(agents)).toBeLessThan(0.03)
  })
})

describe('contravariance', () => {
  test('one that joins takes slots from others, and none changes hands between those', () => {
    fc.assert(
      fc.property(agentList, fc.integer({ min: 1_001, max: 2_000 }), (agents, id) => {
        const before = ownersOf(agents)
        const after = ownersOf([...agents, { id, weight: 1 }])
        const moved = after.filter((owner, slot) => owner !== before[slot])
        expect(moved.every((owner) => owner === id)).toBe(true)
        const sum = agents.reduce((total, { weight }) => total + weight, 1)
        expect(moved.length / SLOTS).toBeCloseTo(1 / sum, 1)
      }),
      { numRuns: 5 },
    )
  })

  test('one that leaves leaves its slots, and no other slot moves', () => {
    fc.assert(
      fc.property(agentList, fc.nat(), (agents, nth) => {
        fc.pre(agents.length > 1)
        const gone = agents[nth % agents.length] as AgentWeight
        const before = ownersOf(agents)
        const after = ownersOf(agents.filter(({ id }) => id !== gone.id))
        expect(after.every((owner, slot) => owner === before[slot] || before[slot] === gone.id)).toBe(true)
      }),
      { numRuns: 5 },
    )
  })

  test('more weight takes slots and gives none away', () => {
    const before = ownersOf(equals(4))
    const after = ownersOf([{ id: 0, weight: 2 }, ...equals(4).slice(1)])
    expect(after.every((owner, slot) => owner === before[slot] || owner === 0)).toBe(true)
  })

  test('the order in which agents are named does not matter', () => {
    fc.assert(
      fc.property(agentList, (agents) => {
        expect(ownersOf(agents.toReversed())).toEqual(ownersOf(agents))
      }),
      { numRuns: 3 },
    )
  })
})

test('all agents see the same owners; a digest goes by its first two bytes', () => {
  const views = [0, 1, 2].map((self) => new Owners(self, 3))
  for (let slot = 0; slot < SLOTS; slot += 97) {
    const digest = Buffer.from([slot >> 8, slot & 255, 7])
    const [first, ...others] = views.map((view) => view.ofSlot(slot))
    expect(others).toEqual([first, first])
    for (const view of views) expect(view.ofDigest(digest)).toBe(first)
  }
  expect(new Owners(0, 1).ofSlot(SLOTS - 1)).toBe(0)
})
