// What is found in a page depends on its bytes alone: not on the page before, whose bytes are still in the kernel's memory, nor on where it ends.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { scanHtml } from './html.ts'
import { visibleText } from './html-text.ts'
import { parseOptions } from './options.ts'

const OPTIONS = parseOptions.parse({})

const PIECES = [
  '<a href="x">',
  "<a href='x' rel=nofollow>",
  '<p class="a" style="b:url(c)">',
  '<!-- -->',
  '<!--',
  '</a>',
  '</script>',
  '<script>',
  '<title>',
  '<svg>',
  '<![CDATA[',
  '<template>',
  'word',
  'Größe 海',
  '"',
  "'",
  '=',
  '<',
  '>',
  '/',
  '-',
  ' ',
  '\n',
]

function found(bytes: Buffer): unknown {
  const { links, sketch, title } = scanHtml(bytes, { charset: 'utf-8' }, OPTIONS)
  return { links, sketch, title, text: visibleText(bytes) }
}

test('the page before leaves nothing behind, wherever the next one ends', () => {
  const soup = fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((pieces) => Buffer.from(pieces.join('')))
  fc.assert(
    fc.property(soup, fc.nat(), fc.constantFrom(...PIECES), (whole, cut, piece) => {
      const page = whole.subarray(0, cut % (whole.length + 1))
      found(Buffer.alloc(2_000))
      const alone = found(page)
      found(Buffer.from(piece.repeat(200)))
      expect(found(page)).toEqual(alone)
    }),
    { numRuns: 1_000 },
  )
})

test('after a page without measure the next ones are read as ever', () => {
  const page = Buffer.from('<title>T</title><p>some words <a href=x>here</a>')
  const before = found(page)
  found(Buffer.alloc(9 * 2 ** 20, '<p>a</p>'))
  expect(found(page)).toEqual(before)
})
