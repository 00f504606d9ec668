// A crawl goes on with another number of agents than it had: everything is shared anew, and nothing is lost or done twice.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { FlagValue } from '../../src/config/index.ts'
import { type OriginalNote, SegmentedJournal } from '../../src/ledger/index.ts'
import { Random } from '../../src/base/index.ts'
import { type PageRecord, readJsonLines } from '../../src/store/index.ts'
import { loadLayout, sharesOf } from '../../src/view/index.ts'
import { checkArchive } from '../archive-check.ts'
import { portolan } from '../cli/portolan.ts'
import { directory, expectAskedOnce, expectTruth, startWeb } from '../crawl/expect-truth.ts'
import { crawl, type CrawlOptions, type CrawlResult, FAST, newIdentity } from '../crawl/run-crawl.ts'
import { crawlLossily } from './lossy-pair.ts'
import { expectOneOriginalEach } from './one-original.ts'

/** Several crawls a test, and several threads a crawl. */
const TIMEOUT = { timeout: 300_000 }

/** Crawls until it has so many pages, then stops as by Ctrl-C. Slowly: agents say how far they are four times a second. */
async function interrupted(pages: number, options: CrawlOptions & { readonly dir: string }): Promise<CrawlResult> {
  const result = await crawl({
    ...options,
    flags: { ...FAST, ...options.flags, 'max-rate': '50' },
    duringNode: (node) => {
      const watch = setInterval(() => {
        if (node.figures.pages < pages) return
        clearInterval(watch)
        node.stop('interrupted')
      }, 2)
      watch.unref()
    },
  })
  expect(result.reason).toBe('interrupted')
  return result
}

/** As many shares as the layout says, and nothing of any others. */
async function expectShares(dir: string, agents: number, edition: number): Promise<void> {
  const layout = await loadLayout(dir)
  const names = Array.from({ length: agents }, (_, agent) => `${edition}-${agent}`)
  expect(layout).toEqual(names.map((name) => `state/agents/${name}`))
  expect(readdirSync(join(dir, 'state/agents')).sort()).toEqual(names)
  const rest = readdirSync(join(dir, 'state'))
  for (const gone of ['journal', 'frontier', 'seen', 'contents', 'seeds.jsonl', 'links.log', 'resharing.json']) {
    expect(rest).not.toContain(gone)
  }
}

describe('interrupted and gone on with', TIMEOUT, () => {
  test.for([
    [2, 1],
    [1, 4],
  ] as const)('%d agents, then %d: every page once, one original of each content', async ([before, after]) => {
    const web = await startWeb({ seed: `anew-${before}-${after}`, hosts: 9, pages: 30, faults: 'mild' })
    const dir = directory()
    const first = await interrupted(60, { seeds: web.seeds(), dir, agents: before })
    const truth = web.truth()
    expect(first.pages.length).toBeLessThan(truth.pages.size - 20)
    const second = await crawl({ seeds: web.seeds(), dir, agents: after })
    expectTruth(second, truth)
    expectAskedOnce(second, web, truth)
    expectOneOriginalEach(second)
    expect(web.politeness({ delayMs: 0 })).toEqual([])
    await expectShares(dir, after, 2)
  })

  test('one, two, one and three agents by turns, with an archive of all that every index finds', async () => {
    const web = await startWeb({ seed: 'by-turns', hosts: 10, pages: 40 })
    const dir = directory()
    const options = { seeds: web.seeds(), dir, flags: { ...FAST, warc: 'gzip', delay: '15ms' } }
    await interrupted(40, { ...options, agents: 1 })
    await interrupted(80, { ...options, agents: 2 })
    await interrupted(120, { ...options, agents: 1 })
    const last = await crawl({ ...options, agents: 3 })
    expectTruth(last, web.truth())
    expectAskedOnce(last, web, web.truth())
    expect(web.politeness({ delayMs: 15 })).toEqual([])
    await expectShares(dir, 3, 4)
    expect(checkArchive(dir).problems).toEqual([])
    expect(readdirSync(join(dir, 'archive')).filter((name) => name.endsWith('.open'))).toEqual([])
  })
})

test('the command says what it does, and goes on', TIMEOUT, async () => {
  const web = await startWeb({ seed: 'said', hosts: 4, pages: 12 })
  const dir = directory()
  const common = ['crawl', ...web.seeds(), '--dir', dir, '--allow-private', '--delay', '0ms', '--warc', 'off']
  const first = await portolan([...common, '--agents', '1', '--max-pages', '10'])
  expect(first.code, first.stderr).toBe(0)
  const second = await portolan([...common, '--agents', '2', '--max-pages', '10000', '--json'])
  expect(second.code, second.stderr).toBe(0)
  expect(second.stderr).toMatch(/^Sharing \d+ URLs among 2 agents instead of 1…$/m)
  const { pages, waiting } = JSON.parse(second.stdout) as Record<string, number>
  expect({ pages, waiting }).toEqual({ pages: web.truth().pages.size, waiting: 0 })
  // From now on it has two, whoever says nothing.
  const third = await portolan(common)
  expect(third.stderr).not.toContain('Sharing')
  await expectShares(dir, 2, 2)
})

describe('limits hold over both runs', TIMEOUT, () => {
  test.for([[1, 3]] as const)('--max-pages, %d agents, then %d', async ([before, after]) => {
    const web = await startWeb({ hosts: 8, pages: 30 })
    const dir = directory()
    const flags = (pages: number): Readonly<Record<string, FlagValue>> => ({
      ...FAST,
      'max-pages': String(pages),
    })
    const first = await crawl({ seeds: web.seeds(), dir, flags: flags(31), agents: before })
    expect(first.pages).toHaveLength(31)
    const second = await crawl({ seeds: [], dir, flags: flags(73), agents: after })
    expect(second.pages).toHaveLength(73)
    expect(new Set(second.pages.map((page) => page.url)).size).toBe(73)
    expect(second.reason).toBe('max-pages')
  })

  test.for([[3, 2]] as const)(
    '--max-pages-per-host, and what it kept out comes when it is raised: %d agents, then %d',
    async ([before, after]) => {
      const web = await startWeb({ seed: 'per-host', hosts: 8, pages: 30 })
      const dir = directory()
      const flags = { ...FAST, 'max-pages-per-host': '10' }
      await interrupted(45, { seeds: web.seeds(), dir, flags, agents: before })
      const second = await crawl({ seeds: [], dir, flags, agents: after })
      const perHost = Map.groupBy(second.pages, (page) => new URL(page.url).host)
      expect(Math.max(...[...perHost.values()].map((pages) => pages.length))).toBe(10)
      expect(second.failures.some(({ reason }) => reason === 'host-budget')).toBe(true)
      // Verdicts are taken back by whoever has them now.
      const third = await crawl({ seeds: [], dir, agents: before })
      expectTruth(third, web.truth())
      expectAskedOnce(third, web, web.truth())
    },
  )
})

describe('what was on its way between the old agents', TIMEOUT, () => {
  test.for([
    ['parcel', 1],
    ['parcel', 3],
    ['confirmed', 1],
    ['confirmed', 3],
  ] as const)('arrives though no %s did, once: %d agents', async ([lost, after]) => {
    // Where parcels are lost a copy would wait for ever for word of its original: there, no copies. And one seed, so that the
    // hosts of one agent are reached by what the other finds alone, which has done by then all that it can do by itself.
    const isParcel = lost === 'parcel'
    const web = await startWeb({ seed: 'on-its-way', hosts: 10, pages: 30, faults: isParcel ? 'none' : 'mild' })
    const dir = directory()
    const seeds = isParcel ? web.seeds().slice(0, 1) : web.seeds()
    const flags = isParcel ? { ...FAST, scope: 'any' } : FAST
    const truth = isParcel ? web.truth({ seeds, scope: 'any' }) : web.truth()
    const pagesMax = isParcel ? Infinity : 150
    const { pages } = await crawlLossily(dir, seeds, flags, pagesMax, (message) => message.kind === lost)
    expect(pages).toBeGreaterThan(0)
    expect(pages).toBeLessThan(truth.pages.size)
    expect(await unconfirmed(dir)).toBeGreaterThan(0)
    const before = await linesOf<PageRecord>(dir, 'pages.jsonl')
    const second = await crawl({ seeds: [], dir, flags, agents: after })
    expectTruth(second, truth)
    // What was under way when it stopped had no page yet.
    expectAskedOnce({ ...second, pages: before }, web, truth)
    expectOneOriginalEach(second)
    const digests = (await linesOf<OriginalNote>(dir, 'state/originals.jsonl')).map(({ digest }) => digest)
    expect(new Set(digests).size).toBe(digests.length)
  })
})

async function linesOf<T>(dir: string, name: string): Promise<T[]> {
  const shares = await sharesOf(dir)
  return (await Promise.all(shares.map((share) => Array.fromAsync(readJsonLines<T>(join(share, name)))))).flat()
}

/** Links and contents in the journals that nobody has confirmed. */
async function unconfirmed(dir: string): Promise<number> {
  let count = 0
  for (const share of await sharesOf(dir)) {
    const random = new Random('look')
    const journal = await SegmentedJournal.open({
      directory: join(share, 'state/journal'),
      random,
      create: newIdentity,
    })
    for await (const { batch } of journal.history(journal.firstNumber - 1)) {
      count += batch.abroad.length + batch.originals.length
    }
    await journal.close()
  }
  return count
}
