// The joiner against canonicalise() and Fingerprinter, which it must equal wherever it answers.

import { describe, expect, test } from 'vitest'
import { Random } from '../base/index.ts'
import { BaseUrl } from './base-url.ts'
import type { CanonicalUrl } from './canonical-url.ts'
import { canonicalise, compileCanonicaliser } from './canonicalise.ts'
import { defaultKey, Fingerprinter } from './fingerprint.ts'
import { LinkJoiner } from './link-joiner.ts'

const LENGTH_MAX = 2_083

function baseOf(url: string): BaseUrl {
  return BaseUrl.of(canonicalise(url) as CanonicalUrl)
}

/** URL and fingerprint of a link as the joiner has them; null where it steps aside. The link stands inside a page. */
function joined(
  joiner: LinkJoiner<string>,
  href: string,
  base: BaseUrl,
): [url: string, high: number, low: number] | null {
  const page = Buffer.from(`<a href="${href}">/x?y#`, 'latin1')
  if (!joiner.begin(base) || !joiner.join(page, 9, 9 + href.length)) return null
  return [joiner.url(), joiner.high, joiner.low]
}

function expected(href: string, base: BaseUrl): [url: string, high: number, low: number] | null {
  const url = canonicalise(href, base)
  if (typeof url !== 'string') return null
  const fingerprinter = new Fingerprinter(defaultKey)
  fingerprinter.compute(url)
  return [url, fingerprinter.high, fingerprinter.low]
}

const BASE = 'https://example.org/a/b/c.html?q=1'

test.each([
  ['', BASE],
  ['#part', BASE],
  ['d.html', 'https://example.org/a/b/d.html'],
  ['d.html#part', 'https://example.org/a/b/d.html'],
  ['d/e/?x=1&y=/../', 'https://example.org/a/b/d/e/?x=1&y=/../'],
  ['/', 'https://example.org/'],
  ['/d', 'https://example.org/d'],
  ['./d', 'https://example.org/a/b/d'],
  ['../d', 'https://example.org/a/d'],
  ['../../../d', 'https://example.org/d'],
  ['.d', 'https://example.org/a/b/.d'],
  ['..', null],
  ['a/../b', null],
  ['caf%C3%A9', 'https://example.org/a/b/caf%C3%A9'],
  ['%7e', null],
  ['%4', null],
  ['?r=2', null],
  ['//example.org/d', null],
  ['https://example.org/d', 'https://example.org/d'],
  ['https://example.org', null],
  ['https://example.org:8443/d', null],
  ['https://example.org.test/d', null],
  ['http://example.org/d', null],
  ['mailto:d', null],
  ['d:e', null],
  ['/d:e', 'https://example.org/d:e'],
  ['d e', null],
  ['d\\e', null],
])('%j on a page leads to %j', (href, url) => {
  const base = baseOf(BASE)
  const found = joined(new LinkJoiner<string>(defaultKey, LENGTH_MAX), href, base)
  expect(found?.[0] ?? null).toBe(url)
  if (url !== null) expect(found).toEqual(expected(href, base))
})

describe('over generated links', () => {
  const starts = [
    '',
    '',
    '',
    '/',
    '/',
    './',
    '../',
    '../../',
    '//',
    'http://h/',
    '//h/',
    'http://h:81/',
    'https://xn--a/',
    'https://example.org/',
    'x:',
    '.',
    '..',
  ]
  const pieces = [
    ...'/ / . .. ../ ? # : @ & = ; ~ % %41 %2E %20 %C3 %2f \\ a b index.html page 1 é + !'.split(' '),
    ' ',
  ]
  const bases = ['https://example.org/', BASE, 'http://h/x//y/', 'http://127.0.0.1:8080/x/y', 'ftp://f.test/a/b'].map(
    baseOf,
  )
  const random = new Random('joiner')
  const link = (): string => {
    let text = random.pick(starts)
    for (let left = random.below(8); left > 0; left--) text += random.pick(pieces)
    return text.trim()
  }

  test('whatever it joins is what canonicalise() and Fingerprinter say, also after pages of other hosts', () => {
    const joiner = new LinkJoiner<string>(defaultKey, LENGTH_MAX)
    let answers = 0
    for (let i = 0; i < 50_000; i++) {
      const href = link()
      const base = random.pick(bases)
      const found = joined(joiner, href, base)
      const canonical = canonicalise(href, base)
      if (found === null) {
        if (joiner.missedOrigin && typeof canonical === 'string') joiner.learn(canonical)
        continue
      }
      answers++
      const wanted = expected(href, base)
      if (wanted === null || found.some((part, place) => part !== wanted[place])) {
        expect.fail(`${JSON.stringify(href)} on ${base.href}: ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`)
      }
    }
    expect(answers).toBeGreaterThan(10_000)
  })
})

test('a link that would be too long is left to canonicalise()', () => {
  const base = baseOf('http://a.test/')
  const joiner = new LinkJoiner<string>(defaultKey, 20)
  expect(joined(joiner, '123456', base)?.[0]).toBe('http://a.test/123456')
  expect(joined(joiner, '1234567', base)).toBeNull()
})

test('a base that is no plain URL, or a canonicaliser that does more than join, leaves all links to it', () => {
  const gopher = BaseUrl.of(canonicalise('gopher://g.test/1/a') as CanonicalUrl)
  expect(joined(new LinkJoiner<string>(defaultKey, LENGTH_MAX), 'b', gopher)).toBeNull()
  const { plainLengthMax } = compileCanonicaliser({ urlLength: LENGTH_MAX, sessionIds: ['sid'] })
  expect(joined(new LinkJoiner<string>(defaultKey, plainLengthMax), 'b', baseOf(BASE))).toBeNull()
})

describe('links to other origins', () => {
  const base = baseOf(BASE)

  test('are joined once a URL of the origin was learnt', () => {
    const joiner = new LinkJoiner<string>(defaultKey, LENGTH_MAX)
    const hrefs = ['http://192.0.2.7:81/', 'http://192.0.2.7:81/a?b#c', 'https://other.test/x', '//other.test/y']
    for (const href of hrefs) {
      expect(joined(joiner, href, base)).toBeNull()
      expect(joiner.missedOrigin).toBe(true)
    }
    joiner.learn('http://192.0.2.7:81/z' as CanonicalUrl)
    joiner.learn('https://other.test/' as CanonicalUrl)
    for (const href of hrefs) {
      expect(joined(joiner, href, base)).toEqual(expected(href, base))
      expect(joiner.missedOrigin).toBe(false)
    }
    expect(joiner.other?.root).toBe('https://other.test/')
    expect(joined(joiner, 'd', base)).toEqual(expected('d', base))
    expect(joiner.other).toBeNull()
    joiner.forget()
    expect(joined(joiner, 'https://other.test/x', base)).toBeNull()
  })

  test.each([
    'http://other.test/',
    'https://other.test:81/',
    'https://other.tes/',
    'https://Other.test/',
    'https://other.test',
  ])('that differ from a learnt one stay unknown: %s', (href) => {
    const joiner = new LinkJoiner<string>(defaultKey, LENGTH_MAX)
    joiner.learn('https://other.test/' as CanonicalUrl)
    expect(joined(joiner, href, base)).toBeNull()
  })

  test('keep the note that was made of their origin', () => {
    const joiner = new LinkJoiner<string>(defaultKey, LENGTH_MAX)
    joiner.learn('https://other.test/' as CanonicalUrl)
    joined(joiner, 'https://other.test/x', base)
    expect(joiner.other?.note).toBeUndefined()
    if (joiner.other !== null) joiner.other.note = 'far'
    joined(joiner, 'd', base)
    joined(joiner, '//other.test/y', base)
    expect(joiner.other?.note).toBe('far')
  })
})

test('the root of the page is known to whoever asks for no URL', () => {
  const joiner = new LinkJoiner<string>(defaultKey, LENGTH_MAX)
  joiner.begin(baseOf('http://127.0.0.1:8080/x'))
  expect(joiner.root).toBe('http://127.0.0.1:8080/')
})
