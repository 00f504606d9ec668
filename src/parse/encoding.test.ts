// In which encoding a page is read, and who decides.

import { existsSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { materialPath, readMaterial } from '../../test/material.ts'
import { sniffEncoding } from './encoding.ts'
import { scanHtml } from './html.ts'
import { visibleText } from './html-text.ts'
import { parseOptions } from './options.ts'
import { decodeText, encodingOf } from './text-decoding.ts'

const options = parseOptions.parse({})

function sniff(page: string | number[] | Uint8Array, headerCharset: string | null = null, mediaType?: string): string {
  const bytes = typeof page === 'string' ? Buffer.from(page, 'latin1') : Uint8Array.from(page)
  return sniffEncoding(bytes, { headerCharset, ...(mediaType === undefined ? {} : { mediaType }) }).encoding
}

describe('who decides', () => {
  test('a byte order mark, before the header', () => {
    expect(sniff('\xef\xbb\xbf<p>', 'koi8-r')).toBe('utf-8')
    expect(sniff('\xfe\xff\0<', 'koi8-r')).toBe('utf-16be')
    expect(sniff('\xff\xfe<\0', 'koi8-r')).toBe('utf-16le')
  })

  test('the header, before the page', () => {
    expect(sniff('<meta charset=koi8-r>', ' Latin1 ')).toBe('windows-1252')
    expect(sniff('<meta charset=koi8-r>', 'utf-16')).toBe('utf-16le')
  })

  test('the page, when the header names no encoding there is', () => {
    expect(sniff('<meta charset=koi8-r>', 'none')).toBe('koi8-r')
    expect(sniff('<meta charset=koi8-r>', '')).toBe('koi8-r')
  })

  test('the bytes, when nobody said anything', () => {
    expect(sniffEncoding(Buffer.from('<p>Zürich'), { headerCharset: null })).toEqual({
      encoding: 'utf-8',
      source: 'guess',
    })
    expect(sniff('<p>Z\xfcrich')).toBe('windows-1252')
    expect(sniff('<p>Zurich')).toBe('windows-1252')
    expect(sniff('')).toBe('windows-1252')
  })
})

describe('what a page declares', () => {
  test.each([
    ['<meta charset=koi8-r>', 'koi8-r'],
    ['<META CHARSET = "KOI8-R" />', 'koi8-r'],
    ["<meta charset='koi8-r'", null],
    ['<meta http-equiv=Content-Type content="text/html; charset=koi8-r">', 'koi8-r'],
    ['<meta content="text/html; charset = \'koi8-r\' ;x" http-equiv=content-type>', 'koi8-r'],
    ['<meta content="charset=koi8-r">', null],
    ['<meta http-equiv=refresh content="charset=koi8-r">', null],
    ['<meta charset=nonsense><meta charset=koi8-r>', 'koi8-r'],
    ['<!-- <meta charset=koi8-r> --><p>', null],
    ['<!--><meta charset=koi8-r>', 'koi8-r'],
    ['<p title="<meta charset=koi8-r>">', null],
    ['</p title="<meta charset=iso-8859-2>"><meta charset=koi8-r>', 'koi8-r'],
    ['<?x <meta charset=koi8-r>', null],
    ['<metacharset=koi8-r>', null],
    ['<meta/charset=koi8-r>', 'koi8-r'],
    ['<meta charset=utf-16le>', 'utf-8'],
    ['<meta charset=x-user-defined>', 'windows-1252'],
    ['<?xml version="1.0" encoding="koi8-r"?><p>', 'koi8-r'],
    ['<?xml version="1.0" encoding="koi8-r"?><meta charset=iso-8859-2>', 'iso-8859-2'],
    [`${' '.repeat(1_010)}<meta charset=koi8-r>`, null],
  ])('%s: %s', (html, expected) => {
    const { encoding, source } = sniffEncoding(Buffer.from(html, 'latin1'), { headerCharset: null })
    expect(source === 'declaration' ? encoding : null).toBe(expected)
  })

  test('XML declares by its prologue only, and is UTF-8 without', () => {
    expect(sniff('<?xml version="1.0" encoding=\'koi8-r\'?>', null, 'application/xml')).toBe('koi8-r')
    expect(sniff('<?xml version="1.0"?><meta charset=koi8-r>\xe9', null, 'application/xhtml+xml')).toBe('utf-8')
  })
})

describe('a guess from the bytes', () => {
  const japanese = 'これは日本語の文章です。カタカナも漢字もあります。'

  test('ISO-2022-JP by its escapes', () => {
    expect(sniff('\x1b$B$3$l$O\x1b(B')).toBe('iso-2022-jp')
    expect(sniff('\x1b[1mterminal\x1b[0m')).toBe('windows-1252')
  })

  test('Shift_JIS and EUC-JP by their kana', () => {
    // The same sentence, これはソです, in both.
    expect(sniff([0x82, 0xb1, 0x82, 0xea, 0x82, 0xcd, 0x83, 0x5c, 0x82, 0xc5, 0x82, 0xb7])).toBe('shift_jis')
    expect(sniff([0xa4, 0xb3, 0xa4, 0xec, 0xa4, 0xcf, 0xa5, 0xbd, 0xa4, 0xc7, 0xa4, 0xb9])).toBe('euc-jp')
    expect(sniff(Buffer.from(japanese))).toBe('utf-8')
  })

  test('UTF-8 also when a character in it is broken', () => {
    expect(sniff(Buffer.concat([Buffer.from(japanese), Buffer.of(0xe3, 0x20), Buffer.from(japanese)]))).toBe('utf-8')
  })

  test('UTF-8 also when the last character is cut', () => {
    const bytes = Buffer.from(japanese)
    for (const cut of [1, 2]) expect(sniff(bytes.subarray(0, bytes.length - cut))).toBe('utf-8')
  })

  test('never throws and always names an encoding that can be read', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.option(fc.string(), { nil: null }), (bytes, header) => {
        expect(typeof decodeText(bytes, sniff(bytes, header))).toBe('string')
      }),
    )
  })
})

/** これは日本語のページです。 in three encodings. */
const SAMPLES = {
  shift_jis: Buffer.from('82b182ea82cd93fa967b8cea82cc8379815b835782c582b78142', 'hex'),
  'euc-jp': Buffer.from('a4b3a4eca4cfc6fccbdcb8eca4cea5daa1bca5b8a4c7a4b9a1a3', 'hex'),
  'iso-2022-jp': Buffer.from('\x1b$B$3$l$OF|K\\8l$N%Z!<%8$G$9!#\x1b(B', 'latin1'),
}
const SENTENCE = 'これは日本語のページです。'

describe('a declaration that the bytes disprove', () => {
  const page = (charset: string, text: Uint8Array): Buffer =>
    Buffer.concat([
      Buffer.from(`<meta charset=${charset}><title>`),
      text,
      Buffer.from('</title><a href="?q='),
      text,
      Buffer.from('">'),
    ])

  test.each(
    (['shift_jis', 'euc-jp'] as const).flatMap((real) =>
      ['utf-8', 'windows-1252', 'shift_jis', 'euc-jp', 'iso-2022-jp'].map((said) => ({ real, said })),
    ),
  )('$real that says $said is read as what it is', ({ real, said }) => {
    const found = scanHtml(page(said, SAMPLES[real]), { charset: said }, options)
    expect([found.encoding, found.title, found.links[0]?.href]).toEqual([real, SENTENCE, `?q=${SENTENCE}`])
  })

  test('the declaration of the page is asked before the bytes, when the header is wrong', () => {
    const found = scanHtml(page('koi8-r', Buffer.from('\xc1\xc2\xc3', 'latin1')), { charset: 'utf-8' }, options)
    expect([found.encoding, found.title]).toEqual(['koi8-r', 'абц'])
  })

  test('western bytes that say utf-8 are windows-1252', () => {
    expect(scanHtml(page('utf-8', Buffer.from('caf\xe9', 'latin1')), { charset: null }, options).title).toBe('café')
  })

  test('UTF-8 that says it is western or Japanese is UTF-8', () => {
    for (const said of ['iso-8859-1', 'sjis', 'euc-jp']) {
      expect(scanHtml(page(said, Buffer.from(SENTENCE)), { charset: said }, options).title).toBe(SENTENCE)
    }
    // Two characters may be chance.
    expect(scanHtml(page('latin1', Buffer.from('é')), { charset: null }, options).title).toBe('Ã©')
  })

  test('a late declaration too', () => {
    const late = Buffer.concat([Buffer.from(' '.repeat(2_000)), page('utf-8', SAMPLES.shift_jis)])
    expect(scanHtml(late, { charset: null }, options).title).toBe(SENTENCE)
  })

  test('some broken characters among whole ones disprove nothing', () => {
    const mixed = Buffer.concat([Buffer.from(`${SENTENCE} \u00e9`), Buffer.from('caf\xe9 \x92', 'latin1')])
    expect(scanHtml(page('utf-8', mixed), { charset: 'utf-8' }, options).encoding).toBe('utf-8')
  })

  test('a meta that says utf-16 is read in what it can be read in', () => {
    expect(scanHtml(page('utf-16', Buffer.from('é')), { charset: null }, options).title).toBe('é')
    const wide = Buffer.from('<meta charset=utf-8><title>é</title><a href=ü>', 'utf16le')
    const found = scanHtml(wide, { charset: null }, options)
    expect([found.encoding, found.title, found.links[0]?.href]).toEqual(['utf-16le', 'é', 'ü'])
    expect(scanHtml(Buffer.from(wide).swap16(), { charset: null }, options).encoding).toBe('utf-16be')
    expect(scanHtml(Buffer.concat([Buffer.of(0xff, 0xfe), wide]), { charset: 'utf-8' }, options).title).toBe('é')
  })
})

describe('several encodings in one page', () => {
  const { shift_jis: shift, 'euc-jp': euc, 'iso-2022-jp': iso } = SAMPLES
  const concat = (...parts: (string | Uint8Array)[]): Buffer =>
    Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)))

  test('values are read in the encoding in which they are whole', () => {
    const bytes = concat(
      '<meta charset=euc-jp><title>',
      shift,
      '</title>',
      euc,
      euc,
      '<a href="/',
      euc,
      '"><a href="/',
      SENTENCE,
      '"><a href="/',
      shift,
      '">',
    )
    const page = scanHtml(bytes, { charset: null }, options)
    expect([page.encoding, page.title, ...page.links.map(({ href }) => href)]).toEqual([
      'euc-jp',
      SENTENCE,
      `/${SENTENCE}`,
      `/${SENTENCE}`,
      `/${SENTENCE}`,
    ])
  })

  test.each(['utf-8', 'shift_jis', 'euc-jp', 'windows-1252'])(
    'ISO-2022-JP between its escapes is text in a page of %s, however much it looks like markup',
    (charset) => {
      // 自 is the bytes `<+`, 室 `<<`, 社 `<R`: unread, the last would swallow the link behind it.
      const bytes = concat(
        `<meta charset=${charset}><p>`,
        Buffer.from('\x1b$B<+<<<R\x1b(B'),
        '<a title="',
        iso,
        '" href=x>é</a>',
      )
      const page = scanHtml(bytes, { charset: null }, options)
      expect(page.links.map(({ href }) => href)).toEqual(['x'])
      expect(visibleText(bytes, page.encoding)).toContain('自室社')
    },
  )

  test('an escape that leads nowhere changes nothing', () => {
    const bytes = Buffer.from('<p>\x1b[1m \x1b$B\n<a href=x>\x1b$<a href=y>')
    expect(scanHtml(bytes, { charset: null }, options).links.map(({ href }) => href)).toEqual(['x', 'y'])
  })
})

test('a value in GB18030 that breaks off inside a character reads as in the whole page', () => {
  const bytes = Buffer.from('<meta charset=gb18030><a href="x\x81\x30\x81"><a href=y>', 'latin1')
  const [, inPage] = /href="([^"]*)"/.exec(decodeText(bytes, 'gb18030')) ?? []
  expect(scanHtml(bytes, { charset: null }, options).links[0]?.href).toBe(inPage)
})

describe('labels', () => {
  test.each([
    ['UTF8', 'utf-8'],
    ['ascii', 'windows-1252'],
    ['iso-8859-1', 'windows-1252'],
    ['sjis', 'shift_jis'],
    ['ks_c_5601-1987', 'euc-kr'],
    ['gb2312', 'gbk'],
    ['iso-2022-kr', 'replacement'],
    ['hz-gb-2312', 'replacement'],
    ['utf-7', null],
    ['', null],
    ['\0', null],
    ['constructor', null],
  ])('%j is %s', (label, name) => {
    expect(encodingOf(label)).toBe(name)
    expect(encodingOf(`\t${label.toUpperCase()}\n`)).toBe(name)
    expect(encodingOf(label)).toBe(name)
  })
})

interface SnifferVector {
  file?: string
  dataBase64?: string
  options: { transport?: string; default?: string; xml?: boolean }
  expected: string
}
const sniffer = readMaterial<{ vectors: SnifferVector[] }>('encoding', 'html-encoding-sniffer.json')
describe.skipIf(sniffer === null)(
  'vectors of html-encoding-sniffer (skipped where the material is not present)',
  () => {
    // We have no setting for the default encoding of undeclared pages.
    const vectors = (sniffer?.vectors ?? []).filter(
      ({ options: given, file }) =>
        given.default === undefined || given.transport !== undefined || file?.includes('/normal/') === true,
    )
    test.each(vectors)('$file $options is $expected', ({ file, dataBase64, options: given, expected }) => {
      const bytes =
        file === undefined ? Buffer.from(dataBase64!, 'base64') : readFileSync(materialPath('encoding', file)!)
      expect(sniff(bytes, given.transport ?? null, given.xml === true ? 'text/xml' : 'text/html')).toBe(
        expected.toLowerCase(),
      )
    })
  },
)

const html5lib = readMaterial<{ vectors: { file: string; dataBase64: string; encoding: string }[] }>(
  'encoding',
  'html5lib-encoding.json',
)
describe.skipIf(html5lib === null)('vectors of html5lib (skipped where the material is not present)', () => {
  test.each((html5lib?.vectors ?? []).map((vector, index) => ({ ...vector, index })))(
    '$file $index is $encoding',
    ({ file, dataBase64, encoding }) => {
      // The whole scan decides, as in html5lib: it also finds declarations after the first kilobyte.
      // The sample of a Japanese page says EUC-JP and was saved in UTF-8, so that its bytes disprove it.
      expect(scanHtml(Buffer.from(dataBase64, 'base64'), { charset: null }, options).encoding).toBe(
        file === 'test-yahoo-jp.dat' ? 'utf-8' : encodingOf(encoding),
      )
    },
  )
})

interface JsoupVector {
  file?: string
  html?: string
  charset?: string
  text?: string
  textContains?: string
  bodyText?: string
  title?: string
  titleContains?: string
}
/** jsoup answers otherwise by choice. */
const JSOUP_DIFFERENCES: Readonly<Record<string, string>> = {
  '../html/jsoup/htmltests/meta-charset-2.html':
    'without a declaration jsoup says UTF-8; WHATWG says windows-1252 for bytes that are not',
  'stray quote': 'jsoup cleans `UTF-8"` into a label; to WHATWG it is none',
}
const jsoup = readMaterial<{ vectors: JsoupVector[] }>('encoding', 'jsoup.json')
describe.skipIf(jsoup === null)('vectors of jsoup (skipped where the material is not present)', () => {
  test.each(jsoup?.vectors ?? [])('$file $html', (vector) => {
    const bytes =
      vector.file === undefined ? Buffer.from(vector.html!) : readFileSync(materialPath('encoding', vector.file)!)
    const page = scanHtml(bytes, { charset: null }, options)
    const text = visibleText(bytes, page.encoding)
    const isDifferent = JSOUP_DIFFERENCES[vector.file ?? 'stray quote'] !== undefined
    if (vector.charset !== undefined) {
      if (isDifferent) expect(page.encoding).not.toBe(encodingOf(vector.charset))
      else expect(page.encoding).toBe(encodingOf(vector.charset))
    }
    expect(text).toContain(vector.text ?? vector.textContains ?? '')
    if (vector.bodyText !== undefined) expect(text).toBe(vector.bodyText)
    if (vector.title !== undefined) expect(page.title).toBe(vector.title)
    expect(page.title ?? '').toContain(vector.titleContains ?? '')
  })
})

const charsetFolder = materialPath('encoding', 'wpt-legacy-japanese')
describe.skipIf(charsetFolder === null)(
  'Japanese characters of the web platform tests (skipped where the material is not present)',
  () => {
    // Encoder mappings; the decoder answers otherwise (see the material's README).
    const ENCODER_ONLY = new Set(['A5', '203E', '2212'])
    test.each([
      ['sjis_chars.html', 'shift_jis'],
      ['eucjp_chars.html', 'euc-jp'],
      ['iso2022jp_chars.html', 'iso-2022-jp'],
    ])('%s reads as %s', (file, encoding) => {
      const path = `${charsetFolder}/${file}`
      if (!existsSync(path)) return
      const text = decodeText(readFileSync(path), encoding)
      const wrong: string[] = []
      let count = 0
      for (const [, codePoint, shown] of text.matchAll(/data-cp="([0-9A-F]+)"[^>]*>([^<]*)<\/span>/g)) {
        count++
        if (ENCODER_ONLY.has(codePoint!) || shown === String.fromCodePoint(Number.parseInt(codePoint!, 16))) continue
        wrong.push(codePoint!)
      }
      expect(count).toBeGreaterThan(7_000)
      expect(wrong).toEqual([])
    })
  },
)
