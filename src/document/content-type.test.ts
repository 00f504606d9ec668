// Content-Type as the web writes it: right, wrong, twice, and out of bounds.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readMaterial } from '../../test/material.ts'
import { ContentTypes, parseContentType } from './content-type.ts'

const CASES: [values: string[], mediaType: string | null, charset?: string][] = [
  [['text/html'], 'text/html'],
  [['Text/HTML; Charset=UTF-8'], 'text/html', 'utf-8'],
  [[' text/html ;charset="iso-8859-1" '], 'text/html', 'iso-8859-1'],
  [['text/html; charset="a\\"b"'], 'text/html', 'a"b'],
  [['text/html; charset="utf-8'], 'text/html', 'utf-8'],
  [['text/html; charset="utf-8" junk; charset=x'], 'text/html', 'utf-8'],
  [['text/html; charset=utf-8; charset=latin1'], 'text/html', 'utf-8'],
  [['text/html; charset=; charset=latin1'], 'text/html', 'latin1'],
  [['text/html; boundary="a; charset=x"; charset=utf-8'], 'text/html', 'utf-8'],
  [['text/html;;; charset=utf-8'], 'text/html', 'utf-8'],
  [['text/html; charset'], 'text/html'],
  [['text/html; charset="utf-8;; ; ;charset='], 'text/html', 'utf-8;; ; ;charset='],
  [['application/xhtml+xml'], 'application/xhtml+xml'],
  // Several values: the last sensible one, and the charset of the same type survives.
  [['text/plain', 'text/html'], 'text/html'],
  [['text/html; charset=utf-8', 'text/html'], 'text/html', 'utf-8'],
  [['text/html; charset=utf-8', 'text/plain'], 'text/plain'],
  [['text/html, application/json; charset=x'], 'application/json', 'x'],
  [['text/html; charset="a,b"'], 'text/html', 'a,b'],
  [['text/html', '*/*'], 'text/html'],
  [['text/html', 'rubbish'], 'text/html'],
  // Nonsense.
  [[], null],
  [[''], null],
  [['html'], null],
  [['text/'], null],
  [['/html'], null],
  [['text/ht ml'], null],
  [['text/html/x'], null],
  [['; charset=utf-8'], null],
  [['*/*'], null],
]

test.each(CASES.map(([values, mediaType, charset]) => ({ values, mediaType, charset })))(
  '$values is $mediaType with charset $charset',
  ({ values, mediaType, charset }) => {
    expect(parseContentType(values)).toEqual(mediaType === null ? null : { mediaType, charset: charset ?? null })
  },
)

test('no value makes it throw, and what comes back is lower-case', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: fc.constantFrom(...Array.from('text/html;cCharset="\\, =*\0é')) }), { maxLength: 3 }),
      (values) => {
        const parsed = parseContentType(values)
        if (parsed === null) return
        expect(parsed.mediaType).toBe(parsed.mediaType.toLowerCase())
        expect(parsed.charset).not.toBe('')
      },
    ),
  )
})

test('a long value is read in linear time', () => {
  expect(parseContentType([`text/html;${'"\\'.repeat(30_000)}`])).toEqual({ mediaType: 'text/html', charset: null })
  expect(parseContentType([`text/html${';'.repeat(60_000)}`])).toEqual({ mediaType: 'text/html', charset: null })
  expect(parseContentType([`text/html; charset=${'"'.repeat(60_000)}`])?.mediaType).toBe('text/html')
})

interface Vectors {
  readonly vectors: readonly { function: string; args: readonly string[]; expected: string | null }[]
}
const material = readMaterial<Vectors>('encoding', 'w3lib-encoding.json')

/** w3lib answers with the names of encodings, not with labels. */
function encodingName(label: string): string | null {
  try {
    return new TextDecoder(label).encoding.replace('iso-8859-4', 'iso8859-4')
  } catch {
    return null
  }
}

describe.skipIf(material === null)(`w3lib's vectors${material === null ? ' (material not present)' : ''}`, () => {
  // Where w3lib and WHATWG differ we follow WHATWG, as browsers do.
  const whatwg: Record<string, string | null> = {
    // An unclosed quote runs to the end; what follows a closed one is ignored.
    'text/html; charset="utf-8': 'utf-8',
    'text/html; charset="utf-8"x': 'utf-8',
    'text/html; charset="utf-8"extra': 'utf-8',
    // No media type, no parameters.
    'foo=bar; charset="utf-8"': null,
    // The last value counts.
    'text/html; charset=utf-8, text/plain; charset=utf-16': 'utf-16le',
  }
  const cases = (material?.vectors ?? []).filter((one) => one.function === 'http_content_type_encoding')
  test.each(cases.map((one) => [one.args[0] ?? '', one.expected] as const))('%s has charset %s', (value, expected) => {
    const charset = parseContentType([value.replace(/^Content-Type:/i, '')])?.charset ?? null
    expect(charset === null ? null : encodingName(charset)).toBe(value in whatwg ? whatwg[value] : expected)
  })
})

test('what is remembered of the answer before changes nothing', () => {
  const types = new ContentTypes()
  const html = { mediaType: 'text/html', charset: 'utf-8' }
  const png = { mediaType: 'image/png', charset: null }
  const answers: [string[], object | null][] = [
    [['Content-Type', 'text/html; charset=utf-8', 'Server', 'x'], html],
    [['Server', 'x', 'content-type', 'text/html; charset=utf-8'], html],
    [['Content-Type', 'text/html; charset=utf-8', 'Content-Type', 'image/png'], png],
    [['Content-Type', 'text/html; charset=utf-8'], html],
    [['Server', 'x'], null],
    [['Content-Type', ''], null],
    [['Content-Type', 'nonsense'], null],
    [['Content-Type', 'image/png'], png],
  ]
  for (const [rawHeaders, expected] of answers) expect(types.of(rawHeaders)).toEqual(expected)
})
