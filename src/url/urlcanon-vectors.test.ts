// The vectors of urlcanon (IIPC). Its forms "semantic precise" and "aggressive" are keys for finding duplicates, to be
// compared with surt(); where a form is one that could be fetched, canonicalise() is compared with it too.

import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { materialPath, readMaterial } from '../../test/material.ts'
import {
  canonicalOrNull,
  checkVectors,
  FILES,
  FOREIGN_SCHEME,
  inputs,
  keyOrNull,
  NO_HOST,
  NO_SCHEME,
  ourKeyOf,
  USERINFO,
  withoutFragment,
} from '../../test/url-vectors.ts'
import { canonicalise } from './canonicalise.ts'
import { hostKeyOf, originOf, pathOf, schemeOf } from './url-parts.ts'

type Table = Readonly<Record<string, string>>

const aggressive = readMaterial<Table>('url', 'urlcanon/aggressive.json')
const semantic = readMaterial<Table>('url', 'urlcanon/semantic_precise.json')
const whatwg = readMaterial<Table>('url', 'urlcanon/supplemental_whatwg.json')
const addresses = readMaterial<Readonly<Record<string, string | null>>>('url', 'urlcanon/funky_ipv4.json')
const dots = readMaterial<{ special: Table; nonspecial: Table }>('url', 'urlcanon/path_dots.json')
const idempotence = readMaterial<readonly string[]>('url', 'urlcanon/idempotence.json')
const parsing = readMaterial<Readonly<Record<string, Table>>>('url', 'urlcanon/parsing.json')
const keys = readMaterial<Readonly<Record<string, Table>>>('url', 'urlcanon/surt.json')
const notes = materialPath('url', 'urlcanon/notes.txt')

const UTF_8 = new TextDecoder('utf-8', { fatal: true })

/** The files hold bytes, one a character; where they are UTF-8 we read the text they stand for. */
function textOf(bytes: string): string {
  try {
    return UTF_8.decode(Buffer.from(bytes, 'latin1'))
  } catch {
    return bytes
  }
}

function formsOf(table: Table): { input: string; expected: string; got: string | null }[] {
  return Object.entries(table).map(([bytes, expected]) => {
    const input = textOf(bytes)
    return { input, expected: withoutFragment(expected)!, got: canonicalOrNull(input) }
  })
}

function keysOf(table: Table): { input: string; expected: string; got: string | null }[] {
  return Object.entries(table).map(([bytes, expected]) => {
    const input = textOf(bytes)
    return { input, expected: ourKeyOf(expected), got: keyOrNull(input) }
  })
}

const GOPHER_WITHOUT_HOST = {
  reason: 'gopher is no special scheme of WHATWG: without // it has no host',
  covers: inputs('gopher:/example.com/', 'gopher:example.com/'),
}
const OLD_ADDRESS = {
  reason: 'WHATWG since: a name that ends in a number is an address or none',
  covers: inputs('http://09/'),
}
const STRAY_BYTE = {
  reason: 'links are text, and U+0091 is escaped as UTF-8; the vector is of the byte',
  covers: ({ input }: { input: string }) => input.includes('\u0091'),
}

describe.skipIf(semantic === null)('urlcanon, semantic precise (material not present: skipped)', () => {
  test('every canonical form agrees or differs for a reason', () => {
    checkVectors(formsOf(semantic!), [
      FOREIGN_SCHEME,
      FILES,
      NO_SCHEME,
      USERINFO,
      NO_HOST,
      GOPHER_WITHOUT_HOST,
      OLD_ADDRESS,
      STRAY_BYTE,
      {
        reason: 'an escape is undone once, not until none is left: a server tells %2561 from %61',
        covers: ({ input }) => /%25(?:%3|%25|25|36|61)|%%3/.test(input),
      },
      {
        reason: 'a % that begins no escape is sent as it is, as browsers do',
        covers: ({ input }) => /%(?![0-9a-f]{2})/i.test(input),
      },
      {
        reason: 'only escapes of unreserved characters are undone',
        covers: ({ input }) => /\/%3A|%3E|%28|%40|%7B/.test(input),
      },
      { reason: 'the order of parameters stays', covers: ({ input }) => /\?(?:%26|%3d|c)=/.test(input) },
      {
        reason: 'empty segments are kept',
        covers: ({ input }) => /^http:\/\/[^/]*(?:\/\/|\\\\)/.test(input),
      },
    ])
  })

  test('what it makes one has one look-up key, or differs for a reason', () => {
    checkVectors(keysOf(semantic!), [
      FOREIGN_SCHEME,
      FILES,
      NO_SCHEME,
      USERINFO,
      NO_HOST,
      GOPHER_WITHOUT_HOST,
      OLD_ADDRESS,
      STRAY_BYTE,
    ])
  })
})

describe.skipIf(aggressive === null)('urlcanon, aggressive (material not present: skipped)', () => {
  test('what it makes one has one look-up key, or differs for a reason', () => {
    checkVectors(keysOf(aggressive!), [
      NO_SCHEME,
      {
        reason: 'the Wayback machine’s keys drop session ids of a known shape only, and of a path only ASP.NET’s',
        covers: ({ input }) => /jsessionid=a63098d96360|;jsessionid/.test(input),
      },
      {
        reason: 'the Wayback machine’s keys have empty parameters as they stand',
        covers: ({ input }) => /\?&|&&|&$/.test(input),
      },
    ])
  })
})

describe.skipIf(whatwg === null)('urlcanon, supplement to WHATWG (material not present: skipped)', () => {
  test('every form agrees or differs for a reason', () => {
    checkVectors(formsOf(whatwg!), [
      FOREIGN_SCHEME,
      FILES,
      NO_SCHEME,
      USERINFO,
      NO_HOST,
      OLD_ADDRESS,
      {
        reason: 'escapes of unreserved characters are undone (RFC 3986, 6.2.2)',
        covers: ({ input }) => /^http:\/\/[^/]+\/.*(?:%2e%2e%2e|\?%2e|%45|(?<!25)%6\d|%32%35|%36%31|%73)/.test(input),
      },
    ])
  })

  test('what its authors know to be no URL is refused', () => {
    const lines = readFileSync(notes!, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('http:'))
      .map((line) => line.replace(/\\x(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))))
    expect(lines).toHaveLength(14)
    expect(lines.filter((line) => canonicalOrNull(line) !== null)).toEqual([])
  })
})

describe.skipIf(addresses === null)('urlcanon, IPv4 addresses (material not present: skipped)', () => {
  test('every address agrees or differs for a reason', () => {
    const vectors = Object.entries(addresses!).map(([input, expected]) => {
      const url = canonicalise(`http://${input}/`)
      return { input, expected, got: typeof url === 'string' ? hostKeyOf(url) : null }
    })
    checkVectors(vectors, [{ reason: 'no number at all, so a name', covers: inputs('0000xa') }])
  })
})

describe.skipIf(dots === null)('urlcanon, dot segments (material not present: skipped)', () => {
  test('every path of http agrees, but for backslashes', () => {
    const vectors = Object.entries(dots!.special).map(([input, path]) => ({
      input,
      expected: `http://h.example${path}`,
      got: canonicalOrNull(`http://h.example${input}`),
    }))
    checkVectors(vectors, [
      {
        reason: 'WHATWG: backslashes that remain are slashes',
        covers: ({ input }) => /^\\|^\/(?:foo)?\\(?:foo|\.)?$/.test(input),
      },
    ])
  })

  test('every path of gopher agrees, but for those that do not begin with a slash', () => {
    const vectors = Object.entries(dots!.nonspecial).map(([input, path]) => ({
      input,
      expected: `gopher://h.example${path}`,
      got: canonicalOrNull(`gopher://h.example${input}`),
    }))
    checkVectors(vectors, [
      { reason: 'a backslash is part of the host, and no host has one', covers: ({ input }) => input.startsWith('\\') },
    ])
  })
})

describe.skipIf(idempotence === null)('urlcanon, idempotence (material not present: skipped)', () => {
  test('a canonical form is its own', () => {
    const forms = idempotence!.map((input) => canonicalOrNull(input)).filter((form) => form !== null)
    expect(forms.length).toBeGreaterThan(10)
    for (const form of forms) expect(canonicalOrNull(form)).toBe(form)
  })
})

describe.skipIf(parsing === null)('urlcanon, parts of URLs (material not present: skipped)', () => {
  test('every part agrees or differs for a reason', () => {
    const vectors = Object.entries(parsing!).map(([input, parts]) => {
      const url = canonicalise(input)
      const query = `${parts['question_mark']}${parts['query']}`
      return {
        input,
        expected: `${parts['scheme']}://${parts['host']}${parts['path'] === '' ? '/' : parts['path']}${query}`,
        got: typeof url === 'string' ? `${schemeOf(url)}://${hostKeyOf(url)}${pathOf(url)}` : null,
        url,
      }
    })
    for (const { url } of vectors) if (typeof url === 'string') expect(originOf(url) + pathOf(url)).toBe(url)
    checkVectors(vectors, [
      FOREIGN_SCHEME,
      FILES,
      NO_SCHEME,
      USERINFO,
      { reason: 'no host, no URL', covers: ({ input }) => /^[\s]*h\s*t\s*t\s*p\s*:$/i.test(input) },
      { reason: 'backslashes are slashes', covers: ({ input }) => /a\\b/.test(input) },
    ])
  })
})

describe.skipIf(keys === null)('urlcanon, rules of the Python package surt (material not present: skipped)', () => {
  /** Tables of whole URLs, of hosts, paths and queries; defaultIASurt is run by surt.test.ts. */
  const asUrl: Readonly<Record<string, (part: string) => string>> = {
    'Canonicalizer.DefaultIA': (url) => url,
    'Canonicalizer.IA': (url) => url,
    google: (url) => url,
    googleSupplementalFromSurt: (url) => url,
    unescapeRepeatedly: (path) => `http://h.example/${path}`,
    alphaRorderQuery: (query) => `http://h.example/?${query}`,
    massageHost: (host) => `http://${host}/`,
    stripPathSessionId: (path) => `http://h.example${path}`,
  }

  test('every table is run', () => {
    expect(Object.keys(keys!).toSorted()).toEqual([...Object.keys(asUrl), 'defaultIASurt'].toSorted())
  })

  test('what a rule makes one has one look-up key, or differs for a reason', () => {
    const vectors = Object.entries(asUrl).flatMap(([name, urlOf]) =>
      Object.entries(keys![name]!).map(([bytes, expected]) => {
        const input = urlOf(textOf(bytes))
        return { input, expected: ourKeyOf(urlOf(expected)), got: keyOrNull(input) }
      }),
    )
    checkVectors(vectors, [FOREIGN_SCHEME, NO_SCHEME, NO_HOST])
  })
})
