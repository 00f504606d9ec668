// A web in which three hosts of ten misbehave, every second page in another way: what comes of each page is
// known beforehand, the honest hosts lose nothing by it, and nobody is asked more often than allowed.

import { expect, test } from 'vitest'
import { directory, expectTruth, startWeb } from './expect-truth.ts'
import { crawl, FAST, QUICK_BACKOFF } from './run-crawl.ts'

/** Some hosts are waited for, one page after another. */
const TEST_MS_MAX = 300_000
/** Time enough that only those are cut off who say nothing for ever. */
const FETCH = { headTimeout: '2s', requestTimeout: '3s' }

test.for([0, 2])('a mixed web ends as it must, with %d agents in threads', { timeout: TEST_MS_MAX }, async (agents) => {
  const web = await startWeb({
    seed: 'mixed',
    hosts: 10,
    pages: 37,
    meanBytes: 4_000,
    misbehaving: 0.3,
    retryAfterS: 0.02,
  })
  const truth = web.truth()
  const codes = new Set(truth.failed.values())
  expect(codes.size).toBeGreaterThan(3)
  const bad = [...truth.pages.values()].filter((page) => page.isBad)
  expect(bad.length).toBeGreaterThan(10)
  const flags = { ...FAST, retries: '1' }
  const result = await crawl({
    seeds: web.seeds(),
    dir: directory(),
    flags,
    config: { ...QUICK_BACKOFF, fetch: FETCH },
    agents,
  })
  expectTruth(result, truth)
  expect(web.politeness({ delayMs: 0 })).toEqual([])
})
