// What travels to another agent is what was fetched, whatever becomes of the memory that it was fetched into.

import { expect, test } from 'vitest'
import { FetchedDocument, Spool, SpooledBody } from '../document/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import { plainAnswer } from './plain-answer.ts'

const RULES = 'User-agent: *\nDisallow: /private\n'

function bodyOf(text: string, spool: Spool): SpooledBody {
  const body = new SpooledBody(spool, 1e6, text.length)
  body.appendCopy(Buffer.from(text), 0, text.length)
  body.finish()
  return body
}

test('an answer outlives its document, though other pages are fetched into the same memory', () => {
  const spool = new Spool('/nowhere', 64 * 1024)
  const wire = bodyOf(RULES, spool)
  const memory = wire.bytes().buffer
  const document = new FetchedDocument({
    url: 'http://a.test/robots.txt' as CanonicalUrl,
    requestHead: 'GET /robots.txt HTTP/1.1\r\n\r\n',
    httpVersion: '1.1',
    status: 200,
    statusText: 'OK',
    rawHeaders: [],
    responseHead: null,
    contentType: null,
    wire,
    body: wire,
    decoding: 'none',
    truncated: null,
    wireTruncated: null,
    fetchedAtMs: 0,
    firstByteMs: 1,
    durationMs: 2,
    ip: '192.0.2.1',
  })
  const answer = plainAnswer(document)
  document.release()
  for (let i = 0; i < 100; i++) bodyOf(`<p>${'x'.repeat(30_000)}`, spool).release()
  // The memory that it was in is used again.
  expect(Buffer.from(memory, 0, RULES.length).toString()).not.toBe(RULES)
  expect(Buffer.from(answer.body).toString()).toBe(RULES)
  // And brings nothing else along.
  expect(answer.body.buffer.byteLength).toBe(RULES.length)
})
