import { describe, expect, test } from 'vitest'
import type { CanonicalUrl } from './canonical-url.ts'
import { compileUrlFilter, type UrlFilter } from './url-filter.ts'
import { urlFilterSchema } from './url-filter-schema.ts'

const filters: [filter: UrlFilter, admits: string[], refuses: string[]][] = [
  [
    { domain: 'Example.org' },
    ['http://example.org/', 'https://a.b.example.org:81/x'],
    ['http://anexample.org/', 'http://org/'],
  ],
  [{ domain: 'bücher.example' }, ['http://www.xn--bcher-kva.example/'], ['http://example/']],
  [{ host: 'example.org' }, ['http://example.org:8080/'], ['http://www.example.org/']],
  [{ host: '[::1]' }, ['http://[::1]:81/'], ['http://[::2]/']],
  [
    { prefix: 'HTTP://example.org/%7ea/' },
    ['http://example.org/~a/b'],
    ['http://example.org/~a', 'https://example.org/~a/'],
  ],
  [{ protocol: 'http' }, ['http://h/'], ['https://h/']],
  [
    { extension: 'PDF' },
    ['http://h/a.pdf', 'http://h/a.b.Pdf?c.d'],
    ['http://h/a.pdf/', 'http://h/pdf', 'http://h/?a.pdf'],
  ],
  [{ extension: '' }, ['http://h/', 'http://h.example/a', 'http://h/a.b/c'], ['http://h/a.b']],
  [{ pattern: '/\\d+$' }, ['http://h/12'], ['http://h/12a']],
  [{ all: [{ protocol: 'http' }, { host: 'h' }] }, ['http://h/'], ['https://h/', 'http://i/']],
  [{ any: [{ host: 'i' }, { host: 'h' }] }, ['http://h/', 'http://i/'], ['http://j/']],
  [{ not: { host: 'h' } }, ['http://i/'], ['http://h/']],
  [{ all: [] }, ['http://h/'], []],
  [{ any: [] }, [], ['http://h/']],
  [
    { all: [{ domain: 'h' }, { not: { any: [{ extension: 'zip' }, { pattern: '/print/' }] } }] },
    ['http://h/a'],
    ['http://h/a.zip', 'http://h/print/'],
  ],
]

test.each(filters)('%j', (filter, admits, refuses) => {
  expect(urlFilterSchema.safeParse(filter).success).toBe(true)
  const predicate = compileUrlFilter(filter)
  for (const url of admits) expect([url, predicate(url as CanonicalUrl)]).toEqual([url, true])
  for (const url of refuses) expect([url, predicate(url as CanonicalUrl)]).toEqual([url, false])
})

describe('is refused in the configuration', () => {
  test.each([
    [{}],
    ['example.org'],
    [{ domain: '' }],
    [{ domain: 'http://example.org' }],
    [{ host: 'a/b' }],
    [{ host: 'h:80' }],
    [{ host: 'h:81' }],
    [{ prefix: '/docs/' }],
    [{ protocol: 'file' }],
    [{ extension: '.pdf' }],
    [{ pattern: '(' }],
    [{ not: [] }],
    [{ all: { host: 'h' } }],
    [{ all: [{ hosts: 'h' }] }],
    [{ host: 'h', protocol: 'http' }],
  ])('%j', (filter) => {
    expect(urlFilterSchema.safeParse(filter).success).toBe(false)
  })
})
