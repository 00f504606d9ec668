// A WARC file that is nowhere any more: its pages are fetched anew and kept whole, so are those that were kept as copies of
// them, and archive, index and report are right again.

import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { copyStoppedCrawl, inspectDirectory } from '../../src/agent/index.ts'
import { systemClock } from '../../src/base/index.ts'
import { runRequeue } from '../../src/cli/requeue.ts'
import { summarise } from '../../src/report/index.ts'
import { loadShipped, type PageRecord, ShippedFiles } from '../../src/store/index.ts'
import { checkArchive } from '../archive-check.ts'
import { crawl, FAST, temporaryDirectory } from './run-crawl.ts'

const PAGES = 24
/** Pages from here on have all the same content. */
const SAME_FROM = 12

/** Pages with validators, half of them copies of one another; counts conditional questions. */
async function startSite(): Promise<{ seed: string; conditional: () => number; close: () => void }> {
  let conditional = 0
  const server: Server = createServer((request, response) => {
    if (request.headers['if-none-match'] !== undefined) {
      conditional++
      return void response.writeHead(304, { etag: '"1"' }).end()
    }
    const page = /^\/page\/(\d+)$/.exec(request.url ?? '')?.[1]
    if (page === undefined && request.url !== '/') return void response.writeHead(404).end()
    const links = Array.from({ length: PAGES }, (_, one) => `<a href="/page/${one}">${one}</a>`).join('')
    const text = page === undefined ? links : Number(page) >= SAME_FROM ? 'the same everywhere' : `page ${page}`
    response
      .writeHead(200, { 'content-type': 'text/html', etag: '"1"' })
      .end(`<title>x</title>${text.padEnd(2_000, '.')}`)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const close = (): void => {
    server.closeAllConnections()
    server.close()
  }
  onTestFinished(close)
  return { seed: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, conditional: () => conditional, close }
}

async function requeueLost(dir: string): Promise<{ requeued: number; lostFiles: string[] }> {
  let out = ''
  let err = ''
  const streams = {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
  }
  expect([await runRequeue([dir, '--lost-archives', '--json'], streams), err]).toEqual([0, ''])
  return JSON.parse(out) as { requeued: number; lostFiles: string[] }
}

function latest(pages: readonly PageRecord[]): Map<string, PageRecord> {
  return new Map(pages.map((page) => [page.url, page]))
}

/** Small files, so that some can be lost. */
const FLAGS = { ...FAST, 'warc-size': '12KiB' }

async function crawled(seed: string, agents: number): Promise<{ dir: string; pages: readonly PageRecord[] }> {
  const dir = temporaryDirectory(onTestFinished)
  const { pages } = await crawl({ seeds: [seed], dir, agents, flags: FLAGS })
  const settings = {
    fetch: { allowPrivate: true },
    frontier: { delay: '0ms' },
    store: { warc: 'none', warcSize: '12KiB' },
    ...(agents === 0 ? {} : { agent: { agents } }),
  }
  writeFileSync(join(dir, 'state/settings.json'), JSON.stringify(settings))
  return { dir, pages }
}

function warcsIn(dir: string): string[] {
  return readdirSync(join(dir, 'archive'))
    .filter((name) => name.endsWith('.warc'))
    .map((name) => `archive/${name}`)
}

/** Problems of the lines that count: earlier visits may speak of what is lost. */
function problemsOf(dir: string, pages: readonly PageRecord[]): string[] {
  const { files, problems } = checkArchive(dir)
  const counting = [...latest(pages).values()]
  const missing = counting.filter(({ warc }) => {
    const records = files.get(warc?.file ?? '') ?? []
    return records.every(({ offset }) => offset !== warc?.offset)
  })
  return [
    ...problems.filter((what) => !what.startsWith('pages.jsonl')),
    ...missing.map(({ url }) => `${url} is nowhere`),
  ]
}

test.each([0, 2])(
  'the pages of a lost file are had anew and whole, agents: %i',
  async (agents) => {
    const site = await startSite()
    const { dir, pages } = await crawled(site.seed, agents)
    // The file with the page that all its copies refer to.
    const original = pages.find(({ url }) => pages.some(({ duplicateOf }) => duplicateOf === url)) as PageRecord
    const lostFile = original.warc?.file as string
    const copies = pages.filter(({ duplicateOf }) => duplicateOf === original.url)
    const inFile = pages.filter(({ warc }) => warc?.file === lostFile)
    const expected = new Set([...inFile, ...copies].map(({ url }) => url))
    expect(warcsIn(dir).length).toBeGreaterThan(3)
    expect(copies).toHaveLength(PAGES - SAME_FROM - 1)
    rmSync(join(dir, lostFile))
    expect((await summarise(dir)).lostArchives).toEqual({ files: 1, pages: inFile.length, again: 0 })

    expect(await requeueLost(dir)).toMatchObject({ requeued: expected.size, lostFiles: [lostFile] })
    const again = await crawl({ seeds: [], dir, agents, flags: FLAGS })
    expect(again.reason).toBe('finished')
    expect(site.conditional()).toBe(0)
    expect(again.pages).toHaveLength(pages.length + expected.size)
    expect(problemsOf(dir, again.pages)).toEqual([])
    const now = latest(again.pages)
    for (const url of expected) expect(now.get(url)).toMatchObject({ visit: 2, status: 200 })
    // One of the copies is the original now, kept whole; the others refer to it.
    const same = [...expected].flatMap((url) => now.get(url) ?? []).filter(({ digest }) => digest === original.digest)
    const whole = same.filter(({ duplicateOf }) => duplicateOf === undefined)
    expect(whole).toHaveLength(1)
    expect(whole[0]?.revisitOf).toBeUndefined()
    expect(new Set(same.flatMap(({ duplicateOf }) => duplicateOf ?? []))).toEqual(new Set([whole[0]?.url]))
    const text = readFileSync(join(dir, whole[0]?.warc?.file ?? ''), 'latin1')
    const { offset = 0, length = 0 } = whole[0]?.warc ?? {}
    expect(text.slice(offset, offset + length)).toContain('the same everywhere')

    expect((await summarise(dir)).lostArchives).toEqual({ files: 0, pages: 0, again: expected.size })
    // All has been seen to: once more finds nothing.
    expect(await requeueLost(dir)).toMatchObject({ requeued: 0, lostFiles: [] })
  },
  60_000,
)

test('the last file of a finished crawl may be the one that is lost', async () => {
  const site = await startSite()
  const { dir, pages } = await crawled(site.seed, 0)
  const last = warcsIn(dir).at(-1) as string
  rmSync(join(dir, last))
  await expect(crawl({ seeds: [], dir, flags: FLAGS })).rejects.toThrow('--lost-archives')
  expect((await requeueLost(dir)).lostFiles).toEqual([last])
  const again = await crawl({ seeds: [], dir, flags: FLAGS })
  expect(problemsOf(dir, again.pages)).toEqual([])
  expect(latest(again.pages).size).toBe(pages.length)
})

test('all files lost at once, the crawl shared anew before it goes on', async () => {
  const site = await startSite()
  const { dir, pages } = await crawled(site.seed, 2)
  for (const file of warcsIn(dir)) rmSync(join(dir, file))
  expect((await requeueLost(dir)).requeued).toBe(pages.length)
  const again = await crawl({ seeds: [], dir, agents: 3, flags: { ...FLAGS, agents: '3' } })
  expect(problemsOf(dir, again.pages)).toEqual([])
  expect(latest(again.pages).size).toBe(pages.length)
})

test('a file that was shipped is not lost, and a crawl goes on without it', async () => {
  const site = await startSite()
  const { dir } = await crawled(site.seed, 0)
  const shipped = await ShippedFiles.open(dir)
  for (const file of warcsIn(dir)) {
    const bytes = statSync(join(dir, file)).size
    await shipped.add({ file, bytes, sha256: '0'.repeat(64), to: 's3://x/', at: '2026-01-01T00:00:00Z' })
    rmSync(join(dir, file))
  }
  await shipped.close()
  expect(await requeueLost(dir)).toMatchObject({ requeued: 0, lostFiles: [] })
  expect((await crawl({ seeds: [], dir, flags: FLAGS })).reason).toBe('finished')
  expect((await summarise(dir)).archive).toMatchObject({ to: 's3://x/', onlyHere: { files: 0 } })
})

test('a checkpoint and a repair take files that were shipped and removed for what they are', async () => {
  const site = await startSite()
  const { dir } = await crawled(site.seed, 0)
  const [first = ''] = warcsIn(dir)
  const shipped = await ShippedFiles.open(dir)
  const bytes = statSync(join(dir, first)).size
  await shipped.add({ file: first, bytes, sha256: '0'.repeat(64), to: 's3://x/', at: '2026-01-01T00:00:00Z' })
  await shipped.close()
  rmSync(join(dir, first))
  const copy = join(temporaryDirectory(onTestFinished), 'copy')
  await copyStoppedCrawl(dir, copy, { nowMs: () => 0 })
  expect([...(await loadShipped(copy)).keys()]).toEqual([first])
  const damage = async (one: string): Promise<string[]> => {
    const { parts } = await inspectDirectory({ dir: one, clock: systemClock })
    return parts.flatMap(({ state, what }) => (state === 'whole' ? [] : [what]))
  }
  expect([await damage(dir), await damage(copy)]).toEqual([[], []])
  rmSync(join(dir, warcsIn(dir)[0] as string))
  expect(await damage(dir)).toEqual([expect.stringContaining('is missing')])
})
