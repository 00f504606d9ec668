// A catalogue says what a plain filter over all lines says, whatever the files and the catalogue's own file go through.

import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDirectory } from '../../test/crawl/run-crawl.ts'
import { systemClock } from '../base/index.ts'
import type { FailureRecord, PageRecord } from '../store/index.ts'
import { type CanonicalUrl, hostKeyOf } from '../url/index.ts'
import type { Listed, PagesQuery } from './answers.ts'
import { Catalogue, type CatalogueOptions } from './catalogue.ts'
import { hasWords, wordsOf, wordsOfPage } from './words.ts'

const HOSTS = ['a.example', 'b.example', 'www.c.example', 'd.example.org']
const STATUSES = [200, 200, 200, 301, 404, 503]
const TYPES = ['text/html', 'text/html', 'image/png', null]
const TITLE_WORDS = [
  'news',
  'newspaper',
  'Über',
  'uber',
  'café',
  'x',
  'page',
  'pages',
  '東京',
  'long-word',
  '12',
  'Ωmega',
  '',
]

function page(number: number, facts: Partial<PageRecord> = {}): PageRecord {
  return {
    url: `http://${HOSTS[number % HOSTS.length]}/path/item${number}`,
    status: 200,
    type: 'text/html',
    bytes: number,
    wireBytes: number,
    depth: number % 4,
    digest: 'sha256:0',
    fetchedAt: '2026-01-01T00:00:00.000Z',
    via: null,
    firstByteMs: 10,
    durationMs: 20,
    ip: '127.0.0.1',
    warc: null,
    ...facts,
  }
}

function failure(number: number, facts: Partial<FailureRecord> = {}): FailureRecord {
  const url = `http://${HOSTS[number % HOSTS.length]}/gone/${number}`
  return {
    url,
    kind: 'failed',
    reason: 'timeout',
    detail: '',
    depth: 1,
    via: null,
    at: '2026-01-01T00:00:00.000Z',
    ...facts,
  }
}

const aPage = fc
  .record({
    host: fc.constantFrom(...HOSTS),
    status: fc.constantFrom(...STATUSES),
    type: fc.constantFrom(...TYPES),
    words: fc.array(fc.constantFrom(...TITLE_WORDS), { maxLength: 4 }),
    isUntitled: fc.boolean(),
  })
  .map(({ host, status, type, words, isUntitled }) => (number: number) => {
    const title = isUntitled ? {} : { title: words.join(' ') }
    return page(number, { url: `http://${host}/${words[0] ?? 'path'}/item${number}`, status, type, ...title })
  })

const aQuery: fc.Arbitrary<PagesQuery> = fc.record(
  {
    host: fc.constantFrom(...HOSTS, 'unknown.example'),
    status: fc.constantFrom(...STATUSES, 999),
    type: fc.constantFrom('text/html', 'image/png', 'unknown', 'no/such'),
    text: fc.constantFrom(
      'news',
      'new',
      'n',
      'uber',
      'UBER',
      'cafe x',
      'x news',
      'pa',
      '東',
      'page',
      'long word',
      'item1',
      'item',
      'nothing',
      'a.ex',
    ),
  },
  { requiredKeys: [] },
)

/** So that an answer of one part is whole, on a slow machine too. */
const NO_LIMITS = { units: 1e9, ms: 1e9 }

const jsonLines = (records: readonly object[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('')

function crawlDirectory(): string {
  const dir = temporaryDirectory(onTestFinished)
  mkdirSync(join(dir, 'state'))
  return dir
}

async function open(dir: string, options: Partial<CatalogueOptions> = {}): Promise<Catalogue> {
  const catalogue = await Catalogue.open({ dir, clock: systemClock, ...options })
  onTestFinished(() => catalogue.close())
  return catalogue
}

async function readAll(catalogue: Catalogue): Promise<void> {
  while (!(await catalogue.advance(1_000, true)));
}

/** What the newest first should be. */
function wanted(pages: readonly PageRecord[], { host, status, type, text }: PagesQuery): string[] {
  const words = text === undefined ? [] : wordsOf(text)
  return pages
    .filter(
      (one) =>
        (host === undefined || hostKeyOf(one.url as CanonicalUrl) === host) &&
        (status === undefined || one.status === status) &&
        (type === undefined || (one.type ?? 'unknown') === type) &&
        (words.length === 0 || hasWords(wordsOfPage(one), words)),
    )
    .map(({ url }) => url)
    .reverse()
}

/** All parts of a list; each must lead on. */
function throughAll<T extends { readonly at: string }>(
  ask: (after: string | undefined) => Listed<T>,
): { items: T[]; totals: (number | null)[] } {
  const items: T[] = []
  const totals: (number | null)[] = []
  let after: string | undefined
  for (let parts = 0; ; parts++) {
    expect(parts).toBeLessThan(2_000)
    const part = ask(after)
    items.push(...part.items)
    totals.push(part.total)
    if (part.next === null) return { items, totals }
    expect(part.next).not.toBe(after)
    after = part.next
  }
}

function expectRight(catalogue: Catalogue, pages: readonly PageRecord[], query: PagesQuery, limit: number): void {
  const urls = wanted(pages, query)
  const { items, totals } = throughAll((after) => catalogue.pages({ ...query, limit, after }))
  expect(items.map(({ url }) => url)).toEqual(urls)
  for (const total of totals) if (total !== null) expect(total).toBe(urls.length)
  if (query.text === undefined) expect(totals).not.toContain(null)
}

test('finds what a plain filter finds, in every combination, in parts, while files grow', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(aPage, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 9 }),
      fc.array(aQuery, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom(1, 50, 1_000_000),
      fc.integer({ min: 1, max: 40 }),
      async (portions, queries, limit, units, linesHeldMax) => {
        const dir = crawlDirectory()
        const catalogue = await open(dir, { limits: { units, ms: 10_000 }, linesHeldMax })
        const pages: PageRecord[] = []
        for (const portion of portions) {
          const added = portion.map((make, i) => make(pages.length + i))
          appendFileSync(join(dir, 'pages.jsonl'), jsonLines(added))
          pages.push(...added)
          await readAll(catalogue)
          for (const query of queries) expectRight(catalogue, pages, query, limit)
        }
        expect(catalogue.readShare).toBe(1)
        expect(catalogue.rebuilds).toBe(0)
        catalogue.close()
        const again = await open(dir)
        for (const query of queries) expectRight(again, pages, query, limit)
        expect(again.rebuilds).toBe(0)
      },
    ),
    { numRuns: 7 },
  )
})

test('a beginning of very many words is found by looking at pages', async () => {
  const dir = crawlDirectory()
  const pages = Array.from({ length: 900 }, (_, i) => page(i, { title: i % 3 === 0 ? `serial${i}` : `serious ${i}` }))
  writeFileSync(join(dir, 'pages.jsonl'), jsonLines(pages))
  const catalogue = await open(dir)
  await readAll(catalogue)
  for (const text of ['seria', 'serial1', 'seri', 'serious 77']) expectRight(catalogue, pages, { text }, 100)
  expectRight(catalogue, pages, { text: 'serial', host: 'a.example' }, 7)
})

test('more types than have names of their own are found and counted', async () => {
  const dir = crawlDirectory()
  const pages = Array.from({ length: 1_300 }, (_, i) => page(i, { type: `text/x-${i % 1_200}` }))
  writeFileSync(join(dir, 'pages.jsonl'), jsonLines(pages))
  const catalogue = await open(dir)
  await readAll(catalogue)
  for (const type of ['text/x-3', 'text/x-1100', 'text/x-none']) {
    const { items } = throughAll((after) => catalogue.pages({ type, after, limit: 3 }))
    expect(items.map(({ url }) => url)).toEqual(wanted(pages, { type }))
  }
})

test('failures, broken links, hosts and statistics agree with the lines', async () => {
  const dir = crawlDirectory()
  const pages = Array.from({ length: 60 }, (_, i) =>
    page(i, {
      status: i % 5 === 0 ? 404 : 200,
      language: i % 2 === 0 ? 'en-GB' : 'de',
      server: 'nginx/1.2',
      via: 'http://a.example/',
      ...(i % 7 === 0 ? { duplicateOf: 'http://a.example/' } : {}),
    }),
  )
  const failures = Array.from({ length: 30 }, (_, i) =>
    failure(i, i % 3 === 0 ? { kind: 'skipped', reason: 'robots' } : { reason: i % 2 === 0 ? 'timeout' : 'dns' }),
  )
  writeFileSync(join(dir, 'pages.jsonl'), jsonLines(pages))
  writeFileSync(join(dir, 'failures.jsonl'), jsonLines(failures))
  const catalogue = await open(dir, { linesHeldMax: 7 })
  await readAll(catalogue)

  for (const kind of ['failed', 'skipped', undefined] as const) {
    for (const reason of ['timeout', 'robots', undefined]) {
      for (const host of ['a.example', undefined]) {
        const meant = failures.filter(
          (one) =>
            (kind ?? one.kind) === one.kind && (reason ?? one.reason) === one.reason && one.url.includes(host ?? '://'),
        )
        const { items, totals } = throughAll((after) => catalogue.failures({ kind, reason, host, after, limit: 4 }))
        expect(items.map(({ url }) => url)).toEqual(meant.map(({ url }) => url).reverse())
        expect(new Set(totals)).toEqual(new Set([meant.length]))
      }
    }
  }
  const broken = throughAll((after) => catalogue.broken({ after, limit: 5 }))
  expect(broken.items.map(({ url }) => url)).toEqual([
    ...pages
      .filter(({ status }) => status === 404)
      .map(({ url }) => url)
      .reverse(),
    ...failures
      .filter(({ kind }) => kind === 'failed')
      .map(({ url }) => url)
      .reverse(),
  ])
  expect(new Set(broken.totals)).toEqual(new Set([12 + 20]))
  expect(broken.items[0]).toMatchObject({ outcome: '404', linkedFrom: { count: 1, pages: ['http://a.example/'] } })

  const figures = HOSTS.map((host) => {
    const own = pages.filter(({ url }) => url.includes(`//${host}/`))
    const failed = failures.filter(({ url, kind }) => url.includes(`//${host}/`) && kind === 'failed')
    return {
      host,
      pages: own.length,
      errors: own.filter(({ status }) => status === 404).length + failed.length,
      bytes: own.reduce((sum, { bytes }) => sum + bytes, 0),
      meanMs: 10,
    }
  })
  for (const sort of ['pages', 'errors', 'bytes'] as const) {
    const items = listHostsIn(catalogue, sort)
    expect(items).toEqual(figures.toSorted((a, b) => b[sort] - a[sort] || (a.host < b.host ? 1 : -1)))
  }
  expect(listHostsIn(catalogue, 'host')).toEqual(figures.toSorted((a, b) => (a.host < b.host ? -1 : 1)))
  expect(catalogue.hosts({ text: '.ORG' }).items.map(({ host }) => host)).toEqual(['d.example.org'])
  expect(catalogue.host('b.example')).toMatchObject({
    ...figures[1],
    statuses: { 200: 12, 404: 3 },
    types: { 'text/html': 15 },
    failures: { dns: 6 },
    skipped: { robots: 2 },
  })
  expect(catalogue.host('nobody.example')).toBeNull()
  expect(catalogue.statistics()).toMatchObject({
    statuses: { 200: 48, 404: 12 },
    types: { 'text/html': 48 },
    sizes: [[1_024, 48]],
    duplicates: pages.filter(({ status, duplicateOf }) => status === 200 && duplicateOf !== undefined).length,
    topLevelDomains: [
      { name: 'example', hosts: 3, pages: 45 },
      { name: 'org', hosts: 1, pages: 15 },
    ],
    servers: { nginx: 60 },
    languages: { en: 24, de: 24 },
    depths: { 0: 15, 1: 15, 2: 15, 3: 15 },
    readShare: 1,
  })
})

function listHostsIn(catalogue: Catalogue, sort: 'pages' | 'errors' | 'bytes' | 'host'): unknown[] {
  const items: unknown[] = []
  for (let after: string | undefined; ;) {
    const part = catalogue.hosts({ sort, limit: 1, after })
    items.push(...part.items)
    expect(part.total).toBe(HOSTS.length)
    if (part.next === null) return items
    after = part.next
  }
}

test('pages that were visited again count once, and those that wait not at all', async () => {
  const dir = crawlDirectory()
  const first = Array.from({ length: 10 }, (_, i) => page(i))
  writeFileSync(join(dir, 'pages.jsonl'), jsonLines(first))
  const catalogue = await open(dir)
  await readAll(catalogue)
  expect(catalogue.pages({}).total).toBe(10)

  const notes = first
    .slice(0, 4)
    .map(({ url }) => ({ url, visit: 1, status: 200, bytes: 0, wireBytes: 0, depth: 0, via: null, capture: null }))
  writeFileSync(join(dir, 'state/returns.jsonl'), jsonLines(notes))
  const second = first.slice(0, 2).map((one) => ({ ...one, visit: 2, status: 404 }))
  appendFileSync(join(dir, 'pages.jsonl'), jsonLines(second))
  await readAll(catalogue)
  const standing = [...first.slice(4), ...second]
  expect(catalogue.rebuilds).toBe(1)
  for (const query of [{}, { status: 404 }, { status: 200 }, { host: 'a.example' }])
    expectRight(catalogue, standing, query, 3)
  // Also what comes after another start.
  catalogue.close()
  appendFileSync(join(dir, 'pages.jsonl'), jsonLines([first[3] ?? {}, { ...first[3], visit: 2 }]))
  const again = await open(dir)
  await readAll(again)
  expect(again.rebuilds).toBe(0)
  expectRight(again, [...standing, { ...first[3], visit: 2 } as PageRecord], {}, 5)
})

test('is made anew when a file of the crawl was cut, replaced, or is that of another crawl', async () => {
  const dir = crawlDirectory()
  const path = join(dir, 'failures.jsonl')
  const pages = Array.from({ length: 20 }, (_, i) => page(i))
  const failures = Array.from({ length: 20 }, (_, i) => failure(i))
  writeFileSync(join(dir, 'pages.jsonl'), jsonLines(pages))
  writeFileSync(path, jsonLines(failures))
  const catalogue = await open(dir)
  await readAll(catalogue)
  // A new edition, longer than the last.
  const edition = [...failures.slice(10), ...Array.from({ length: 15 }, (_, i) => failure(100 + i))]
  writeFileSync(join(dir, 'new'), jsonLines(edition))
  renameSync(join(dir, 'new'), path)
  await readAll(catalogue)
  await readAll(catalogue)
  expect(catalogue.rebuilds).toBe(1)
  expect(catalogue.failures({}).items.map(({ url }) => url)).toEqual(edition.map(({ url }) => url).reverse())

  truncateSync(join(dir, 'pages.jsonl'), jsonLines(pages.slice(0, 7)).length)
  await readAll(catalogue)
  await readAll(catalogue)
  expectRight(catalogue, pages.slice(0, 7), {}, 100)
  expect(catalogue.rebuilds).toBe(2)
})

test('lines that are no records, and one without its end, are left out', async () => {
  const dir = crawlDirectory()
  const path = join(dir, 'pages.jsonl')
  writeFileSync(
    path,
    `not json\n{"url":5}\nnull\n\n${jsonLines([page(1)])}{"url":"http://\\ud800/","status":200}\n${jsonLines([page(2)]).slice(0, 50)}`,
  )
  const catalogue = await open(dir)
  await readAll(catalogue)
  expectRight(catalogue, [page(1)], {}, 10)
  appendFileSync(path, jsonLines([page(2)]).slice(50))
  await readAll(catalogue)
  expectRight(catalogue, [page(1), page(2)], {}, 10)
})

test('what is held in memory is bounded however much there is to read', async () => {
  const dir = crawlDirectory()
  writeFileSync(
    join(dir, 'pages.jsonl'),
    jsonLines(Array.from({ length: 3_000 }, (_, i) => page(i, { title: `t ${i}` }))),
  )
  const catalogue = await open(dir, { linesHeldMax: 100 })
  let held = 0
  for (let isDone = false; !isDone;) {
    isDone = await catalogue.advance(0, true)
    held = Math.max(held, catalogue.heldLines)
  }
  // A window of lines is read whole: 256 KiB.
  expect(held).toBeLessThan(100 + 1_200)
  expect(catalogue.pages({}).total).toBe(3_000)
})

test('changed bytes are noticed, and the catalogue is made anew', async () => {
  const dir = crawlDirectory()
  const path = join(dir, 'state/catalogue.sqlite')
  const pages = Array.from({ length: 300 }, (_, i) =>
    page(i, {
      status: STATUSES[i % STATUSES.length] ?? 200,
      title: `news ${TITLE_WORDS[i % TITLE_WORDS.length]} w${i % 50}`,
    }),
  )
  writeFileSync(join(dir, 'pages.jsonl'), jsonLines(pages))
  const first = await open(dir, { linesHeldMax: 60 })
  await readAll(first)
  first.close()
  const whole = readFileSync(path)
  expect(statSync(path).size).toBe(whole.length)
  const queries: PagesQuery[] = [
    {},
    { host: 'a.example' },
    { status: 404 },
    { text: 'news w1' },
    { type: 'text/html', text: 'uber' },
  ]
  let timesAnew = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: 0, max: whole.length - 1 }), fc.integer({ min: 1, max: 255 })), {
        minLength: 1,
        maxLength: 40,
      }),
      async (flips) => {
        const bytes = Buffer.from(whole)
        for (const [at, by] of flips) bytes[at] = (bytes[at] ?? 0) ^ by
        writeFileSync(path, bytes)
        const catalogue = await open(dir, { limits: NO_LIMITS })
        // The first answers may be given while it is made anew: then they say so.
        for (const query of queries) {
          const { items, readShare } = catalogue.pages({ ...query, limit: 500 })
          if (readShare === 1) expect(items.map(({ url }) => url)).toEqual(wanted(pages, query))
        }
        const { statuses, readShare } = catalogue.statistics()
        if (readShare === 1) expect(statuses).toMatchObject({ 200: 150, 301: 50, 404: 50, 503: 50 })
        if (catalogue.readShare < 1) timesAnew++
        await readAll(catalogue)
        for (const query of queries) expectRight(catalogue, pages, query, 100)
        catalogue.close()
      },
    ),
    { numRuns: 15 },
  )
  expect(timesAnew).toBeGreaterThan(0)
})

test('two that keep the same catalogue do not take a line in twice', async () => {
  const dir = crawlDirectory()
  const pages = Array.from({ length: 40 }, (_, i) => page(i))
  writeFileSync(join(dir, 'pages.jsonl'), jsonLines(pages.slice(0, 20)))
  const [one, other] = [await open(dir), await open(dir)]
  await readAll(one)
  await readAll(other)
  await readAll(other)
  appendFileSync(join(dir, 'pages.jsonl'), jsonLines(pages.slice(20)))
  await readAll(other)
  await readAll(one)
  await readAll(one)
  for (const catalogue of [one, other]) expectRight(catalogue, pages, {}, 100)
})

// Root may write everywhere.
test.skipIf(process.getuid?.() === 0)(
  'one of a crawl that may only be read is made elsewhere, and left alone',
  async () => {
    const dir = crawlDirectory()
    writeFileSync(join(dir, 'pages.jsonl'), jsonLines([page(1)]))
    const first = await open(dir)
    await readAll(first)
    appendFileSync(join(dir, 'pages.jsonl'), jsonLines([page(2)]))
    chmodSync(join(dir, 'state'), 0o500)
    onTestFinished(() => chmodSync(join(dir, 'state'), 0o700))
    const second = await open(dir)
    await readAll(second)
    expect(second.pages({}).total).toBe(2)
    expect(first.pages({}).total).toBe(1)
  },
)

test('a place that is none is refused', async () => {
  const catalogue = await open(crawlDirectory())
  for (const after of ['', 'x', '-1', '1e3']) expect(() => catalogue.pages({ after })).toThrow(/no place/)
  expect(() => catalogue.broken({ after: '7' })).toThrow(/no place/)
  expect(() => catalogue.hosts({ after: 'x' })).toThrow(/no place/)
})
