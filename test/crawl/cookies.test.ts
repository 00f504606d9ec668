// Sites that redirect in circles until a cookie comes back: one request more for the same page, as a browser makes it.

import { expect, onTestFinished, test } from 'vitest'
import { RawServer, type Script } from '../raw-server.ts'
import { crawl, FAST, QUICK_BACKOFF, temporaryDirectory } from './run-crawl.ts'

/** A site of one page behind a wall, which lets in whoever has a cookie that satisfies it. */
async function openSite(isLetIn: (cookie: string, asked: number) => boolean, setCookie: (asked: number) => string) {
  let asked = 0
  const script: Script = (socket, head) => {
    const path = head.split(' ')[1] ?? ''
    const cookie = /^cookie: (.*)\r$/im.exec(head)?.[1] ?? ''
    const say = (status: string, headers: string, body = ''): void =>
      void socket.write(`HTTP/1.1 ${status}\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`)
    if (path === '/robots.txt') return say('404 Not Found', '')
    asked++
    if (isLetIn(cookie, asked)) return say('200 OK', 'Content-Type: text/html\r\n', '<title>in</title>')
    say('302 Found', `Location: ${path}\r\nSet-Cookie: ${setCookie(asked)}\r\n`)
  }
  const server = await RawServer.open(script)
  onTestFinished(() => server.close())
  return { server, asked: () => asked, seed: `http://127.0.0.1:${server.port}/page` }
}

test('a page behind a cookie wall is had, and is one page', async () => {
  const site = await openSite(
    (cookie) => cookie === 'seen=yes',
    () => 'seen=yes; Path=/',
  )
  const { pages, failures, snapshot } = await crawl({ seeds: [site.seed], dir: temporaryDirectory(onTestFinished) })
  expect(pages).toMatchObject([{ url: site.seed, status: 200, title: 'in' }])
  expect(failures).toEqual([])
  expect(site.asked()).toBe(2)
  expect(snapshot.figures).toMatchObject({ admitted: 1, pages: 1, settled: 1 })
})

test('a wall that is never satisfied ends with the redirects', async () => {
  const site = await openSite(
    () => false,
    (asked) => `n=${asked}`,
  )
  const config = { ...QUICK_BACKOFF, agent: { redirects: 4 } }
  const { pages } = await crawl({ seeds: [site.seed], config, dir: temporaryDirectory(onTestFinished) })
  expect(pages).toMatchObject([{ url: site.seed, status: 302 }])
  expect(site.asked()).toBe(5)
})

test.each([
  ['sets the same cookie again', {}, 2],
  ['sets one and cookies are off', { cookies: 'off' }, 1],
] as const)('a wall that %s is not asked again', async (_what, flags, asked) => {
  const site = await openSite(
    () => false,
    () => 'n=1',
  )
  const dir = temporaryDirectory(onTestFinished)
  const { pages } = await crawl({ seeds: [site.seed], flags: { ...FAST, ...flags }, dir })
  expect(pages).toMatchObject([{ url: site.seed, status: 302 }])
  expect(site.asked()).toBe(asked)
})

test('--max-pages counts pages, not walls', async () => {
  const site = await openSite(
    (cookie) => cookie !== '',
    () => 'a=1',
  )
  const flags = { ...FAST, 'max-pages': '1' }
  const { pages } = await crawl({ seeds: [site.seed], flags, dir: temporaryDirectory(onTestFinished) })
  expect(pages).toMatchObject([{ status: 200 }])
})
