import { expect, test } from 'vitest'
import type { CanonicalUrl } from '../url/index.ts'
import { FetchedDocument } from './fetched-document.ts'
import { Spool } from './spool.ts'
import { SpooledBody } from './spooled-body.ts'

function documentOf(rawHeaders: readonly string[], isCoded = false): FetchedDocument {
  const spool = new Spool('/nowhere', 1000)
  const wire = SpooledBody.of(Buffer.from('wire'), spool)
  return new FetchedDocument({
    url: 'http://a.test/' as CanonicalUrl,
    requestHead: 'GET / HTTP/1.1\r\n\r\n',
    httpVersion: '1.1',
    status: 200,
    statusText: 'OK',
    rawHeaders,
    responseHead: null,
    contentType: null,
    wire,
    body: isCoded ? SpooledBody.of(Buffer.from('body'), spool) : wire,
    decoding: isCoded ? 'decoded' : 'none',
    truncated: null,
    wireTruncated: null,
    fetchedAtMs: 0,
    firstByteMs: 1,
    durationMs: 2,
    ip: '192.0.2.1',
  })
}

test('headers are found whatever the case they came in, in the order they came in', () => {
  const document = documentOf(['Set-Cookie', 'a', 'X', '', 'SET-COOKIE', 'b'])
  expect(document.header('set-cookie')).toBe('a')
  expect(document.headers('set-cookie')).toEqual(['a', 'b'])
  expect(document.header('x')).toBe('')
  expect(document.header('location')).toBeNull()
  expect(document.headers('location')).toEqual([])
})

test('releasing a document releases both its bodies, and twice is harmless', () => {
  for (const isCoded of [false, true]) {
    const document = documentOf([], isCoded)
    document.release()
    document.release()
    expect(() => document.wire.bytes()).toThrow()
    expect(() => document.body.bytes()).toThrow()
  }
})

test('all documents have one shape', () => {
  expect(Object.keys(documentOf(['A', 'b']))).toEqual(Object.keys(documentOf([], true)))
})
