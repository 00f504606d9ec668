// Whatever breaks in a crawl, somebody above mends it, and the crawl ends as if nothing had been: every page once, none lost.
//
// A handful of faults of each kind; `npm run faults` injects them by the thousand and measures (docs/durability.md).

import { expect, test } from 'vitest'
import { directory, expectTruth, startWeb } from '../crawl/expect-truth.ts'
import { crawl, FAST } from '../crawl/run-crawl.ts'
import { type BrokenCrawl, crawlBroken } from './broken-crawl.ts'

/** Threads start many times here, on machines that may be busy. */
const TIMEOUT_MS = 300_000

type Setting = Omit<Parameters<typeof crawlBroken>[0], 'seeds' | 'dir' | 'agents'> & { readonly agents?: number }

/** Crawls a small web with faults, and finds the truth. */
async function expectMended(setting: Setting): Promise<BrokenCrawl & { readonly dir: string }> {
  // Slow answers: it must last until all faults have struck.
  const web = await startWeb({ seed: 'faults', hosts: 6, pages: 40, latencyMs: 20, meanBytes: 2_000 })
  const dir = directory()
  const broken = await crawlBroken({ agents: 2, ...setting, seeds: web.seeds(), dir })
  expectTruth(broken.result, web.truth())
  const urls = broken.result.pages.map(({ url }) => url)
  expect(new Set(urls).size).toBe(urls.length)
  return { ...broken, dir }
}

test.for(['visitor:0.2:4', 'stage:0.2:4', 'visit:0.2:2', 'books:1:3'])(
  '%s',
  { timeout: TIMEOUT_MS },
  async (faults) => {
    const broken = await expectMended({ faults })
    expect(Object.values(broken.faults)[0]?.struck).toBe(Number(faults.split(':')[2]))
  },
)

test('one agent alone is started again as well', { timeout: TIMEOUT_MS }, async () => {
  const { repairs, faults } = await expectMended({ faults: 'books:0.5:2', agents: 1 })
  expect(faults.books?.struck).toBe(2)
  expect(repairs.length).toBeGreaterThan(0)
})

test('threads that throw, one while another is being started again', { timeout: TIMEOUT_MS }, async () => {
  const { repairs, otherEvents } = await expectMended({ faults: 'agent-throw:0.5:6,agent-opening:0.4:3' })
  expect(repairs.length).toBeGreaterThanOrEqual(4)
  expect(otherEvents).toEqual([])
})

test('a thread that spins is ended and started again', { timeout: TIMEOUT_MS }, async () => {
  const { repairs } = await expectMended({ faults: 'agent-hang:0.5:1', care: { lookMs: 200 } })
  expect(repairs.map(({ why }) => why)).toContain('it does not move any more')
})

test('a thread without memory ends alone', { timeout: TIMEOUT_MS }, async () => {
  const flags = { ...FAST, memory: '512MiB', delay: '20ms' }
  const { repairs } = await expectMended({ faults: 'agent-memory:1:1', flags })
  expect(repairs.map(({ why }) => why)).toEqual([expect.stringContaining('memory limit')])
})

test('a thread that breaks while it closes leaves what it had committed', { timeout: TIMEOUT_MS }, async () => {
  const { otherEvents, dir, result } = await expectMended({ faults: 'agent-closing:1:1' })
  expect(otherEvents).toEqual([expect.objectContaining({ kind: 'agent-left' })])
  const again = await crawl({ seeds: [], dir, agents: 2 })
  expect(again.pages).toHaveLength(result.pages.length)
  expect(again.reason).toBe('finished')
})

test('agents that break more often than a cure would are given up', { timeout: TIMEOUT_MS }, async () => {
  const broken = expectMended({ faults: 'agent-throw:1', care: { restartsMax: 2 } })
  await expect(broken).rejects.toThrow('more than 2 times')
})
