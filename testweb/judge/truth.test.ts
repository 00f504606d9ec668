// The truth is what a walker finds that knows nothing but HTTP, HTML and URLs. First against that walker
// over real sockets, then rule by rule.

import { describe, expect, onTestFinished, test } from 'vitest'
import type { RobotsKind } from '../content/robots-plan.ts'
import { Web } from '../content/web.ts'
import { startTestWeb, type TestWeb, type TestWebOptions } from '../test-web.ts'
import { walk } from './naive-walker.conformance.ts'
import { type Truth, truth, type TruthQuestion } from './truth.ts'

async function start(options: TestWebOptions): Promise<TestWeb> {
  const testWeb = await startTestWeb({ meanBytes: 500, linksPerPage: 8, slowMs: 5, ...options })
  onTestFinished(() => testWeb.stop())
  return testWeb
}

async function walkAll(testWeb: TestWeb, obeys: boolean): Promise<Map<string, number>> {
  const { hosts } = testWeb.web
  return walk(testWeb.seeds(), {
    isWanted: (url) => hosts.find(new URL(url).hostname) !== null,
    isAllowed: (url) => {
      const { hostname, pathname, search } = new URL(url)
      return !obeys || (hosts.find(hostname)?.robots.allows(pathname + search, 'portolan') ?? false)
    },
    obeysNofollow: obeys,
    authority: testWeb.authority,
    lookUp: (name) => hosts.find(name)?.ip ?? '',
  })
}

describe('over the network', () => {
  test.each<[string, TestWebOptions]>([
    ['a plain web', { seed: 'plain', hosts: 4, pages: 60 }],
    ['a web with mild faults', { seed: 'mild', hosts: 6, pages: 60, faults: 'mild' }],
    ['another with mild faults', { seed: 'mild again', hosts: 3, pages: 150, faults: 'mild' }],
    ['a web with all faults', { seed: 'all', hosts: 8, pages: 60, faults: 'all' }],
    ['one that is nothing but faults', { seed: 'only', hosts: 2, pages: 40, faults: 'all', exhibits: true }],
    ['named hosts', { seed: 'names', hosts: 6, pages: 40, faults: 'mild', naming: 'names', hostsPerAddress: 3 }],
    ['hosts on https', { seed: 'https', hosts: 4, pages: 30, faults: 'mild', https: true, naming: 'mixed' }],
  ])('%s is as true as it is found to be', async (_, options) => {
    const testWeb = await start(options)
    for (const robots of ['obey', 'ignore'] as const) {
      testWeb.reset()
      const found = await walkAll(testWeb, robots === 'obey')
      const { pages, failed } = testWeb.truth({ scope: 'any', robots, redirectsMax: 100 })
      const expected = new Map([
        ...[...pages].map(([url, page]) => [url, page.status] as const),
        ...[...failed.keys()].map((url) => [url, 0] as const),
      ])
      expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected))
      expect(pages.size).toBeGreaterThan(options.pages!)
    }
  })

  test('a throttled URL is refused as often as the truth says', async () => {
    const testWeb = await start({ hosts: 1, pages: 5, faults: 'all', exhibits: true, throttleTimes: 3 })
    await walkAll(testWeb, false)
    const throttled = [...testWeb.truth({ robots: 'ignore' }).pages].filter(([, page]) => page.throttled > 0)
    expect(throttled.length).toBeGreaterThanOrEqual(4)
    for (const [url, page] of throttled) expect(testWeb.requests(url)).toBe(page.throttled + 1)
  })
})

describe('scopes', () => {
  const web = new Web(
    { hosts: 12, pages: 100, naming: 'names', hostsPerDomain: 3, crossHostShare: 0.4 },
    { http: 8_000, https: null },
  )
  const hostsOf = (question: Partial<TruthQuestion>): Set<string> =>
    new Set(truth(web, { seeds: [web.url(0, 0)], ...question }).hosts)

  test('host: the hosts of the seeds', () => {
    expect([...hostsOf({ scope: 'host' })]).toEqual(['h0.site0.test'])
  })

  test('domain: their registrable domains', () => {
    expect([...hostsOf({ scope: 'domain' })].sort()).toEqual(['h0.site0.test', 'h1.site0.test', 'h2.site0.test'])
  })

  test('any: everything', () => {
    expect(hostsOf({ scope: 'any' }).size).toBe(12)
  })

  test('prefix: the folders of the seeds, each by itself', () => {
    let found = 0
    for (let page = 1; page <= 40; page++) {
      const seed = web.url(0, page)
      const folder = seed.slice(0, seed.lastIndexOf('/') + 1)
      const { pages } = truth(web, { seeds: [seed], scope: 'prefix' })
      for (const url of pages.keys()) expect(url.startsWith(folder), `${url} from ${seed}`).toBe(true)
      found += pages.size
    }
    expect(found).toBeGreaterThan(80)
  })

  test('prefix: one that was given instead', () => {
    // Page 1 is in the navigation, so the root leads into its section.
    const prefix = web.url(0, 1).replace(/(\/\/[^/]+\/[^/]+\/).*/, '$1')
    const urls = [...truth(web, { seeds: [web.url(0, 0)], scope: 'prefix', prefix }).pages.keys()]
    expect(urls).toContain(web.url(0, 1))
    expect(urls.filter((url) => !url.startsWith(prefix))).toEqual([web.url(0, 0)])
  })

  test('include and exclude choose among links, not among seeds', () => {
    const seeds = [web.url(0, 0)]
    const some = truth(web, { seeds, include: [/\/news\//] })
    expect([...some.pages.keys()].filter((url) => !url.includes('/news/'))).toEqual(seeds)
    const others = truth(web, { seeds, exclude: [/\/news\//] })
    expect([...others.pages.keys()].some((url) => url.includes('/news/'))).toBe(false)
    expect(others.pages.size).toBeGreaterThan(10)
  })
})

describe('depth', () => {
  const web = new Web({ hosts: 1, pages: 30, branching: 1, linksPerPage: 1 }, { http: 8_000, https: null })

  test('counts links from the nearest seed', () => {
    const { pages } = truth(web, { seeds: [web.url(0, 0), web.url(0, 20)] })
    expect(pages.get(web.url(0, 7))?.depth).toBe(7)
    expect(pages.get(web.url(0, 25))?.depth).toBe(5)
  })

  test('ends where the limit says', () => {
    expect(truth(web, { seeds: [web.url(0, 0)], maxDepth: 4 }).pages.size).toBe(5)
  })

  test('a redirect adds none', () => {
    const exhibited = new Web({ hosts: 1, pages: 3, linksPerPage: 0 }, { http: 8_000, https: null })
    const { pages, seeds } = truth(exhibited, { seeds: ['http://127.1.0.1:8000/chain/5/5'] })
    expect([...pages.values()].map((page) => page.depth)).toEqual([0, 0, 0, 0, 0, 0, 1])
    expect(seeds.size).toBe(6)
  })
})

describe('redirects', () => {
  const web = new Web({ hosts: 4, pages: 20, linksPerPage: 2 }, { http: 8_000, https: null })

  test('a seed that moves to another host brings that host into scope', () => {
    const seed = web.exhibit('redirect-away')
    const { hosts, pages } = truth(web, { seeds: [seed] })
    expect(hosts.size).toBe(2)
    expect(pages.size).toBeGreaterThan(20)
  })

  test('a link that moves to another host does not', () => {
    const linked = new Web({ hosts: 4, pages: 20, exhibits: true, crossHostShare: 0 }, { http: 8_000, https: null })
    expect(truth(linked, { seeds: [linked.url(0, 0)] }).hosts.size).toBe(1)
  })

  test('more in a row than the limit are not followed', () => {
    const linked = new Web({ hosts: 1, pages: 2, exhibits: true }, { http: 8_000, https: null })
    const { pages } = truth(linked, { seeds: linked.seeds(), redirectsMax: 10 })
    expect(pages.has('http://127.1.0.1:8000/chain/14/4')).toBe(true)
    expect(pages.has('http://127.1.0.1:8000/chain/14/3')).toBe(false)
    expect(pages.has('http://127.1.0.1:8000/chain/9/0')).toBe(true)
  })

  test('a loop is two pages', () => {
    const seed = web.exhibit('redirect-loop')
    const { pages } = truth(web, { seeds: [seed] })
    expect([...pages.values()].map((page) => page.status)).toEqual([302, 302])
  })
})

function askWith(kind: RobotsKind, question: Partial<TruthQuestion> = {}): Truth {
  const web = new Web({ hosts: 1, pages: 100, robots: { [kind]: 1 } }, { http: 8_000, https: null })
  return truth(web, { seeds: web.seeds(), ...question })
}

describe('robots', () => {
  test('what is disallowed is skipped, not fetched', () => {
    const { pages, skipped } = askWith('some')
    expect(skipped.size).toBeGreaterThan(5)
    for (const [url, reason] of skipped) expect(`${reason} ${url}`).toMatch(/^robots http:\/\/[^/]+\/(private|tmp)\//)
    expect([...pages.keys()].some((url) => url.includes('/private/'))).toBe(false)
    expect(askWith('some', { robots: 'ignore' }).pages.size).toBe(100)
  })

  test('a robots.txt that cannot be had closes the host', () => {
    const { pages, skipped } = askWith('broken')
    expect(pages.size).toBe(0)
    expect([...skipped.values()]).toEqual(['robots-unavailable'])
  })

  test('rules go by the name of the crawler', () => {
    expect(askWith('named-group', { agent: 'Portolan' }).pages.size).toBeGreaterThan(50)
    expect(askWith('named-group', { agent: 'strangebot' }).pages.size).toBe(0)
  })
})

describe('traps', () => {
  const web = new Web({ hosts: 1, pages: 5, traps: true }, { http: 8_000, https: null })

  test('a web with traps has no end, and the truth says so instead of running out of memory', () => {
    expect(() => truth(web, { seeds: web.seeds(), urlsMax: 1_000 })).toThrow('a trap?')
  })

  test('depth bounds it', () => {
    const { pages } = truth(web, { seeds: web.seeds(), maxDepth: 6 })
    expect(pages.size).toBeGreaterThan(60)
    expect(pages.has('http://127.1.0.1:8000/calendar/2026/6')).toBe(true)
    expect(pages.has('http://127.1.0.1:8000/calendar/2026/7')).toBe(false)
    expect(pages.has('http://127.1.0.1:8000/deeper/a/b/a/b/a/b/')).toBe(true)
  })
})

test('sitemaps named by robots.txt bring pages that no link leads to', () => {
  const web = new Web({ hosts: 1, pages: 20, faults: 'mild', robots: { open: 1 } }, { http: 8_000, https: null })
  const follows = ['a', 'sitemap'] as const
  const linked = truth(web, { seeds: web.seeds(), follows })
  const named = truth(web, { seeds: web.seeds(), follows, sitemaps: 'robots' })
  const more = [...named.pages.keys()].filter((url) => !linked.pages.has(url))
  expect(more).toContain('http://127.1.0.1:8000/sitemap.xml')
  expect(more.length).toBeGreaterThan(4)
})
