// The scanner finds what a browser's parser finds: its links, base, title and language equal those of the tree that
// parse5 builds, on pages made at random, on the test pages of others, and on real ones.
//
// A scanner without a tree cannot know all of a tree's rules. Where it differs is listed here, each class with an example; a
// class that no longer differs fails its test.

import { readdirSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { materialPath, readMaterial } from '../../test/material.ts'
import { bothFindings, type Findings, isComparable } from '../../test/oracle/findings.ts'
import { oraclePage } from '../../test/oracle/parse5-links.ts'
import { scanHtml } from './html.ts'
import { parseOptions } from './options.ts'

const options = parseOptions.parse({ linksPerPage: 10_000_000 })

function both(bytes: Uint8Array, charset: string | null = 'utf-8'): [ours: Findings, theirs: Findings] {
  return bothFindings(bytes, charset, options)
}

describe('where the scanner differs, and why', () => {
  test.each([
    [
      'parse5 drops what stands in a select; the standard since 2025 and the browsers keep it, and so do we',
      '<select><a href=x></select>',
      ['a http://site.example/directory/x'],
      [],
    ],
    [
      'a frameset throws away the page around it; we keep the links of that page',
      '<a href=x></a><frameset><frame src=y>',
      ['a http://site.example/directory/x', 'frame http://site.example/directory/y'],
      ['frame http://site.example/directory/y'],
    ],
    [
      'and a page that has content throws away a frameset; we keep the frames',
      '<p>text<frameset><frame src=y>',
      ['frame http://site.example/directory/y'],
      [],
    ],
    [
      'the end tag of an element around an open svg ends the svg too; we do not know what is around it',
      '<a href=x><svg></a><image href=y>',
      ['a http://site.example/directory/x', 'img http://site.example/directory/y'],
      ['a http://site.example/directory/x'],
    ],
    [
      'an HTML element left open in a foreignObject keeps it open; we do not know of it and leave with the end tag',
      '<svg><foreignObject><div></foreignObject><style><a href=x></a></style></svg>',
      ['a http://site.example/directory/x'],
      [],
    ],
    [
      'parts of a table outside of one, and a second head, are dropped by the tree, and with them their style; we keep it',
      '<td style="background: url(x)"></td>',
      ['css http://site.example/directory/x'],
      [],
    ],
    [
      'parse5 lets an end tag reach out of a template in a table; to the standard a template ends that search, and to us',
      '<table><tr><template><td></tr><a href=x></a>',
      [],
      ['a http://site.example/directory/x'],
    ],
    [
      'parse5 knows no CDATA right inside a title or desc of svg; the standard and the browsers do, and so do we',
      '<svg><title><![CDATA[ > <a href=x> ]]></title></svg>',
      [],
      ['a http://site.example/directory/x'],
    ],
  ])('%s', (_why, html, ours, theirs) => {
    const [found, expected] = both(Buffer.from(html))
    expect(found.links).toEqual(ours)
    expect(expected.links).toEqual(theirs)
  })

  test('tables and nested anchors move links in the tree; we keep them where they were written', () => {
    const html = Buffer.from('<table><tr><td><a href=x></a></td></tr><a href=y></a></table>')
    expect(scanHtml(html, { charset: null }, options).links.map(({ href }) => href)).toEqual(['x', 'y'])
    expect(oraclePage(html.toString()).links.map(({ href }) => href)).toEqual(['y', 'x'])
  })
})

describe('pages made at random', () => {
  const HTML =
    `a area img image link script style title textarea xmp iframe noembed noframes noscript template form p div b i table
    tr td caption ul li dl dt body html head base meta video source object embed input button br hr font span h1`.split(
      /\s+/,
    )
  const value = fc.constantFrom(
    'x',
    'y/z',
    '?a=1&amp;b',
    '&copy',
    '&copy=',
    '#f',
    '"',
    "'",
    '>',
    '<a href=q>',
    ' ',
    '',
    'é',
    '-->',
    '</script>',
    'image',
    'nofollow',
    'text/html',
  )
  const name = fc.constantFrom(
    'href',
    'src',
    'HREF',
    'xlink:href',
    'rel',
    'action',
    'data',
    'srcset',
    'type',
    'encoding',
    'title',
    '=',
    '"',
    '/',
    'style',
    'background',
    'lang',
    'x',
  )
  const equals = fc.constantFrom('=', ' = ', '', '==')
  const quote = fc.constantFrom('"', "'", '')
  const attribute = fc.tuple(name, equals, quote, value, quote).map((parts) => parts.join(''))
  const attributes = fc.array(attribute, { maxLength: 4 }).map((list) => list.map((text) => ` ${text}`).join(''))
  const soup = (open: string[], close: string[]): fc.Arbitrary<string> => {
    const start = fc.tuple(fc.constantFrom(...open), attributes, fc.constantFrom('>', '/>', ' >', ''))
    const end = fc.tuple(fc.constantFrom(...close), fc.constantFrom('>', ' >', ''))
    const piece = fc.oneof(
      { weight: 6, arbitrary: start.map(([name, rest, tail]) => `<${name}${rest}${tail}`) },
      { weight: 5, arbitrary: end.map(([name, tail]) => `</${name}${tail}`) },
      {
        weight: 2,
        arbitrary: fc.constantFrom('<a href=u1>', '<a href="u2">', '<img src=u3>', '<a href=u4 rel=nofollow>'),
      },
      {
        weight: 2,
        arbitrary: fc.constantFrom(
          '<!--',
          '-->',
          '--!>',
          '<!-->',
          '<!DOCTYPE html>',
          '<?x',
          '>',
          '</',
          '<',
          '<!',
          '\0',
        ),
      },
      { weight: 1, arbitrary: fc.constantFrom('<![CDATA[', ']]>', '<script', '</script', '<plaintext>') },
      { weight: 2, arbitrary: fc.constantFrom('text', ' ', '\r\n', '&amp;', '&lt', 'é', '"', "'", '\f') },
    )
    return fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''))
  }
  const isSame = (html: string): void => {
    const [ours, theirs] = both(Buffer.from(html))
    expect(ours).toEqual(theirs)
  }

  test('yield the same findings, whatever the soup', () => {
    fc.assert(fc.property(soup(HTML, HTML), isSame), { numRuns: 2_000 })
  })

  test('and also with SVG and MathML in it, as long as their elements are not ended from outside', () => {
    const element = (name: string, rest: string, children: fc.Arbitrary<string>): fc.Arbitrary<string> =>
      fc
        .tuple(children, fc.boolean())
        .map(([inner, isEmpty]) => (isEmpty ? `<${name}${rest}/>` : `<${name}${rest}>${inner}</${name}>`))
    const { page } = fc.letrec<{ page: string; svg: string; math: string; leaf: string }>((tie) => {
      const svg = fc.array(tie('svg'), { maxLength: 4 }).map((parts) => parts.join(''))
      const math = fc.array(tie('math'), { maxLength: 4 }).map((parts) => parts.join(''))
      const html = fc.array(tie('leaf'), { maxLength: 3 }).map((parts) => parts.join(''))
      const anywhere = fc.constantFrom(
        '<a href=u1></a>',
        '<a xlink:href=u2></a>',
        '<image href=u3 src=u4 />',
        '<style><a href=u5></a></style>',
        '<title>t<a href=u6></a></title>',
        '<script href=u7 src=u8></script>',
      )
      const inside = fc.constantFrom(
        '<![CDATA[ > <a href=u10></a> ]]>',
        '<use href=u12 />',
        '<use href="#u" />',
        '<font>x</font>',
      )
      return {
        leaf: fc.oneof(
          { depthSize: 'small' },
          anywhere,
          fc.constantFrom('<img src=u9>', '<p>text</p>'),
          element('svg', '', svg),
          element('math', '', math),
        ),
        svg: fc.oneof(
          { depthSize: 'small' },
          anywhere,
          inside,
          element('g', '', svg),
          element('desc', '', html),
          element('foreignObject', '', html),
        ),
        math: fc.oneof(
          { depthSize: 'small' },
          anywhere,
          inside,
          element('mi', '', html),
          element('annotation-xml', '', math),
          element('annotation-xml', ' encoding="Text/HTML"', html),
        ),
        page: fc.array(tie('leaf'), { maxLength: 4 }).map((parts) => parts.join('')),
      }
    })
    fc.assert(fc.property(page, isSame), { numRuns: 2_000 })
  })
})

/** Gives the elements of a page something to link with, each a number of its own. */
function withLinks(html: string): string {
  let count = 0
  return html.replace(
    /<(?:a|img|image|area|link|iframe|script|embed|object|form|frame|input|base|source|video|audio|track|body|use)(?=[\s/>])/gi,
    (start) =>
      `${start} href=u${++count} src=u${count} action=u${count} data=u${count} background=u${count} type=image`,
  )
}

/** Puts a link before every `<`, so that every state of the parser is asked what a tag is there. */
function withProbes(html: string): string {
  let count = 0
  return html.replace(/<|$/g, (less) => `<a href=p${++count}></a>${less}`)
}

const treeFolder = materialPath('html', 'wpt-tree-construction')
describe.skipIf(treeFolder === null)(
  'tree construction tests of the web platform (skipped where the material is not present)',
  () => {
    const files = treeFolder === null ? [] : readdirSync(treeFolder).filter((file) => file.endsWith('.dat'))
    test.each(files)('%s', (file) => {
      for (const block of readFileSync(`${treeFolder}/${file}`, 'utf8')
        .split(/^#data\n/m)
        .slice(1)) {
        // What is said of fragments and of scripts that run is not asked: all are pages here, to both.
        const html = block.split('\n#errors')[0] as string
        if (!isComparable(html)) continue
        for (const variant of [html, withLinks(html), withProbes(html)]) {
          const [ours, theirs] = both(Buffer.from(variant))
          expect(ours, variant).toEqual(theirs)
        }
      }
    })
  },
)

/** What brings a parser into a state of the tokenizer. */
const STATES: Readonly<Record<string, string>> = {
  'Data state': '',
  'RCDATA state': '<textarea>',
  'RAWTEXT state': '<xmp>',
  'Script data state': '<script>',
  'PLAINTEXT state': '<plaintext>',
  'CDATA section state': '<svg><![CDATA[',
}

function unescaped(text: string): string {
  return text.replace(/\\u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

const tokenizerFolder = materialPath('html', 'html5lib-tokenizer')
describe.skipIf(tokenizerFolder === null)(
  'tokenizer tests of html5lib (skipped where the material is not present)',
  () => {
    const files = tokenizerFolder === null ? [] : readdirSync(tokenizerFolder).filter((file) => file.endsWith('.test'))
    test.each(files)('%s', (file) => {
      const { tests = [] } = readMaterial<{
        tests?: { input: string; initialStates?: string[]; doubleEscaped?: boolean }[]
      }>('html', `html5lib-tokenizer/${file}`)!
      for (const { input: written, initialStates = ['Data state'], doubleEscaped } of tests) {
        const input = doubleEscaped === true ? unescaped(written) : written
        const variants = initialStates.flatMap((state) => {
          const start = STATES[state] ?? `no element for the ${state}`
          return [`${start}${input}<a href=end>`, start + withProbes(input)]
        })
        for (const variant of variants) {
          if (!isComparable(variant)) continue
          const [ours, theirs] = both(Buffer.from(variant))
          expect(ours, variant).toEqual(theirs)
        }
      }
    })
  },
)

const jsoupFolder = materialPath('html', 'jsoup')
describe.skipIf(jsoupFolder === null)(
  'real and hostile pages of jsoup (skipped where the material is not present)',
  () => {
    const files = ['htmltests', 'fuzztests'].flatMap((folder) =>
      jsoupFolder === null ? [] : readdirSync(`${jsoupFolder}/${folder}`).map((file) => `${folder}/${file}`),
    )
    // fake-gzip is not gzip; a drawing and a picture are pages like any other, if somebody says so.
    test.each(files)('%s', (file) => {
      const raw = readFileSync(`${jsoupFolder}/${file}`)
      const [ours, theirs] = both(
        /\.g?z$/.test(file) && raw[0] === 0x1f && raw[1] === 0x8b ? gunzipSync(raw) : raw,
        null,
      )
      expect(ours).toEqual(theirs)
    })
  },
)
