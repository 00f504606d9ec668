// Pages that are put back in line are visited again: what has changed is fetched, of the rest the server says so, and the
// books balance all the while.

import { cpSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { repairCrawl } from '../../src/agent/index.ts'
import { Random, systemClock } from '../../src/base/index.ts'
import { runRequeue } from '../../src/cli/requeue.ts'
import type { PageRecord } from '../../src/store/index.ts'
import type { CanonicalUrl } from '../../src/url/index.ts'
import { summarise, explainUrl } from '../../src/report/index.ts'
import { checkArchive } from '../archive-check.ts'
import { startTestWeb, type TestWeb } from '../../testweb/index.ts'
import { crawl, type CrawlResult, FAST, QUICK_BACKOFF, settingsOf, temporaryDirectory } from './run-crawl.ts'

const PERIOD_MS = 60_000
/** Pages change every 1, 4 or 16 periods: by now all of the changing ones have. */
const LATER_MS = 16 * PERIOD_MS

interface Scene {
  readonly web: TestWeb
  readonly stop: () => Promise<void>
  readonly dir: string
  readonly first: CrawlResult
}

/** A web of pages of which two in five change, crawled once. */
async function crawled(agents = 0, flags = FAST): Promise<Scene> {
  const web = await startTestWeb({ hosts: 2, pages: 15, variants: { changing: 0.4 }, changePeriodMs: PERIOD_MS })
  let isStopped = false
  const stop = async (): Promise<void> => {
    if (!isStopped) await web.stop()
    isStopped = true
  }
  onTestFinished(stop)
  const dir = temporaryDirectory(onTestFinished)
  const first = await crawl({ seeds: web.seeds(), dir, agents, flags })
  writeFileSync(
    join(dir, 'state/settings.json'),
    JSON.stringify({ fetch: { allowPrivate: true }, frontier: { delay: '0ms' }, store: { warc: flags['warc'] } }),
  )
  return { web, stop, dir, first }
}

async function requeue(...args: string[]): Promise<{ requeued: number }> {
  let out = ''
  let err = ''
  const streams = {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
  }
  expect([await runRequeue([...args, '--json'], streams), err]).toEqual([0, ''])
  return JSON.parse(out) as { requeued: number }
}

/** The lines that count. */
function latest(pages: readonly PageRecord[]): Map<string, PageRecord> {
  return new Map(pages.map((page) => [page.url, page]))
}

/** As the web has it: whether the bytes differ between the beginning and later. */
function hasChanged(web: TestWeb, url: string): boolean {
  return !web.web.body(url, 0)!.equals(web.web.body(url, LATER_MS)!)
}

function expectBalance({ snapshot: { figures, frontier } }: CrawlResult): void {
  expect(figures.admitted).toBe(figures.settled + frontier.waiting)
}

describe.each([0, 2])('with %i agents in threads', (agents) => {
  test('a return fetches exactly what has changed', async () => {
    const { web, dir, first } = await crawled(agents)
    const had = first.pages.filter(({ status }) => status === 200)
    expect(await requeue(dir, '--pages')).toMatchObject({ requeued: first.pages.length })
    web.setTime(LATER_MS)
    const second = await crawl({ seeds: [], dir, agents })
    const again = second.pages.slice(first.pages.length)
    expect(new Set(again.map(({ url }) => url))).toEqual(new Set(first.pages.map(({ url }) => url)))
    expect(again.every(({ visit }) => visit === 2)).toBe(true)
    const changed = had.filter(({ url }) => hasChanged(web, url)).map(({ url }) => url)
    expect(changed.length).toBeGreaterThan(5)
    expect(
      again
        .filter(({ status }) => status === 200)
        .map(({ url }) => url)
        .toSorted(),
    ).toEqual(changed.toSorted())
    expect(again.filter(({ status }) => status === 304)).toHaveLength(had.length - changed.length)
    for (const page of again) {
      const before = latest(first.pages).get(page.url)
      if (page.status === 304) {
        expect(page).toMatchObject({
          revisitOf: before?.fetchedAt,
          digest: before?.digest,
          etag: before?.etag,
          bytes: 0,
        })
      } else if (page.status === 200) expect(page.revisitOf).toBeUndefined()
    }
    expectBalance(second)
    expect(second.snapshot.figures).toMatchObject({
      pages: first.snapshot.figures.pages,
      admitted: first.snapshot.figures.admitted,
      answers: { '2xx': changed.length },
    })
    expect(second.failures).toEqual(first.failures)
  })
})

test('unconditionally, what has not changed is its own copy and nobody else’s', async () => {
  const { dir, first } = await crawled()
  await requeue(dir, '--pages')
  const second = await crawl({ seeds: [], dir, config: { ...QUICK_BACKOFF, fetch: { conditional: false } } })
  const again = second.pages.slice(first.pages.length).filter(({ status }) => status === 200)
  const before = latest(first.pages)
  expect(again.length).toBeGreaterThan(20)
  for (const page of again) {
    expect(page.revisitOf).toBe(before.get(page.url)?.fetchedAt)
    expect(page.duplicateOf).toBe(before.get(page.url)?.duplicateOf)
  }
  expectBalance(second)
})

test('the archive says what is unchanged, and since when', async () => {
  const { dir, first } = await crawled()
  await requeue(dir, '--pages')
  const second = await crawl({ seeds: [], dir })
  await requeue(dir, '--pages')
  const third = await crawl({ seeds: [], dir })
  const { files, problems } = checkArchive(dir)
  expect(problems).toEqual([])
  const revisits = [...files.values()]
    .flat()
    .filter((record) => record.field('WARC-Profile')?.endsWith('/server-not-modified'))
  const before = latest(first.pages)
  expect(revisits).toHaveLength(third.pages.filter(({ status }) => status === 304).length)
  expect(revisits.length).toBeGreaterThan(40)
  for (const revisit of revisits) {
    const url = revisit.field('WARC-Target-URI') ?? ''
    const page = before.get(url)
    expect(revisit.type).toBe('revisit')
    expect(revisit.field('WARC-Refers-To-Target-URI')).toBe(url)
    // Of the third visit too: the date of the capture that has the content.
    expect(revisit.field('WARC-Refers-To-Date')).toBe(page?.fetchedAt)
    expect(revisit.field('WARC-Payload-Digest')).toBe(page?.payloadDigest ?? page?.digest)
    expect(revisit.field('WARC-Truncated')).toBeNull()
  }
  const last = third.pages.slice(second.pages.length)
  expect(last.every(({ visit }) => visit === 3)).toBe(true)
  expectBalance(third)
})

test('report and explanation go by the last visit, and know that a page waits again', async () => {
  const { web, dir, first } = await crawled()
  const before = await summarise(dir)
  const [seed = ''] = web.seeds()
  const explained = async () =>
    explainUrl(dir, seed as CanonicalUrl, { judge: () => null, frontier: null, crawlDelayMaxMs: 0, wallMs: 0 })
  await requeue(dir, '--pages', '--host', seed)
  const ofHost = first.pages.filter(({ url }) => url.startsWith(seed)).length
  expect(await summarise(dir)).toMatchObject({ pages: before.pages - ofHost, earlierVisits: ofHost })
  expect(await explained()).toMatchObject({ state: 'waiting', page: null, earlierVisits: 1 })
  // Put back twice is put back once.
  expect(await requeue(dir, '--pages', '--host', seed)).toMatchObject({ requeued: 0 })
  const second = await crawl({ seeds: [], dir })
  expect(second.snapshot.figures.pages).toBe(first.snapshot.figures.pages)
  expect(await summarise(dir)).toMatchObject({ pages: before.pages, earlierVisits: ofHost, failed: before.failed })
  expect(await explained()).toMatchObject({ state: 'page', page: { visit: 2, status: 304 }, earlierVisits: 1 })
})

test('a page that cannot be had again is a failure, and its old line counts no more', async () => {
  const { stop, dir, first } = await crawled()
  await requeue(dir, '--pages', '--status', '2xx')
  await stop()
  const second = await crawl({ seeds: [], dir, config: { ...QUICK_BACKOFF, agent: { retries: 0 } } })
  expect(second.pages).toEqual(first.pages)
  expectBalance(second)
  const { pages, failed } = second.snapshot.figures
  expect(pages).toBe(first.pages.filter(({ status }) => status !== 200).length)
  expect(await summarise(dir)).toMatchObject({ pages, failed })
  expect(failed).toBe(first.pages.length - pages)
})

test('another number of agents goes on with what waits, and asks as little', async () => {
  const { dir, first } = await crawled()
  await requeue(dir, '--pages')
  const second = await crawl({ seeds: [], dir, agents: 2 })
  const again = second.pages.filter(({ visit }) => visit === 2)
  expect(again).toHaveLength(first.pages.length)
  expect(
    again
      .filter(({ status }) => status === 304)
      .map(({ url }) => url)
      .toSorted(),
  ).toEqual(
    first.pages
      .filter(({ status }) => status === 200)
      .map(({ url }) => url)
      .toSorted(),
  )
  expectBalance(second)
  expect(second.snapshot.figures.pages).toBe(first.snapshot.figures.pages)
  expect((await summarise(dir)).pages).toBe(first.pages.length)
})

test('what was put back is durable when it is told so, and a copy of the crawl returns as well', async () => {
  const { dir, first } = await crawled()
  const copy = temporaryDirectory(onTestFinished)
  const checkpoint = join(temporaryDirectory(onTestFinished), 'checkpoint')
  const stopped = await crawl({
    seeds: [],
    dir,
    before: async (job) => {
      await job.requeuePages(() => true)
      // As a process that is killed now would leave it.
      cpSync(dir, copy, { recursive: true, filter: (path) => !/state\/(?:lock|pid)$/.test(path) })
      await job.checkpoint(checkpoint)
    },
    during: (job) => job.stop('interrupted'),
  })
  expect(stopped.snapshot.frontier.waiting).toBeGreaterThan(0)
  for (const place of [dir, copy, checkpoint]) {
    const after = await crawl({ seeds: [], dir: place })
    expect(
      after.pages
        .filter(({ status }) => status === 304)
        .map(({ url }) => url)
        .toSorted(),
    ).toEqual(
      first.pages
        .filter(({ status }) => status === 200)
        .map(({ url }) => url)
        .toSorted(),
    )
    expectBalance(after)
  }
})

test('a host that has its pages is returned to all the same', async () => {
  const { dir, first } = await crawled()
  await requeue(dir, '--pages')
  const second = await crawl({ seeds: [], dir, config: { ...QUICK_BACKOFF, agent: { hostPages: 10 } } })
  expect(second.pages).toHaveLength(2 * first.pages.length)
  expect(second.snapshot.figures.skipped).toEqual({})
})

test('a repair knows what waits to be visited again', async () => {
  const { dir, first } = await crawled()
  await requeue(dir, '--pages')
  const tenth = await crawl({ seeds: [], dir, flags: { ...FAST, 'max-pages': '10' } })
  expect(tenth.pages).toHaveLength(first.pages.length + 10)
  // The journal loses its last batch, and the frontier is ahead of it: it is made anew from what the files know.
  const journal = join(dir, 'state/journal')
  const path = join(journal, readdirSync(journal).toSorted().at(-1) ?? '')
  truncateSync(path, statSync(path).size - 10)
  const settings = settingsOf(FAST)
  const { waiting } = await repairCrawl({ dir, settings, clock: systemClock, random: new Random('repair') })
  expect(waiting).toBeGreaterThanOrEqual(first.pages.length - 10)
  const last = await crawl({ seeds: [], dir })
  expect(
    last.pages
      .filter(({ visit }) => visit === 2)
      .map(({ url }) => url)
      .toSorted(),
  ).toEqual(first.pages.map(({ url }) => url).toSorted())
  expectBalance(last)
  expect(last.snapshot.figures.pages).toBe(first.pages.length)
})
