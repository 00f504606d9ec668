// --head-first: what is not wanted costs a head, what is wanted two requests with a rest between them, and no odd answer to
// HEAD costs a page.

import { expect, onTestFinished, test } from 'vitest'
import { RawServer, type Script } from '../raw-server.ts'
import { crawl, FAST, QUICK_BACKOFF, temporaryDirectory } from './run-crawl.ts'

const PAGES: Readonly<Record<string, { readonly type: string; readonly head?: string | null }>> = {
  '/': { type: 'text/html' },
  '/film.mp4': { type: 'video/mp4' },
  // A page after all.
  '/page.zip': { type: 'text/html' },
  '/refused.zip': { type: 'text/html', head: '405 Method Not Allowed' },
  '/unknown.zip': { type: 'text/html', head: '501 Not Implemented' },
  '/missing.zip': { type: 'text/html', head: '404 Not Found' },
  '/forbidden.zip': { type: 'text/html', head: '403 Forbidden' },
  '/busy.zip': { type: 'text/html', head: '503 Busy' },
  '/dropped.zip': { type: 'text/html', head: null },
  '/plain': { type: 'video/mp4' },
}

const script: Script = (socket, request) => {
  const [method, path = ''] = request.split(' ')
  const page = PAGES[path]
  const links = Object.keys(PAGES).map((url) => `<a href="${url}">`)
  const body = path === '/' ? links.join('') : path
  if (page === undefined) return void socket.write('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n')
  if (method === 'HEAD' && page.head === null) return void socket.destroy()
  const status = method === 'HEAD' ? (page.head ?? '200 OK') : '200 OK'
  const sent = method === 'HEAD' ? '' : body
  socket.write(`HTTP/1.1 ${status}\r\nContent-Type: ${page.type}\r\nContent-Length: ${body.length}\r\n\r\n${sent}`)
}

async function crawled(headFirst: string): Promise<{ requests: string[]; pages: string[]; skipped: string[] }> {
  const server = await RawServer.open(script)
  onTestFinished(() => server.close())
  const config = { ...QUICK_BACKOFF, fetch: { rejectTypes: ['video/*'] } }
  const flags = { ...FAST, 'head-first': headFirst }
  const seeds = [`http://127.0.0.1:${server.port}/`]
  const { pages, failures, snapshot } = await crawl({ seeds, config, flags, dir: temporaryDirectory(onTestFinished) })
  expect(snapshot.figures.failed).toBe(0)
  expect(snapshot.figures.settled).toBe(snapshot.figures.admitted)
  const pathOf = ({ url }: { readonly url: string }): string => new URL(url).pathname
  return {
    requests: server.heads.map((head) => head.split(' ').slice(0, 2).join(' ')),
    pages: pages.map(pathOf).toSorted(),
    skipped: failures
      .filter(({ reason }) => reason === 'type-filtered')
      .map(pathOf)
      .toSorted(),
  }
}

const WANTED = Object.keys(PAGES)
  .filter((path) => PAGES[path]?.type === 'text/html')
  .toSorted()
const UNWANTED = ['/film.mp4', '/plain']

test('never is never', async () => {
  const { requests, pages, skipped } = await crawled('never')
  expect(requests.every((request) => request.startsWith('GET '))).toBe(true)
  expect([pages, skipped]).toEqual([WANTED, UNWANTED])
})

test('doubtful: only what looks so, and all pages are had whatever HEAD came to', async () => {
  const { requests, pages, skipped } = await crawled('doubtful')
  expect([pages, skipped]).toEqual([WANTED, UNWANTED])
  expect(requests).not.toContain('GET /film.mp4')
  expect(requests).not.toContain('HEAD /')
  expect(requests).not.toContain('HEAD /plain')
  for (const path of WANTED.filter((one) => one.endsWith('.zip'))) {
    expect(requests.filter((request) => request.endsWith(` ${path}`))).toEqual([`HEAD ${path}`, `GET ${path}`])
  }
})

test('always: every page, and what is not wanted is never fetched', async () => {
  const { requests, pages, skipped } = await crawled('always')
  expect([pages, skipped]).toEqual([WANTED, UNWANTED])
  for (const path of UNWANTED) expect(requests.filter((one) => one.endsWith(` ${path}`))).toEqual([`HEAD ${path}`])
  for (const path of WANTED)
    expect(requests.filter((one) => one.endsWith(` ${path}`))).toEqual([`HEAD ${path}`, `GET ${path}`])
})
