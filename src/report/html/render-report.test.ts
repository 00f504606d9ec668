// report.html as a browser would take it apart: safe whatever the web says, whole, bounded, accessible.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DefaultTreeAdapterTypes, parse } from 'parse5'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { writeSampleCrawl } from '../../../test/sample-crawl.ts'
import type { FailureRecord, PageRecord } from '../../store/index.ts'
import type { CrawlReport } from '../crawl-report.ts'
import { summarise } from '../summarise.ts'
import { renderReport } from './render-report.ts'

type Element = DefaultTreeAdapterTypes.Element

let root: string
let sample: CrawlReport

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'portolan-html-'))
  await writeSampleCrawl(join(root, 'sample'), { pages: 3_000, hosts: 30 })
  sample = await summarise(join(root, 'sample'))
})

afterAll(async () => {
  await rm(root, { recursive: true })
})

function elementsOf(text: string): Element[] {
  const found: Element[] = []
  const walk = (node: DefaultTreeAdapterTypes.Node): void => {
    if ('tagName' in node) found.push(node)
    if ('childNodes' in node) for (const child of node.childNodes) walk(child)
  }
  walk(parse(text))
  return found
}

const attribute = (element: Element, name: string): string | undefined =>
  element.attrs.find((one) => one.name === name)?.value

function textOf(node: DefaultTreeAdapterTypes.Node): string {
  if ('value' in node) return node.value
  return 'childNodes' in node ? node.childNodes.map(textOf).join('') : ''
}

const HOSTILE = `</title></style><script>alert(1)</script>"><img src=x onerror=alert(1)>'`

/** A crawl in which every field that a server or a page can choose tries to break out. */
async function hostileReport(): Promise<CrawlReport> {
  const dir = join(root, 'hostile')
  await mkdir(dir, { recursive: true })
  const page: PageRecord = {
    url: `http://a.example/${HOSTILE}`,
    status: 200,
    type: `text/${HOSTILE}`,
    bytes: 10,
    wireBytes: 10,
    depth: 0,
    digest: 'sha256:0',
    fetchedAt: '2026-01-01T00:00:00.000Z',
    via: null,
    title: HOSTILE,
    truncated: HOSTILE,
    duplicateOf: `javascript:${HOSTILE}`,
    charset: HOSTILE,
    language: `"${HOSTILE}`,
    firstByteMs: 1,
    durationMs: 1,
    ip: '192.0.2.1',
    server: HOSTILE,
    warc: null,
  }
  const dead: FailureRecord = {
    url: `https://${HOSTILE}.example/`,
    kind: 'failed',
    reason: HOSTILE,
    detail: HOSTILE,
    depth: 1,
    via: 'javascript:alert(1)//',
    at: '',
  }
  const lines = [page, { ...page, status: 404, url: `javascript://a.example/${HOSTILE}`, via: `data://x/${HOSTILE}` }]
  await writeFile(join(dir, 'pages.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  await writeFile(
    join(dir, 'failures.jsonl'),
    `${JSON.stringify(dead)}\n${JSON.stringify({ ...dead, kind: 'skipped' })}\n`,
  )
  await writeFile(
    join(dir, 'crawl.json'),
    JSON.stringify({
      stoppedBecause: HOSTILE,
      seeds: [`http://${HOSTILE}/`],
      refused: { [HOSTILE]: 3 },
      options: {
        [HOSTILE]: HOSTILE,
        fetch: { auth: [{ password: 'hunter2' }], proxy: 'http://me:hunter2@proxy/', base: 'http://me:hunter2@x/' },
      },
      startedAt: HOSTILE,
      dir: HOSTILE,
    }),
  )
  return summarise(dir)
}

describe('whatever the web says', () => {
  test('nothing in the page runs, loads or submits', async () => {
    for (const report of [sample, await hostileReport()]) {
      for (const element of elementsOf(renderReport(report))) {
        expect(['script', 'iframe', 'object', 'embed', 'form', 'img', 'base', 'input']).not.toContain(element.tagName)
        for (const { name, value } of element.attrs) {
          expect(name).not.toMatch(/^on/)
          if (name === 'src' || name === 'srcset' || name === 'action') expect.fail(`${element.tagName} has ${name}`)
          if (name === 'href') expect(value).toMatch(/^(https?:\/\/|#[a-z-]+$|data:image\/svg\+xml,)/)
          if (name === 'style') expect(value).not.toMatch(/url|import|[<>"]/)
        }
      }
    }
  })

  test('links out give nothing away', async () => {
    const links = elementsOf(renderReport(await hostileReport())).filter(
      (element) => element.tagName === 'a' && attribute(element, 'href')?.startsWith('http') === true,
    )
    expect(links.length).toBeGreaterThan(0)
    for (const link of links) expect(attribute(link, 'rel')).toBe('noreferrer noopener nofollow')
  })

  test('a policy forbids everything but the styles in the file', () => {
    const policy = elementsOf(renderReport(sample)).find(
      (element) => attribute(element, 'http-equiv') === 'Content-Security-Policy',
    )!
    expect(attribute(policy, 'content')).toMatch(/^default-src 'none'; style-src 'unsafe-inline'; img-src data:;/)
    expect(renderReport(sample)).not.toMatch(/@import|url\(/)
  })

  test('secrets in the settings stay at home', async () => {
    expect(renderReport(await hostileReport())).not.toContain('hunter2')
  })
})

describe('for every reader', () => {
  test('every table has a caption, every column and row a header, every chart words', () => {
    const elements = elementsOf(renderReport(sample))
    const tables = elements.filter((element) => element.tagName === 'table')
    expect(tables.length).toBeGreaterThan(10)
    for (const table of tables) {
      expect(table.childNodes.find((node) => node.nodeName === 'caption')).toBeDefined()
    }
    for (const element of elements.filter((element) => attribute(element, 'role') === 'img')) {
      expect(attribute(element, 'aria-label')).toMatch(/.{10}/)
    }
  })

  test('there is one main heading, and sections are reached from the top', () => {
    const elements = elementsOf(renderReport(sample))
    expect(elements.filter((element) => element.tagName === 'h1').map(textOf)).toEqual(['compass-0.museum.test'])
    const ids = new Set(elements.map((element) => attribute(element, 'id')))
    const anchors = elements
      .map((element) => attribute(element, 'href'))
      .filter((href) => href?.startsWith('#') === true)
    expect(anchors).toHaveLength(7)
    for (const anchor of anchors) expect(ids).toContain(anchor!.slice(1))
  })

  test('no number is missing or nonsense', async () => {
    for (const report of [sample, await hostileReport()]) {
      expect(renderReport(report)).not.toMatch(/NaN|undefined|Infinity|\[object/)
    }
  })
})

describe('what is said is so', () => {
  const wordsOf = (report: CrawlReport): string => {
    const body = elementsOf(renderReport(report)).find((element) => element.tagName === 'body')!
    return textOf(body).replaceAll(/\s+/g, ' ')
  }

  test('the hosts of the first screen are the hosts asked', () => {
    const { count, silent } = sample.hosts
    const words = wordsOf(sample)
    expect(words).toContain(`Hosts ${count} asked; ${silent} never answered`)
    expect(words).toContain(`${count} hosts asked, of which ${silent} never answered.`)
  })

  test.each([
    [1, 0, '1 redirect says it is permanent.'],
    [0, 1, '1 redirect says it is temporary.'],
    [2, 1, '2 redirects say they are permanent, 1 temporary.'],
  ])('%d permanent and %d temporary redirects', (permanent, temporary, text) => {
    expect(wordsOf({ ...sample, redirects: { permanent, temporary } })).toContain(`without one. ${text} `)
  })

  test('a redirect loop is called one', () => {
    const loop = { url: 'http://a.example/x', status: 302, failure: null, detail: 'redirect loop: leads to itself' }
    const listed = [{ ...loop, linkedFrom: 0, sources: [] }]
    const words = wordsOf({ ...sample, failed: 0, broken: { count: 1, loops: 1, listed } })
    expect(words).toContain('302 redirect loop: leads to itself')
    expect(words).toContain('Broken URLs 1 1 redirected in a loop')
    expect(words).toContain('1 URL answered with an error or not at all, or redirected in a loop.')
  })

  test('a crawl of a second has a second on its axis', () => {
    const timeline = [0, 0.25, 0.5, 0.75, 1].map((t) => ({ ...sample.timeline[0]!, t, pages: 40 * t }))
    expect(wordsOf({ ...sample, timeline })).toMatch(/ 00\.2 s0\.4 s0\.6 s0\.8 s1 s /)
  })

  test('only settings other than the defaults are listed', () => {
    expect(wordsOf(sample)).toMatch(/Settings other than the defaults frontier\.delay 2s/)
    const summary = { ...sample.summary!, options: { frontier: { delay: 1_000 } } }
    expect(wordsOf({ ...sample, summary })).toContain('All settings were the defaults')
  })

  test('an old summary says nothing of a crawl that went on', () => {
    const words = wordsOf({ ...sample, hasEnded: false })
    expect(words).toContain('Not ended')
    expect(words).not.toContain('Peak memory')
  })
})

describe('of any size', () => {
  test('an empty crawl says so', async () => {
    const dir = join(root, 'empty')
    await mkdir(dir)
    await writeFile(join(dir, 'pages.jsonl'), '')
    const text = renderReport(await summarise(dir))
    expect(text).toContain('Not ended: the crawl still runs, or was killed')
    expect(text).not.toMatch(/NaN|undefined|Infinity/)
  })

  test('a crawl whose seed failed says what happened', async () => {
    const dir = join(root, 'failed')
    await mkdir(dir)
    const failure: FailureRecord = {
      url: 'http://nowhere.example/',
      kind: 'failed',
      reason: 'DNS_NO_NAME',
      detail: '',
      depth: 0,
      via: null,
      at: '',
    }
    await writeFile(join(dir, 'failures.jsonl'), `${JSON.stringify(failure)}\n`)
    await writeFile(
      join(dir, 'crawl.json'),
      JSON.stringify({ stoppedBecause: 'finished', seeds: ['http://nowhere.example/'] }),
    )
    const text = renderReport(await summarise(dir))
    expect(text).toContain('No page came of it')
    expect(text).toContain('the name does not exist')
    expect(text).toContain('a seed; no page links to it')
  })

  test('a page of one page is whole', async () => {
    await writeSampleCrawl(join(root, 'one'), { pages: 1, hosts: 1, linksPerPage: 1 })
    expect(renderReport(await summarise(join(root, 'one')))).not.toMatch(/NaN|undefined|Infinity/)
  })

  test('long URLs and many broken ones keep the page below a megabyte', () => {
    const long = `http://a.example/${'<&">'.repeat(150)}`
    const listed = Array.from({ length: 200 }, (_, i) => ({
      url: `${long.slice(0, 590)}${i}`,
      status: 404,
      failure: null,
      detail: '',
      linkedFrom: 99,
      sources: Array.from({ length: 5 }, (_, j) => `${long.slice(0, 580)}${i}-${j}`),
    }))
    const text = renderReport({ ...sample, broken: { count: 1e6, loops: 0, listed } })
    expect(text.length).toBeLessThan(1e6)
    expect(text).toMatch(/The first \d+ are listed; all are in failures\.jsonl and pages\.jsonl/)
  })
})
