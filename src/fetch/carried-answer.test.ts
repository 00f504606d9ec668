// What one agent fetched for another is, where it arrives, the document that it was.

import { createServer, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../base/index.ts'
import { type Document, Spool } from '../document/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import { carryAnswer, openAnswer } from './carried-answer.ts'
import { fetchOptions } from './options.ts'
import { HttpFetcher } from './protocols/http.ts'

const OPTIONS = fetchOptions.parse({ allowPrivate: true })

async function fetched(listener: RequestListener): Promise<{ readonly document: Document; readonly spool: Spool }> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const spool = new Spool(tmpdir(), 65_536)
  const fetcher = new HttpFetcher(OPTIONS, spool, systemClock)
  onTestFinished(async () => {
    await fetcher.close()
    spool.close()
    server.close()
  })
  const outcome = await fetcher.fetch(
    {
      url: `http://127.0.0.1:${port}/page` as CanonicalUrl,
      addresses: [{ ip: '127.0.0.1', family: 4 }],
      purpose: 'page',
      isLast: true,
      acceptPartial: false,
    },
    new AbortController().signal,
  )
  if (outcome.kind !== 'fetched') throw new Error(`it was ${outcome.kind}`)
  return { document: outcome.document, spool }
}

function plain(document: Document): unknown {
  const { wire, body, ...facts } = document
  return { ...facts, wire: Buffer.from(wire.bytes()), body: Buffer.from(body.bytes()) }
}

test.each<[string, RequestListener]>([
  ['plain', (_, response) => response.setHeader('Content-Type', 'text/html; charset=latin1').end('<p>here</p>')],
  ['compressed', (_, response) => response.setHeader('Content-Encoding', 'gzip').end(gzipSync('a'.repeat(5_000)))],
  ['broken', (_, response) => response.setHeader('Content-Encoding', 'gzip').end('no gzip at all')],
  ['empty', (_, response) => response.writeHead(404, 'Nö').end()],
])('an answer that is %s', async (_, listener) => {
  const { document, spool } = await fetched(listener)
  const expected = plain(document)
  const carried = carryAnswer(document, 65_536)
  // Nothing of it is needed where it was fetched.
  document.release()
  expect(carried).not.toBeNull()
  if (carried === null) return
  const opened = await openAnswer(carried, OPTIONS, spool)
  expect(plain(opened)).toEqual(expected)
  opened.release()
})

test('what is too long stays where it is', async () => {
  const { document } = await fetched((_, response) => response.end('a'.repeat(100)))
  expect(carryAnswer(document, 99)).toBeNull()
  expect(carryAnswer(document, 100)).not.toBeNull()
  document.release()
})
