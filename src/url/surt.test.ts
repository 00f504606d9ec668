// The look-up key by our own table and by the vectors of webarchive-commons (kind 2 of the material).

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readMaterial } from '../../test/material.ts'
import { canonicalise } from './canonicalise.ts'
import { surt } from './surt.ts'

function keyOf(href: string): string {
  const url = canonicalise(href)
  return typeof url === 'string' ? surt(url) : `refused: ${url.refused}`
}

test.each([
  ['http://www.example.org/', 'org,example)/'],
  ['https://www2.example.org/', 'org,example)/'],
  ['http://www2example.org/', 'org,www2example)/'],
  ['http://example.org:8080/', 'org,example:8080)/'],
  ['http://[::1]:8080/', '::1:8080)/'],
  ['http://127.0.0.1/', '1,0,0,127)/'],
  ['ftp://example.org/Pub/', 'org,example)/pub'],
  ['http://example.org/A//b/?Y=2&x=1', 'org,example)/a/b?x=1&y=2'],
  ['http://example.org/?b=2&a', 'org,example)/?a&b=2'],
  ['http://example.org/?a=&a', 'org,example)/?a&a='],
  ['http://example.org/?a-b=1&a=1', 'org,example)/?a=1&a-b=1'],
  ['http://example.org/a?', 'org,example)/a'],
  ['http://example.org/a%20b%2Fc', 'org,example)/a%20b/c'],
  ['http://example.org/%252525', 'org,example)/%25'],
  ['http://example.org/a/%2E%2E%2Fb', 'org,example)/b'],
  ['http://example.org/é', 'org,example)/%c3%a9'],
  ['http://bücher.example/', 'example,xn--bcher-kva)/'],
  ['http://example.org/?sid=9682993c8daa2c5497996114facdc805&a=1', 'org,example)/?a=1'],
  ['http://example.org/?sid=tooshort', 'org,example)/?sid=tooshort'],
  ['http://example.org/(S(4hqa0555fwsecu455xqckv45))/page.aspx', 'org,example)/page.aspx'],
  [
    'http://example.org/(S(4hqa0555fwsecu455xqckv45))/page.html',
    'org,example)/(s(4hqa0555fwsecu455xqckv45))/page.html',
  ],
])('%s is filed under %s', (href, expected) => {
  expect(keyOf(href)).toBe(expected)
})

test('the key is the same whichever letters are escaped: what is plain takes a shorter way to it', () => {
  const pieces = ['a', 'B', 'id=1', 'v=2', '&', '=', '/', '.', '+', '"', 'sid=', 'cfid=1&cftoken=2', 'jsessionid=']
  const piece = fc.constantFrom(...pieces, '9682993c8daa2c5497996114facdc805', 'aspsessionidabcdefgh=', 'x'.repeat(24))
  const text = fc.array(piece, { maxLength: 8 }).map((several) => several.join(''))
  fc.assert(
    fc.property(text, text, fc.nat(), (path, query, seed) => {
      const escaped = (plain: string): string =>
        plain.replaceAll(/[a-z0-9]/gi, (letter, at: number) =>
          (seed >>> (at % 31)) & 1 ? letter : `%${letter.charCodeAt(0).toString(16)}`,
        )
      // One that is always escaped: the long way.
      const long = keyOf(`http://example.org/${escaped(path)}?%61${escaped(query)}`)
      expect(keyOf(`http://example.org/${path}?a${query}`)).toBe(long)
    }),
    { numRuns: 1_000 },
  )
})

const keyVectors = readMaterial<{ vectors: { input: string | null; expected: string }[] }>(
  'url',
  'webarchive-commons-surt-key.json',
)
const urlcanon = readMaterial<Record<string, Record<string, string>>>('url', 'urlcanon/surt.json')
const canonicalizer = readMaterial<{ vectors: { function: string; input: string | null; expected: unknown }[] }>(
  'url',
  'webarchive-commons-ia-canonicalizer.json',
)

/** The key maker also takes names of records and texts without a scheme; we make keys of canonical URLs only. */
function isUrlOfOurs(input: string | null): input is string {
  return input !== null && /^(https?|ftp):/i.test(input)
}

describe.skipIf(keyVectors === null)('webarchive-commons, SURT keys (material not present: skipped)', () => {
  const vectors = (keyVectors?.vectors ?? []).filter(({ input }) => isUrlOfOurs(input))
  test.each(vectors)('$input', ({ input, expected }) => {
    expect(keyOf(input!)).toBe(expected)
  })

  test('what is left out is no URL that we crawl', () => {
    const left = keyVectors!.vectors.map(({ input }) => input).filter((input) => !isUrlOfOurs(input))
    for (const input of left) expect(typeof canonicalise(input ?? '')).toBe('object')
  })
})

describe.skipIf(urlcanon === null)('urlcanon, keys of the Python package (material not present: skipped)', () => {
  const vectors = Object.entries(urlcanon?.['defaultIASurt'] ?? {}).filter(([input]) => isUrlOfOurs(input))
  test.each(vectors)('%s', (input, expected) => {
    expect(keyOf(input)).toBe(expected)
  })
})

describe.skipIf(canonicalizer === null)('webarchive-commons, IA canonicaliser (material not present: skipped)', () => {
  // Two URLs that the canonicaliser makes one must share a key. `Ordinary` rules keep what key rules drop, so
  // the expected form is put through the key maker too; only malformed hosts are left out.
  const vectors = (canonicalizer?.vectors ?? []).filter(
    ({ function: name, input }) =>
      name.includes('IA') && !name.includes('.') && isUrlOfOurs(input) && !input.includes('...'),
  )
  test('there are vectors', () => {
    expect(vectors.length).toBeGreaterThan(20)
  })
  test.each(vectors)('$input', ({ input, expected }) => {
    expect(keyOf(input!)).toBe(keyOf(expected as string))
  })

  const hosts = (canonicalizer?.vectors ?? []).filter(({ function: name }) => name.endsWith('massageHost'))
  test.each(hosts)('host $input', ({ input, expected }) => {
    expect(keyOf(`http://${input}/`)).toBe(`${String(expected).split('.').reverse().join(',')})/`)
  })

  const queries = (canonicalizer?.vectors ?? []).filter(
    ({ function: name, input }) => name.endsWith('alphaReorderQuery') && input !== null && input !== '',
  )
  test.each(queries)('query $input', ({ input, expected }) => {
    expect(keyOf(`http://h.example/?${input}`)).toBe(`example,h)/?${String(expected)}`)
  })
})
