import fc from 'fast-check'
import { expect, test } from 'vitest'
import { leastMemory, MEMORY_MIN, planMarks, planMemory } from './memory-plan.ts'

test('the parts together leave the process its room, and each gets more when there is more', () => {
  fc.assert(
    fc.property(fc.integer({ min: MEMORY_MIN, max: 2 ** 40 }), (bytes) => {
      const parts = Object.values(planMemory(bytes))
      const sum = parts.reduce((one, other) => one + other)
      expect(sum).toBeLessThan(bytes - 304 * 2 ** 20)
      for (const [i, more] of Object.values(planMemory(bytes + 2 ** 30)).entries()) {
        expect(more).toBeGreaterThan(parts[i] ?? Infinity)
      }
    }),
  )
})

test('the parts of all agents and the marks they share leave the process and each agent their room', () => {
  const agents = fc.integer({ min: 2, max: 64 })
  fc.assert(
    fc.property(fc.integer({ min: MEMORY_MIN, max: 2 ** 40 }), agents, (bytes, count) => {
      const parts = Object.values(planMemory(bytes, count)).reduce((one, other) => one + other)
      const room = (304 + (count - 1) * 96) * 2 ** 20
      // Less than so many agents can do with is not given: they are planned as if it were.
      const given = Math.max(bytes, leastMemory(count))
      expect(count * parts + planMarks(bytes, count)).toBeLessThan(given - room)
      expect(planMarks(bytes, count)).toBeGreaterThan(2 ** 20)
      expect(planMarks(given + 2 ** 30, count)).toBeGreaterThan(planMarks(given, count))
    }),
  )
})

test('of the default, a quarter is for the URLs met', () => {
  expect(planMemory(2 ** 30).seenBytes).toBeGreaterThanOrEqual(256 * 2 ** 20)
})
