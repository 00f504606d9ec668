// Hosts that take their time hold a connection each and nothing else: those that answer at once go on beside them.

import { expect, test } from 'vitest'
import { RawServer } from '../raw-server.ts'
import { directory } from './expect-truth.ts'
import { crawl, FAST } from './run-crawl.ts'

const SLOW = 200
const FAST_HOSTS = 5
const PAGES = 40

function page(body: string): string {
  return `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

test('all pages of fast hosts come while 200 slow ones hold their connections', async () => {
  // Slow hosts answer once all of them wait and nothing is left of the fast ones: without either there is no end.
  const held: (() => void)[] = []
  let fastPages = 0
  let openMost = 0
  let open = 0
  const server = await RawServer.open((socket, head) => {
    const number = Number(head.slice('GET /'.length, head.indexOf(' ', 4)))
    if ((socket.localAddress ?? '').startsWith('127.1.')) {
      held.push(() => socket.write(page(`slow ${number}`)))
    } else {
      fastPages++
      socket.write(page(number < PAGES - 1 ? `${number} <a href="/${number + 1}">next</a>` : 'the last'))
    }
    if (held.length === SLOW && fastPages === FAST_HOSTS * PAGES) for (const answer of held.splice(0)) answer()
  })
  server.onConnection = (socket) => {
    openMost = Math.max(openMost, ++open)
    socket.on('close', () => open--)
  }
  const seed = (host: string): string => `http://${host}:${server.port}/0`
  const result = await crawl({
    seeds: [
      ...Array.from({ length: SLOW }, (_, k) => seed(`127.1.1.${k + 1}`)),
      ...Array.from({ length: FAST_HOSTS }, (_, k) => seed(`127.0.1.${k + 1}`)),
    ],
    dir: directory(),
    flags: { ...FAST, robots: 'ignore' },
    config: { fetch: { headTimeout: '5m', requestTimeout: '10m' } },
  })
  await server.close()
  expect(result.reason).toBe('finished')
  expect(result.pages).toHaveLength(SLOW + FAST_HOSTS * PAGES)
  expect(openMost).toBe(SLOW + FAST_HOSTS)
})
