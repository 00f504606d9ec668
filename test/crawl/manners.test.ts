// Good manners in odd places: robots.txt that asks for a pause, caches too small to remember it,
// several origins on one host, links one should not follow, and Locations in UTF-8.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { crawl, FAST, QUICK_BACKOFF, temporaryDirectory } from './run-crawl.ts'

interface Asked {
  readonly path: string
  readonly atMs: number
}

/** A server of a few answers: [status, headers, body] by path, with a list of what was asked. */
async function serve(
  answers: (path: string, times: number) => [number, Record<string, string>, string],
): Promise<{ url: string; asked: Asked[]; count: (path: string) => number }> {
  const asked: Asked[] = []
  const server: Server = createServer((request, response) => {
    const path = request.url ?? ''
    asked.push({ path, atMs: performance.now() })
    const [status, headers, body] = answers(path, asked.filter((one) => one.path === path).length)
    response.writeHead(status, headers).end(body)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  onTestFinished(() => server.closeAllConnections())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return { url, asked, count: (path) => asked.filter((one) => one.path === path).length }
}

const HTML = { 'content-type': 'text/html' }
const run = (seeds: string[], flags = {}, config = {}) =>
  crawl({
    seeds,
    dir: temporaryDirectory(onTestFinished),
    flags: { ...FAST, ...flags },
    config: { ...QUICK_BACKOFF, ...config },
  })

test('a robots.txt that says Retry-After is waited for, and its site is not thrown away', async () => {
  const site = await serve((path, times) => {
    if (path === '/robots.txt' && times < 3) return [503, { 'retry-after': '1' }, '']
    return path === '/robots.txt' ? [404, {}, ''] : [200, HTML, 'hello']
  })
  const result = await run([site.url], {}, { frontier: { backoff: '5ms', backoffMax: '20ms', retryAfterMax: '80ms' } })
  expect(result.pages).toMatchObject([{ url: site.url, status: 200 }])
  const times = site.asked.filter((one) => one.path === '/robots.txt').map((one) => one.atMs)
  expect(times).toHaveLength(3)
  for (let i = 1; i < times.length; i++) expect((times[i] ?? 0) - (times[i - 1] ?? 0)).toBeGreaterThanOrEqual(80)
})

test('a robots.txt that asks for an hour leaves the URLs waiting, not skipped', async () => {
  const site = await serve(() => [429, { 'retry-after': '3600' }, ''])
  const result = await run([site.url], { 'max-wait': '1s' }, { frontier: { backoff: '5ms', retryAfterMax: '1d' } })
  expect(result.reason).toBe('only-resting')
  expect(result.failures).toEqual([])
  expect(result.snapshot.frontier.waiting).toBe(1)
  expect(site.count('/robots.txt')).toBe(1)
})

test('rules that no cache can hold are still used, not asked for again and again', async () => {
  const rules = `User-agent: *\n${Array.from({ length: 4_000 }, (_, i) => `Disallow: /secret/${i}/${'x'.repeat(60)}`).join('\n')}\n`
  const links = Array.from({ length: 30 }, (_, i) => `<a href="/p${i}">p</a>`).join('')
  const site = await serve((path) =>
    path === '/robots.txt' ? [200, { 'cache-control': 'max-age=0' }, rules] : [200, HTML, path === '/' ? links : path],
  )
  const result = await run([site.url], {}, { robots: { cacheBytes: '1MiB' }, agent: { memory: '400MiB' } })
  expect(result.pages).toHaveLength(31)
  expect(site.count('/robots.txt')).toBeLessThanOrEqual(31)
})

test('a host rests for the longest Crawl-delay of its origins', async () => {
  const site = (delay: number): ReturnType<typeof serve> =>
    serve((path) =>
      path === '/robots.txt'
        ? [200, {}, `User-agent: *\nCrawl-delay: ${delay}`]
        : [200, HTML, '<a href=/a>a</a><a href=/b>b</a>'],
    )
  const patient = await site(0.2)
  const hasty = await site(0.01)
  await run([patient.url, hasty.url])
  const all = [...patient.asked, ...hasty.asked].toSorted((a, b) => a.atMs - b.atMs)
  const afterBothKnown = all.slice(all.findIndex((one) => one === patient.asked[0]) + 1)
  for (let i = 1; i < afterBothKnown.length; i++) {
    expect((afterBothKnown[i]?.atMs ?? 0) - (afterBothKnown[i - 1]?.atMs ?? 0)).toBeGreaterThan(190)
  }
})

test('a Location in UTF-8 is read as browsers read it', async () => {
  const site = await serve((path) =>
    path === '/' ? [302, { location: Buffer.from('/café').toString('latin1') }, ''] : [200, HTML, path],
  )
  const result = await run([site.url])
  expect(result.pages.map((page) => page.url).toSorted()).toEqual([site.url, `${site.url}caf%C3%A9`])
  expect(result.pages.find((page) => page.status === 302)?.location).toBe(`${site.url}caf%C3%A9`)
})

test('--robots ignore also ignores nofollow, and still records noindex', async () => {
  const page = '<meta name=robots content="noindex,nofollow"><a href=/a rel=nofollow>a</a>'
  const site = await serve((path) => (path === '/' ? [200, HTML, page] : [200, HTML, path]))
  const obedient = await run([site.url])
  expect(obedient.pages).toHaveLength(1)
  const free = await run([site.url], { robots: 'ignore' })
  expect(free.pages).toHaveLength(2)
  expect(free.pages.find((one) => one.url === site.url)).toMatchObject({ noindex: true })
})

test('what needs no request costs its address no turn', async () => {
  const links = Array.from({ length: 200 }, (_, i) => `<a href="/no/${i}">x</a>`).join('')
  const site = await serve((path) =>
    path === '/robots.txt' ? [200, {}, 'User-agent: *\nDisallow: /no/'] : [200, HTML, links],
  )
  const startMs = performance.now()
  const result = await run([site.url], { 'ip-delay': '100ms' })
  expect(result.failures).toHaveLength(200)
  // Two hundred rests of the address would be twenty seconds.
  expect(performance.now() - startMs).toBeLessThan(10_000)
})
