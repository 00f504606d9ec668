// The vectors of others. Three kinds, not to be mixed: (1) normalisation that is safe for fetching binds
// canonicalise(), (2) look-up keys bind surt() (surt.test.ts), (3) domain facts bind registrableDomain()
// (registrable-domain.test.ts). Where we differ, the reason stands here, and a vector that begins to agree fails
// its listing; docs/decisions/0002-canonical-urls.md argues each reason.

import { describe, expect, test } from 'vitest'
import { readMaterial } from '../../test/material.ts'
import { checkVectors, inputs, withoutFragment } from '../../test/url-vectors.ts'
import { BaseUrl } from './base-url.ts'
import type { CanonicalUrl } from './canonical-url.ts'
import { canonicalise, compileCanonicaliser } from './canonicalise.ts'

interface Vector {
  readonly input: string
  readonly base?: string | null
  readonly expected: string | null
  readonly rule: string
}

interface WptCase {
  readonly input: string
  readonly base: string | null
  readonly failure?: true
  readonly href?: string
  readonly protocol?: string
  readonly username?: string
  readonly password?: string
}

const normalizer = readMaterial<{ vectors: Vector[] }>('url', 'crawler-commons-normalizer.json')
const resolve = readMaterial<{ vectors: Vector[] }>('url', 'crawler-commons-resolve.json')
const heritrix = readMaterial<{ vectors: (Vector & { component?: string; expectedSameAs?: string })[] }>(
  'url',
  'heritrix-usableuri.json',
)
const jsoup = readMaterial<{ vectors: Vector[] }>('url', 'jsoup-resolve.json')
const wpt = readMaterial<(WptCase | string)[]>('url', 'wpt/urltestdata.json')
const wptLoneSurrogates = readMaterial<(WptCase | string)[]>('url', 'wpt/urltestdata-javascript-only.json')
const toAscii = readMaterial<({ input: string; output: string | null } | string)[]>('url', 'wpt/toascii.json')
const idna = readMaterial<({ input: string; output: string | null } | string)[]>('url', 'wpt/IdnaTestV2.json')

const withSessionRule = compileCanonicaliser({ urlLength: 2_083, sessionIds: ['phpsessid'] })

function answer(input: string, base: string | null | undefined, canonicaliser = canonicalise): string | null {
  const page = 'http://page.example/' as CanonicalUrl
  const url = canonicaliser(input, base === null || base === undefined ? null : BaseUrl.ofPage(page, base))
  return typeof url === 'string' ? url : null
}

describe.skipIf(normalizer === null)('crawler-commons, normaliser (material not present: skipped)', () => {
  test('every vector agrees or differs for a reason', () => {
    const vectors = normalizer!.vectors.map((vector) => ({
      input: vector.input,
      expected: vector.expected,
      got: answer(
        vector.input,
        null,
        vector.rule === 'testRemoveSessionQueryParameters' ? withSessionRule : canonicalise,
      ),
    }))
    checkVectors(vectors, [
      {
        reason: 'query order, empty parameters and empty values stay: they are the site’s to define',
        covers: ({ input, expected }) =>
          (/\?.*&/.test(input) && !input.includes('phpsessid') && expected !== withoutFragment(input)) ||
          input === 'http://foo.com/index?a=1&b=',
      },
      { reason: 'an empty query is kept (RFC 3986, 6.2.3; WHATWG)', covers: ({ input }) => input.endsWith('?') },
      {
        reason: 'empty segments are kept: the standard and servers tell them apart',
        covers: ({ input }) =>
          (/^http:\/\/foo\.com\/.*\/\//.test(input) && !input.includes('referer')) ||
          input.startsWith('http://foo.com//'),
      },
      {
        reason: 'a percent sign that begins no escape is sent as it is, as browsers do',
        covers: ({ input }) => /%(?![0-9a-f]{2})/i.test(input) && !input.includes('2Xcom') && !input.includes('_%2F_'),
      },
      {
        reason: 'WHATWG leaves [ ] ^ ` | of a query, and [ ] of a path, unescaped',
        covers: ({ input }) => /\?.*[[\]^`|]/.test(input) || input.endsWith('/[x]'),
      },
      { reason: 'file: is not crawled', covers: ({ input }) => input.startsWith('file:') },
      { reason: 'no host, no URL', covers: inputs('ftp:/', 'http:////', 'http:///////') },
      {
        reason: 'a scheme is not guessed',
        covers: inputs('foo.com/index.html'),
      },
      { reason: 'userinfo is refused by name', covers: ({ input }) => input.includes('user:pass@') },
      { reason: 'IPv6 literals in the standard’s form', covers: inputs('http://[::ffff:127.0.0.1]/') },
      {
        reason: 'international names are kept in ASCII; the vectors are for another option',
        covers: ({ expected }) => /[^\0-\x7f]/.test(expected ?? ''),
      },
    ])
  })
})

describe.skipIf(resolve === null)('crawler-commons, resolving (material not present: skipped)', () => {
  test('every vector agrees or differs for a reason', () => {
    const vectors = resolve!.vectors.map(({ input, base, expected }) => ({
      input,
      expected: withoutFragment(expected),
      got: answer(input, base),
    }))
    checkVectors(vectors, [
      { reason: 'userinfo is refused by name', covers: ({ input }) => input.includes('user:pass@') },
      { reason: 'escapes are in upper case', covers: ({ input }) => input.includes('%2f') },
      { reason: 'file: is not crawled', covers: ({ expected }) => expected?.startsWith('file:') === true },
    ])
  })
})

describe.skipIf(jsoup === null)('jsoup, resolving (material not present: skipped)', () => {
  test('every vector agrees or differs for a reason', () => {
    const vectors = jsoup!.vectors.map(({ input, base, expected }) => ({
      input,
      expected: withoutFragment(expected),
      got: answer(input, base === '' ? null : base),
    }))
    checkVectors(vectors, [
      {
        reason: 'a scheme we do not crawl',
        covers: ({ input }) => /^(tel|file):|foo?\to?:/.test(input) || input.includes('fo\to:'),
      },
      { reason: 'spaces are escaped', covers: inputs('../foo bar/') },
      { reason: 'WHATWG reads one slash after a special scheme as two', covers: inputs('https:/foo/bar') },
      {
        reason: 'a page always has a base; without a valid one the link stands on its page',
        covers: inputs('also wrong'),
      },
    ])
  })
})

describe.skipIf(heritrix === null)('Heritrix, fix-ups of links in the wild (material not present: skipped)', () => {
  test('every whole-URL vector agrees or differs for a reason', () => {
    const vectors = heritrix!.vectors
      .filter(({ component }) => component === undefined)
      .map(({ input, base, expected, expectedSameAs }) => ({
        input,
        expected: expectedSameAs === undefined ? expected : answer(expectedSameAs, null),
        got: answer(input, base),
      }))
    checkVectors(vectors, [
      {
        reason: 'WHATWG: a no-break space is escaped as itself, not trimmed or made a space',
        covers: ({ input }) => input.includes('\u00a0'),
      },
      { reason: 'WHATWG: an escaped space in a host is no host', covers: ({ input }) => input.includes('.co.uk%20') },
      {
        reason: 'escapes of unreserved characters are undone',
        covers: ({ input }) => input.startsWith('faxResults.cfm'),
      },
      {
        reason: 'IDNA 2008 as browsers have it: ß is not ss',
        covers: ({ input }) => input.includes('josefßon'),
      },
      {
        reason: 'the vector is of a decoded form',
        covers: ({ expected }) => expected?.includes(' ') === true,
      },
      {
        reason: 'WHATWG escapes the apostrophe in a query',
        covers: ({ input }) => input.includes('somechars'),
      },
      {
        reason: 'WHATWG keeps backslashes of a query',
        covers: ({ input }) => input.startsWith('http:\\/www.example.com'),
      },
    ])
  })
})

describe.skipIf(wpt === null)('web-platform-tests, URL (material not present: skipped)', () => {
  /** A file of this machine, whose name is its path. */
  const asFile = (href: string | undefined): string | null => {
    const { hostname, pathname } = new URL(href ?? '')
    return hostname === '' ? `file://localhost${pathname}` : null
  }
  const crawled = new Set(['http:', 'https:', 'ftp:', 'ftps:', 'gopher:', 'file:'])

  test('every case agrees or differs for a reason', () => {
    const cases = [...wpt!, ...wptLoneSurrogates!].filter((entry) => typeof entry !== 'string')
    expect(cases.length).toBeGreaterThan(800)
    const vectors = cases
      // A base that is no URL makes the case fail in a browser; a page of ours always has a URL.
      .filter(({ base }) => base === null || URL.canParse(base))
      // The test puts a page under every base; a data: base gives way to it, as HTML has it.
      .filter(({ base }) => base?.startsWith('data:') !== true)
      .map(({ input, base, failure, href, protocol, username, password }) => {
        const isRefused =
          failure === true || !crawled.has(protocol ?? '') || (username ?? '') !== '' || (password ?? '') !== ''
        return {
          input,
          expected: isRefused ? null : protocol === 'file:' ? asFile(href) : withoutFragment(href ?? null),
          got: answer(input, base),
        }
      })
    checkVectors(vectors, [
      {
        reason: 'gopher or ftps without a host is no URL of ours',
        covers: inputs('gopher:/example.com/', 'gopher:example.com/', 'ftps:/example.com/', 'ftps:example.com/'),
      },
      { reason: 'the default port of gopher goes', covers: inputs('gopher://foo:70/') },
      {
        reason: 'escapes are in upper case, those of unreserved characters undone (RFC 3986, 6.2.2)',
        covers: inputs(
          '/a%2fc',
          '/a/%2f/c',
          'http://example.com/foo/%2e%2',
          'http://example.com/foo/%2e./%2e%2e/.%2e/%2e.bar',
          'http://example.com/foo%41%7a',
          'http://example.com/foo%00%51',
          'http://example.com/%3A%3a%3C%3c',
          'http://www/foo%2Ehtml',
        ),
      },
      {
        reason: 'a host of nothing but dots, or with two at its end, is none',
        covers: inputs('http://./', 'http://../', 'http://foo.09..'),
      },
    ])
  })

  test('every international name agrees, but for the dot at its end', () => {
    const vectors = [...toAscii!, ...idna!]
      .filter((entry) => typeof entry !== 'string')
      .filter(({ input }) => input !== undefined && input !== '')
      .map(({ input, output }) => ({
        input,
        expected: output === null ? null : `https://${output}/x`,
        got: answer(`https://${input}/x`, null),
      }))
    expect(vectors.length).toBeGreaterThan(2_000)
    checkVectors(vectors, [
      { reason: 'the dot at the end of a host goes', covers: ({ expected }) => expected?.endsWith('./x') === true },
    ])
  })
})
