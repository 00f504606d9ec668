// Queries of pages that are not UTF-8. Our own table holds one fact per rule of the Encoding Standard; the
// charts of web-platform-tests give every character of the Japanese encodings.

import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { materialPath, readMaterial } from '../../test/material.ts'
import { textDecoder } from '../base/index.ts'
import type { CanonicalUrl } from './canonical-url.ts'
import { canonicalise } from './canonicalise.ts'
import { legacyEncoder } from './legacy-encoder.ts'

const page = 'http://example.org/' as CanonicalUrl

function queryOf(text: string, encoding: string): string {
  const url = canonicalise(`?${text}`, page, encoding)
  return typeof url === 'string' ? url.slice(page.length + 1) : `refused: ${url.refused}`
}

describe('a query takes the encoding of its page', () => {
  test.each([
    ['utf-8', 'é', '%C3%A9'],
    ['utf-16le', 'é', '%C3%A9'],
    ['replacement', 'é', '%C3%A9'],
    ['no-such-encoding', 'é', '%C3%A9'],
    ['windows-1252', 'é€', '%E9%80'],
    ['windows-1252', 'ж', '%26%231078%3B'],
    ['iso-8859-2', 'ł¢', '%B3%26%23162%3B'],
    ['windows-1251', 'дошкольное', '%E4%EE%F8%EA%EE%EB%FC%ED%EE%E5'],
    ['koi8-r', 'мир', '%CD%C9%D2'],
    ['koi8-u', 'їжак', '%A7%D6%C1%CB'],
    ['ibm866', 'мир', '%AC%A8%E0'],
    ['macintosh', 'é', '%8E'],
    ['windows-874', 'ไทย', '%E4%B7%C2'],
    ['iso-8859-8-i', 'שלום', '%F9%EC%E5%ED'],
    ['x-user-defined', '\uf7e9é', '%E9%26%23233%3B'],
    ['shift_jis', '日本', '%93%FA%96{'],
    ['shift_jis', '表', '%95\\'],
    ['shift_jis', 'ｱ¥‾−', '%B1\\~%81|'],
    ['shift_jis', '纊', '%FA\\'],
    ['shift_jis', '\ue000', '%26%2357344%3B'],
    ['euc-jp', '日本', '%C6%FC%CB%DC'],
    ['euc-jp', 'ｱ', '%8E%B1'],
    ['euc-jp', '丂', '%26%2319970%3B'],
    ['iso-2022-jp', '日本', '%1B$BF|K\\%1B(B'],
    ['iso-2022-jp', 'aあb', 'a%1B$B$%22%1B(Bb'],
    ['iso-2022-jp', 'ｱﾞ', '%1B$B%%22!+%1B(B'],
    ['iso-2022-jp', '¥a', '%1B(J\\a%1B(B'],
    ['iso-2022-jp', 'あé', '%1B$B$%22%1B(B%26%23233%3B'],
    ['iso-2022-jp', 'あ\tあ', '%1B$B$%22$%22%1B(B'],
    ['iso-2022-jp', '\u001bA', '%26%2365533%3BA'],
    ['gbk', '中文', '%D6%D0%CE%C4'],
    ['gbk', '€', '%80'],
    ['gbk', '𠀀', '%26%23131072%3B'],
    ['gb18030', '€', '%A2%E3'],
    ['gb18030', '𠀀', '%952%826'],
    ['gb18030', 'é', '%A8%A6'],
    ['gb18030', 'ê', '%A8%BA'],
    ['gb18030', '\ue5e5', '%26%2358853%3B'],
    ['gb18030', '\ue81e', '%FEY'],
    ['big5', '中文', '%A4%A4%A4%E5'],
    ['big5', '十', '%A4Q'],
    ['big5', 'あж', '%C6%E8%C8\\'],
    ['big5', '†', '%26%238224%3B'],
    ['euc-kr', '한글', '%C7%D1%B1%DB'],
    ['euc-kr', '†€', '%A2%D3%A2%E6'],
    ['euc-kr', '갂똠', '%81A%8Cc'],
    // Of Big5 the rare rows too, but not 81 to A0; of two pairs the first.
    ['big5', '𠕇', '%FA@'],
    ['big5', '兀嗀', '%A4a%DC%D1'],
    ['big5', '䏰', '%26%2317392%3B'],
  ])('%s: %s is %s', (encoding, text, expected) => {
    expect(queryOf(text, encoding)).toBe(expected)
  })

  test('half a surrogate pair counts as the replacement character', () => {
    expect(queryOf('\ud800x', 'windows-1252')).toBe('%26%2365533%3Bx')
    expect(queryOf('\ud800x', 'gb18030')).toBe('%841%A47x')
  })

  test('escapes and ASCII of the link stay, also beside other characters', () => {
    expect(queryOf('a=%e9&b=é c', 'windows-1252')).toBe('a=%E9&b=%E9%20c')
  })

  test('white space at the end is dropped before a shift back to ASCII would hide it', () => {
    expect(queryOf('あ \n', 'iso-2022-jp')).toBe('%1B$B$%22%1B(B')
  })
})

describe('only the query does', () => {
  test('the path and the host are UTF-8 and IDNA on any page', () => {
    expect(canonicalise('//bücher.example/é?é#é', page, 'windows-1252')).toBe('http://xn--bcher-kva.example/%C3%A9?%E9')
  })

  test('a question mark in the fragment begins no query', () => {
    expect(canonicalise('a#?é', page, 'windows-1252')).toBe('http://example.org/a')
  })

  test('gopher is no special scheme and keeps to UTF-8', () => {
    expect(canonicalise('gopher://h/?é', page, 'windows-1252')).toBe('gopher://h/?%C3%A9')
  })
})

// Private code points that GB 18030 encodes as pairs which decode to other characters since 2022.
const privateKept = [
  0xe78d, 0xe78e, 0xe78f, 0xe790, 0xe791, 0xe792, 0xe793, 0xe794, 0xe795, 0xe796, 0xe81e, 0xe826, 0xe82b, 0xe82c,
  0xe832, 0xe843, 0xe854, 0xe864,
]

describe('every encoding', () => {
  const encodings =
    'ibm866 iso-8859-2 iso-8859-3 iso-8859-4 iso-8859-5 iso-8859-6 iso-8859-7 iso-8859-8 iso-8859-10 iso-8859-13 ' +
    'iso-8859-14 iso-8859-15 iso-8859-16 koi8-r koi8-u macintosh windows-874 windows-1250 windows-1251 windows-1252 ' +
    'windows-1253 windows-1254 windows-1255 windows-1256 windows-1257 windows-1258 x-mac-cyrillic gbk gb18030 euc-jp shift_jis euc-kr big5'
  test.each(encodings.split(' '))('%s: what it encodes is decoded to the same character', (encoding) => {
    const encode = legacyEncoder(encoding)!
    const decode = textDecoder(encoding)
    // Encoders that fold on purpose: yen and overline of JIS, the minus sign, the pairs GB 18030 keeps.
    const folded = new Set([0xa5, 0x203e, 0x2212, ...(encoding.startsWith('gb') ? privateKept : [])])
    const wrong: string[] = []
    let count = 0
    for (let codePoint = 0x80; codePoint <= 0xffff; codePoint++) {
      const bytes = encode(codePoint)
      if (bytes === -1 || folded.has(codePoint)) continue
      count++
      const octets = bytes.toString(16)
      const decoded = decode(Buffer.from(octets.length % 2 === 0 ? octets : `0${octets}`, 'hex'))
      if (decoded !== String.fromCharCode(codePoint) && codePoint !== 0xfeff) wrong.push(codePoint.toString(16))
    }
    expect(wrong).toEqual([])
    expect(count).toBeGreaterThan(80)
  })
})

const percentEncoding = readMaterial<({ input: string; output: Record<string, string> } | string)[]>(
  'url',
  'wpt/percent-encoding.json',
)

describe.skipIf(percentEncoding === null)(
  'web-platform-tests, percent-encoding (material not present: skipped)',
  () => {
    const cases = (percentEncoding ?? []).filter((entry) => typeof entry !== 'string')
    test.each(
      cases.flatMap(({ input, output }) =>
        Object.entries(output).map(([encoding, query]) => [input, encoding, query] as const),
      ),
    )('%s in %s is %s', (input, encoding, expected) => {
      expect(queryOf(input, encoding)).toBe(expected)
    })
  },
)

describe.each([
  ['shift_jis', 'sjis_chars.html'],
  ['euc-jp', 'eucjp_chars.html'],
  ['iso-2022-jp', 'iso2022jp_chars.html'],
])('web-platform-tests, chart of %s (material not present: skipped)', (encoding, file) => {
  const path = materialPath('encoding', `wpt-legacy-japanese/${file}`)

  test.skipIf(path === null)('every row of the chart is encoded as it stands', () => {
    const encode = legacyEncoder(encoding)!
    const chart = readFileSync(path!, 'latin1')
    const wrong: string[] = []
    let rows = 0
    for (const [, codePoint = '', bytes = ''] of chart.matchAll(/data-cp="([0-9A-F]+)" data-bytes="([0-9A-F ]+)"/g)) {
      // JIS X 0212, three bytes from 8F on, decodes but does not encode; ASCII and shift sequences are not in the tables.
      if (Number.parseInt(codePoint, 16) < 0x80 || (encoding === 'euc-jp' && bytes.startsWith('8F'))) continue
      const expected = bytes.replaceAll(' ', '').replace(/^1B2442(.{4})1B2842$/, '$1')
      if (encoding === 'iso-2022-jp' && expected.length !== 4) continue
      rows++
      const got = encode(Number.parseInt(codePoint, 16)).toString(16).toUpperCase()
      if (got !== expected) wrong.push(`${codePoint}: ${got}, not ${expected}`)
    }
    expect(rows).toBeGreaterThan(6_000)
    expect(wrong).toEqual([])
  })
})
