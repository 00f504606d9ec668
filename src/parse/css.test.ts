// What a browser would fetch for a style sheet, and nothing else.

import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { cssLinks } from './css.ts'

/** A string's content as CSS writes it. */
const escaped = (text: string): string => text.replaceAll(/["\\\n\r\f]/g, (c) => `\\${c.charCodeAt(0).toString(16)} `)

test.each<[string, string[]]>([
  ['a{background:url(x.png)}', ['x.png']],
  ['a{background:url( x.png )}', ['x.png']],
  ['a{background:url("x.png")}', ['x.png']],
  ["a{background:URL( 'x y.png' )}", ['x y.png']],
  ['a{background:url(x.png),url(y.png)}', ['x.png', 'y.png']],
  ['@import "a.css";', ['a.css']],
  ["@IMPORT/**/'a.css' screen;", ['a.css']],
  ['@import url(a.css) print;@import url("b.css") layer(x);', ['a.css', 'b.css']],
  ['@font-face{src:local("x"),url(f.woff2)format("woff2")}', ['f.woff2']],
  ['a{background:image-set("a.png" 1x, url(b.png) 2x type("image/png"))}', ['a.png', 'b.png']],
  ['a{background:-webkit-image-set(url("a.png") 1x)}', ['a.png']],
  ['/* url(no.png) */a{b:c}/* @import "no" */', []],
  ['a:after{content:"url(no.png)"}', []],
  ["a:after{content:'it\\'s url(no.png)'}b{c:url(x)}", ['x']],
  ['a{b:myurl(no.png)}c{d:-url(no.png)}', []],
  ['@namespace svg url(http://www.w3.org/2000/svg);a{b:url(x)}', ['x']],
  ['@namespace "http://www.w3.org/1999/xhtml";', []],
  ['a{b:url(a\\)b.png)}', ['a)b.png']],
  ['a{b:url(\\68\\74 tp://x/)}', ['http://x/']],
  ['a{b:url("a\\\nb.png")}', ['ab.png']],
  ['a{b:u\\72l(x.png)}', ['x.png']],
  ['a{b:url(data:image/png;base64,AAA=)}', ['data:image/png;base64,AAA=']],
  ['a{b:url()}c{d:url("")}', []],
  ['a{b:url(no good.png)}c{d:url(x)}', ['x']],
  ['a{b:url(no"good.png)}c{d:url(x)}', ['x']],
  ['a{content:"broken\nb:url(x)}', ['x']],
  ['a{b:image-set("x.png" 1x;}c{content:"no"}', ['x.png']],
  ['a{b:url(cut', []],
  ['@import "cut', []],
  ['a{b:url(x)}/* cut', ['x']],
  ['', []],
])('%j', (text, expected) => {
  expect(cssLinks(text)).toEqual(expected)
})

test('what is written as a quoted address is read as it was', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const wanted = text.trim() === '' ? [] : [text.trim()]
      expect(cssLinks(`a{b:url("${escaped(text)}")}`)).toEqual(wanted)
      expect(cssLinks(`@import "${escaped(text)}";`)).toEqual(wanted)
    }),
  )
})

test('any text is read to its end, in time that grows with its length', () => {
  const part = fc.constantFrom(
    'url(',
    '"',
    "'",
    ')',
    '(',
    '\\',
    '/*',
    '*/',
    '@import ',
    'a',
    ' ',
    '\n',
    ';',
    '{',
    'image-set(',
  )
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      expect(cssLinks(parts.join('')).length).toBeLessThanOrEqual(parts.length)
    }),
  )
  const before = process.cpuUsage()
  for (const unit of ['url(', 'url("', '/*', '\\', '@import ', '"', 'a', 'url(a ', 'image-set(', '/', 'url( '])
    cssLinks(unit.repeat(200_000))
  expect(process.cpuUsage(before).user).toBeLessThan(10_000_000)
})
