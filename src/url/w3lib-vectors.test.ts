// The vectors of w3lib, Scrapy's URL functions. canonicalize_url makes keys for finding duplicates and
// safe_url_string texts that may be sent; canonicalise() is compared with both, surt() with the first.

import { describe, expect, test } from 'vitest'
import { readMaterial } from '../../test/material.ts'
import {
  canonicalOrNull,
  checkVectors,
  FILES,
  FOREIGN_SCHEME,
  inputs,
  keyOrNull,
  NO_SCHEME,
  ourFormOf,
  ourKeyOf,
  USERINFO,
  withoutFragment,
} from '../../test/url-vectors.ts'
import type { CanonicalUrl } from './canonical-url.ts'
import { canonicalise, compileCanonicaliser } from './canonicalise.ts'
import { hostKeyOf, originOf, pathOf } from './url-parts.ts'

interface Bytes {
  readonly bytesLatin1: string
}

interface Vector {
  readonly function: string
  /** Text, bytes, or the six parts of Python's urlparse. */
  readonly input: string | Bytes | readonly string[]
  readonly expected: unknown
  readonly args?: readonly unknown[]
  readonly options?: {
    readonly encoding?: string
    readonly path_encoding?: string
    readonly remove?: boolean
    readonly keep_blank_values?: boolean
    readonly query_separator?: string
  }
  readonly rule: string
}

const canonicalize = readMaterial<{ vectors: Vector[] }>('url', 'w3lib-canonicalize.json')
const functions = readMaterial<{ vectors: Vector[] }>('url', 'w3lib-url-functions.json')

/** Python's names of encodings by the web's. */
const ENCODINGS: Readonly<Record<string, string>> = {
  latin1: 'windows-1252',
  'latin-1': 'windows-1252',
  'iso-8859-1': 'windows-1252',
  cp1251: 'windows-1251',
  'utf-8': 'utf-8',
}

function encodingOf({ options }: Vector): string {
  return ENCODINGS[options?.encoding ?? 'utf-8']!
}

/** A link as our parser would hand it on: decoded by the page's encoding. */
function linkOf(vector: Vector): string {
  const { input } = vector
  if (typeof input === 'string') return input
  if ('bytesLatin1' in input) {
    return new TextDecoder(encodingOf(vector)).decode(Buffer.from(input.bytesLatin1, 'latin1'))
  }
  const [scheme, host, path, , query] = input
  return `${scheme}://${host}${path}${query === '' ? '' : `?${query}`}`
}

const BROKEN_BYTES = {
  reason: 'a page is decoded before its links are read; bytes that are no UTF-8 are U+FFFD by then',
  covers: ({ input }: { input: string }) => input.includes('\ufffd'),
}

function parameterNames(url: string): string {
  const query = url.replace(/#.*$/s, '').split('?').slice(1).join('?')
  return query
    .split(/[&;]/)
    .map((parameter) => parameter.split('=', 1)[0])
    .join(' ')
}

describe.skipIf(canonicalize === null)('w3lib, canonicalize_url (material not present: skipped)', () => {
  const vectors = (canonicalize?.vectors ?? []).map((vector) => ({
    ...vector,
    input: linkOf(vector),
    encoding: encodingOf(vector),
    // We drop fragments always, w3lib unless told otherwise.
    expected: withoutFragment(vector.expected as string)!,
  }))

  test('every canonical form agrees or differs for a reason', () => {
    checkVectors(
      vectors.map((vector) => ({ ...vector, got: canonicalOrNull(vector.input, vector.encoding) })),
      [
        FOREIGN_SCHEME,
        NO_SCHEME,
        USERINFO,
        BROKEN_BYTES,
        {
          reason: 'the order of parameters, blank values and the spelling of names are the site’s to define',
          covers: ({ input, expected }) => parameterNames(input) !== parameterNames(expected),
        },
        {
          reason: 'WHATWG: characters that the page’s encoding lacks become references; latin1 is windows-1252',
          covers: ({ rule }) => rule.endsWith('_wrong_encoding'),
        },
        { reason: 'escapes of reserved characters stay', covers: ({ input }) => input.includes('%2c') },
        {
          reason: 'WHATWG: a name is in Punycode however long or empty its labels, and never raw',
          covers: ({ expected }) => /^http:\/\/[^/]*[^\0-\x7f]/.test(expected),
        },
      ],
    )
  })

  test('what w3lib makes one has one look-up key, or differs for a reason', () => {
    checkVectors(
      vectors.map((vector) => ({
        ...vector,
        expected: ourKeyOf(vector.expected),
        got: keyOrNull(vector.input, vector.encoding),
      })),
      [
        FOREIGN_SCHEME,
        NO_SCHEME,
        USERINFO,
        BROKEN_BYTES,
        {
          reason: 'the Wayback machine’s keys have empty parameters and blank values as they stand',
          covers: ({ options, input }) => options?.keep_blank_values === false || /\?(?:&|1750)|&c&/.test(input),
        },
        { reason: 'they split a query at & only', covers: ({ options }) => options?.query_separator === ';' },
        { reason: 'in them %20 is not +', covers: ({ input }) => /q=a(?: |%20)space/.test(input) },
        {
          reason: 'WHATWG: characters that the page’s encoding lacks become references; latin1 is windows-1252',
          covers: ({ rule }) => rule.endsWith('_wrong_encoding'),
        },
      ],
    )
  })
})

/** Functions of w3lib that nothing of ours does. */
const NO_COUNTERPART: Readonly<Record<string, string>> = {
  url_query_parameter: 'a crawler reads no parameters',
  'url_query_parameter(url_query_parameter)': 'a crawler reads no parameters',
  add_or_replace_parameter: 'a crawler makes up no URLs',
  add_or_replace_parameters: 'a crawler makes up no URLs',
  path_to_file_uri: 'file: is not crawled',
  'path_to_file_uri.startswith': 'file: is not crawled',
  file_uri_to_path: 'file: is not crawled',
  'file_uri_to_path(path_to_file_uri).lower': 'file: is not crawled',
  'path_to_file_uri(file_uri_to_path)': 'file: is not crawled',
  'parse_url.params': 'path parameters are part of the path (RFC 3986, WHATWG)',
  'parse_data_uri.media_type': 'data: is refused without being read',
  'parse_data_uri.media_type_parameters': 'data: is refused without being read',
  'parse_data_uri.data': 'data: is refused without being read',
}

const RUN = [
  'safe_url_string',
  'safe_url_string(safe_url_string)',
  'safe_download_url',
  'any_to_uri',
  'is_url',
  'url_query_cleaner',
  'parse_url.path',
  'parse_url.netloc',
  'parse_url.hostname',
]

describe.skipIf(functions === null)('w3lib, other functions of URLs (material not present: skipped)', () => {
  const named = (...names: readonly string[]): Vector[] =>
    (functions?.vectors ?? []).filter(({ function: name }) => names.includes(name))

  test('every function is run or has no counterpart', () => {
    const names = new Set(functions!.vectors.map((vector) => vector.function))
    expect([...names].toSorted()).toEqual([...RUN, ...Object.keys(NO_COUNTERPART)].toSorted())
  })

  test('what w3lib would send is the URL that we would ask for, or differs for a reason', () => {
    const vectors = named('safe_url_string', 'safe_url_string(safe_url_string)', 'safe_download_url', 'any_to_uri').map(
      (vector) => ({
        ...vector,
        input: linkOf(vector),
        expected: ourFormOf(vector.expected as string),
        got: canonicalOrNull(linkOf(vector), encodingOf(vector)),
      }),
    )
    checkVectors(vectors, [
      FOREIGN_SCHEME,
      FILES,
      NO_SCHEME,
      USERINFO,
      BROKEN_BYTES,
      {
        reason: 'WHATWG: a path is in UTF-8 whatever the page is in',
        covers: ({ options, input }) => options?.path_encoding?.startsWith('latin') === true && /\/£/.test(input),
      },
      { reason: 'WHATWG keeps backslashes of a query', covers: ({ input }) => /^[^#]*\?[^#]*\\/.test(input) },
      {
        reason: 'WHATWG leaves [ and ] of paths and queries unescaped',
        covers: ({ input }) => /^https?:\/\/[^/#]+\/[^#]*[[\]]/.test(input),
      },
      { reason: 'brackets hold an IPv6 address or there is no host', covers: inputs('http://[v6a.ip]') },
    ])
  })

  test('is_url is true of what we accept', () => {
    const vectors = named('is_url').map(({ input, expected }) => ({
      input: input as string,
      expected,
      got: canonicalOrNull(input as string) !== null,
    }))
    checkVectors(vectors, [])
  })

  test('parts of URLs agree or differ for a reason', () => {
    const vectors = named('parse_url.path', 'parse_url.netloc', 'parse_url.hostname').map((vector) => {
      const url = canonicalise(vector.input as string) as CanonicalUrl
      const part = {
        'parse_url.path': pathOf(url).split('?', 1)[0],
        'parse_url.netloc': originOf(url).split('//')[1],
        'parse_url.hostname': hostKeyOf(url),
      }[vector.function]
      return { ...vector, input: vector.input as string, got: part }
    })
    checkVectors(vectors, [
      {
        reason: 'dot segments are resolved, behind a path parameter too',
        covers: ({ function: name, input }) => name === 'parse_url.path' && input.includes('/../'),
      },
      {
        reason: 'path parameters are part of the path',
        covers: ({ function: name, input }) => name === 'parse_url.path' && input.endsWith(';d'),
      },
      { reason: 'a default port goes', covers: ({ expected }) => expected === 'example.com:80' },
    ])
  })

  test('url_query_cleaner drops parameters as sessionIds does, where it is told to drop them', () => {
    const page = 'http://h.example/' as CanonicalUrl
    const vectors = named('url_query_cleaner').filter(({ options }) => options?.remove === true)
    checkVectors(
      vectors.map((vector) => {
        const drop = compileCanonicaliser({ urlLength: 2_083, sessionIds: vector.args![0] as string[] })
        const input = vector.input as string
        return { input, expected: page + String(vector.expected), got: drop(input, page) }
      }),
      [{ reason: 'empty parameters stay', covers: inputs('product.html?&') }],
    )
    // All others are told which to keep, or to keep none, which no setting of ours does.
    expect(vectors).toHaveLength(5)
  })
})
