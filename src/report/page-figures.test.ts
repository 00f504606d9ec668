// How names are taken from what servers and hosts say.

import { expect, test } from 'vitest'
import type { PageRecord } from '../store/index.ts'
import { PageFigures } from './page-figures.ts'

const PAGE: PageRecord = {
  url: 'http://example.org/',
  status: 200,
  type: 'text/html',
  bytes: 1,
  wireBytes: 1,
  depth: 0,
  digest: '',
  fetchedAt: '',
  via: null,
  firstByteMs: 1,
  durationMs: 1,
  ip: '',
  warc: null,
}

function figuresOf(page: Partial<PageRecord>): ReturnType<PageFigures['figures']> {
  const figures = new PageFigures()
  figures.addPage({ ...PAGE, ...page })
  return figures.figures()
}

test.each([
  ['http://a.b.example.org/', 'org'],
  ['http://example.org.:8080/', 'org'],
  ['http://192.0.2.7/', 'IP address'],
  ['http://[2001:db8::1]:8080/', 'IP address'],
  ['http://localhost/', 'localhost'],
])('the top-level domain of %s is %s', (url, name) => {
  expect(figuresOf({ url }).topLevelDomains.rows[0]?.name).toBe(name)
})

test.each([
  ['nginx/1.22.1 (Debian)', 'nginx'],
  ['Microsoft-IIS/10.0', 'Microsoft-IIS'],
  ['cloudflare', 'cloudflare'],
  ['/', 'unnamed'],
  ['', 'unnamed'],
  ['x'.repeat(500), 'x'.repeat(60)],
])('a server that calls itself %j is %s', (server, name) => {
  expect(figuresOf({ server }).servers.rows[0]?.name).toBe(name)
})

test('pages beyond the deepest place are counted in it', () => {
  expect(figuresOf({ depth: 1_000_000 }).depths).toHaveLength(33)
})

test('an error page says nothing about content', () => {
  expect(figuresOf({ status: 404, charset: 'utf-8' })).toMatchObject({
    ok: 0,
    types: { total: 0 },
    charsets: { total: 0 },
  })
})
