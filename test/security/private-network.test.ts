// No page, redirect, robots.txt, sitemap or name server leads a crawl into the network it runs in. The loopback has two
// parts here: one address stands for the web, where a hostile site is, and the others are the private network.

import { createServer } from 'node:http'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type * as PublicAddress from '../../src/fetch/public-address.ts'
import { crawl, FAST, temporaryDirectory } from '../crawl/run-crawl.ts'

const WEB = '127.0.0.2'

vi.mock('../../src/fetch/public-address.ts', async (load) => {
  const real = await load<typeof PublicAddress>()
  const isWeb = (ip: string): boolean => ip === '127.0.0.2' || ip === '::ffff:127.0.0.2'
  return {
    isPublicAddress: (ip: string) => isWeb(ip) || real.isPublicAddress(ip),
    isPrivateHost: (host: string) => !isWeb(host) && real.isPrivateHost(host),
  }
})

let secretPort = 0
let secretConnections = 0
const secret = createTcpServer((socket) => {
  secretConnections++
  socket.destroy()
})
beforeAll(() => new Promise<void>((resolve) => void secret.listen(0, '::', resolve)))
beforeAll(() => {
  secretPort = (secret.address() as AddressInfo).port
})
afterAll(() => void secret.close())

/** Ways to write the private server's address. */
const disguises = (): string[] =>
  [
    '127.0.0.1',
    'localhost',
    'localhost.',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '0177.0.0.1',
    '0',
    '0.0.0.0',
    '127.0.0.1.',
    '１２７.０.０.１',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[64:ff9b::127.0.0.1]',
    '[64:ff9b:1::7f00:1]',
    '[2002:7f00:1::]',
  ].map((host) => `http://${host}:${secretPort}/secret`)

async function hostileSite(answers: (path: string) => [number, Record<string, string>, string]): Promise<string> {
  const server = createServer((request, response) => {
    const [status, headers, body] = answers(request.url ?? '')
    response.writeHead(status, headers).end(body)
  })
  await new Promise<void>((resolve) => void server.listen(0, WEB, resolve))
  onTestFinished(() => void server.close())
  onTestFinished(() => server.closeAllConnections())
  return `http://${WEB}:${(server.address() as AddressInfo).port}/`
}

const HTML = { 'content-type': 'text/html' }

const { 'allow-private': _, ...NO_PRIVATE } = FAST

async function attack(seeds: string[], flags = {}): Promise<{ pages: string[]; reasons: Set<string> }> {
  const result = await crawl({
    seeds,
    dir: temporaryDirectory(onTestFinished),
    flags: { ...NO_PRIVATE, scope: 'any', retries: '0', ...flags },
  })
  expect(secretConnections).toBe(0)
  const reasons = new Set(result.failures.map((one) => one.reason))
  return { pages: result.pages.map((page) => page.url), reasons }
}

describe('without --allow-private nothing of the private network is connected to', () => {
  test('as a seed, however it is written', async () => {
    const { pages, reasons } = await attack(disguises())
    expect(pages).toEqual([])
    expect([...reasons]).toEqual(['private-address'])
  })

  test('by links', async () => {
    const site = await hostileSite(() => [
      200,
      HTML,
      disguises()
        .map((url) => `<a href="${url}">x</a>`)
        .join(''),
    ])
    const { pages, reasons } = await attack([site])
    expect(pages).toEqual([site])
    expect(reasons).toContain('private-address')
  })

  test('by redirects, as a header and as a meta', async () => {
    const targets = disguises()
    const links = targets.map((_, i) => `<a href="/${i}">x</a><a href="/meta${i}">x</a>`).join('')
    const site = await hostileSite((path) => {
      if (path === '/') return [200, HTML, links]
      const target = targets[Number(path.replace(/\D/g, ''))] ?? ''
      if (path === '/robots.txt') return [404, {}, '']
      if (path.startsWith('/meta')) return [200, HTML, `<meta http-equiv=refresh content="0;url=${target}">`]
      return [302, { location: encodeURI(target) }, '']
    })
    const { pages, reasons } = await attack([site])
    expect(pages).toHaveLength(1 + 2 * targets.length)
    expect(reasons).toContain('private-address')
  })

  test('by a robots.txt that moved', async () => {
    for (const target of disguises().slice(0, 4)) {
      const site = await hostileSite((path) =>
        path === '/robots.txt' ? [301, { location: target }, ''] : [200, HTML, 'hello'],
      )
      const { pages } = await attack([site])
      expect(pages).toEqual([])
    }
  })

  test('by sitemaps', async () => {
    const lines = disguises().map((url) => `Sitemap: ${url}`)
    const site = await hostileSite((path) =>
      path === '/robots.txt' ? [200, {}, lines.join('\n')] : [200, HTML, 'hello'],
    )
    const { pages, reasons } = await attack([site], { sitemaps: 'follow' })
    expect(pages).toEqual([site])
    expect(reasons).toContain('private-address')
  })
})
