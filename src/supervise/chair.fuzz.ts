// Chairs of a crawl on several nodes: never more pages than the limit, never an end while there is work, always an end when all is
// quiet, whatever is lost and whoever dies.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SimulatedChairs } from '../../test/agents/simulated-chairs.ts'
import { Random } from '../base/index.ts'

const RUNS = Number(process.env['PORTOLAN_FUZZ_RUNS'] ?? 60)

test(
  'a crawl of several nodes ends when it is done, with no page more than it may have',
  { timeout: 600_000 },
  async () => {
    const figures = { moves: 0, restarts: 0, finished: 0, 'max-pages': 0, chairs: 0, voidEnds: 0 }
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          shares: fc.integer({ min: 2, max: 4 }),
          nodes: fc.integer({ min: 1, max: 4 }),
          pages: fc.integer({ min: 1, max: 40 }),
          limit: fc.option(fc.integer({ min: 0, max: 40 })),
          mishaps: fc.integer({ min: 0, max: 20 }),
          mishapEvery: fc.constantFrom(5, 20, 60),
          lossRate: fc.constantFrom(0, 0.05, 0.2),
          changes: fc.integer({ min: 0, max: 6 }),
        }),
        fc.string({ minLength: 6, maxLength: 6 }),
        async (options, seed) => {
          const ran = await new SimulatedChairs(options, new Random(seed)).run()
          figures.moves += ran.moves
          figures.restarts += ran.restarts
          figures.chairs += ran.chairs - 1
          figures.voidEnds += ran.voidEnds
          if (ran.reason === 'finished' || ran.reason === 'max-pages') figures[ran.reason]++
        },
      ),
      { numRuns: RUNS },
    )
    // A simulation in which nothing happens proves nothing.
    for (const count of Object.values(figures)) expect(count).toBeGreaterThan(0)
  },
)
