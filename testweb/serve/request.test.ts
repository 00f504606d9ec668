// Requests are read from text that came in any pieces.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readRequest } from './request.ts'

const GET = 'GET /a?b=c HTTP/1.1\r\nHost: H1.Site0.test:8000\r\nAccept-Encoding: GZIP, br\r\n\r\n'

describe('a head', () => {
  test('is read up to its empty line', () => {
    expect(readRequest(GET, 0)).toMatchObject({
      method: 'GET',
      path: '/a?b=c',
      isHttp10: false,
      host: 'h1.site0.test',
      acceptEncoding: ' gzip, br',
      end: GET.length,
    })
  })

  test('begins where the one before ended', () => {
    const text = GET + GET.replace('/a', '/z')
    expect(readRequest(text, GET.length)).toMatchObject({ path: '/z?b=c', end: text.length })
  })

  test('that is cut anywhere is partial, never bad', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: GET.length - 1 }),
        (cut) => readRequest(GET.slice(0, cut), 0) === 'partial',
      ),
    )
  })

  test('names of headers are read in any case', () => {
    const text =
      'GET / HTTP/1.0\r\nhOST: x\r\nIF-NONE-MATCH: "a"\r\nif-modified-since: yesterday\r\nConnection: Close\r\nContent-Length: 5\r\n\r\n'
    expect(readRequest(text, 0)).toMatchObject({
      isHttp10: true,
      host: 'x',
      ifNoneMatch: '"a"',
      ifModifiedSince: 'yesterday',
      connection: 'close',
      bodyBytes: 5,
      end: text.length + 5,
    })
  })

  test('in absolute form names its host itself', () => {
    const text = 'GET http://Other.test:81/x?y HTTP/1.1\r\nHost: a\r\n\r\n'
    expect(readRequest(text, 0)).toMatchObject({ host: 'other.test', path: '/x?y' })
    expect(readRequest(text.replace('/x?y', '?y'), 0)).toMatchObject({ path: '/?y' })
  })

  test('without a host has none', () => {
    expect(readRequest('GET / HTTP/1.0\r\n\r\n', 0)).toMatchObject({ host: null })
  })

  test.each([
    '\r\n\r\n',
    'GET\r\n\r\n',
    'GET / HTTP/2\r\n\r\n',
    'GET /\r\n\r\n',
    'hello there friend\r\n\r\n',
    'GET / HTTP/1.1\r\nnonsense\r\n\r\n',
    'GET x HTTP/1.1\r\n\r\n',
  ])('%j is no request', (text) => {
    expect(readRequest(text, 0)).toBe('bad')
  })
})
