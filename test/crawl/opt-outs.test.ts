// What sites ask that their pages not be used for, from the answer of a server to the line of the page: noted, left out of
// the archive, skipped; and what is known of a whole site before any page of it is asked for.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readJsonLines } from '../../src/store/index.ts'
import { type CrawlResult, crawl, FAST, temporaryDirectory } from './run-crawl.ts'

type Answer = readonly [status: number, headers: Record<string, string>, body: string]

const HTML = { 'content-type': 'text/html' }
const link = (...names: string[]): string => names.map((name) => `<a href="/${name}">${name}</a>`).join('')

/** A site by path; anything else is missing. */
async function serve(answers: Readonly<Record<string, Answer>>): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const [status, headers, body] = answers[request.url ?? ''] ?? [404, {}, '']
    response.writeHead(status, headers).end(body)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  onTestFinished(() => server.closeAllConnections())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

const run = (seeds: string[], flags = {}, more: Partial<Parameters<typeof crawl>[0]> = {}): Promise<CrawlResult> =>
  crawl({ seeds, dir: temporaryDirectory(onTestFinished), flags: { ...FAST, ...flags }, ...more })

const ASKING: Readonly<Record<string, Answer>> = {
  '/': [200, HTML, link('noarchive', 'noai', 'tdm', 'noindex', 'plain')],
  '/noarchive': [200, { ...HTML, 'x-robots-tag': 'noarchive' }, link('below-noarchive')],
  '/noai': [200, HTML, `<meta name=robots content="noai, noimageai">${link('below-noai')}`],
  '/tdm': [200, { ...HTML, 'tdm-reservation': '1', 'tdm-policy': 'https://h.example/terms' }, link('below-tdm')],
  '/noindex': [200, HTML, `<meta name=robots content=noindex>${link('below-noindex')}`],
  '/plain': [200, HTML, 'nothing asked'],
  '/below-noarchive': [200, HTML, '1'],
  '/below-noai': [200, HTML, '2'],
  '/below-tdm': [200, HTML, '3'],
  '/below-noindex': [200, HTML, '4'],
}

const pathOf = ({ url }: { url: string }): string => new URL(url).pathname

test('by default wishes are noted with their source, and only noarchive leaves a page out of the archive', async () => {
  const site = await serve(ASKING)
  const { pages, failures } = await run([`${site.url}/`])
  expect(failures).toEqual([])
  expect(pages).toHaveLength(Object.keys(ASKING).length)
  const page = (path: string): unknown => pages.find((one) => pathOf(one) === path)
  expect(page('/noarchive')).toMatchObject({
    optOuts: ['noarchive'],
    optOutSource: 'X-Robots-Tag: noarchive',
    unstored: 'opt-out',
    warc: null,
  })
  expect(page('/noai')).toMatchObject({
    optOuts: ['noai', 'noimageai'],
    optOutSource: 'meta robots: noai, noimageai',
  })
  expect(page('/tdm')).toMatchObject({ optOuts: ['tdm'], tdmPolicy: 'https://h.example/terms' })
  expect(page('/noindex')).toMatchObject({ optOuts: ['noindex'], noindex: true })
  expect(page('/plain')).not.toHaveProperty('optOuts')
  const stored = pages.filter(({ warc }) => warc !== null).length
  expect(stored).toBe(pages.length - 1)
  expect(site.asked).not.toContain('/.well-known/tdmrep.json')
})

test.for<[purpose: string, skipped: string[]]>([
  ['ai', ['/noai', '/tdm']],
  ['search', ['/noindex']],
])('--purpose %s skips what asks not to be used so, and follows its links', async ([purpose, skipped]) => {
  const site = await serve(ASKING)
  const { pages, failures, snapshot } = await run([`${site.url}/`], { purpose })
  expect(failures.map((one) => `${pathOf(one)} ${one.kind} ${one.reason}`).toSorted()).toEqual(
    skipped.map((path) => `${path} skipped opt-out`),
  )
  expect(pages.map(pathOf)).toEqual(expect.arrayContaining(skipped.map((path) => `/below-${path.slice(1)}`)))
  expect(pages).toHaveLength(Object.keys(ASKING).length - skipped.length)
  expect(snapshot.figures.skipped).toEqual({ 'opt-out': skipped.length })
  expect(snapshot.figures.settled).toBe(snapshot.figures.admitted)
})

test('--robots ignore notes what is asked and does nothing about it', async () => {
  const site = await serve(ASKING)
  const { pages, failures } = await run([`${site.url}/`], { robots: 'ignore', purpose: 'ai' })
  expect(failures).toEqual([])
  expect(pages.filter(({ warc }) => warc === null)).toEqual([])
  expect(pages.filter(({ optOuts }) => optOuts !== undefined)).toHaveLength(4)
})

const SIGNALS = 'User-agent: *\nContent-Signal: search=yes, ai-train=no\nContent-Usage: /open/ train-ai=y\n'
const SIGNALLING: Readonly<Record<string, Answer>> = {
  '/robots.txt': [200, {}, SIGNALS],
  '/open/': [200, HTML, link('closed', 'open/a')],
  '/closed': [200, HTML, 'closed'],
  '/open/a': [200, HTML, 'open'],
}

test.for<[before: number, after: number]>([
  [0, 0],
  [1, 2],
])('lines of robots.txt are noted on each page, over a restart too (from %d agents to %d)', async ([before, after]) => {
  const site = await serve(SIGNALLING)
  const dir = temporaryDirectory(onTestFinished)
  await crawl({ seeds: [`${site.url}/open/`], dir, flags: { ...FAST, 'max-pages': '1' }, agents: before })
  const { pages } = await crawl({ seeds: [], dir, flags: FAST, agents: after })
  expect(site.asked.filter((path) => path === '/robots.txt')).toHaveLength(1)
  const asked = pages.map((page) => `${pathOf(page)}: ${page.optOutSource ?? ''}`).toSorted()
  expect(asked).toEqual([
    '/closed: robots.txt line 2: Content-Signal: search=yes, ai-train=no',
    '/open/: ',
    '/open/a: ',
  ])
})

test('with --purpose ai a page that robots.txt reserves is not even asked for', async () => {
  const site = await serve(SIGNALLING)
  const { failures } = await run([`${site.url}/open/`], { purpose: 'ai' })
  expect(failures).toMatchObject([
    { reason: 'opt-out', detail: expect.stringContaining('robots.txt line 2') as string },
  ])
  expect(site.asked).not.toContain('/closed')
})

const TDM_RULES = JSON.stringify([
  { location: '/open/', 'tdm-reservation': 0 },
  { location: '/', 'tdm-reservation': 1 },
])
const MINED: Readonly<Record<string, Answer>> = {
  ...SIGNALLING,
  '/robots.txt': [404, {}, ''],
  '/.well-known/tdmrep.json': [200, { 'content-type': 'application/json' }, TDM_RULES],
}

test.for([0, 2])('tdmrep.json is asked for once, before any page, where it binds (%d agents)', async (agents) => {
  const site = await serve(MINED)
  const { pages, failures, dir } = await run([`${site.url}/open/`], { purpose: 'ai' }, { agents })
  expect(site.asked.slice(0, 2)).toEqual(['/robots.txt', '/.well-known/tdmrep.json'])
  expect(site.asked).toHaveLength(4)
  expect(pages.map(pathOf).toSorted()).toEqual(['/open/', '/open/a'])
  expect(failures).toMatchObject([{ reason: 'opt-out', detail: expect.stringContaining('tdmrep.json') as string }])
  if (agents > 0) return
  const notes = await Array.fromAsync(readJsonLines<{ wishes?: object }>(join(dir, 'state/robots.jsonl')))
  expect(notes).toMatchObject([{ wishes: { tdm: [{ isReserved: false }, { isReserved: true }] } }])
})

test.for<[name: string, answer: Answer]>([
  ['is missing', [404, {}, '']],
  ['is broken', [500, {}, '']],
  ['is no JSON', [200, {}, '<html>']],
  ['moved', [301, { location: '/moved.json' }, '']],
])('a tdmrep.json that %s', async ([, answer]) => {
  const moved: Answer = [200, {}, TDM_RULES]
  const site = await serve({ ...MINED, '/.well-known/tdmrep.json': answer, '/moved.json': moved })
  const { pages, failures } = await run([`${site.url}/open/`], { purpose: 'ai' })
  const isMoved = answer[0] === 301
  expect([pages.length, failures.length]).toEqual(isMoved ? [2, 1] : [3, 0])
})

test('robots.txt may forbid to ask for it', async () => {
  const site = await serve({ ...MINED, '/robots.txt': [200, {}, 'User-agent: *\nDisallow: /.well-known/'] })
  await run([`${site.url}/open/`], { purpose: 'ai' })
  expect(site.asked).not.toContain('/.well-known/tdmrep.json')
})

test('it can be asked for only to be noted', async () => {
  const site = await serve(MINED)
  const { pages } = await run([`${site.url}/open/`], {}, { config: { robots: { tdmFile: 'always' } } })
  expect(pages.find((page) => pathOf(page) === '/closed')).toMatchObject({
    optOuts: ['tdm'],
    optOutSource: 'tdmrep.json: tdm-reservation 1',
  })
})

test('a crawl that goes on with another purpose asks for what it did not need before', async () => {
  const site = await serve(MINED)
  const dir = temporaryDirectory(onTestFinished)
  await crawl({ seeds: [`${site.url}/open/`], dir, flags: { ...FAST, 'max-pages': '1' } })
  expect(site.asked).not.toContain('/.well-known/tdmrep.json')
  const { failures } = await crawl({ seeds: [], dir, flags: { ...FAST, purpose: 'ai' } })
  expect(failures).toMatchObject([{ reason: 'opt-out', detail: expect.stringContaining('tdmrep.json') as string }])
})
