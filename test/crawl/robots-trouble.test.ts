// A robots.txt that cannot be had: its host rests, also after a crash, and a crawl of which nothing came asks for it anew.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runExplain } from '../../src/cli/explain.ts'
import { lookAtJournal } from '../../src/ledger/index.ts'
import { crawl, FAST, QUICK_BACKOFF, temporaryDirectory } from './run-crawl.ts'

test('the rest is in a batch, and the next run is not told that nothing may be asked', async () => {
  let robotsStatus = 500
  let robotsAsked = 0
  const server = createServer((request, response) => {
    const isRobots = request.url === '/robots.txt'
    if (isRobots) robotsAsked++
    response.writeHead(isRobots ? robotsStatus : 200, { 'content-type': 'text/html' }).end('<p>here</p>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const dir = temporaryDirectory(onTestFinished)
  const run = (): ReturnType<typeof crawl> => crawl({ seeds: [url], dir, flags: FAST, config: QUICK_BACKOFF })

  const detail = 'robots.txt could not be had: status 500'
  expect((await run()).failures).toMatchObject([{ url, reason: 'robots-unavailable', detail }])
  expect(robotsAsked).toBe(3)
  const rests = (await Array.fromAsync(lookAtJournal(join(dir, 'state/journal')))).flatMap(({ batch }) => batch.rests)
  expect(rests.length).toBeGreaterThanOrEqual(2)
  expect(rests[0]).toMatchObject({ host: '127.0.0.1', why: 'robots.txt could not be had' })

  robotsStatus = 404
  const again = await run()
  expect(again.pages.map((page) => page.url)).toEqual([url])
  expect(again.failures).toEqual([])
})

test('one that does not answer is not said to answer', async () => {
  const server = createServer((request) => request.socket.destroy())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const dir = temporaryDirectory(onTestFinished)
  const { failures } = await crawl({ seeds: [url], dir, flags: FAST, config: QUICK_BACKOFF })
  expect(failures).toMatchObject([
    { reason: 'robots-unavailable', detail: expect.stringContaining('could not be had: FETCH_CONNECTION_LOST') },
  ])
  let out = ''
  await runExplain([url, '--dir', dir], { stdout: { write: (text) => (out += text) }, stderr: process.stderr })
  expect(out).toMatch(/robots +nothing is allowed: robots.txt could not be had, FETCH_CONNECTION_LOST/)
})
