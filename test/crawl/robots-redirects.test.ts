// Where robots.txt redirects: the rules at the end of the way bind the host that was asked. The scenarios are
// StormCrawler's; the facts stand here, and where the material is present it is checked that they still are its.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readMaterial } from '../material.ts'
import { crawl, type CrawlResult, FAST, QUICK_BACKOFF, temporaryDirectory } from './run-crawl.ts'

const USER_AGENT = 'this_is_only_a_test'
const ROBOTS = `User-agent: ${USER_AGENT}\nDisallow: /restricted/`
const PATHS = ['/index.html', '/restricted/index.html'] as const
const RULES_HOLD = { '/index.html': true, '/restricted/index.html': false }
const ALL_ALLOWED = { '/index.html': true, '/restricted/index.html': true }

/** Body of every redirect. Were it read as rules, nothing would be allowed. */
const NOT_THE_RULES = 'User-agent: *\nDisallow: /'

interface Host {
  readonly origin: string
  readonly asked: string[]
}

/** Answers a path by a status and either a Location or a body; null is a page. */
type Answers = (path: string) => { status: number; location?: string; body?: string } | null

async function startHost(number: number, answers: Answers): Promise<Host> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    asked.push(path)
    const answer = answers(path)
    if (answer === null) return void response.writeHead(200, { 'content-type': 'text/html' }).end(path)
    const headers = answer.location === undefined ? {} : { location: answer.location }
    response.writeHead(answer.status, { 'content-type': 'text/plain', ...headers }).end(answer.body ?? NOT_THE_RULES)
  })
  const address = `127.0.0.${10 + number}`
  await new Promise<void>((resolve) => void server.listen(0, address, resolve))
  onTestFinished(() => void server.close())
  onTestFinished(() => server.closeAllConnections())
  return { origin: `http://${address}:${(server.address() as AddressInfo).port}`, asked }
}

const redirecting =
  (status: number, location: string, at = '/robots.txt'): Answers =>
  (path) =>
    path === at ? { status, location } : null

/** h1 → h2 → … → h6, which has the rules; by number, the first at [1]. */
async function startChain(): Promise<Host[]> {
  const hosts: Host[] = []
  hosts[6] = await startHost(6, (path) => (path === '/robots.txt' ? { status: 200, body: ROBOTS } : null))
  for (let number = 5; number >= 1; number--) {
    hosts[number] = await startHost(number, redirecting(301, `${hosts[number + 1]!.origin}/robots.txt`))
  }
  return hosts
}

/** h7 → h8 → another file of h8, by a relative Location → h5 → h6. */
async function startWindingWay(): Promise<{ h7: Host; h8: Host }> {
  const chain = await startChain()
  const h8 = await startHost(
    8,
    (path) =>
      redirecting(302, 'http-redirect-robots.txt')(path) ??
      redirecting(302, `${chain[5]!.origin}/robots.txt`, '/http-redirect-robots.txt')(path),
  )
  return { h7: await startHost(7, redirecting(301, `${h8.origin}/robots.txt`)), h8 }
}

function visit(hosts: readonly Host[], paths: readonly string[] = PATHS): Promise<CrawlResult> {
  return crawl({
    seeds: hosts.flatMap(({ origin }) => paths.map((path) => origin + path)),
    dir: temporaryDirectory(onTestFinished),
    flags: { ...FAST, 'user-agent': USER_AGENT },
    config: QUICK_BACKOFF,
  })
}

/** What of a host was visited; what was not must have been refused by robots.txt, and never asked for. */
function allowed(result: CrawlResult, host: Host, paths: readonly string[] = PATHS): Record<string, boolean> {
  return Object.fromEntries(
    paths.map((path) => {
      const isPage = result.pages.some(({ url }) => url === host.origin + path)
      const failure = result.failures.find(({ url }) => url === host.origin + path)
      expect(failure?.reason, path).toBe(isPage ? undefined : 'robots')
      expect(host.asked.includes(path), path).toBe(isPage)
      return [path, isPage]
    }),
  )
}

test('five redirects across hosts are followed, and the rules bind the host that was asked first', async () => {
  const h1 = (await startChain())[1]!
  expect(allowed(await visit([h1]), h1)).toEqual(RULES_HOLD)
})

test('a robots.txt that redirects to itself for ever is taken as missing', async () => {
  const host = await startHost(9, redirecting(301, '/robots.txt'))
  expect(allowed(await visit([host]), host)).toEqual(ALL_ALLOWED)
  expect(host.asked.filter((path) => path === '/robots.txt')).toHaveLength(6)
})

test('301 and 302, to a host and to a relative file, lead to the same rules', async () => {
  const { h7 } = await startWindingWay()
  expect(allowed(await visit([h7]), h7)).toEqual(RULES_HOLD)
})

test('rules found by a winding way are kept for every host on it that asked', async () => {
  const { h7, h8 } = await startWindingWay()
  const paths = [...PATHS, '/other.html', '/restricted/other.html']
  const result = await visit([h7, h8], paths)
  for (const host of [h7, h8]) {
    expect(allowed(result, host, paths)).toEqual({
      ...RULES_HOLD,
      '/other.html': true,
      '/restricted/other.html': false,
    })
  }
  // Once for itself; h8 once more on the way of h7.
  expect(h7.asked.filter((path) => path === '/robots.txt')).toHaveLength(1)
  expect(h8.asked.filter((path) => path === '/robots.txt')).toHaveLength(2)
})

interface Material {
  readonly robotsTxt: string
  readonly userAgent: string
  readonly scenarios: readonly { expected: unknown }[]
}

const material = readMaterial<Material>('robots', 'stormcrawler-redirects.json')

describe.skipIf(material === null)('StormCrawler, redirects of robots.txt (material not present: skipped)', () => {
  test('the scenarios are the four above', () => {
    expect(material).toMatchObject({ robotsTxt: ROBOTS, userAgent: USER_AGENT })
    expect(material!.scenarios.map(({ expected }) => expected)).toEqual([
      RULES_HOLD,
      'allowAll',
      RULES_HOLD,
      RULES_HOLD,
    ])
  })
})
