// Agents of a crawl are killed one by one at random moments, while they open, work and stop: the crawl is the one in which nobody died.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Random } from '../../src/base/index.ts'
import type { CrawlNode } from '../../src/supervise/index.ts'
import { checkArchive } from '../archive-check.ts'
import { directory, expectTruth, startWeb } from '../crawl/expect-truth.ts'
import { crawl, type CrawlResult, FAST } from '../crawl/run-crawl.ts'

/** Agents say how far they are four times a second: a crawl that is to be stopped in its middle must last longer. */
const SLOW = { ...FAST, 'max-rate': '100' }
const TIMEOUT_MS = 300_000
const AGENTS = 3

/** Kills an agent each time some more requests have come, whatever it is doing then; says how often it did. */
function killing(
  random: Random,
  most: number,
  requests: () => number,
): { during: (node: CrawlNode) => void; kills: () => number } {
  let kills = 0
  const during = (node: CrawlNode): void => {
    let next = 10 + random.below(40)
    const watch = setInterval(() => {
      if (requests() < next) return
      // Now and then the same one again at once: it is being opened then.
      next = requests() + (random.below(3) === 0 ? 0 : 5 + random.below(60))
      node.restartAgent(random.below(AGENTS))
      if (++kills === most) clearInterval(watch)
    }, 3)
    watch.unref()
  }
  return { during, kills: () => kills }
}

function expectEachOnce({ pages, failures, dir }: CrawlResult): void {
  const urls = [...pages, ...failures].map(({ url }) => url)
  expect(new Set(urls).size).toBe(urls.length)
  expect(checkArchive(dir).problems).toEqual([])
  expect(readdirSync(join(dir, 'archive')).filter((name) => name.endsWith('.open'))).toEqual([])
}

describe('killed again and again', () => {
  test.for(['one', 'two'])(
    'seed %s: every page once, and the archive is whole',
    { timeout: TIMEOUT_MS },
    async (seed) => {
      const web = await startWeb({ seed, hosts: 12, pages: 40, faults: 'mild', crossHostShare: 0.4, latencyMs: 1 })
      const { during, kills } = killing(new Random(seed), 12, () => web.log.length)
      const result = await crawl({ seeds: web.seeds(), dir: directory(), agents: AGENTS, duringNode: during })
      expect(kills()).toBeGreaterThan(3)
      expectTruth(result, web.truth())
      expectEachOnce(result)
    },
  )

  test('--max-pages is exact', { timeout: TIMEOUT_MS }, async () => {
    const web = await startWeb({ seed: 'limit', hosts: 9, pages: 60, crossHostShare: 0.4, latencyMs: 1 })
    const { during, kills } = killing(new Random('limit'), 8, () => web.log.length)
    const flags = { ...FAST, 'max-pages': '300' }
    const result = await crawl({ seeds: web.seeds(), dir: directory(), flags, agents: AGENTS, duringNode: during })
    expect(kills()).toBeGreaterThan(2)
    expect(result.pages).toHaveLength(300)
    expect(result.reason).toBe('max-pages')
    expectEachOnce(result)
  })
})

/** Each page in the archive has its line in the index, and besides them there are only rules. */
function expectWholeIndex({ pages, dir }: CrawlResult): void {
  const lines = readFileSync(join(dir, 'archive/index.cdxj'), 'latin1').trimEnd().split('\n')
  const urls = lines.map((line) => (JSON.parse(line.slice(line.indexOf('{'))) as { url: string }).url)
  expect(lines).toEqual(lines.toSorted((one, two) => (one < two ? -1 : 1)))
  expect(urls.filter((url) => !url.endsWith('/robots.txt')).toSorted()).toEqual(
    pages.flatMap(({ url, warc }) => (warc === null ? [] : [url])).toSorted(),
  )
}

// The first is also the one whose thread sorts the index.
test.each([0, 1])(
  'agent %i dies while all are stopping and is opened once more: nothing is left half finished',
  { timeout: TIMEOUT_MS },
  async (agent) => {
    const web = await startWeb({ seed: 'stop', hosts: 9, pages: 60, latencyMs: 1 })
    const dir = directory()
    const duringNode = (node: CrawlNode): void => {
      const watch = setInterval(() => {
        if (node.figures.pages < 40) return
        clearInterval(watch)
        node.stop('interrupted')
        node.restartAgent(agent)
      }, 3)
    }
    const first = await crawl({ seeds: web.seeds(), dir, agents: AGENTS, flags: SLOW, duringNode })
    expect(first.reason).toBe('interrupted')
    expectEachOnce(first)
    expect(first.snapshot.figures.pages).toBe(first.pages.length)
    expectWholeIndex(first)
    const second = await crawl({ seeds: [], dir, agents: AGENTS })
    expectTruth(second, web.truth())
    expectEachOnce(second)
    expectWholeIndex(second)
  },
)

test.each([1, 2])(
  'the index is sorted also where the agent that sorts it dies in the middle, of %i',
  { timeout: TIMEOUT_MS },
  async (agents) => {
    const web = await startWeb({ seed: 'sort', hosts: 9, pages: 60 })
    const dir = directory()
    let isKilled = false
    const duringNode = (node: CrawlNode): void => {
      const close = node.close.bind(node)
      const kill = async (): Promise<void> => {
        const isBegun = (): boolean => readdirSync(join(dir, 'archive')).some((name) => name.startsWith('index.cdxj'))
        while (!isBegun()) await new Promise((goOn) => setImmediate(goOn))
        isKilled = true
        node.restartAgent(0)
      }
      Object.assign(node, { close: (last?: () => Promise<void>) => close(last, kill) })
    }
    const result = await crawl({ seeds: web.seeds(), dir, agents, duringNode })
    expect(isKilled).toBe(true)
    expectTruth(result, web.truth())
    expectEachOnce(result)
    expectWholeIndex(result)
  },
)

test(
  'all agents know all seeds, also in a run that is given none: a link to a host of another is in scope',
  { timeout: TIMEOUT_MS },
  async () => {
    const web = await startWeb({ seed: 'scope', hosts: 10, pages: 40, crossHostShare: 1 })
    const dir = directory()
    const duringNode = (node: CrawlNode): void => {
      const watch = setInterval(() => {
        if (node.figures.pages < 20) return
        clearInterval(watch)
        node.stop('interrupted')
      }, 3)
    }
    await crawl({ seeds: web.seeds(), dir, agents: AGENTS, flags: SLOW, duringNode })
    const result = await crawl({ seeds: [], dir, agents: AGENTS })
    expectTruth(result, web.truth())
    expect(result.snapshot.figures.refused['out-of-scope'] ?? 0).toBe(0)
  },
)
