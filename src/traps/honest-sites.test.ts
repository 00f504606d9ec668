// Sites as honest people make them, with the defaults: not one page of them is refused.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../base/index.ts'
import { scanHtml } from '../parse/index.ts'
import { parseOptions } from '../parse/options.ts'
import { type CanonicalUrl, hostKeyOf } from '../url/index.ts'
import { trapsOptions } from './options.ts'
import { TrapWatch } from './trap-watch.ts'

interface Page {
  readonly title?: string
  readonly html: string
  readonly leads?: readonly string[]
  readonly status?: number
}

type Site = Record<string, Page>

const HTML = parseOptions.parse({})

/** So many words that are on every page of the site. */
function menu(words: number): string {
  return `<nav>${Array.from({ length: words }, (_, at) => `menu${(at * 7919) % 10_007}`).join(' ')}</nav>`
}

/** Walks a site from its first page, in the order that links are found, and says what was refused. */
async function refusals(site: Site): Promise<string[]> {
  const dir = mkdtempSync(join(tmpdir(), 'portolan-test-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const watch = await TrapWatch.open({
    options: trapsOptions.parse({}),
    budgets: { hosts: null, pages: null },
    clock: systemClock,
    pagesOf: () => 0,
    path: join(dir, 'traps.jsonl'),
  })
  const seen = new Map<string, string | null>([[Object.keys(site)[0] as string, null]])
  const refused: string[] = []
  for (const [path, via] of seen) {
    const url = absolute(path)
    const candidate = { url, host: hostKeyOf(url), isSeed: via === null }
    const reason = watch.judge(candidate)
    if (reason !== null) {
      refused.push(`${path}: ${reason.reason}: ${reason.detail}`)
      continue
    }
    watch.asked(candidate)
    const page = site[path] as Page
    const leads = (page.leads ?? []).filter((lead) => !seen.has(lead))
    for (const lead of leads) seen.set(lead, path)
    const html = `<title>${page.title ?? 'A site'}</title>${page.html}`
    const { sketch, title, spans } = scanHtml(Buffer.from(html), { charset: 'utf-8' }, HTML)
    watch.learn({
      ...candidate,
      via: via === null ? null : absolute(via),
      status: page.status ?? 200,
      sketch,
      title,
      charset: 'utf-8',
      leads: leads.map((lead) => ({ url: absolute(lead), host: hostKeyOf(absolute(lead)) })),
      leadsAway: 0,
      spans,
      html: { bytes: () => Buffer.from(html) },
    })
  }
  expect(seen.size).toBe(Object.keys(site).length)
  return refused
}

function absolute(path: string): CanonicalUrl {
  return (path.startsWith('http') ? path : `http://h.test${path}`) as CanonicalUrl
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at)
const drawn = (n: number): string => ((n + 11) * 2_654_435_761).toString(36).slice(0, 9)
const next = (n: number, count: number, path: (n: number) => string): string[] => (n + 1 < count ? [path(n + 1)] : [])

const photo = (n: number): string => `/photo/${n}`
const view = (n: number): string => `/view?photo=${drawn(n)}`
const video = (n: number): string => `/watch/${n}`
const album = (n: number): string => `/album/p${n}`
const PACKAGES = ['src', 'main', 'java', 'org', 'example', 'shop', 'basket', 'model', 'price']
const tree = (depth: number): string =>
  `/tree/${PACKAGES.slice(0, depth)
    .map((name) => `${name}/`)
    .join('')}`

const SITES: Record<string, Site> = {
  'a gallery whose pictures lie on another host': Object.fromEntries(
    numbers(400).map((n) => [
      photo(n),
      {
        html: `${menu(60)}<img src="https://cdn.test/${n}.jpg"><a href=${photo(n + 1)}>next</a>`,
        leads: next(n, 400, photo),
      },
    ]),
  ),
  'a viewer with ids drawn at random': Object.fromEntries(
    numbers(60).map((n) => [
      view(n),
      {
        html: `${menu(60)}<img src="https://cdn.test/${n}.jpg"><a href="${view(n + 1)}">next</a>`,
        leads: next(n, 60, view),
      },
    ]),
  ),
  'videos that have a title and little else': Object.fromEntries(
    numbers(400).map((n) => [
      video(n),
      {
        title: `The tale of ${drawn(n)} and ${drawn(n + 1000)}`,
        html: `${menu(900)}<iframe src="https://tube.test/e/x"></iframe><h1>The tale of ${drawn(n)}</h1><a href=${video(n + 1)}>next</a>`,
        leads: next(n, 400, video),
      },
    ]),
  ),
  'an album, whose "not found" has the same menu': {
    '/': { html: 'hello there', leads: ['/gone', album(0)] },
    '/gone': { title: 'Not found', html: `${menu(900)} sorry`, status: 404 },
    ...Object.fromEntries(
      numbers(150).map((n) => [
        album(n),
        { title: `Sheet ${n}`, html: `${menu(900)} ${n}`, leads: next(n, 150, album) },
      ]),
    ),
  },
  'a browser of source files': Object.fromEntries(
    numbers(9).map((depth) => [
      tree(depth),
      {
        html: `${menu(1_500)}<h1>${PACKAGES[depth - 1] ?? 'root'}</h1><a>${PACKAGES[depth]}</a>`,
        leads: next(depth, 9, tree),
      },
    ]),
  ),
  'tenants that show one page until their script runs': {
    '/': { html: 'all our customers', leads: numbers(120).map((n) => `http://t${n}.tenants.test/`) },
    ...Object.fromEntries(
      numbers(120).map((n) => [
        `http://t${n}.tenants.test/`,
        { html: 'You need to enable JavaScript to run this app.' },
      ]),
    ),
  },
  'topics whose numbers happen to look like months': {
    '/topic/123312': { html: 'one', leads: ['/topic/123401', '/topic/310112'] },
    '/topic/123401': { html: 'two' },
    '/topic/310112': { html: 'three', leads: ['/topic/310201', '/topic/450112'] },
    '/topic/310201': { html: 'four' },
    '/topic/450112': { html: 'five' },
  },
}

test.for(Object.entries(SITES))('%s', async ([, site]) => {
  expect(await refusals(site)).toEqual([])
})
