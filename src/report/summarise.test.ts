// The report counts what is in the files: checked against a plain count over the same lines.

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeSampleCrawl } from '../../test/sample-crawl.ts'
import type { FailureRecord, PageRecord } from '../store/index.ts'
import { writeLayout } from '../view/index.ts'
import type { CrawlReport } from './crawl-report.ts'
import { summarise } from './summarise.ts'

let root: string
let serial = 0

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'portolan-report-'))
})

afterAll(async () => {
  await rm(root, { recursive: true })
})

const newDir = (): string => join(root, `crawl-${serial++}`)

async function linesOf<T>(path: string): Promise<T[]> {
  const text = await readFile(path, 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as T)
}

function countBy<T>(items: readonly T[], key: (item: T) => string | undefined): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const item of items) {
    const name = key(item)
    if (name !== undefined) counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

const asObject = (tally: { rows: readonly { name: string; count: number }[] }): Record<string, number> =>
  Object.fromEntries(tally.rows.map(({ name, count }) => [name, count]))

test.each([1, 2, 3])('every figure equals a plain count over the files (seed %d)', async (seed) => {
  const dir = newDir()
  const summary = await writeSampleCrawl(dir, { seed, pages: 2_000, hosts: 15 })
  const report = await summarise(dir)
  const pages = await linesOf<PageRecord>(join(dir, 'pages.jsonl'))
  const failures = await linesOf<FailureRecord>(join(dir, 'failures.jsonl'))
  const content = pages.filter((page) => page.status < 300)
  const failed = failures.filter((failure) => failure.kind === 'failed')

  expect(report.summary).toEqual(summary)
  expect(report).toMatchObject({
    pages: pages.length,
    failed: failed.length,
    skipped: failures.length - failed.length,
    ok: content.length,
    bytes: pages.reduce((sum, page) => sum + page.bytes, 0),
    wireBytes: pages.reduce((sum, page) => sum + page.wireBytes, 0),
    unreadableLines: 0,
    undecoded: content.filter((page) => page.decoding !== undefined).length,
    noindex: content.filter((page) => page.noindex === true).length,
    unstored: content.filter((page) => page.unstored !== undefined).length,
    untitled: content.filter((page) => page.type === 'text/html' && page.title === undefined).length,
    redirects: {
      permanent: pages.filter((page) => page.status === 301).length,
      temporary: pages.filter((page) => page.status === 302).length,
    },
  })
  expect(asObject(report.statuses)).toEqual(countBy(pages, (page) => String(page.status)))
  expect(asObject(report.types)).toEqual(countBy(content, (page) => page.type ?? 'unknown'))
  expect(asObject(report.charsets)).toEqual(countBy(content, (page) => page.charset))
  expect(asObject(report.languages)).toEqual(countBy(content, (page) => page.language?.split('-')[0]))
  expect(asObject(report.failures)).toEqual(countBy(failed, (failure) => failure.reason))
  expect(asObject(report.skips)).toEqual(summary.skipped)
  expect(asObject(report.servers)).toEqual(countBy(pages, (page) => page.server?.split('/')[0]))
  expect(asObject(report.topLevelDomains)).toEqual(
    countBy(pages, (page) => new URL(page.url).hostname.split('.').at(-1)),
  )
  expect(report.depths).toEqual(Object.values(countBy(pages, (page) => String(page.depth))))
  expect(report.duplicates.pages).toBe(content.filter((page) => page.duplicateOf !== undefined).length)
  expect(report.largest.map((page) => page.bytes)).toEqual(
    content
      .map((page) => page.bytes)
      .sort((a, b) => b - a)
      .slice(0, 15),
  )
  const answered = (first: number): number => pages.filter((page) => Math.floor(page.status / 100) === first).length
  expect(report.answers).toEqual({
    '2xx': answered(2),
    '3xx': answered(3),
    '4xx': answered(4),
    '5xx': answered(5),
    other: 0,
  })
  expect(report.answers).toEqual(summary.answers)
  expect(asObject(report.failures)).toEqual(summary.failures)
  expect(report.hasEnded).toBe(true)
  expect(report.broken.loops).toBe(0)
  expect(report.broken.count).toBe(pages.filter((page) => page.status >= 400).length + failed.length)
  expect(report.hosts.count).toBe(new Set([...pages, ...failed].map((one) => new URL(one.url).hostname)).size)
})

test('the most linked broken URLs come first, with pages that exist, at most five each', async () => {
  const dir = newDir()
  await writeSampleCrawl(dir, { seed: 5, pages: 1_500, hosts: 4 })
  const { broken, links } = await summarise(dir)
  const sources = new Set((await linesOf<PageRecord>(join(dir, 'pages.jsonl'))).map((page) => page.url))
  expect(broken.listed.length).toBe(Math.min(200, broken.count))
  const counts = broken.listed.map((url) => url.linkedFrom)
  expect(counts).toEqual(counts.toSorted((a, b) => b - a))
  for (const url of broken.listed) {
    expect(url.sources.length).toBe(Math.min(5, url.linkedFrom))
    expect(new Set(url.sources).size).toBe(url.sources.length)
    for (const source of url.sources) expect(sources).toContain(source)
  }
  expect(links?.pages).toBe(1_500)
  expect(links!.hosts[0]!.pages).toBeGreaterThan(0)
})

test('without a link log a broken URL still names the page it was found on', async () => {
  const dir = newDir()
  await writeSampleCrawl(dir, { seed: 6, pages: 300, hosts: 2, linksPerPage: 0 })
  const { broken, links } = await summarise(dir)
  expect(links).toBeNull()
  const failures = await linesOf<FailureRecord>(join(dir, 'failures.jsonl'))
  const dead = broken.listed.find((url) => url.failure !== null)!
  expect(dead.sources).toEqual([failures.find((failure) => failure.url === dead.url)!.via])
})

test('a crawl that was killed has a report: no summary, the lines that are whole', async () => {
  const dir = newDir()
  await writeSampleCrawl(dir, { seed: 7, pages: 50, hosts: 2 })
  await rm(join(dir, 'crawl.json'))
  const text = await readFile(join(dir, 'pages.jsonl'), 'utf8')
  await writeFile(join(dir, 'pages.jsonl'), text.slice(0, -20))
  const report = await summarise(dir)
  expect(report.summary).toBeNull()
  expect(report.pages).toBe(49)
})

test('a crawl that fetched nothing has a report of nothing', async () => {
  const dir = newDir()
  await mkdir(dir)
  await writeFile(join(dir, 'pages.jsonl'), '')
  const report = await summarise(dir)
  expect(report).toMatchObject({
    pages: 0,
    failed: 0,
    depths: [],
    timeline: [],
    links: null,
    broken: { count: 0, listed: [] },
  })
})

test('redirects in a loop are broken, with the pages that link to them', async () => {
  const dir = newDir()
  await writeSampleCrawl(dir, { seed: 8, pages: 1, hosts: 1, linksPerPage: 0 })
  const [page] = await linesOf<PageRecord>(join(dir, 'pages.jsonl'))
  const home = page!.url
  const redirect = (name: string, location: string): string =>
    `${JSON.stringify({ ...page, url: home + name, status: 301, location, via: home })}\n`
  await writeFile(
    join(dir, 'pages.jsonl'),
    `${JSON.stringify(page)}\n${redirect('a', '/b')}${redirect('b', `${home}a`)}${redirect('fine', '/')}`,
  )
  const { broken, redirects } = await summarise(dir)
  expect(redirects).toEqual({ permanent: 3, temporary: 0 })
  expect(broken).toMatchObject({ count: 2, loops: 2 })
  expect(broken.listed[0]).toEqual({
    url: `${home}a`,
    status: 301,
    failure: null,
    detail: 'redirect loop of 2 URLs',
    linkedFrom: 1,
    sources: [home],
  })
})

test('a crawl that went on since its summary was written has not ended', async () => {
  const dir = newDir()
  await writeSampleCrawl(dir, { seed: 9, pages: 40, hosts: 2 })
  const text = await readFile(join(dir, 'pages.jsonl'), 'utf8')
  await writeFile(join(dir, 'pages.jsonl'), text + text.slice(0, text.indexOf('\n') + 1))
  expect(await summarise(dir)).toMatchObject({ hasEnded: false, pages: 41, summary: { pages: 40 } })
})

test('hosts that never answered are among those asked', async () => {
  const dir = newDir()
  await writeSampleCrawl(dir, { seed: 10, pages: 400, hosts: 3 })
  const failed = (await linesOf<FailureRecord>(join(dir, 'failures.jsonl'))).filter((one) => one.kind === 'failed')
  const silent = new Set(failed.map((one) => new URL(one.url).hostname)).size
  expect((await summarise(dir)).hosts).toMatchObject({ count: 3 + silent, silent })
})

test('lines of another shape are left out and counted', async () => {
  const dir = newDir()
  await mkdir(dir)
  await writeFile(
    join(dir, 'pages.jsonl'),
    '{}\nnull\n{"url":"http://a.example/","status":"200"}\n{"url":"nonsense"}\n',
  )
  await writeFile(join(dir, 'failures.jsonl'), '{"url":"http://a.example/"}\n7\n')
  expect(await summarise(dir)).toMatchObject({ pages: 0, failed: 0, skipped: 0, unreadableLines: 6 })
})

test('a directory that holds no crawl is refused by name', async () => {
  await mkdir(join(root, 'empty'))
  await expect(summarise(join(root, 'empty'))).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
})

test('the report of several shares is of all that their agents wrote, with the sources of what is broken from every log', async () => {
  const dir = newDir()
  const shares = ['state/agents/0', 'state/agents/1', 'state/agents/2']
  await writeSampleCrawl(join(dir, 'state/agents/0'), { seed: 'one', pages: 300, hosts: 3 })
  await writeSampleCrawl(join(dir, 'state/agents/1'), { seed: 'two', pages: 200, hosts: 2 })
  // One that has not begun.
  await writeLayout(dir, shares)
  const parts = await Promise.all(shares.slice(0, 2).map((share) => summarise(join(dir, share))))
  const whole = await summarise(dir)
  const sum = (of: (report: CrawlReport) => number | undefined): number =>
    parts.reduce((total, part) => total + (of(part) ?? 0), 0)
  expect(whole).toMatchObject({
    dir,
    summary: null,
    hasEnded: false,
    pages: 500,
    failed: sum(({ failed }) => failed),
    skipped: sum(({ skipped }) => skipped),
    bytes: sum(({ bytes }) => bytes),
    links: { pages: sum(({ links }) => links?.pages), count: sum(({ links }) => links?.count) },
    broken: { count: sum(({ broken }) => broken.count) },
  })
  const sourcesOf = (reports: readonly CrawlReport[]): Map<string, readonly string[]> =>
    new Map(reports.flatMap(({ broken }) => broken.listed.map(({ url, sources }) => [url, sources] as const)))
  const expected = sourcesOf(parts)
  expect(expected.size).toBe(whole.broken.count)
  expect(sourcesOf([whole])).toEqual(expected)
  expect([...expected.values()].filter((sources) => sources.length > 1).length).toBeGreaterThan(5)
})
