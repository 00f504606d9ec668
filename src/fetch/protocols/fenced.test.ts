// A request that must not be made any more is not: it is decided in the moment in which it would be written.

import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../base/index.ts'
import { Spool } from '../../document/index.ts'
import type { CanonicalUrl } from '../../url/index.ts'
import { fetchOptions } from '../options.ts'
import type { FetchOutcome } from '../fetcher.ts'
import { HttpFetcher } from './http.ts'

interface Stand {
  readonly asked: string[]
  readonly server: Server
  readonly fetch: (path: string, mayWrite?: () => boolean) => Promise<FetchOutcome>
}

async function stand(mayAsk: () => boolean): Promise<Stand> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.end('here')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const spool = new Spool(tmpdir(), 65_536)
  const fetcher = new HttpFetcher(fetchOptions.parse({ allowPrivate: true }), spool, systemClock, {}, undefined, mayAsk)
  onTestFinished(async () => {
    await fetcher.close()
    spool.close()
    server.close()
  })
  const fetch = (path: string, mayWrite?: () => boolean): Promise<FetchOutcome> =>
    fetcher.fetch(
      {
        url: `http://127.0.0.1:${port}${path}` as CanonicalUrl,
        addresses: [{ ip: '127.0.0.1', family: 4 }],
        purpose: 'page',
        isLast: false,
        acceptPartial: false,
        mayWrite,
      },
      new AbortController().signal,
    )
  return { asked, server, fetch }
}

test('a lease that is over lets nothing through, on a kept connection', async () => {
  let isValid = true
  const { asked, fetch } = await stand(() => isValid)
  expect(await fetch('/one')).toMatchObject({ kind: 'fetched' })
  isValid = false
  await expect(fetch('/two')).rejects.toMatchObject({ code: 'NODE_FENCED' })
  isValid = true
  expect(await fetch('/three')).toMatchObject({ kind: 'fetched' })
  expect(asked).toEqual(['/one', '/three'])
})

test('a lease that ends while the connection is being made lets nothing through', async () => {
  let isValid = true
  const { asked, server, fetch } = await stand(() => isValid)
  server.once('connection', () => {
    isValid = false
  })
  // The server has the connection before the client writes: both are in this thread, and the client is told a turn later.
  const outcome = fetch('/')
  await expect(outcome).rejects.toMatchObject({ code: 'NODE_FENCED' })
  expect(asked).toEqual([])
})

test('a lent turn that ends while the connection is being made lets nothing through, and is nobody’s fault', async () => {
  let isOver = false
  const { asked, server, fetch } = await stand(() => true)
  server.once('connection', () => {
    isOver = true
  })
  expect(await fetch('/late', () => !isOver)).toMatchObject({ kind: 'failed', code: 'FETCH_CONNECTION_LOST' })
  isOver = false
  expect(await fetch('/next', () => !isOver)).toMatchObject({ kind: 'fetched' })
  expect(asked).toEqual(['/next'])
})
