// A crawl of the test web yields exactly what is true of it: every page once, every skip and failure
// with its reason, nothing else, whatever the seed, the scope and the faults; and the servers' own log
// shows that it was polite.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { FlagValue } from '../../src/config/index.ts'
import type { TestWebOptions, TruthQuestion } from '../../testweb/index.ts'
import { directory, expectAskedOnce, expectTruth, startWeb } from './expect-truth.ts'
import { crawl, dnsFlags, FAST, QUICK_BACKOFF } from './run-crawl.ts'

describe('a plain web', () => {
  test.for(['one', 'two', 'three'])('seed %s: all pages of all hosts, each asked for once', async (seed) => {
    const web = await startWeb({ seed, hosts: 8, pages: 40 })
    const result = await crawl({ seeds: web.seeds(), dir: directory() })
    const truth = web.truth()
    expect(truth.pages.size).toBeGreaterThan(300)
    expectTruth(result, truth)
    expectAskedOnce(result, web, truth)
    expect(web.politeness({ delayMs: 0 })).toEqual([])
  })
})

describe('a web with faults', () => {
  test.for(['one', 'two', 'three', 'four'])('seed %s: mild faults change nothing but what they are', async (seed) => {
    const web = await startWeb({ seed, hosts: 10, pages: 60, faults: 'mild' })
    const truth = web.truth()
    const result = await crawl({ seeds: web.seeds(), dir: directory() })
    expectTruth(result, truth)
    expectAskedOnce(result, web, truth)
    expect(web.politeness({ delayMs: 0 })).toEqual([])
  })

  test.for(['five', 'six'])('seed %s: all faults, throttling and broken robots.txt included', async (seed) => {
    const web = await startWeb({
      seed,
      hosts: 14,
      pages: 50,
      faults: 'all',
      retryAfterS: 0.02,
      crawlDelayS: 0.01,
      slowMs: 20,
    })
    const truth = web.truth()
    const result = await crawl({ seeds: web.seeds(), dir: directory() })
    expectTruth(result, truth)
    expect(web.politeness({ delayMs: 0 })).toEqual([])
  })

  test('every exhibit of the test web ends as it should', async () => {
    const web = await startWeb({ hosts: 3, pages: 10, exhibits: true, retryAfterS: 0.02, slowMs: 20 })
    expectTruth(await crawl({ seeds: web.seeds(), dir: directory() }), web.truth())
  })
})

describe('a web that asks not to be used', () => {
  test.for<[purpose: 'archive' | 'search' | 'ai', agents: number]>([
    ['archive', 0],
    ['search', 0],
    ['ai', 0],
    ['ai', 2],
  ])('for %s, %d agents', async ([purpose, agents]) => {
    const variants = { noindex: 0.1, noarchive: 0.1, noai: 0.1, tdm: 0.1, 'nofollow-header': 0.05 }
    const web = await startWeb({ hosts: 6, pages: 40, variants })
    const result = await crawl({ seeds: web.seeds(), dir: directory(), flags: { ...FAST, purpose }, agents })
    const truth = web.truth({ purpose })
    expectTruth(result, truth)
    expect([...truth.skipped.values()].includes('opt-out')).toBe(purpose !== 'archive')
    const unstored = result.pages.filter((page) => page.warc === null).map((page) => page.url)
    expect(unstored.length).toBeGreaterThan(5)
    expect(unstored.filter((url) => truth.pages.get(url)?.isUnstored !== true)).toEqual([])
    expect(unstored).toHaveLength([...truth.pages.values()].filter((page) => page.isUnstored).length)
  })
})

describe('scopes', () => {
  const named: TestWebOptions = {
    hosts: 12,
    pages: 20,
    naming: 'names',
    hostsPerDomain: 3,
    faults: 'mild',
    crossHostShare: 0.3,
  }

  test.for<[name: string, flags: Record<string, FlagValue>, question: Partial<TruthQuestion>]>([
    ['host', {}, {}],
    ['domain', { scope: 'domain' }, { scope: 'domain' }],
    ['prefix', { scope: 'prefix' }, { scope: 'prefix' }],
    ['any', { scope: 'any' }, { scope: 'any' }],
    ['robots ignored', { robots: 'ignore' }, { robots: 'ignore' }],
    ['excluded by pattern', { exclude: ['[?]', '/p1'] }, { exclude: [/[?]/, /\/p1/] }],
    ['included by pattern', { include: ['/p?[02468]'], scope: 'any' }, { include: [/\/p?[02468]/], scope: 'any' }],
  ])('%s, by names through the web’s own DNS', async ([, flags, question]) => {
    const web = await startWeb(named)
    const seeds = web.seeds(2)
    const result = await crawl({ seeds, dir: directory(), flags: { ...FAST, ...dnsFlags(web), ...flags } })
    const truth = web.truth({ seeds, ...question })
    expect(truth.pages.size).toBeGreaterThan(3)
    expectTruth(result, truth)
    expect(web.politeness({ delayMs: 0 })).toEqual([])
  })

  test('sitemaps named in robots.txt bring what no link reaches, if asked for', async () => {
    const web = await startWeb({ hosts: 2, pages: 30 })
    const result = await crawl({ seeds: web.seeds(), dir: directory(), flags: { ...FAST, sitemaps: 'follow' } })
    expectTruth(result, web.truth({ sitemaps: 'robots' }))
  })

  test('https with a certificate authority of one’s own', async () => {
    const web = await startWeb({ hosts: 4, pages: 15, https: true, naming: 'names' })
    const caFile = join(directory(), 'authority.pem')
    writeFileSync(caFile, web.authority ?? '')
    const result = await crawl({
      seeds: web.seeds(),
      dir: directory(),
      flags: { ...FAST, ...dnsFlags(web) },
      config: { ...QUICK_BACKOFF, fetch: { caFile } },
    })
    expectTruth(result, web.truth())
    expect(result.pages.some((page) => page.url.startsWith('https:'))).toBe(true)
  })
})

describe('limits', () => {
  test.for([1, 7, 100])('--max-pages %d is exact, and what it fetched is part of the truth', async (limit) => {
    const web = await startWeb({ hosts: 6, pages: 40, faults: 'mild' })
    const result = await crawl({ seeds: web.seeds(), dir: directory(), flags: { ...FAST, 'max-pages': String(limit) } })
    expect(result.pages).toHaveLength(limit)
    expect(result.reason).toBe('max-pages')
    const { pages } = web.truth()
    expect(result.pages.filter((page) => !pages.has(page.url))).toEqual([])
  })

  test('--max-depth keeps every page within so many links of a seed', async () => {
    const web = await startWeb({ hosts: 4, pages: 60 })
    const result = await crawl({ seeds: web.seeds(), dir: directory(), flags: { ...FAST, 'max-depth': '1' } })
    expectTruth(result, web.truth({ maxDepth: 1 }))
  })

  test('a host gives no more pages than its budget', async () => {
    const web = await startWeb({ hosts: 3, pages: 30 })
    const flags = { ...FAST, 'max-pages-per-host': '5' }
    const result = await crawl({ seeds: web.seeds(), dir: directory(), flags })
    const perHost = Map.groupBy(result.pages, (page) => new URL(page.url).hostname)
    expect([...perHost.values()].map((pages) => pages.length)).toEqual([5, 5, 5])
    expect(result.failures.every((one) => one.reason === 'host-budget')).toBe(true)
  })

  test('a web of traps ends at --max-depth', async () => {
    const web = await startWeb({ hosts: 2, pages: 10, traps: true })
    const result = await crawl({ seeds: web.seeds(), dir: directory(), flags: { ...FAST, 'max-depth': '4' } })
    const { pages } = web.truth({ maxDepth: 4 })
    expect(result.reason).toBe('finished')
    expect(result.pages.filter((page) => !pages.has(page.url))).toEqual([])
    expect(result.pages.length).toBeGreaterThan(20)
  })
})
