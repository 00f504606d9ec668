// A password is for one host. It follows no link and no redirect elsewhere, nobody is told where a link was found, and
// nothing that a crawl leaves behind holds it.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { portolan } from '../cli/portolan.ts'
import { crawl, FAST, temporaryDirectory } from '../crawl/run-crawl.ts'

type Heads = Record<string, string | string[] | undefined>[]

async function serve(
  ip: string,
  answer: (path: string) => [number, Record<string, string>, string],
): Promise<{ url: string; heads: Heads }> {
  const heads: Heads = []
  const server = createServer((request, response) => {
    heads.push(request.headers)
    const [status, headers, body] = answer(request.url ?? '')
    response.writeHead(status, { ...headers, 'set-cookie': `session=${ip}` }).end(body)
  })
  await new Promise<void>((resolve) => void server.listen(0, ip, resolve))
  onTestFinished(() => void server.close())
  onTestFinished(() => server.closeAllConnections())
  return { url: `http://${ip}:${(server.address() as AddressInfo).port}`, heads }
}

const HTML = { 'content-type': 'text/html' }
const PASSWORD = 'hushhush-7351'

/** A site with a login that links and redirects to another, by all means. */
async function twoSites(): Promise<{ home: { url: string; heads: Heads }; away: { url: string; heads: Heads } }> {
  const away = await serve('127.0.0.2', () => [200, HTML, 'elsewhere'])
  const home = await serve('127.0.0.1', (path) => {
    if (path === '/robots.txt') return [302, { location: `${away.url}/robots.txt` }, '']
    if (path === '/moved') return [302, { location: `${away.url}/redirected` }, '']
    if (path === '/moved-with-login') return [302, { location: away.url.replace('//', '//ann:secret@') }, '']
    const withLogin = away.url.replace('//', '//ann:secret@')
    return [
      200,
      HTML,
      `<a href="${away.url}/linked">x</a><a href=/moved>x</a><a href=/moved-with-login>x</a><a href="${withLogin}/y">x</a>`,
    ]
  })
  return { home, away }
}

test('a login goes to its host only, over links, redirects and robots.txt; nobody hears of a Referer or a name in a URL', async () => {
  const { home, away } = await twoSites()
  const host = new URL(home.url).host
  const { pages } = await crawl({
    seeds: [home.url],
    dir: temporaryDirectory(onTestFinished),
    flags: { ...FAST, scope: 'any' },
    config: { fetch: { logins: [{ host, user: 'ann', password: PASSWORD }] } },
  })
  expect(pages.map((page) => page.url)).toEqual(
    expect.arrayContaining([`${away.url}/linked`, `${away.url}/redirected`]),
  )
  expect(home.heads.every((head) => head['authorization'] !== undefined)).toBe(true)
  expect(away.heads.length).toBeGreaterThanOrEqual(3)
  expect(away.heads.filter((head) => head['authorization'] !== undefined)).toEqual([])
  expect(away.heads.filter((head) => String(head['cookie'] ?? '').includes('127.0.0.1'))).toEqual([])
  expect([...home.heads, ...away.heads].filter((head) => head['referer'] !== undefined)).toEqual([])
})

test('no file of the crawl holds a password', async () => {
  const { home } = await twoSites()
  const dir = temporaryDirectory(onTestFinished)
  const host = new URL(home.url).host
  const fetch = { logins: [{ host, user: 'ann', password: PASSWORD }], headers: { 'X-Token': 'token-9261' } }
  const config = join(temporaryDirectory(onTestFinished), 'config.json')
  writeFileSync(config, JSON.stringify({ fetch, agent: { agents: 1 } }))
  const { stderr, stdout } = await portolan([
    'crawl',
    home.url,
    ...['--dir', dir, '--allow-private', '--delay', '0ms', '--json', '--config', config],
  ])
  const secrets = [PASSWORD, Buffer.from(`ann:${PASSWORD}`).toString('base64')]
  const texts = [stderr, stdout]
  for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
    const path = join(dir, name)
    if (!statSync(path).isFile()) continue
    const bytes = readFileSync(path)
    texts.push((name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('latin1'))
  }
  expect(texts.length).toBeGreaterThan(8)
  expect(texts.filter((text) => secrets.some((secret) => text.includes(secret)))).toEqual([])
  // What is sent to every host is in the archive, as sent, and in no other file.
  expect(texts.filter((text) => text.includes('token-9261')).every((text) => text.includes('WARC/1.1'))).toBe(true)
})
