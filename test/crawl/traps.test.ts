// A web full of traps: each costs at most what it takes to notice it, the crawl ends by itself, and every page that is
// worth it is still fetched.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Crawl } from '../../src/agent/index.ts'
import type { NodeEvent } from '../../src/supervise/index.ts'
import { TrapWatch } from '../../src/traps/index.ts'
import { type TestWeb, TRAP_PATHS } from '../../testweb/index.ts'
import { directory, expectTruth, startWeb } from './expect-truth.ts'
import { crawl, type CrawlResult, dnsFlags, FAST } from './run-crawl.ts'

const WEB = { hosts: 1, pages: 50, naming: 'names', traps: true } as const
const ITEMS = 12

/** Requests that a trap may cost per host with the defaults, and what its other URLs are skipped for. */
const TRAPS = [
  // Two years ahead, thirty behind, and what it takes to see that it is one.
  { name: 'calendar', path: /\/calendar\//, most: 12 * 33 + 2, reason: 'calendar' },
  { name: 'path loop', path: /\/deeper\//, most: 15, reason: 'path-loop' },
  { name: 'session id', path: /\/session\?/, most: 40, reason: 'session-id' },
  { name: 'soft 404', path: /\/lost\//, most: 60, reason: 'soft-404' },
  { name: 'flood', path: /\/catalogue\//, most: 210, reason: 'near-duplicates' },
  { name: 'facets', path: /\/facets\?/, most: 450, reason: 'query-explosion' },
  // Those under way when it is noticed come on top: each names two more.
  { name: 'subdomains', path: /\/\/s[0-9a-z]+\.many/, most: 110, reason: 'subdomains' },
] as const

/** Enough to be sure of on a web like this, and quicker. */
const config = { traps: { floodPages: 30, facetPages: 60, softMissing: 20, echoHosts: 20, calendarBehind: 1 } }

const flagsFor = (web: TestWeb) => ({ ...FAST, ...dnsFlags(web), scope: 'any' })

function expectHonestPages(result: CrawlResult, web: TestWeb): void {
  const fetched = new Set(result.pages.map((page) => page.url))
  const { pages } = web.truth({ scope: 'any', exclude: TRAP_PATHS })
  expect(pages.size).toBeGreaterThan(45)
  expect([...pages.keys()].filter((url) => !fetched.has(url))).toEqual([])
  const items = [...fetched].filter((url) => url.includes('/facets/item-'))
  expect(items).toHaveLength(ITEMS * WEB.hosts)
  const others = result.failures.filter((one) => !TRAP_PATHS.some((trap) => trap.test(one.url)))
  expect(others).toEqual([])
}

/** Requests for the pages of a trap, robots.txt aside. */
function costOf(web: TestWeb, path: RegExp): number {
  let count = 0
  for (const request of web.log.requests()) {
    if (request.path !== '/robots.txt' && path.test(`http://${request.host}${request.path}`)) count++
  }
  return count
}

describe('a web full of traps', () => {
  test.for([0, 2])('with %d threads for agents: every trap is noticed, and no honest page is lost', async (agents) => {
    const web = await startWeb(WEB)
    const traps = agents === 0 ? {} : config
    const result = await crawl({ seeds: web.seeds(), dir: directory(), flags: flagsFor(web), agents, config: traps })
    expect(result.reason).toBe('finished')
    expectHonestPages(result, web)
    for (const { name, path, most, reason } of TRAPS) {
      // Hosts of one domain may be shared out: each agent has to notice.
      const factor = name === 'subdomains' ? Math.max(1, agents) : 1
      expect(costOf(web, path), name).toBeLessThanOrEqual(most * WEB.hosts * factor)
      const skipped = result.failures.filter((one) => path.test(one.url))
      expect([...new Set(skipped.map((one) => one.reason))], name).toEqual([reason])
    }
  })

  test('off, it walks on until another limit ends it', async () => {
    const web = await startWeb(WEB)
    const flags = { ...flagsFor(web), include: ['/deeper/'], 'max-pages': '100' }
    const noticed = await crawl({ seeds: web.seeds(), dir: directory(), flags })
    expect(noticed).toMatchObject({ reason: 'finished' })
    const result = await crawl({ seeds: web.seeds(), dir: directory(), flags: { ...flags, traps: 'off' } })
    expect(result).toMatchObject({ reason: 'max-pages', failures: [] })
  })
})

describe('what was learnt', () => {
  const options = { ...WEB, pages: 5 } as const

  test('is known to the next run', async () => {
    const web = await startWeb(options)
    const dir = directory()
    await crawl({ seeds: web.seeds(), dir, flags: flagsFor(web), config })
    web.reset()
    // A trap that nobody has linked to yet.
    const seeds = ['/catalogue/900000', '/session?sid=k2k2k2k'].map((path) => new URL(path, web.url(0, 0)).href)
    const again = await crawl({ seeds, dir, flags: flagsFor(web), config })
    expect(again.reason).toBe('finished')
    // Seeds are asked for; what they lead to is not.
    expect(costOf(web, /./)).toBe(seeds.length)
  })

  test('is learnt anew where its file is damaged, and that is said; and where the hosts are shared anew', async () => {
    const web = await startWeb(options)
    const dir = directory()
    const flags = flagsFor(web)
    await crawl({ seeds: web.seeds(), dir, flags, config, agents: 1 })
    const path = join(dir, 'state/traps.jsonl')
    writeFileSync(path, readFileSync(path, 'utf8').replace(/near-duplicates/, 'near-duplicatex'))
    const warnings: string[] = []
    const onEvent = (event: NodeEvent): void => {
      if (event.kind === 'agent-warning') warnings.push(event.what)
    }
    const again = await crawl({ seeds: [], dir, flags, config, agents: 1, nodePlan: { onEvent } })
    expect(again.reason).toBe('finished')
    expect(warnings.join()).toContain('learnt anew')
    expect(readFileSync(`${path}.damaged`, 'utf8')).toContain('near-duplicatex')
    web.reset()
    const seed = new URL('/catalogue/900000', web.url(0, 0)).href
    const shared = await crawl({ seeds: [seed], dir, flags, config, agents: 2, nodePlan: { onEvent } })
    expect(shared.reason).toBe('finished')
    expect(existsSync(path)).toBe(false)
    // The flood is met again, and noticed again.
    expect(costOf(web, /\/catalogue\//)).toBeGreaterThan(20)
    expect(costOf(web, /\/catalogue\//)).toBeLessThan(120)
    expect(warnings).toHaveLength(1)
  })
})

describe('budgets', () => {
  test('of a directory, a domain and its hosts are kept to the page', async () => {
    const web = await startWeb({ ...WEB, traps: false, hosts: 6, hostsPerDomain: 6 })
    const flags = { ...flagsFor(web), 'max-pages-per-domain': '40', 'max-hosts-per-domain': '3' }
    const result = await crawl({ seeds: web.seeds(1), dir: directory(), flags })
    expect(result.pages).toHaveLength(40)
    expect(new Set(result.pages.map((page) => new URL(page.url).hostname)).size).toBe(3)
    expect(new Set(result.failures.map((one) => one.reason))).toEqual(new Set(['domain-budget']))
  })

  test('of a domain hold for all agents together', async () => {
    const web = await startWeb({ ...WEB, traps: false, hosts: 6, hostsPerDomain: 6 })
    const flags = { ...flagsFor(web), 'max-pages-per-domain': '40', 'max-hosts-per-domain': '4' }
    const result = await crawl({ seeds: web.seeds(1), dir: directory(), flags, agents: 2 })
    expect(result.pages.length).toBeLessThanOrEqual(40)
    expect(new Set(result.pages.map((page) => new URL(page.url).hostname)).size).toBeLessThanOrEqual(4)
  })

  test('of a directory end it where it is', async () => {
    const web = await startWeb({ ...WEB, traps: false, pages: 60 })
    const config = { traps: { prefixPages: 3 } }
    const result = await crawl({ seeds: web.seeds(), dir: directory(), flags: flagsFor(web), config })
    const directories = result.pages.flatMap(({ url }) => /^http:\/\/[^/]+\/[a-z]+\/(?=[^/?]+$)/.exec(url) ?? [])
    const counts = [...Map.groupBy(directories, (name) => name).values()].map((names) => names.length)
    expect(Math.max(...counts)).toBe(3)
    expect(new Set(result.failures.map((one) => one.reason))).toEqual(new Set(['prefix-budget']))
  })
})

test('a page on which learning breaks is tried again, and none of its links is lost', async () => {
  const web = await startWeb({ hosts: 1, pages: 20 })
  vi.spyOn(TrapWatch.prototype, 'learn').mockImplementationOnce(() => {
    throw new TypeError('an odd page')
  })
  onTestFinished(() => void vi.restoreAllMocks())
  const result = await crawl({ seeds: web.seeds(), dir: directory(), flags: FAST })
  expectTruth(result, web.truth())
})

describe('an honest shop', () => {
  /** The start links combinations of four parameters, all or the first so many; each of them links goods of its own. */
  async function openShop(): Promise<{ seed: string; offer: (combinations: number) => void }> {
    let offered = COMBINATIONS.length
    const server = createServer((request, response) => shop(request, response, offered))
    onTestFinished(() => void server.close())
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    const seed = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    return { seed, offer: (combinations) => (offered = combinations) }
  }

  function shop(request: IncomingMessage, response: ServerResponse, offered: number): void {
    const path = request.url ?? ''
    const links = (hrefs: readonly string[]): string => hrefs.map((href) => `<a href="${href}">${href}</a>`).join(' ')
    response.setHeader('content-type', 'text/html')
    if (path === '/') response.end(links(COMBINATIONS.slice(0, offered).map((query) => `/shop?${query}`)))
    else if (path.startsWith('/shop?')) response.end(links([`/goods/${encodeURIComponent(path)}`]))
    else response.writeHead(404).end()
  }
  const VALUES = ['', '1', '2', '3'] as const
  const COMBINATIONS = VALUES.flatMap((a) =>
    VALUES.flatMap((b) => VALUES.flatMap((c) => VALUES.map((d) => [a, b, c, d]))),
  )
    .map((values) => values.flatMap((value, at) => (value === '' ? [] : [`${'abcd'[at]}=${value}`])).join('&'))
    .filter((query) => query !== '')

  test('is listed in full where its goods are too deep for the crawl', async () => {
    const { seed } = await openShop()
    const flags = { ...FAST, 'max-depth': '1' }
    const result = await crawl({ seeds: [seed], dir: directory(), flags, config: { traps: { facetPages: 60 } } })
    expect(result.failures).toEqual([])
    expect(result.pages).toHaveLength(1 + COMBINATIONS.length)
  })

  test('that is returned to has taught nothing by leading to what is known', async () => {
    const { seed, offer } = await openShop()
    const dir = directory()
    offer(COMBINATIONS.length - 20)
    const config = { traps: { facetPages: 30 } }
    await crawl({ seeds: [seed], dir, flags: FAST, config })
    offer(COMBINATIONS.length)
    const before = async (job: Crawl): Promise<void> => void (await job.requeuePages(() => true))
    // Put back in line by one run, visited by the next.
    await crawl({ seeds: [], dir, flags: FAST, config, before, during: (job) => job.stop('interrupted') })
    const again = await crawl({ seeds: [], dir, flags: FAST, config })
    expect(again.failures).toEqual([])
    const lists = new Set(again.pages.map(({ url }) => url).filter((url) => url.includes('/shop?')))
    expect(lists.size).toBe(COMBINATIONS.length)
  })
})
