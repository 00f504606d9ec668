// Elements and text come out as XML says, where the document is XML, and something sensible where not.

import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { XmlScanner } from './xml-scanner.ts'

function tokens(source: string): string[] {
  const scanner = new XmlScanner(source)
  const result: string[] = []
  for (;;) {
    const token = scanner.next()
    if (token === 'end') return result
    result.push(
      token === 'text'
        ? `"${scanner.text}"`
        : token === 'close'
          ? `/${scanner.name}`
          : `${scanner.name}${scanner.isEmpty ? '/' : ''}`,
    )
  }
}

test.each([
  ['<a>x</a>', ['a', '"x"', '/a']],
  ['<a/><b />', ['a/', 'b/']],
  ['<?xml version="1.0"?>\n<n:a>x</n:a >', ['"\n"', 'n:a', '"x"', '/n:a']],
  ['<a><!-- <b>&x; --></a>', ['a', '/a']],
  ['<a><![CDATA[<b>&amp;]]>c</a>', ['a', '"<b>&amp;"', '"c"', '/a']],
  ['<a b="x>y" c=\'>\'>z</a>', ['a', '"z"', '/a']],
  ['<a>&amp;&lt;&gt;&quot;&apos;&#65;&#x42;</a>', ['a', '"&<>"\'AB"', '/a']],
  ['<a>x?a=1&b=2</a>', ['a', '"x?a=1&b=2"', '/a']],
  ['<a>&#0;&#xD800;&#x110000;&nbsp;</a>', ['a', '""', '/a']],
])('%s', (source, expected) => {
  expect(tokens(source)).toEqual(expected)
})

test('entities a document declares are never expanded', () => {
  const source = `<!DOCTYPE a [
    <!ENTITY x SYSTEM "file:///etc/passwd"> <!-- ]> ' -->
    <!ENTITY y "&y;&y;">
  ]><a>1&x;2&y;3</a>`
  expect(tokens(source)).toEqual(['a', '"123"', '/a'])
})

test.each(['<a>x', '<a>x<b', '<a>x<b c="', '<a>x<![CDATA[y', '<a>x<!--', '<a>x<!DOCTYPE [', '<a>x<?p'])(
  'what is cut off ends the document: %s',
  (source) => {
    expect(tokens(source)).toEqual(source === '<a>x' ? ['a'] : ['a', '"x"'])
  },
)

test('attributes are found by name, in either quotes or none', () => {
  const scanner = new XmlScanner('<a one="1&amp;2" two = \'"\' three=3 four five=""/>')
  expect(scanner.next()).toBe('open')
  expect(['one', 'two', 'three', 'four', 'five', 'six'].map((name) => scanner.attribute(name))).toEqual([
    '1&2',
    '"',
    '3',
    null,
    '',
    null,
  ])
})

test('depth counts open elements and survives closes without an open', () => {
  const scanner = new XmlScanner('</x></x><a><b/><c></c>')
  const depths: number[] = []
  while (scanner.next() !== 'end') depths.push(scanner.depth)
  expect(depths).toEqual([0, 0, 1, 1, 2, 1])
})

test('any text is scanned to its end, in time that grows with its length', () => {
  const part = fc.constantFrom(
    '<',
    '>',
    '/',
    '"',
    "'",
    '<!',
    '<!--',
    '-->',
    '<![CDATA[',
    ']]>',
    '&',
    '&amp;',
    '=',
    'a',
    ' ',
    '[',
    ']',
    '?',
  )
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      expect(tokens(parts.join('')).length).toBeLessThanOrEqual(parts.length)
    }),
  )
  const before = process.cpuUsage()
  for (const unit of [
    '<',
    '<a ',
    '<!',
    '<!--',
    '<!-- >',
    '<a b="',
    '<a>',
    '</a>',
    '&',
    '&a',
    '<![CDATA[',
    '<?',
    '<a b=c ',
  ]) {
    tokens(unit.repeat(200_000))
  }
  expect(process.cpuUsage(before).user).toBeLessThan(10_000_000)
})
