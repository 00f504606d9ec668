// What a head says, and that a hostile one is read as fast as any.

import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { type AnswerHead, CHUNKED, Complaint, parseHead, UNTIL_CLOSE } from './answer-head.ts'

function parsed(text: string): AnswerHead {
  const head = parseHead(text)
  if (head instanceof Complaint) throw new Error(head.detail)
  return head
}

test.each<[line: string, version: string, status: number, reason: string]>([
  ['HTTP/1.1 200 OK', '1.1', 200, 'OK'],
  ['HTTP/1.1 404 Not  Found ', '1.1', 404, 'Not  Found '],
  ['HTTP/1.1 200 ', '1.1', 200, ''],
  ['HTTP/1.1 200', '1.1', 200, ''],
  ['HTTP/1.0 200 OK', '1.0', 200, 'OK'],
  ['http/1.1\t200  OK', '1.1', 200, 'OK'],
  ['HTTP/0.9 200 OK', '1.0', 200, 'OK'],
  ['HTTP 200 OK', '1.0', 200, 'OK'],
  ['HTTP/2 200', '1.1', 200, ''],
  ['HTTP/1.1 200OK', '1.1', 200, 'OK'],
  ['HTTP/1.1 999 \xe9', '1.1', 999, '\xe9'],
  ['HTTP/1.1 200 a\rb', '1.1', 200, 'a b'],
])('%j is a status line', (line, httpVersion, status, statusText) => {
  for (const end of ['\r\n', '\n']) {
    expect(parsed(`${line}${end}${end}`)).toMatchObject({ httpVersion, status, statusText, rawHeaders: [] })
  }
})

test.each([
  'HTTP/1.1',
  'HTTP/1.1 ',
  'HTTP/1.1 20 OK',
  'HTTP/1.1 2000',
  'HTTP/1.1 099 X',
  'HTTP/1.1 1e2 X',
  'HTTP/1.1 -200',
  'HTTPS 200',
  '',
])('%j is none', (line) => {
  expect(parseHead(`${line}\r\n\r\n`)).toMatchObject({ code: 'FETCH_HEAD_MALFORMED' })
})

test('headers keep their names, order and repetitions, and lose the blanks around them', () => {
  const text =
    'HTTP/1.1 200 OK\r\nX-b:2\r\nSET-cookie:\t a \r\nx : y\r\nEmpty:\r\nno header\r\n lost\r\nset-Cookie: b:c\r\n\t d\r\n\r\n'
  expect(parsed(text)).toMatchObject({
    text,
    rawHeaders: ['X-b', '2', 'SET-cookie', 'a', 'x', 'y', 'Empty', '', 'set-Cookie', 'b:c d'],
  })
  expect(parsed('HTTP/1.1 200 OK\r\n folded onto nothing\r\nA: b\rc\r\r\n\r\n').rawHeaders).toEqual(['A', 'b c'])
})

const OK = 'HTTP/1.1 200 OK\r\n'
test.each<[headers: string, length: number]>([
  ['Content-Length: 12', 12],
  ['content-length:12', 12],
  ['Content-Length: 012', 12],
  ['Content-Length: 9223372036854775808', 2 ** 63],
  ['Content-Length: 5\r\nContent-Length: 5', 5],
  ['Content-Length: 6,06,6\r\nContent-Length: 6,    6', 6],
  ['Content-Length: 12 bananas', UNTIL_CLOSE],
  ['Content-Length: +5', UNTIL_CLOSE],
  ['Content-Length: 0x5', UNTIL_CLOSE],
  ['Transfer-Encoding: chunked', CHUNKED],
  ['Transfer-Encoding: gzip\r\nTransfer-Encoding: CHUNKED', CHUNKED],
  ['Transfer-Encoding: chunked; q=1\r\nContent-Length: 5\r\nContent-Length: 6', CHUNKED],
  ['Transfer-Encoding: chunked, gzip\r\nContent-Length: 5', CHUNKED],
  ['Transfer-Encoding: chunked, identity', CHUNKED],
  ['Transfer-Encoding: gzip\r\nContent-Length: 5', UNTIL_CLOSE],
  ['Transfer-Encoding: \r\nContent-Length: 5', 5],
  ['Client-Transfer-Encoding: chunked', UNTIL_CLOSE],
])('a body after %j ends as it says', (headers, length) => {
  expect(parsed(`${OK}${headers}\r\n\r\n`).length).toBe(length)
  expect(parsed(`HTTP/1.1 304 X\r\n${headers}\r\n\r\n`).length).toBe(0)
})

test('transfer codings beside chunks are named, to be undone', () => {
  const codings = (value: string): readonly string[] =>
    parsed(`${OK}Transfer-Encoding: ${value}\r\n\r\n`).transferCodings
  expect(codings('chunked')).toEqual([])
  expect(codings('chunked, chunked')).toEqual([])
  expect(codings('GZIP;q=1, chunked, identity')).toEqual(['gzip'])
  expect(codings('x-secret')).toEqual(['x-secret'])
})

test('a redirect to two places is none, the same place twice is one', () => {
  const head = (status: number, ...places: string[]): string =>
    `HTTP/1.1 ${status} X\r\n${places.map((place) => `Location: ${place}\r\n`).join('')}\r\n`
  expect(parseHead(head(302, '/a', '/b'))).toMatchObject({ code: 'FETCH_HEAD_MALFORMED' })
  expect(parsed(head(302, '/a', '/a')).status).toBe(302)
  // It leads nowhere, so it may say what it likes.
  expect(parsed(head(200, '/a', '/b')).status).toBe(200)
})

test('a server may say how long it keeps a connection', () => {
  const keepMs = (value: string): number | null => parsed(`${OK}Keep-Alive: ${value}\r\n\r\n`).keepMs
  expect(keepMs('timeout=5, max=100')).toBe(5_000)
  expect(keepMs('max=100; Timeout = "7"')).toBe(7_000)
  expect(keepMs('timeout=-1')).toBeNull()
  expect(keepMs('')).toBeNull()
})

test('well-formed heads come back as they were written', () => {
  const name = fc
    .stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}$/)
    .filter((one) => !/^(content-length|transfer-encoding)$/i.test(one))
  const value = fc.stringMatching(/^([!-~\xa1-\xff]([ \t!-~\xa1-\xff]{0,30}[!-~\xa1-\xff])?)?$/)
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value), { maxLength: 12 }), fc.constantFrom('\r\n', '\n'), (pairs, end) => {
      const text = `HTTP/1.1 200 OK${end}${pairs.map(([key, one]) => `${key}: ${one}${end}`).join('')}${end}`
      expect(parsed(text).rawHeaders).toEqual(pairs.flat())
    }),
  )
})

test('a hostile head is read in time that grows with its length only', () => {
  // Going back and forth over these would outlast the test.
  const lines = 500_000
  for (const line of ['x\n', ' \n', 'a\r\n', '\r \n', ':\n', '\t\t\r\r\n']) {
    expect(parsed(`HTTP/1.1 200 OK\n${line.repeat(lines)}\n`).rawHeaders).toEqual([])
    expect(parsed(`HTTP/1.1 200 OK\nA: b\n${` ${line}`.repeat(lines)}\n`).rawHeaders).toHaveLength(2)
  }
  for (const blank of [' ', '\t', '\r']) {
    const { rawHeaders } = parsed(`HTTP/1.1 200 OK\nA: b\r${blank.repeat(lines)}c\n\n`)
    expect(rawHeaders[1]).toHaveLength(lines + 3)
  }
})
