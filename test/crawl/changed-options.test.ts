// A crawl that goes on with other options: what waits is judged by them, what they kept out comes back when they are taken
// back, and what cannot change is refused before anything is touched.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { FlagValue } from '../../src/config/index.ts'
import { startTestWeb, type TestWeb, type TestWebOptions } from '../../testweb/index.ts'
import { checkArchive } from '../archive-check.ts'
import { portolan } from '../cli/portolan.ts'
import { bodyProblems } from './check-bodies.ts'
import { crawl, type CrawlResult, FAST, temporaryDirectory } from './run-crawl.ts'

async function startWeb(options: TestWebOptions): Promise<TestWeb> {
  const web = await startTestWeb(options)
  onTestFinished(() => web.stop())
  return web
}

/** Runs in one directory, one after the other. */
function runsOf(web: TestWeb): (flags?: Record<string, FlagValue>) => Promise<CrawlResult> {
  const dir = temporaryDirectory(onTestFinished)
  return (flags = {}) => crawl({ seeds: web.seeds(), dir, flags: { ...FAST, ...flags } })
}

const urlsOf = (result: CrawlResult): string[] => result.pages.map(({ url }) => url).toSorted()
const skippedBy = (result: CrawlResult, reason: string): string[] =>
  result.failures.filter((record) => record.reason === reason).map(({ url }) => url)

/** Whatever was done to the options: every URL met has one verdict or waits, and no page was asked for twice. */
function expectSound(result: CrawlResult, web: TestWeb): void {
  const { figures, frontier } = result.snapshot
  expect(figures.admitted).toBe(result.pages.length + result.failures.length + frontier.waiting)
  const verdicts = [...result.pages, ...result.failures].map(({ url }) => url)
  expect(new Set(verdicts).size).toBe(verdicts.length)
  for (const { url } of result.pages) expect(web.requests(url), url).toBe(1)
}

describe('the scope', () => {
  test('narrowed: what waits outside of it is skipped; widened again: it comes back, and nothing else is lost', async () => {
    const web = await startWeb({ hosts: 3, pages: 60 })
    const run = runsOf(web)
    const first = await run({ 'max-pages': '20' })
    const narrowed = await run({ exclude: ['/p1'] })
    expectSound(narrowed, web)
    const outside = skippedBy(narrowed, 'scope-changed')
    expect(outside.length).toBeGreaterThan(5)
    expect(outside.every((url) => /\/p1/.test(url))).toBe(true)
    const known = new Set(urlsOf(first))
    expect(urlsOf(narrowed).filter((url) => !known.has(url) && /\/p1/.test(url))).toEqual([])
    expect(narrowed.snapshot.figures.skipped).toEqual({ 'scope-changed': outside.length })

    const widened = await run()
    expectSound(widened, web)
    expect(widened.failures).toEqual([])
    expect(widened.snapshot.figures.skipped).toEqual({})
    const now = new Set(urlsOf(widened))
    expect(outside.filter((url) => !now.has(url))).toEqual([])
    expect(urlsOf(narrowed).filter((url) => !now.has(url))).toEqual([])
  })

  test('narrowed twice: what the second one would admit comes back, the rest stays skipped', async () => {
    const web = await startWeb({ hosts: 2, pages: 60 })
    const run = runsOf(web)
    await run({ 'max-pages': '10' })
    const narrow = await run({ exclude: ['/p[12]'] })
    const narrower = skippedBy(narrow, 'scope-changed')
    const again = await run({ exclude: ['/p1'] })
    expectSound(again, web)
    const stays = narrower.filter((url) => /\/p1/.test(url))
    expect(skippedBy(again, 'scope-changed').toSorted()).toEqual(stays.toSorted())
    expect(stays.length).toBeGreaterThan(0)
    expect(stays.length).toBeLessThan(narrower.length)
  })
})

describe('limits', () => {
  test('--max-depth lowered skips what waits deeper; taken off again, the whole truth comes', async () => {
    const web = await startWeb({ hosts: 3, pages: 80, branching: 3, linksPerPage: 8, crossHostShare: 0.1 })
    const run = runsOf(web)
    await run({ 'max-pages': '60' })
    const shallow = await run({ 'max-depth': '2' })
    expectSound(shallow, web)
    expect(skippedBy(shallow, 'scope-changed').length).toBeGreaterThan(0)
    for (const { depth, reason } of shallow.failures) expect([depth > 2, reason]).toEqual([true, 'scope-changed'])
    const deep = await run()
    expectSound(deep, web)
    expect(urlsOf(deep)).toEqual([...web.truth().pages.keys()].toSorted())
    expect(deep.snapshot.figures.skipped).toEqual({})
  })

  test('--max-pages-per-host raised step by step, lowered, and taken off', async () => {
    const web = await startWeb({ hosts: 3, pages: 30 })
    const run = runsOf(web)
    for (const [limit, pages] of [
      [2, 6],
      [5, 15],
      [3, 15],
      [9, 27],
    ]) {
      const result = await run({ 'max-pages-per-host': String(limit) })
      expectSound(result, web)
      expect(result.pages).toHaveLength(pages ?? 0)
      expect(result.reason).toBe('finished')
    }
    const all = await run()
    expectSound(all, web)
    expect(urlsOf(all)).toEqual([...web.truth().pages.keys()].toSorted())
    expect(all.snapshot.figures.skipped).toEqual({})
  })
})

test('other sessionIds are refused with 2 and the reason; with those it had, the crawl goes on', async () => {
  const web = await startWeb({ hosts: 1, pages: 20 })
  const folder = temporaryDirectory(onTestFinished)
  const dir = join(folder, 'out')
  const config = (names: readonly string[]): string => {
    const path = join(folder, `${names.join('-')}.json`)
    writeFileSync(path, JSON.stringify({ url: { sessionIds: names } }))
    return path
  }
  const args = [
    'crawl',
    ...web.seeds(),
    '--dir',
    dir,
    ...['--allow-private', '--delay', '0ms', '--agents', '1', '--progress', 'none'],
  ]
  const first = await portolan([...args, '--max-pages', '5', '--config', config(['sid'])])
  expect(first.code, first.stderr).toBe(0)
  const pages = readFileSync(join(dir, 'pages.jsonl'))
  const asked = web.log.length

  const other = await portolan([...args, '--config', config(['sid', 'token'])])
  expect(other.code).toBe(2)
  expect(other.stderr).toContain('sessionIds')
  expect(other.stderr).toContain('sid')
  expect(web.log.length).toBe(asked)
  expect(readFileSync(join(dir, 'pages.jsonl'))).toEqual(pages)

  const same = await portolan([...args, '--config', config(['sid']), '--json'])
  expect(same.code, same.stderr).toBe(0)
  expect(JSON.parse(same.stdout)).toMatchObject({ pages: web.truth().pages.size, stoppedBecause: 'finished' })
})

test('--warc changed from run to run: every file is valid, every page is where its line says', async () => {
  const web = await startWeb({ hosts: 4, pages: 40, faults: 'mild' })
  const run = runsOf(web)
  const kinds = ['gzip', 'zstd', 'none', 'off', 'gzip', 'zstd']
  let before = 0
  for (const [i, warc] of kinds.entries()) {
    const isLast = i === kinds.length - 1
    const result = await run(isLast ? { warc } : { warc, 'max-pages': String(20 * (i + 1)) })
    const { files, problems } = checkArchive(result.dir)
    expect(problems, warc).toEqual([])
    const kept = result.pages.filter((page) => page.warc !== null)
    expect(bodyProblems(kept, files)).toEqual([])
    const added = result.pages.slice(before)
    expect(added.length).toBeGreaterThan(0)
    expect(added.every((page) => (page.warc === null) === (warc === 'off'))).toBe(true)
    before = result.pages.length
    if (!isLast) continue
    expect(urlsOf(result)).toEqual([...web.truth().pages.keys()].toSorted())
    const endings = readdirSync(join(result.dir, 'archive')).map((name) => name.replace(/^.*?(\.warc|\.cdxj)/, '$1'))
    expect(new Set(endings)).toEqual(new Set(['.warc.gz', '.warc.zst', '.warc', '.cdxj']))
  }
})
