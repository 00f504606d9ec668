// Turns of a giant host that are lent, in worlds in which machines freeze, sleep, die and are cut off, shares move, and messages are
// lost, late and there twice: the host is never asked for two things at once, nor before its rest is over, and no URL is lost.
// `npm run mutate:lending` breaks every rule in turn.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { busyWorld, caughtAfter, MUTANTS, ROOMS } from '../../test/agents/lending-mutants.ts'
import { SimulatedLending } from '../../test/agents/simulated-lending.ts'

const RUNS = Number(process.env['PORTOLAN_FUZZ_RUNS'] ?? 40)

const worlds = fc.record({
  seed: fc.string({ minLength: 6, maxLength: 6 }),
  helpers: fc.integer({ min: 1, max: 3 }),
  urls: fc.integer({ min: 20, max: 250 }),
  restMs: fc.constantFrom(0, 0, 300),
  loss: fc.constantFrom(0, 0.05, 0.3),
  late: fc.constantFrom(0, 0.02, 0.1),
  mishaps: fc.constantFrom(0, 10, 30, 60),
  ownerIsSafe: fc.boolean(),
  hangs: fc.constantFrom(false, false, true),
})

test('a giant host is asked for one thing at a time, whoever has its turn', { timeout: 600_000 }, async () => {
  const sums: Record<string, number> = {}
  await fc.assert(
    fc.asyncProperty(worlds, async (world) => {
      const { violations, ...counts } = await new SimulatedLending(world, ROOMS).run()
      for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count
      expect(violations).toEqual([])
    }),
    { numRuns: RUNS },
  )
  // A simulation in which nothing happens proves nothing.
  for (const [name, count] of Object.entries(sums)) expect(count, name).toBeGreaterThan(0)
})

test('whatever is lent in a quiet world comes back', async () => {
  const quiet = { mishaps: 0, loss: 0, late: 0, helpers: 2, urls: 100 }
  const run = await new SimulatedLending(busyWorld('quiet', quiet), ROOMS).run()
  expect(run).toMatchObject({ violations: [], lost: 0 })
  expect(run.brought).toBeGreaterThan(50)
})

const QUICK = new Set([
  'the owner does not wait a turn out',
  'what is under way is not cut',
  'a share moves while its turns are out',
])
test.each(MUTANTS.filter(({ name }) => QUICK.has(name)))('it is noticed where $name', async (mutant) => {
  expect(await caughtAfter(mutant, 60)).not.toBeNull()
})
