// Several agents with the real exchange and the real books, killed at any moment, stopped, cut off from each other: every
// link that is in a batch is admitted once by its owner, no batch is forgotten that somebody needs, no copy comes before its
// original, nobody waits for ever, and the crawl is said to be finished when it is, and not before. Where agents have roomy marks of
// contents in common, every content has one original, whoever died.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ROOMY_MARKS_BYTES, SimulatedCrawl } from '../../test/agents/simulated-crawl.ts'

const RUNS = Number(process.env['PORTOLAN_FUZZ_RUNS'] ?? 60)

const crawls = fc.record({
  seed: fc.string({ minLength: 6, maxLength: 6 }),
  agents: fc.integer({ min: 2, max: 4 }),
  pages: fc.integer({ min: 4, max: 60 }),
  mishaps: fc.integer({ min: 0, max: 20 }),
  mishapEvery: fc.constantFrom(10, 30, 100, 300),
  outboxBytesMax: fc.constantFrom(1, 600, 2 ** 20),
  looks: fc.constantFrom(undefined, 4),
})

/** None; one bucket, which is full at once; room for all. */
const marksBytes = fc.constantFrom(null, 64, ROOMY_MARKS_BYTES)

test('a crawl of several agents comes to its end, whatever happens to them', { timeout: 600_000 }, async () => {
  const figures = { deaths: 0, stops: 0, breaks: 0, copies: 0, hadAtOnce: 0 }
  const names = Object.keys(figures) as (keyof typeof figures)[]
  await fc.assert(
    fc.asyncProperty(crawls, marksBytes, async (options, bytes) => {
      const ran = await new SimulatedCrawl({ ...options, marksBytes: bytes }).run()
      for (const name of names) figures[name] += ran[name]
    }),
    { numRuns: RUNS },
  )
  // A simulation in which nothing happens proves nothing.
  for (const count of Object.values(figures)) expect(count).toBeGreaterThan(0)
})

test(
  'so does one whose agents talk over an engine that loses messages, while shares are taken over the head of their owners',
  {
    timeout: 600_000,
  },
  async () => {
    const figures = { deaths: 0, stops: 0, breaks: 0, copies: 0, formerOwners: 0, lost: 0 }
    const names = Object.keys(figures) as (keyof typeof figures)[]
    await fc.assert(
      fc.asyncProperty(crawls, fc.constantFrom(0, 0.02, 0.1, 0.3), async (options, lossRate) => {
        const ran = await new SimulatedCrawl({ ...options, lossRate }).run()
        for (const name of names) figures[name] += ran[name]
      }),
      { numRuns: Math.ceil(RUNS / 4) },
    )
    for (const count of Object.values(figures)) expect(count).toBeGreaterThan(0)
  },
)
