// Every URL one may ask about is explained, in words and plain figures; only a text that is no URL is refused.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { crawl, FAST, temporaryDirectory } from '../../test/crawl/run-crawl.ts'
import { startTestWeb } from '../../testweb/index.ts'
import { readJsonLines } from '../store/index.ts'
import { writeLayout } from '../view/index.ts'
import { runExplain } from './explain.ts'

let dir = ''
let seed = ''
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'portolan-explain-'))
  const web = await startTestWeb({ hosts: 1, pages: 30, robots: { some: 1 } })
  ;[seed = ''] = web.seeds()
  const flags = { ...FAST, warc: 'gzip', 'max-depth': '2', 'max-pages': '12' }
  await crawl({ seeds: [seed, `${seed}private/x`], dir, flags })
  await web.stop()
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

async function explain(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let out = ''
  let err = ''
  const code = await runExplain(args, {
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
  })
  return { code, out, err }
}

describe('of a crawl', () => {
  test('a seed that was fetched', async () => {
    const { code, out } = await explain(seed, '--dir', dir)
    expect(code).toBe(0)
    expect(out).toMatch(/^ {2}state {5}fetched \S+: status 200, text\/html, [\d,]+ bytes$/m)
    expect(out).toMatch(/^ {2}found {5}a seed$/m)
    expect(out).toMatch(/^ {2}archive {3}\S+ at byte [\d,]+, [\d,]+ bytes$/m)
  })

  test('a page that was found on another: how far from a seed, and which pages link to it', async () => {
    const { out } = await explain(await pageAt(1), '--dir', dir)
    expect(out).toContain(`  found     on ${seed}, 1 link from a seed\n`)
    expect(out).toMatch(/^ {2}linked {4}from \d+ pages?:\n {12}http:/m)
  })

  test('--json has all that is known', async () => {
    const { out } = await explain(seed, '--dir', dir, '--json')
    expect(JSON.parse(out)).toMatchObject({
      url: seed,
      state: 'page',
      found: { via: null, depth: 0, isSeed: true },
    })
  })

  test('what robots.txt forbids, with the line', async () => {
    const { out } = await explain(`${seed}private/x`, '--dir', dir)
    expect(out).toMatch(/^ {2}state {5}skipped: disallowed by robots\.txt \(robots; .*\)$/m)
    expect(out).toMatch(/^ {2}robots {4}disallowed by line \d+: Disallow: \/private\/$/m)
  })

  test('a URL that was never met says what that can mean', async () => {
    const { code, out } = await explain('http://elsewhere.test/', '--dir', dir)
    expect(code).toBe(0)
    expect(out).toContain(
      'never met: no crawled page links to it, or each link to it was refused (nofollow, or the scope',
    )
    expect(out).toContain('refuses it: outside the scope (out-of-scope)')
  })

  test.for<[reason: string, url: string]>([
    ['scheme', 'mailto:me@a.test'],
    ['too-long', `http://a.test/${'x'.repeat(5_000)}`],
    ['userinfo', 'http://me:secret@a.test/'],
    ['invalid-url', 'http://[bad/'],
  ])('what no crawl takes is explained, not complained about: %s', async ([reason, url]) => {
    const { code, out, err } = await explain(url, '--dir', dir)
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/^ {2}state {5}refused: /m)
    expect(out).toContain(`(${reason})`)
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThan(160)
    const json = await explain(url, '--dir', dir, '--json')
    expect(JSON.parse(json.out)).toEqual({ url, state: 'refused', refusal: reason })
  })

  test('a crawl that has not ended is judged by what it was told', async () => {
    const settings = join(dir, 'state/settings.json')
    writeFileSync(settings, JSON.stringify({ url: { scope: 'any', sessionIds: ['sid'] } }))
    onTestFinished(() => rmSync(settings))
    expect((await explain('http://elsewhere.test/', '--dir', dir)).out).toContain('  scope     admits it\n')
    expect((await explain(`${seed}?sid=1`, '--dir', dir)).out).toContain('  found     a seed\n')
  })

  test('other protocols are judged like HTTP; only a scheme that nothing fetches is refused as such', async () => {
    const settings = join(dir, 'state/settings.json')
    writeFileSync(settings, JSON.stringify({ url: { scope: 'any' } }))
    onTestFinished(() => rmSync(settings))
    for (const url of ['ftp://a.test/', 'gopher://a.test/']) {
      expect((await explain(url, '--dir', dir)).out).toContain('  scope     admits it\n')
    }
    const { out } = await explain('file:///etc/hosts', '--dir', dir)
    expect(out).toContain('  scope     admits it, but only files below --allow-files are read\n')
    expect(out).toContain('  robots    files have none\n')
  })
})

test.each([
  [[], ['URL: which one?', '--dir: in which crawl?']],
  [['http://a.test/', 'http://b.test/', '--dir', 'x'], ["'http://b.test/': one URL at a time"]],
  [['example.org/x', '--dir', 'x'], ["'example.org/x': not a whole URL; did you mean https://example.org/x?"]],
  [
    ['http://a.test/', '--dri', 'x'],
    ['--dri: unknown; did you mean --dir?', '--dir: in which crawl?'],
  ],
  [['http://a.test/', '--dir'], ['--dir: needs a value']],
])('%j is refused with everything that is wrong', async (args, words) => {
  const { code, out, err } = await explain(...args)
  expect([code, out]).toEqual([2, ''])
  for (const word of words) expect(err).toContain(word)
})

test('what a page asks not to be used for, who said so, and what was done about it', async () => {
  const own = temporaryDirectory(onTestFinished)
  const web = await startTestWeb({ hosts: 1, pages: 2, variants: { noarchive: 0.99 } })
  onTestFinished(() => web.stop())
  const [front = ''] = web.seeds()
  const { pages } = await crawl({ seeds: [front], dir: own })
  const { out } = await explain(pages.find((page) => page.unstored !== undefined)?.url ?? '', '--dir', own)
  expect(out).toMatch(/^ {2}asks {6}no copy to be shown to others .* \(noarchive\): X-Robots-Tag: noarchive$/m)
  expect(out).toMatch(/^ {2}archive {3}no copy: it asks for that/m)
})

test('a directory without a crawl is named', async () => {
  await expect(explain('http://a.test/', '--dir', '/no/such/crawl')).rejects.toThrow(
    'there is no crawl in /no/such/crawl',
  )
})

test('of several agents the one that has the URL is asked, and all who link to it', async () => {
  const root = temporaryDirectory(onTestFinished)
  mkdirSync(join(root, 'state'))
  const shares = ['state/agents/0', 'state/agents/1']
  await writeLayout(root, shares)
  const web = await startTestWeb({ hosts: 2, pages: 12, robots: { some: 1 } })
  onTestFinished(() => web.stop())
  const flags = { ...FAST, 'max-pages': '8' }
  for (const [i, share] of shares.entries()) {
    const host = web.seeds()[i] ?? ''
    await crawl({ seeds: [host, `${host}private/x`], dir: join(root, share), flags })
  }
  for (const host of web.seeds()) {
    expect((await explain(host, '--dir', root)).out).toMatch(/^ {2}state {5}fetched [^]*^ {2}found {5}a seed$/m)
    const { out } = await explain(`${host}private/x`, '--dir', root)
    expect(out).toMatch(/^ {2}state {5}skipped: disallowed by robots\.txt /m)
    expect(out).toMatch(/^ {2}robots {4}disallowed by line \d+: Disallow: \/private\/$/m)
    expect(out).toContain('  scope     admits it\n')
  }
  // What the crawls of both say of one page, of which only one knows and to which both may link.
  const counts = await Promise.all(
    [root, ...shares.map((share) => join(root, share))].map(async (one) => {
      const { out } = await explain(web.seeds()[0] ?? '', '--dir', one, '--json')
      return (JSON.parse(out) as { linkedFrom: { count: number } }).linkedFrom.count
    }),
  )
  expect(counts[0]).toBe((counts[1] ?? 0) + (counts[2] ?? 0))
  expect(counts[0]).toBeGreaterThan(0)
  expect((await explain('http://elsewhere.test/', '--dir', root)).out).toContain('never met')
})

/** The first page that was found so many links from a seed. */
async function pageAt(depth: number): Promise<string> {
  for await (const page of readJsonLines<{ url: string; depth: number }>(join(dir, 'pages.jsonl'))) {
    if (page.depth === depth) return page.url
  }
  throw new Error(`no page of depth ${depth}`)
}
