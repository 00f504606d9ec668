import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MEMORY_MIN, planMemory } from './memory-plan.ts'

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

test('of the default, a quarter is for the URLs met', () => {
  expect(planMemory(2 ** 30).seenBytes).toBeGreaterThanOrEqual(256 * 2 ** 20)
})
