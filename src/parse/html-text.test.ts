// The text a reader sees.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { visibleText } from './html-text.ts'
import { collapseSpace } from './html-values.ts'

test.each([
  ['plain  text\n here', 'plain text here'],
  ['<p>one</p><p>two</p>', 'one two'],
  ['<b>W</b>ord and <i>w</i>ord', 'Word and word'],
  ['<td>a<td>b', 'a b'],
  ['a<br>b<hr>c', 'a b c'],
  ['<title>T</title>x<script>y</script><style>z</style>', 'x'],
  ['x<!-- y -->z', 'xz'],
  ['<noscript>seen</noscript>', 'seen'],
  ['<template>unseen</template>seen', 'seen'],
  ['<textarea>a &amp; <b></textarea>', 'a & <b>'],
  ['<xmp>a &amp; <b></xmp>', 'a &amp; <b>'],
  ['a<plaintext>b<c>', 'a b<c>'],
  ['&lt;p&gt; &eacute;&nbsp;x &copy', '<p> é\u00A0x ©'],
  ['1 < 2 <3', '1 < 2 <3'],
  ['a</>b</ >c', 'abc'],
  ['seen<p title="', 'seen'],
  ['<p title=">">seen', 'seen'],
  ['', ''],
])('%j reads %j', (html, text) => {
  expect(visibleText(html)).toBe(text)
  expect(visibleText(Buffer.from(html), 'utf-8')).toBe(text)
  expect(visibleText(Buffer.from(html, 'utf16le'), 'utf-16le')).toBe(text)
})

test('text is read in the encoding of the page, its byte order mark gone', () => {
  expect(visibleText(Uint8Array.of(0x3c, 0x70, 0x3e, 0x83, 0x5c), 'shift_jis')).toBe('ソ')
  expect(visibleText(Buffer.from('\uFEFFé'), 'utf-8')).toBe('é')
})

test('no text is lost and none invented: words between tags come out in order', () => {
  const word = fc.stringMatching(/^[a-z]{1,8}$/)
  fc.assert(
    fc.property(
      fc.array(word, { minLength: 1, maxLength: 20 }),
      fc.constantFrom('p', 'div', 'td', 'li', 'h1'),
      (words, name) => {
        expect(visibleText(words.map((text) => `<${name}>${text}</${name}>`).join('<!-- x -->'))).toBe(words.join(' '))
      },
    ),
  )
})

test('white space collapses to the same whether or not a text has any that must', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', ' ', '\n', '\t', '\f', '\r', '\v', '\u00A0', '\u{1F600}') }),
      (text) => {
        expect(collapseSpace(text)).toBe(text.replace(/[\t\n\f\r ]+/g, ' ').replace(/^ | $/g, ''))
      },
    ),
  )
})
