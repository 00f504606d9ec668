// Several agents crawl what one would: the same pages, each asked for once, politely, whatever happens to an agent.

import { describe, expect, test } from 'vitest'
import { directory, expectAskedOnce, expectTruth, startWeb } from '../crawl/expect-truth.ts'
import { crawl, dnsFlags, FAST } from '../crawl/run-crawl.ts'
import { expectOneOriginalEach } from './one-original.ts'

describe('the truth is the same', () => {
  test.for([2, 5])('%d agents: every page once, contents known across agents', async (agents) => {
    const web = await startWeb({ seed: 'agents', hosts: 12, pages: 40, faults: 'mild' })
    const result = await crawl({ seeds: web.seeds(), dir: directory(), agents })
    const truth = web.truth()
    expectTruth(result, truth)
    expectAskedOnce(result, web, truth)
    expectOneOriginalEach(result)
    expect(result.pages.some((page) => page.duplicateOf !== undefined)).toBe(true)
    expect(web.politeness({ delayMs: 0 })).toEqual([])
  })

  test('all faults, throttling and broken robots.txt included', async () => {
    const timing = { retryAfterS: 0.02, crawlDelayS: 0.01, slowMs: 20 }
    const web = await startWeb({ seed: 'five', hosts: 14, pages: 40, faults: 'all', ...timing })
    const result = await crawl({ seeds: web.seeds(), dir: directory(), agents: 3 })
    expectTruth(result, web.truth())
    expect(web.politeness({ delayMs: 0 })).toEqual([])
  })

  test('names of one domain, from a seed that redirects: what it redirects to is a seed to all agents', async () => {
    const web = await startWeb({ seed: 'names', hosts: 9, pages: 25, naming: 'names' })
    const flags = { ...FAST, ...dnsFlags(web), scope: 'domain' }
    const result = await crawl({ seeds: web.seeds(), dir: directory(), flags, agents: 3 })
    expectTruth(result, web.truth({ scope: 'domain' }))
  })
})

test.for([1, 7, 100])('--max-pages %d is exact across agents', async (limit) => {
  const web = await startWeb({ hosts: 6, pages: 40, faults: 'mild' })
  const flags = { ...FAST, 'max-pages': String(limit) }
  const result = await crawl({ seeds: web.seeds(), dir: directory(), flags, agents: 3 })
  expect(result.pages).toHaveLength(limit)
  expect(result.reason).toBe('max-pages')
  const { pages } = web.truth()
  expect(result.pages.filter((page) => !pages.has(page.url))).toEqual([])
})

test('an address that all hosts share is asked by one agent after another', async () => {
  const web = await startWeb({ hosts: 4, pages: 8 })
  const flags = { ...FAST, 'ip-delay': '5ms' }
  const result = await crawl({ seeds: web.seeds(), dir: directory(), flags, agents: 3 })
  expectTruth(result, web.truth())
  expect(web.politeness({ delayMs: 0, ipDelayMs: 5 })).toEqual([])
})

test('stopped in the middle, the same agents go on, and no page is asked for twice but those under way', async () => {
  const web = await startWeb({ seed: 'stopped', hosts: 10, pages: 60 })
  const dir = directory()
  const first = await crawl({
    seeds: web.seeds(),
    dir,
    agents: 3,
    // Slowly: agents say how far they are four times a second.
    flags: { ...FAST, 'max-rate': '100' },
    duringNode: (node) => {
      const watch = setInterval(() => {
        if (node.figures.pages < 50) return
        clearInterval(watch)
        node.stop('interrupted')
      }, 5)
    },
  })
  expect(first.reason).toBe('interrupted')
  const second = await crawl({ seeds: [], dir, agents: 3 })
  const truth = web.truth()
  expectTruth(second, truth)
  expectAskedOnce(second, web, truth)
})

test('an agent whose thread ends is started again from its last commit, and nothing is lost', async () => {
  const web = await startWeb({ seed: 'killed', hosts: 12, pages: 60 })
  let kills = 0
  const result = await crawl({
    seeds: web.seeds(),
    dir: directory(),
    agents: 3,
    flags: { ...FAST, 'max-rate': '200' },
    duringNode: (node) => {
      const watch = setInterval(() => {
        if (node.figures.pages < 60 * (kills + 1)) return
        if (node.restarts < kills) return
        node.restartAgent(kills % 3)
        kills++
        if (kills === 4) clearInterval(watch)
      }, 5)
      watch.unref()
    },
  })
  expect(kills).toBe(4)
  expectTruth(result, web.truth())
  const urls = result.pages.map((page) => page.url)
  expect(new Set(urls).size).toBe(urls.length)
})
