// Vectors of other normalisers: the Safe Browsing canonicaliser and the parser of webarchive-commons, the rules,
// the SURT form and the URL parts of Heritrix. At the end, which file of the material is run where.

import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { materialPath, readMaterial } from '../../test/material.ts'
import {
  canonicalOrNull,
  checkVectors,
  FOREIGN_SCHEME,
  inputs,
  keyOrNull,
  NO_HOST,
  NO_SCHEME,
  ourKeyOf,
  USERINFO,
} from '../../test/url-vectors.ts'
import { canonicalise } from './canonicalise.ts'
import { hostKeyOf, originOf, pathOf, schemeOf } from './url-parts.ts'

interface Vector {
  readonly function: string
  readonly input: string
  readonly expected: string
}

const google = readMaterial<{ vectors: (Vector | { function: string; input: null })[] }>(
  'url',
  'webarchive-commons-google-canonicalizer.json',
)
const parser = readMaterial<{ vectors: ParserVector[] }>('url', 'webarchive-commons-urlparser.json')
const rules = readMaterial<{ vectors: Vector[] }>('url', 'heritrix-rules-surt.json')
const usable = readMaterial<{ vectors: { input: string; expected: string | number; component?: string }[] }>(
  'url',
  'heritrix-usableuri.json',
)

describe.skipIf(google === null)('webarchive-commons, Safe Browsing form (material not present: skipped)', () => {
  const of = (name: string): Vector[] =>
    (google?.vectors ?? []).filter(
      (vector): vector is Vector => vector.function.startsWith(name) && vector.input !== null,
    )

  test('every canonical form agrees or differs for a reason', () => {
    const vectors = of('GoogleURLCanonicalizer').map((vector) => ({ ...vector, got: canonicalOrNull(vector.input) }))
    checkVectors(vectors, [
      NO_SCHEME,
      NO_HOST,
      {
        reason: 'an escape is undone once, not until none is left: a server tells %2525 from %25',
        covers: ({ input }) => /%25(?:%32|25)/.test(input),
      },
      { reason: 'empty segments are kept', covers: ({ input }) => input.includes('//twoslashes') },
      { reason: 'WHATWG trims no other space than ASCII’s', covers: ({ input }) => input.endsWith('\u2028') },
      {
        reason: 'WHATWG: a paragraph separator in a host is an error',
        covers: ({ input }) => input.includes('examp\u2029'),
      },
      { reason: 'a scheme is in lower case', covers: ({ input }) => /^(?:Http|HTTP|ftP):/.test(input) },
      {
        reason: 'WHATWG: empty labels inside a name are kept; the DNS will not know it',
        covers: inputs('https://.foobar.org/', 'https://foo...bar.org/'),
      },
    ])
  })

  test('what it makes one has one look-up key, or differs for a reason', () => {
    const vectors = of('GoogleURLCanonicalizer').map(({ input, expected }) => ({
      input,
      expected: ourKeyOf(expected),
      got: keyOrNull(input),
    }))
    checkVectors(vectors, [
      NO_SCHEME,
      NO_HOST,
      { reason: 'WHATWG trims no other space than ASCII’s', covers: ({ input }) => input.endsWith('\u2028') },
      {
        reason: 'WHATWG: a paragraph separator in a host is an error',
        covers: ({ input }) => input.includes('examp\u2029'),
      },
      {
        reason: 'WHATWG: empty labels inside a name are kept; the DNS will not know it',
        covers: inputs('https://.foobar.org/', 'https://foo...bar.org/'),
      },
    ])
  })

  test('keys undo escapes as its decoder does', () => {
    const vectors = of('guc.').filter(({ function: name }) => name !== 'guc.attemptIPFormats')
    expect(vectors).toHaveLength(90)
    checkVectors(
      vectors.map(({ input, expected }) => ({
        input,
        // What was decoded, as a path can hold it.
        expected: ourKeyOf(`http://h.example/${expected.replace(/[^!-~]/gu, encodeURIComponent)}`),
        got: keyOrNull(`http://h.example/${input}`),
      })),
      [],
    )
  })

  test('addresses are read alike, but for short ones', () => {
    const vectors = of('guc.attemptIPFormats').map(({ input, expected }) => {
      const url = canonicalise(`http://${input}/`)
      const host = typeof url === 'string' ? hostKeyOf(url) : null
      return { input, expected, got: host !== null && /^[\d.]+$/.test(host) ? host : null }
    })
    checkVectors(vectors, [{ reason: 'WHATWG: three numbers are an address too', covers: inputs('10.0.258') }])
  })
})

interface ParserVector {
  readonly input: string
  readonly scheme: string | null
  readonly host: string | null
  readonly port: number
  readonly pathQuery: string
}

/** Scheme, host, port and path of a URL, one below the other; null where it is refused. */
function partsOf(input: string): string | null {
  const url = canonicalise(input)
  if (typeof url !== 'string') return null
  const port = originOf(url).slice(`${schemeOf(url)}://${hostKeyOf(url)}`.length)
  return [schemeOf(url), hostKeyOf(url), port === '' ? '-1' : port.slice(1), pathOf(url)].join('\n')
}

describe.skipIf(parser === null)('webarchive-commons, parts of URLs (material not present: skipped)', () => {
  test('every part agrees or differs for a reason', () => {
    const vectors = parser!.vectors.map(({ input, scheme, host, port, pathQuery }) => ({
      input,
      expected: [scheme, host, port, pathQuery].join('\n'),
      got: partsOf(input),
    }))
    checkVectors(vectors, [
      FOREIGN_SCHEME,
      USERINFO,
      { reason: 'an empty path is /', covers: inputs('http://www.archive.org') },
      { reason: 'international names are in ASCII', covers: ({ input }) => input.includes('bücher') },
    ])
  })
})

describe.skipIf(rules === null)('Heritrix, rules for duplicates and SURT (material not present: skipped)', () => {
  test('what its rules make one has one look-up key, or differs for a reason', () => {
    const vectors = rules!.vectors
      .filter(({ function: name }) => name !== 'SURT.fromURI')
      .map(({ input, expected }) => ({ input, expected: ourKeyOf(expected), got: keyOrNull(input) }))
    checkVectors(vectors, [
      {
        reason: 'the Wayback machine’s keys have empty parameters as they stand',
        covers: ({ input }) => /\?&|&$/.test(input),
      },
    ])
  })

  test('its SURT form is another one throughout', () => {
    const vectors = rules!.vectors
      .filter(({ function: name }) => name === 'SURT.fromURI')
      .map((vector) => ({ ...vector, got: keyOrNull(vector.input) }))
    checkVectors(vectors, [
      {
        reason:
          'a prefix for scopes, with scheme, www, user and fragment; ours is the key of CDXJ, which has none of them',
        covers: () => true,
      },
    ])
  })
})

describe.skipIf(usable === null)('Heritrix, parts of URLs in the wild (material not present: skipped)', () => {
  test('every part agrees or differs for a reason', () => {
    const vectors = usable!.vectors.flatMap(({ input, component, expected }) => {
      if (component === undefined) return []
      const [scheme, host, port, path] = partsOf(input)?.split('\n') ?? []
      const parts: Record<string, string | undefined> = {
        getScheme: scheme,
        getHost: host,
        getPort: port,
        getPath: path?.split('?', 1)[0],
        getQuery: path?.split('?')[1],
      }
      return [{ input, expected: String(expected), got: parts[component] }]
    })
    expect(vectors).toHaveLength(16)
    checkVectors(vectors, [FOREIGN_SCHEME, USERINFO])
  })
})

/** Every file of the material by the test that runs it, or why none does. */
const FILES: Readonly<Record<string, string>> = {
  'README.md': 'says what the others are',
  'crawler-commons-domains.json': 'registrable-domain.test.ts',
  'crawler-commons-normalizer.json': 'url-vectors.test.ts',
  'crawler-commons-resolve.json': 'url-vectors.test.ts',
  'heritrix-rules-surt.json': 'other-normalisers.test.ts',
  'heritrix-usableuri.json': 'url-vectors.test.ts, parts: other-normalisers.test.ts',
  'jsoup-resolve.json': 'url-vectors.test.ts',
  'urlcanon/aggressive.json': 'urlcanon-vectors.test.ts',
  'urlcanon/funky_ipv4.json': 'urlcanon-vectors.test.ts',
  'urlcanon/idempotence.json': 'urlcanon-vectors.test.ts',
  'urlcanon/notes.txt': 'urlcanon-vectors.test.ts',
  'urlcanon/parsing.json': 'urlcanon-vectors.test.ts',
  'urlcanon/path_dots.json': 'urlcanon-vectors.test.ts',
  'urlcanon/semantic_precise.json': 'urlcanon-vectors.test.ts',
  'urlcanon/ssurt.json': 'none: forms of its own, with scheme, user and fragment, that no index of ours has',
  'urlcanon/supplemental_whatwg.json': 'urlcanon-vectors.test.ts',
  'urlcanon/surt.json': 'surt.test.ts, urlcanon-vectors.test.ts',
  'w3lib-canonicalize.json': 'w3lib-vectors.test.ts',
  'w3lib-url-functions.json': 'w3lib-vectors.test.ts',
  'webarchive-commons-google-canonicalizer.json': 'other-normalisers.test.ts',
  'webarchive-commons-ia-canonicalizer.json': 'surt.test.ts',
  'webarchive-commons-surt-key.json': 'surt.test.ts',
  'webarchive-commons-urlparser.json': 'other-normalisers.test.ts',
  'wpt/IdnaTestV2.json': 'url-vectors.test.ts',
  'wpt/LICENSE.md': 'is a licence',
  'wpt/percent-encoding.json': 'query-encoding.test.ts',
  'wpt/setters_tests.json': 'none: a canonical URL is a string and is never changed in part',
  'wpt/toascii.json': 'url-vectors.test.ts',
  'wpt/urltestdata-javascript-only.json': 'url-vectors.test.ts',
  'wpt/urltestdata.json': 'url-vectors.test.ts',
}

/** Functions of files that another test runs, and that nothing of ours does. */
const NO_COUNTERPART: Readonly<Record<string, { run: RegExp; left: Readonly<Record<string, string>> }>> = {
  'crawler-commons-domains.json': {
    run: /^PaidLevelDomain|getAssignedDomain$|getEffectiveTLD\.getDomain$/,
    left: {
      'EffectiveTldFinder.getEffectiveTLD.getSuffix': 'which rule of the list decided is not asked for',
      'EffectiveTldFinder.getEffectiveTLD.isException': 'which rule of the list decided is not asked for',
      'EffectiveTldFinder.getEffectiveTLD.isWildcard': 'which rule of the list decided is not asked for',
      'EffectiveTldFinder.getEffectiveTLD.getUnicodeDomain': 'names are in ASCII',
    },
  },
  'webarchive-commons-ia-canonicalizer.json': {
    run: /^(?!HandyURL).*(?:IAURLCanonicalizer|Rules\)|massageHost|alphaReorderQuery)$/,
    left: {
      'IAURLCanonicalizer.getDefaultPort': 'default ports are the parser’s; canonicalise.test.ts has them',
      'HandyURL.getPublicPrefix': 'the vectors do not say of which host',
      'HandyURL.getPublicSuffix': 'the vectors do not say of which host',
    },
  },
}

const folder = materialPath('url')

describe.skipIf(folder === null)('the material on URLs (material not present: skipped)', () => {
  test('every file is run somewhere or left out for a reason', () => {
    const files = readdirSync(folder!, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => `${parentPath}/${name}`.slice(folder!.length).replace(/^\/+/, ''))
    expect(files.toSorted()).toEqual(Object.keys(FILES).toSorted())
  })

  test.each(Object.entries(NO_COUNTERPART))(
    'every function of %s is run or left out for a reason',
    (file, functions) => {
      const { vectors } = readMaterial<{ vectors: Vector[] }>('url', file)!
      const names = new Set(vectors.map((vector) => vector.function).filter((name) => !functions.run.test(name)))
      expect([...names].toSorted()).toEqual(Object.keys(functions.left).toSorted())
    },
  )
})
