// The judge of bench/peers.ts: what the log of a server says about a crawl.

import { expect, test } from 'vitest'
import { judge } from '../bench/peers/judge.ts'

const WEB = new Set(['http://a/', 'http://a/caf%C3%A9.html', 'http://a/view?id=1&v=2'])

test('a crawl that fetched every page once has nothing against it, however it writes its escapes', () => {
  const log = ['GET http://a/ 200 -', 'GET http://a/caf%c3%a9.html 200 gzip', 'GET http://a/view?id=1&v=2 200 -']
  expect(judge(log, WEB)).toMatchObject({ pages: 3, answers: 3, missing: 0, extra: 0, repeated: 0, examples: [] })
})

test('what was not fetched, what is no page and what was asked twice is counted, each apart', () => {
  const log = [
    'GET http://a/ 200 -',
    'GET http://a/ 200 -',
    'GET http://a/robots.txt 404 -',
    'HEAD http://a/caf%C3%A9.html 200 -',
    'GET http://a/view?id=1&amp;v=2 200 -',
    '',
  ]
  expect(judge(log, WEB)).toEqual({
    pages: 1,
    answers: 3,
    missing: 2,
    extra: 1,
    repeated: 2,
    robotsRequests: 1,
    gzipShare: 0,
    examples: ['missing http://a/caf%C3%A9.html', 'missing http://a/view?id=1&v=2', 'extra http://a/view?id=1&amp;v=2'],
  })
})

test('a page that was only answered with an error is missing', () => {
  expect(judge(['GET http://a/ 503 -'], new Set(['http://a/']))).toMatchObject({ pages: 0, answers: 0, missing: 1 })
})
