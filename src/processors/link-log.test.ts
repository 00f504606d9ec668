// What is written into a link log is what is read from it: any pages, any links, cut anywhere.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CanonicalUrl, defaultKey, Fingerprinter } from '../url/index.ts'
import { LINK_LOG_HEAD_BYTES, LinkLog } from './link-log.ts'
import { LinkLogReader } from './link-log-reader.ts'

let dir: string
let serial = 0

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-links-'))
})

afterAll(async () => {
  await rm(dir, { recursive: true })
})

const newPath = (): string => join(dir, `links-${serial++}.log`)

interface Page {
  readonly source: CanonicalUrl
  readonly targets: readonly CanonicalUrl[]
}

const url = fc
  .tuple(
    fc.constantFrom('a.example', 'b.example', 'c.example:8080', '[::1]', '10.0.0.1'),
    fc.stringMatching(/^[a-z0-9]{0,12}$/),
  )
  .map(([host, path]) => `http://${host}/${path}` as CanonicalUrl)
const pages = fc.array(fc.record({ source: url, targets: fc.array(url, { maxLength: 40 }) }), { maxLength: 12 })

const fingerprinter = new Fingerprinter(defaultKey)

function fingerprint(target: CanonicalUrl): string {
  fingerprinter.compute(target)
  return `${fingerprinter.high}:${fingerprinter.low}`
}

function appendPage(log: LinkLog, { source, targets }: Page): void {
  const high = new Uint32Array(targets.length)
  const low = new Uint32Array(targets.length)
  for (const [i, target] of targets.entries()) {
    fingerprinter.compute(target)
    high[i] = fingerprinter.high
    low[i] = fingerprinter.low
  }
  log.append(source, { count: targets.length, urls: targets, high, low })
}

async function writeLog(path: string, pages: readonly Page[]): Promise<void> {
  const log = await LinkLog.open(path, { key: defaultKey })
  for (const page of pages) appendPage(log, page)
  await log.close()
}

interface ReadPage {
  source: string
  at: number
  hosts: Map<string, number>
  links: Set<string>
}

async function readLog(path: string): Promise<{ pages: ReadPage[]; end: number; isDamaged: boolean }> {
  const reader = await LinkLogReader.open(path)
  if (reader === null) return { pages: [], end: 0, isDamaged: false }
  try {
    const pages: ReadPage[] = []
    const end = await reader.scan({
      page: (source, at) => void pages.push({ source, at, hosts: new Map(), links: new Set() }),
      host: (host, _, links) => void pages.at(-1)!.hosts.set(host, links),
      link: (high, low) => void pages.at(-1)!.links.add(`${high}:${low}`),
    })
    for (const page of pages) expect(await reader.sourceAt(page.at)).toBe(page.source)
    return { pages, ...end }
  } finally {
    await reader.close()
  }
}

/** What a reader must see: pages with links, links once, counted by host. */
function expected(pages: readonly Page[]): Omit<ReadPage, 'at'>[] {
  return pages
    .filter(({ targets }) => targets.length > 0)
    .map(({ source, targets }) => {
      const hosts = new Map<string, number>()
      for (const target of new Set(targets)) {
        const host = new URL(target).hostname
        hosts.set(host, (hosts.get(host) ?? 0) + 1)
      }
      return { source, hosts, links: new Set(targets.map(fingerprint)) }
    })
}

test('a log gives back every page, its links once each, and how many go to which host', async () => {
  await fc.assert(
    fc.asyncProperty(pages, async (pages) => {
      const path = newPath()
      await writeLog(path, pages)
      const read = await readLog(path)
      expect(read.isDamaged).toBe(false)
      expect(read.pages.map(({ source, hosts, links }) => ({ source, hosts, links }))).toEqual(expected(pages))
    }),
    { numRuns: 60 },
  )
})

test('hosts of one slot, or of slots that share their lower bits, are told apart from page to page', async () => {
  const hosts = [
    { name: 'a.example', slot: 5 },
    { name: 'b.example', slot: 5 },
    { name: 'c.example', slot: 5 + 4_096 },
    { name: 'd.example', slot: 5 + 2 * 4_096 },
  ]
  const host = fc.constantFrom(...hosts)
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(host, host), { maxLength: 30 }), async (pages) => {
      const path = newPath()
      const log = await LinkLog.open(path, { key: defaultKey })
      for (const [from, to] of pages) {
        const urls = [`http://${to.name}/` as CanonicalUrl]
        const high = Uint32Array.of(to.slot * 65_536)
        log.append(`http://${from.name}/page` as CanonicalUrl, { count: 1, urls, high, low: Uint32Array.of(1) })
      }
      await log.close()
      const read = await readLog(path)
      expect(read.pages.map(({ hosts }) => [...hosts.keys()])).toEqual(pages.map(([, to]) => [to.name]))
    }),
    { numRuns: 60 },
  )
})

test('the frames of one log may be appended to another, and a writer goes on behind them', async () => {
  await fc.assert(
    fc.asyncProperty(pages, pages, pages, async (one, two, later) => {
      const [path, other] = [newPath(), newPath()]
      await writeLog(path, one)
      await writeLog(other, two)
      await writeFile(path, (await readFile(other)).subarray(LINK_LOG_HEAD_BYTES), { flag: 'a' })
      await writeLog(path, later)
      const read = await readLog(path)
      expect(read.isDamaged).toBe(false)
      const all = [...one, ...two, ...later]
      expect(read.pages.map(({ source, hosts, links }) => ({ source, hosts, links }))).toEqual(expected(all))
    }),
    { numRuns: 60 },
  )
})

test('a log cut back to a committed length goes on as if the rest had never been', async () => {
  await fc.assert(
    fc.asyncProperty(pages, pages, pages, async (kept, lost, later) => {
      const path = newPath()
      const first = await LinkLog.open(path, { key: defaultKey })
      for (const page of kept) appendPage(first, page)
      await first.sync()
      const committedLength = first.length
      for (const page of lost) appendPage(first, page)
      await first.close()
      const second = await LinkLog.open(path, { key: defaultKey, committedLength })
      for (const page of later) appendPage(second, page)
      await second.close()
      const read = await readLog(path)
      expect(read.pages.map(({ source, hosts, links }) => ({ source, hosts, links }))).toEqual(
        expected([...kept, ...later]),
      )
    }),
    { numRuns: 30 },
  )
})

test('a log that ends anywhere yields the whole pages before its end, and is not called damaged', async () => {
  const path = newPath()
  const list: Page[] = [1, 2, 3].map((n) => ({
    source: `http://a.example/${n}` as CanonicalUrl,
    targets: [`http://b.example/${n}`, 'http://a.example/'] as CanonicalUrl[],
  }))
  await writeLog(path, list)
  const bytes = await readFile(path)
  const { pages } = await readLog(path)
  for (let length = 0; length <= bytes.length; length++) {
    const torn = newPath()
    await writeFile(torn, bytes.subarray(0, length))
    const read = await readLog(torn)
    expect(read.isDamaged).toBe(false)
    expect(read.pages.length).toBe(pages.filter((_, i) => (pages[i + 1]?.at ?? bytes.length) <= length).length)
  }
})

test('a flipped byte never makes the reader throw or run away', async () => {
  const path = newPath()
  await writeLog(path, [
    {
      source: 'http://a.example/x' as CanonicalUrl,
      targets: ['http://b.example/', 'http://a.example/y'] as CanonicalUrl[],
    },
    { source: 'http://a.example/z' as CanonicalUrl, targets: ['http://a.example/y'] as CanonicalUrl[] },
  ])
  const bytes = await readFile(path)
  for (let at = 16; at < bytes.length; at++) {
    const flipped = Buffer.from(bytes)
    flipped[at] = flipped[at]! ^ 0xff
    const broken = newPath()
    await writeFile(broken, flipped)
    const reader = (await LinkLogReader.open(broken))!
    const { end } = await reader.scan({})
    expect(end).toBeLessThanOrEqual(bytes.length)
    await reader.close()
  }
})

test('a file of another kind is refused by name', async () => {
  const path = newPath()
  await writeFile(path, 'this is no link log at all')
  await expect(LinkLogReader.open(path)).rejects.toMatchObject({ code: 'LEDGER_VERSION' })
})

test('an absent log is null', async () => {
  expect(await LinkLogReader.open(newPath())).toBeNull()
})

test('the key of the fingerprints is kept with them', async () => {
  const path = newPath()
  await (await LinkLog.open(path, { key: [0xdeadbeef, 0xffffffff] })).close()
  const reader = (await LinkLogReader.open(path))!
  expect(reader.key).toEqual([0xdeadbeef, 0xffffffff])
  await reader.close()
})

test('a page of 35 links to three hosts takes at most 10 bytes a link, also when no host was named before', async () => {
  const path = newPath()
  const log = await LinkLog.open(path, { key: defaultKey })
  const before = log.length
  const targets = Array.from({ length: 35 }, (_, i) => {
    const host = i < 31 ? 'www.example.org' : i < 33 ? 'cdn.example.net' : 'partner.example.com'
    return `https://${host}/section/article-${i}.html` as CanonicalUrl
  })
  appendPage(log, {
    source: 'https://www.example.org/section/2026/a-typical-article-title.html' as CanonicalUrl,
    targets,
  })
  expect((log.length - before) / 35).toBeLessThanOrEqual(10)
  await log.close()
})

test('a page with more links than the bound loses the last ones, and they are counted', async () => {
  const path = newPath()
  const log = await LinkLog.open(path, { key: defaultKey })
  const count = 70_000
  const high = Uint32Array.from({ length: count }, (_, i) => (i % 300) * 65_536)
  const low = Uint32Array.from({ length: count }, (_, i) => i)
  const urls = Array.from({ length: count }, (_, i) => `http://h${i % 300}.example/` as CanonicalUrl)
  log.append('http://a.example/' as CanonicalUrl, { count, urls, high, low })
  appendPage(log, { source: 'http://a.example/2' as CanonicalUrl, targets: ['http://a.example/' as CanonicalUrl] })
  await log.close()
  expect(log.cutLinks).toBe(count - 65_536)
  const { pages } = await readLog(path)
  expect(pages.map((page) => page.links.size)).toEqual([65_536, 1])
})

test('a host name longer than any that resolves is cut, and its links are kept', async () => {
  const path = newPath()
  const target = `http://${'x'.repeat(1_000)}.example/` as CanonicalUrl
  await writeLog(path, [{ source: 'http://a.example/' as CanonicalUrl, targets: [target] }])
  const { pages } = await readLog(path)
  expect([...pages[0]!.hosts.keys()]).toEqual(['x'.repeat(255)])
  expect(pages[0]!.links).toEqual(new Set([fingerprint(target)]))
})
