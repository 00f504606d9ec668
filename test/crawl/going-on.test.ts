// A crawl that is stopped and started again is the same crawl: its politeness, its limits, its figures
// and its files go on, whatever was changed in between.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { FlagValue } from '../../src/config/index.ts'
import { startTestWeb, type TestWeb, type TestWebOptions } from '../../testweb/index.ts'
import { checkArchive } from '../archive-check.ts'
import { crawl, type CrawlResult, FAST, QUICK_BACKOFF, temporaryDirectory } from './run-crawl.ts'

async function startWeb(options: TestWebOptions): Promise<TestWeb> {
  const web = await startTestWeb(options)
  onTestFinished(() => web.stop())
  return web
}

/** Runs in one directory, one after the other. */
function runsOf(
  web: TestWeb,
  seeds = web.seeds(),
): (flags?: Record<string, FlagValue>, config?: object) => Promise<CrawlResult> {
  const dir = temporaryDirectory(onTestFinished)
  return (flags = {}, config = {}) =>
    crawl({ seeds, dir, flags: { ...FAST, ...flags }, config: { ...QUICK_BACKOFF, ...config } })
}

const urlsOf = (result: CrawlResult): string[] => result.pages.map((page) => page.url).toSorted()

test('Crawl-delay holds after a restart, though robots.txt is not read again', async () => {
  const web = await startWeb({ hosts: 2, pages: 4, robots: { delay: 1 }, crawlDelayS: 0.15, latencyMs: 1 })
  const run = runsOf(web)
  await run({ 'max-pages': '3' })
  await run()
  expect(web.politeness({ delayMs: 150 })).toEqual([])
  expect([...web.log.requests()].filter((request) => request.path === '/robots.txt')).toHaveLength(2)
})

test('a host with nothing waiting rests after a restart too, before a new seed is asked', async () => {
  const web = await startWeb({ hosts: 1, pages: 6, latencyMs: 1 })
  const dir = temporaryDirectory(onTestFinished)
  const flags = { ...FAST, delay: '400ms', 'max-depth': '0' }
  const [seed = ''] = web.seeds()
  await crawl({ seeds: [seed], dir, flags })
  await crawl({ seeds: [web.url(0, 1)], dir, flags })
  expect(web.requests(web.url(0, 1))).toBe(1)
  expect(web.politeness({ delayMs: 400 })).toEqual([])
})

test('raising --max-depth goes on to exactly the deeper truth', async () => {
  const web = await startWeb({ hosts: 3, pages: 80, branching: 3, crossHostShare: 0.1 })
  const run = runsOf(web)
  const shallow = await run({ 'max-depth': '1' })
  expect(urlsOf(shallow)).toEqual([...web.truth({ maxDepth: 1 }).pages.keys()].toSorted())
  const deep = await run()
  expect(urlsOf(deep)).toEqual([...web.truth().pages.keys()].toSorted())
  expect(deep.snapshot.figures.settled).toBe(deep.snapshot.figures.admitted)
  for (const url of urlsOf(deep)) expect(web.requests(url), url).toBe(1)
})

test('raising the pages of a host goes on, and the figures take the skips back', async () => {
  const web = await startWeb({ hosts: 2, pages: 20 })
  const run = runsOf(web)
  const few = await run({ 'max-pages-per-host': '3' })
  expect(few.snapshot.figures).toMatchObject({ pages: 6, skipped: { 'host-budget': expect.any(Number) as number } })
  const all = await run()
  expect(urlsOf(all)).toEqual([...web.truth().pages.keys()].toSorted())
  expect(all.snapshot.figures.skipped).toEqual({})
  const again = await run()
  expect(again.snapshot.figures).toMatchObject({ pages: all.pages.length, skipped: {} })
})

test('figures are those of the whole crawl, also when nothing is left to do', async () => {
  const web = await startWeb({ hosts: 4, pages: 10, faults: 'mild' })
  const run = runsOf(web)
  const first = await run()
  const second = await run()
  const third = await run()
  const told = ({ snapshot }: CrawlResult): unknown => {
    const { admitted, pages, failed, bytes, wireBytes, skipped, refused, answers, failures } = snapshot.figures
    const { hosts } = snapshot.frontier
    return { admitted, pages, failed, bytes, wireBytes, skipped, refused, answers, failures, hosts }
  }
  for (const later of [second, third]) {
    expect(told(later)).toEqual(told(first))
    expect(later.snapshot.totalMs).toBe(second.snapshot.totalMs)
    expect(later.snapshot.runMs).toBe(0)
  }
})

test('an archive that is off for a run keeps what it had, and goes on later', async () => {
  const web = await startWeb({ hosts: 2, pages: 20 })
  const run = runsOf(web)
  await run({ warc: 'gzip', 'max-pages': '10' })
  await run({ warc: 'off', 'max-pages': '15' }, { agent: { linkLog: false } })
  const { dir, pages } = await run({ warc: 'none' })
  const { problems } = checkArchive(dir)
  expect(problems).toEqual([])
  expect(pages.filter((page) => page.warc === null)).toHaveLength(5)
  const index = readFileSync(join(dir, 'archive/index.cdxj'), 'utf8').trim().split('\n')
  expect(index.length).toBeGreaterThanOrEqual(pages.length - 5)
})

test('seeds of which nothing came are asked again; those that gave pages are not', async () => {
  const web = await startWeb({ hosts: 1, pages: 5 })
  const dir = temporaryDirectory(onTestFinished)
  const refused = await crawl({ seeds: web.seeds(), dir, flags: { delay: '0ms', warc: 'none' } })
  expect(refused.failures).toMatchObject([{ reason: 'private-address' }])
  const allowed = await crawl({ seeds: web.seeds(), dir })
  expect(urlsOf(allowed)).toEqual([...web.truth().pages.keys()].toSorted())
  expect(allowed.snapshot.figures.skipped).toEqual({})
})
