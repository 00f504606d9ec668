// Laws over random links. Links are put together from pieces that matter to some step of canonicalisation, so
// that dots, escapes, slashes and odd characters meet in every order; a random text would hardly ever be a URL.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Random } from '../base/index.ts'
import { BaseUrl } from './base-url.ts'
import type { CanonicalUrl } from './canonical-url.ts'
import { canonicalise } from './canonicalise.ts'
import { FILE_HOST, parseUrl } from './parse-url.ts'
import { REFUSED } from './refusal.ts'
import { hostKeyOf, originOf, pathOf, schemeOf } from './url-parts.ts'

const PIECES = [
  ...String.raw`/ / / . .. ./ ../ ? # : @ & = ; - -- _ ~ % ' " %41 %7e %2e %2E %20 %C3 %c3 %2f %25 %4 \ | ^ [ ] {`.split(
    ' ',
  ),
  ...'a b index.html page 1 09 0x7f é 日本 xn-- A %%34 + ! $ *'.split(' '),
  ' ',
  '\t',
  '\ud800',
]
const STARTS = [
  ...'/ // http:// https:// HTTP:// http: http:/ ftp:// ftps:// gopher:// file:/// mailto: https://example.org https://example.org/'.split(
    ' ',
  ),
  ...'http://127.0.0.1:8080/ //h ./ ../ ../../ ? # http://www.example.com/ https://a-b.example.co.uk/x'.split(' '),
  ...'http://example.org./ http://user@h/ http://[::1]/'.split(' '),
  '',
  '',
  '',
  ' ',
]
const BASES = [
  'https://example.org/',
  'https://example.org/a/b/c.html?q=1',
  'http://127.0.0.1:8080/x//y/',
  'http://example.com/a/b//?x/y',
  'http://h/%7B/..%2F/x',
  'ftp://files.example/pub/a',
  'gopher://holes.example/1/a',
].map((base) => BaseUrl.of(canonicalise(base) as CanonicalUrl))

function link(random: Random): string {
  let text = random.pick(STARTS)
  for (let left = random.below(8); left > 0; left--) text += random.pick(PIECES)
  return text
}

const links = fc.tuple(fc.integer(), fc.constantFrom(...BASES)).map(([seed, base]) => ({
  href: link(new Random(seed)),
  base,
}))

/** What a server reads, one character a byte. */
function bytesOf(path: string): string {
  return path.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

describe('both ways through', () => {
  test('the short way gives what the parser gives', () => {
    const random = new Random('both ways')
    for (let i = 0; i < 300_000; i++) {
      const href = link(random)
      const base = random.pick(BASES)
      const short = canonicalise(href, base)
      const long = parseUrl(href, base.href)
      // A scheme that we do not crawl is refused before anybody looks whether the rest is a URL.
      if (short !== long && !(short === REFUSED.scheme && long === REFUSED['invalid-url'])) {
        expect.fail(`${JSON.stringify(href)} on ${base.href}: ${JSON.stringify(short)}, not ${JSON.stringify(long)}`)
      }
    }
  })
})

describe('a canonical URL', () => {
  test('is its own canonical form, with any base', () => {
    fc.assert(
      fc.property(links, ({ href, base }) => {
        const url = canonicalise(href, base)
        if (typeof url !== 'string') return
        expect(canonicalise(url)).toBe(url)
        expect(canonicalise(url, base)).toBe(url)
        expect(parseUrl(url, undefined)).toBe(url)
      }),
      { numRuns: 20_000 },
    )
  })

  test('is ASCII without fragment or white space, and falls into its parts', () => {
    fc.assert(
      fc.property(links, ({ href, base }) => {
        const url = canonicalise(href, base)
        if (typeof url !== 'string') return
        expect(url).toMatch(/^(https?|ftps?|gopher|file):\/\/[^/#?@]+\/[!-~]*$/)
        expect(url).not.toContain('#')
        expect(originOf(url) + pathOf(url)).toBe(url)
        const parsed = new URL(url)
        // The platform takes the host off URLs of files; ours have one, as all others do.
        const host = parsed.protocol === 'file:' ? FILE_HOST : parsed.host
        expect(hostKeyOf(url)).toBe(parsed.hostname || FILE_HOST)
        expect(schemeOf(url)).toBe(parsed.protocol.slice(0, -1))
        expect(originOf(url)).toBe(`${parsed.protocol}//${host}`)
      }),
      { numRuns: 20_000 },
    )
  })

  test('comes of arbitrary text, or a refusal does, but never an exception', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.constantFrom(...BASES, null), (text, base) => {
        const url = canonicalise(text, base)
        if (typeof url === 'string') expect(canonicalise(url)).toBe(url)
        else expect(REFUSED[url.refused]).toBe(url)
      }),
      { numRuns: 20_000 },
    )
  })

  test('has the same bytes behind its escapes as the parser gives', () => {
    fc.assert(
      fc.property(links, ({ href, base }) => {
        const url = canonicalise(href, base)
        const parsed = URL.parse(href, base.href)
        if (typeof url !== 'string' || parsed === null || parsed.protocol === 'gopher:') return
        const parserPath = parsed.href.slice(parsed.origin === 'null' ? 0 : parsed.origin.length).replace(/#.*/, '')
        if (parsed.origin !== 'null') expect(bytesOf(pathOf(url))).toBe(bytesOf(parserPath))
      }),
      { numRuns: 20_000 },
    )
  })
})
