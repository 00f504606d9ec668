// Pages and vectors of others about encodings: what a browser would read, and where we read otherwise, each with its
// reason. A difference that disappears fails its test.

import { readdirSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { materialPath, readMaterial } from '../../test/material.ts'
import { decodeTextReferences } from './character-references.ts'
import { sniffEncoding } from './encoding.ts'
import { scanHtml } from './html.ts'
import { visibleText } from './html-text.ts'
import { prescanEncoding } from './meta-prescan.ts'
import { parseOptions } from './options.ts'
import { decodeText, encodingOf } from './text-decoding.ts'

const options = parseOptions.parse({})

/** The path of a file that is there if the material is. */
function file(name: string): string {
  return materialPath('encoding', name) ?? `no ${name}`
}

function guess(name: string): string {
  return sniffEncoding(readFileSync(file(name)), { headerCharset: null }).encoding
}

const errors = readMaterial<{ vectors: { encoding: string; why: string; bytesHex: string; expectedText: string }[] }>(
  'encoding',
  'wpt-japanese-decode-errors.json',
)
describe.skipIf(errors === null)('broken Japanese bytes (skipped where the material is not present)', () => {
  test.each(errors?.vectors ?? [])('$encoding $why', ({ encoding, bytesHex, expectedText }) => {
    expect(decodeText(Buffer.from(bytesHex.replaceAll(' ', ''), 'hex'), encoding)).toBe(expectedText)
  })

  // The same in pages: each sample is a span, so that a `<` follows whatever is broken.
  test.each([
    ['sjis_errors.html', 'shift_jis'],
    ['eucjp_errors.html', 'euc-jp'],
    ['iso2022jp_errors.html', 'iso-2022-jp'],
  ])('%s: no broken character swallows the tag behind it', (name, encoding) => {
    const bytes = readFileSync(file(`wpt-legacy-japanese/${name}`))
    const shown = Array.from(decodeText(bytes, encoding).matchAll(/<span>([^<]*)<\/span>/g), (match) => match[1])
    expect(shown).toEqual(errors?.vectors.filter((one) => one.encoding === encoding).map((one) => one.expectedText))
  })

  test.each([
    ['eof-shift_jis.html', 'shift_jis'],
    ['eof-utf-8-one.html', 'utf-8'],
    ['eof-utf-8-two.html', 'utf-8'],
    ['eof-utf-8-three.html', 'utf-8'],
  ])('%s: a character cut by the end is one U+FFFD, and disproves no declaration', (name, encoding) => {
    const bytes = readFileSync(file(`wpt-legacy-japanese/${name}`))
    expect(scanHtml(bytes, { charset: null }, options).encoding).toBe(encoding)
    expect(visibleText(bytes, encoding)).toMatch(/truncated sequence:\uFFFD$/)
  })

  test('a byte order mark wins over header and meta', () => {
    const bytes = readFileSync(file('wpt-legacy-japanese/bom-handling.html'))
    expect(scanHtml(bytes, { charset: 'windows-1252' }, options).encoding).toBe('utf-8')
  })
})

const charsetFolder = materialPath('encoding', 'wpt-html-charset')
const LATE = 'the standard lets a late declaration count, as html5lib demands; Blink and WebKit stop at the head'
const PRESCAN = 'the prescan of the standard knows no elements; those of Blink and WebKit do'
/** What we find otherwise than those browsers, by the standard or by choice. */
const CHARSET_DIFFERENCES: Readonly<Record<string, string>> = {
  'after-bogus-after-1kb.html': LATE,
  'after-head-after-1kb-crlf.html': LATE,
  'after-head-after-1kb.html': LATE,
  'in-noscript-after-template-after-1kb.html': LATE,
  'in-script.html': PRESCAN,
  'in-style.html': PRESCAN,
  'in-title.html': PRESCAN,
}
describe.skipIf(charsetFolder === null)(
  'declarations in odd places (skipped where the material is not present)',
  () => {
    const names = charsetFolder === null ? [] : readdirSync(charsetFolder).filter((name) => name.endsWith('.html'))
    const isReference = /<link rel="(match|mismatch)" href="([^"]*)"/

    const compared = names.filter((name) => isReference.test(readFileSync(`${charsetFolder}/${name}`, 'latin1')))
    test('most pages have another to be compared with', () => expect(compared.length).toBeGreaterThan(20))

    test.each(compared)('%s reads as its reference does, or does not where it says so', (name) => {
      const bytes = readFileSync(`${charsetFolder}/${name}`)
      const [, relation, reference] = isReference.exec(bytes.toString('latin1')) ?? []
      const isMatch = (relation === 'match') !== name in CHARSET_DIFFERENCES
      const ours = visibleText(bytes, scanHtml(bytes, { charset: null }, options).encoding)
      const theirs = visibleText(readFileSync(`${charsetFolder}/${reference}`), 'utf-8')
      if (isMatch) expect(ours).toBe(theirs)
      else expect(ours).not.toBe(theirs)
    })

    // What these say is said by scripts; the facts are in their texts.
    test.each([
      ['meta-charset-double-quotes.html', 'iso-8859-5'],
      ['meta-charset-no-quotes.html', 'iso-8859-5'],
      ['meta-charset-single-quotes.html', 'iso-8859-5'],
      ['meta-commented-out.html', 'windows-1252'],
      ['meta-http-equiv-attribute-order.html', 'iso-8859-5'],
      ['meta-http-equiv-double-quotes.html', 'iso-8859-5'],
      ['meta-http-equiv-no-quotes.html', 'iso-8859-5'],
      ['meta-http-equiv-single-quotes.html', 'iso-8859-5'],
      ['with-inheritance.html', 'windows-1253'],
      ['without-inheritance.html', 'utf-16le'],
      ['inheritance-bogus-meta.html', 'windows-1253'],
      ['inheritance-bogus-meta-utf-8.html', 'utf-8'],
      ['xhr.html', 'windows-1253'],
      ['resources/bogus-charset.html', 'windows-1252'],
    ])('%s is %s', (name, encoding) => {
      const bytes = readFileSync(`${charsetFolder}/${name}`)
      expect(scanHtml(bytes, { charset: null }, options).encoding).toBe(encoding)
    })
  },
)

const chardetFolder = materialPath('encoding', 'node-chardet')
describe.skipIf(chardetFolder === null)('texts nobody declared (skipped where the material is not present)', () => {
  // Other single-byte and Chinese and Korean encodings are not guessed: to a crawl a wrong guess costs titles, and browsers
  // do not guess them alike. UTF-32 is no encoding of the web, and the escapes of ISO-2022-CN and -KR are dangerous to read.
  const GUESSED: Readonly<Record<string, string>> = {
    euc_jp: 'euc-jp',
    iso2022jp: 'iso-2022-jp',
    shiftjis: 'shift_jis',
    utf16be: 'utf-16be',
    utf16le: 'utf-16le',
    utf8: 'utf-8',
  }
  const names = chardetFolder === null ? [] : readdirSync(chardetFolder).filter((name) => name !== 'LICENSE')
  test.each(names)('%s', (name) => {
    const expected = GUESSED[name] ?? (name.startsWith('lang_') ? 'utf-8' : 'windows-1252')
    expect(guess(`node-chardet/${name}`)).toBe(expected)
  })

  test.each(['utf-8', 'latin1', 'euc-jp', 'shift_jis', 'iso-2022-jp'])(
    'Japanese texts that say they are in %s are read as what they are',
    (charset) => {
      for (const [name, encoding] of [
        ['euc_jp', 'euc-jp'],
        ['shiftjis', 'shift_jis'],
        ['lang_japanese', 'utf-8'],
      ] as const) {
        const bytes = readFileSync(file(`node-chardet/${name}`))
        expect(sniffEncoding(bytes, { headerCharset: charset }).encoding).toBe(encoding)
      }
    },
  )

  test('no other text is taken for Japanese, whatever it says', () => {
    for (const name of names.filter((one) => !/jp|jis|japanese|^utf(?:16|8)/.test(one))) {
      for (const charset of [null, 'utf-8', 'latin1']) {
        const { encoding } = sniffEncoding(readFileSync(file(`node-chardet/${name}`)), { headerCharset: charset })
        expect(['windows-1252', 'utf-8'], name).toContain(encoding)
      }
    }
  })
})

describe.skipIf(chardetFolder === null)(
  'texts of html5lib and jsoup (skipped where the material is not present)',
  () => {
    test('Big5 without a declaration is not guessed', () => {
      expect(guess('html5lib-encoding/chardet/test_big5.txt')).toBe('windows-1252')
    })

    test('a declaration that a script would write is none: we run no scripts', () => {
      const [, data = ''] =
        /^#data\n([^]*)\n#encoding/.exec(readFileSync(file('html5lib-encoding/scripted/tests1.dat'), 'latin1')) ?? []
      expect(scanHtml(Buffer.from(data, 'latin1'), { charset: null }, options).encoding).toBe('windows-1252')
    })

    test('UTF-32 is no encoding of the web: its little-endian mark is that of UTF-16', () => {
      expect(guess('jsoup-bom/bom_utf32le.html')).toBe('utf-16le')
      expect(guess('jsoup-bom/bom_utf32be.html')).toBe('windows-1252')
    })

    test('what is packed reads as what is not', () => {
      const packed = gunzipSync(readFileSync(file('jsoup-bom/bom_utf8.html.gz')))
      expect(scanHtml(packed, { charset: null }, options).title).toBe('OK')
    })
  },
)

interface W3libVector {
  readonly function: string
  readonly args: readonly (string | { base64: string })[]
  readonly expected: string | null
}
const w3lib = readMaterial<{ vectors: W3libVector[] }>('encoding', 'w3lib-encoding.json')
describe.skipIf(w3lib === null)('vectors of w3lib (skipped where the material is not present)', () => {
  const bytesOf = (value: string | { base64: string } | undefined): Buffer =>
    typeof value === 'object' ? Buffer.from(value.base64, 'base64') : Buffer.from(value ?? '')
  const of = (name: string): { text: string; vector: W3libVector }[] =>
    (w3lib?.vectors ?? [])
      .filter((vector) => vector.function === name)
      .map((vector) => ({ text: bytesOf(vector.args[0]).toString('latin1'), vector }))
  /** Python's names to ours. */
  const nameOf = (python: string | null): string | null =>
    python === null ? null : encodingOf(python.replace(/^cp125/, 'windows-125').replace('_2000', ''))

  test.each(of('to_unicode'))('$text', ({ vector }) => {
    expect(decodeText(bytesOf(vector.args[0]), nameOf(String(vector.args[1])) ?? '')).toBe(vector.expected)
  })

  test.each(of('resolve_encoding'))('$text', ({ text, vector }) => {
    // To the standard GB2312 is GBK, whose decoder is GB18030's; and it knows `latin1` but no `latin-1`.
    const expected = nameOf(vector.expected)?.replace('gb18030', 'gbk') ?? null
    expect(encodingOf(text)).toBe(text === ' Latin-1' ? null : expected)
  })

  /** By what stands in the page; w3lib is a regular expression, the standard is not. */
  const DIFFERENCES: readonly [part: string, ours: string | null, why: string][] = [
    ['< meta', null, 'a tag begins right behind its bracket'],
    ["this isn't searched", 'utf-8', 'the prescan knows no body'],
    ['Fake-Content-Type', null, 'only http-equiv=content-type declares'],
    ['httpequiv', null, 'httpequiv is no attribute of that name'],
  ]
  test.each(of('html_body_declared_encoding'))('$text', ({ text, vector }) => {
    const difference = DIFFERENCES.find(([part]) => text.includes(part))
    if (difference !== undefined) expect(difference[1]).not.toBe(nameOf(vector.expected))
    expect(prescanEncoding(text)).toBe(difference === undefined ? nameOf(vector.expected) : difference[1])
  })
})

const w3libHtml = readMaterial<{
  vectors: {
    function: string
    args: (string | { bytesLatin1: string })[]
    options: Record<string, unknown> | null
    expected: string
  }[]
}>('html', 'w3lib-html.json')
describe.skipIf(w3libHtml === null)('character references of w3lib (skipped where the material is not present)', () => {
  // What w3lib can be told to keep or drop is left out; so is what it drops of its own accord where the standard has a character.
  const vectors = (w3libHtml?.vectors ?? []).filter(
    ({ function: name, options: given }) =>
      name === 'replace_entities' && Object.keys(given ?? {}).every((key) => key === 'encoding'),
  )
  const DIFFERENCES: Readonly<Record<string, string>> = { 'x&#157;y': 'x\u009dy', '&#82179209091;': '\uFFFD' }
  test('there are some', () => expect(vectors.length).toBeGreaterThan(30))

  test.each(vectors)('$args', ({ args, expected }) => {
    const text =
      typeof args[0] === 'string'
        ? args[0]
        : decodeText(Buffer.from(args[0]?.bytesLatin1 ?? '', 'latin1'), 'windows-1252')
    expect(decodeTextReferences(text)).toBe(DIFFERENCES[text] ?? expected)
  })
})
