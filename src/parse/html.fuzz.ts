// Whatever the bytes, the scanner returns, and in time linear in their number.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkPage } from '../../test/oracle/fuzz-check.ts'
import { hasMaterial } from '../../test/material.ts'
import { FuzzPages } from '../../test/oracle/fuzz-pages.ts'
import { materialPages } from '../../test/oracle/fuzz-pool.ts'
import { Random } from '../base/index.ts'
import { scanHtml } from './html.ts'
import { visibleText } from './html-text.ts'
import { parseOptions } from './options.ts'
import type { ParsedPage } from './parsed-page.ts'

const options = parseOptions.parse({})
const CHARSETS = [
  null,
  'utf-8',
  'utf-16le',
  'shift_jis',
  'iso-2022-jp',
  'gb18030',
  'euc-kr',
  'x-user-defined',
  'replacement',
  'no-such-charset',
]

const PAGE = Buffer.from(
  `<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>A &amp; B</title><base href="/x/"><style>a{b:url(c)}</style>
   <script><!-- <script> "</script>" --></script><meta http-equiv=refresh content="1;url=d"></head><body style="x:url(e)">
   <svg><a xlink:href=f><title>t</title><![CDATA[ <a href=g> ]]></svg><template><a href=h></template><form action=i></form>
   <img src=j srcset="k 1x, l 2x"><!-- <a href=m> --><a href='n&copy=&#x6f;' rel="nofollow">o</a></body></html>`,
)

test('random bytes are a page like any other', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 2_000 }),
      fc.constantFrom(...CHARSETS),
      fc.boolean(),
      (bytes, charset, isXml) => {
        const page = scanHtml(bytes, { charset, syntax: isXml ? 'xml' : 'html' }, options)
        expect(page.links.length).toBeLessThanOrEqual(bytes.length)
        expect(typeof visibleText(bytes, page.encoding)).toBe('string')
      },
    ),
    { numRuns: 500 },
  )
})

test('a page mutated at random is still read', () => {
  const random = new Random('html-fuzz')
  for (let round = 0; round < 3_000; round++) {
    const bytes = Buffer.from(PAGE)
    for (let change = 0; change < 1 + random.below(8); change++) {
      const at = random.below(bytes.length)
      const what = random.below(3)
      if (what === 0) bytes[at] = random.below(256)
      else if (what === 1) bytes[at] = random.pick([...Buffer.from('<>"\'=/!-&; \0')])
      else bytes.copyWithin(at, random.below(bytes.length), random.below(bytes.length))
    }
    const page = scanHtml(
      bytes.subarray(0, random.below(bytes.length + 1)),
      { charset: random.pick(CHARSETS) },
      options,
    )
    expect(page.links.length).toBeLessThan(40)
  }
})

test('a page cut anywhere yields the beginning of what the whole page yields', () => {
  const whole = scanHtml(PAGE, { charset: 'utf-8' }, options).links
  for (let length = 0; length <= PAGE.length; length++) {
    const { links } = scanHtml(PAGE.subarray(0, length), { charset: 'utf-8' }, options)
    // A style sheet is read although it does not end; a link cut in it may be shorter than the whole one.
    const settled = links.filter(({ kind }) => kind !== 'css')
    expect(whole.filter(({ kind }) => kind !== 'css').slice(0, settled.length)).toEqual(settled)
  }
})

test('pages made of real ones, of soup and of noise are found in as parse5 finds in them (all of them: npm run fuzz:html)', () => {
  const pages = new FuzzPages('short', [PAGE, ...materialPages()])
  let compared = 0
  for (let number = 0; number < 3_000; number++) {
    const page = pages.page(number)
    const { isCompared, problem } = checkPage(page)
    if (isCompared) compared++
    expect(problem, `page ${number}: ${page.charset} ${page.bytes.toString('latin1')}`).toBeNull()
  }
  // Without the pages of others soup is what more of them are made of, which has more of what is known to differ.
  expect(compared).toBeGreaterThan(hasMaterial ? 1_000 : 700)
})

/** Processor time of a scan and of the text of a page; the best of several, for what else runs only adds. */
function workMs(page: Buffer, times: number): number {
  let best = Number.POSITIVE_INFINITY
  for (let time = 0; time < times; time++) {
    const before = process.cpuUsage()
    scanHtml(page, { charset: null }, options)
    visibleText(page, 'windows-1252')
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, (user + system) / 1e3)
  }
  return best
}

// A search for an end that is not there, made again from each of n starts, would be n² / 2 steps: 10¹⁰ at this size, which
// nothing does in LINEAR_MS. What takes longer must take about four times as long as a quarter of it, where n² takes sixteen.
describe('four times the worst we could think of is four times the work', () => {
  const BYTES = 200_000
  const LINEAR_MS = 200
  const RATIO_MAX = 9

  test.each([
    '<',
    '<a ',
    '<a href',
    '<a href=',
    '<a href="',
    "<a href='x",
    '<a href="x>',
    '<p title="',
    '<p ="',
    '<!--',
    '<!-- --',
    '<!-',
    '--',
    '<!-- -',
    '<![CDATA[',
    '<svg><![CDATA[',
    '<?',
    '</',
    '</a ',
    '</a title="',
    '<script>',
    '<script><!--',
    '<script><!--<script>',
    '<script></script',
    '<script><!--</script>',
    '<style>',
    '<style></style',
    '<title></titl',
    '<textarea></',
    '<xmp><',
    '<svg>',
    '<svg></g>',
    '<svg><g></x>',
    '<math><mi>',
    '<template>',
    '<template></template>',
    '<a href=&',
    '<a href="&amp">',
    '<a href="&CounterClockwiseContourIntegra">',
    '<img srcset="',
    '<img srcset="a (,">',
    '<p style="url(">',
    '<p style="\\">',
    '<meta charset=koi8-r>',
    '<meta name=robots content=x>',
    '<form>',
    '&',
    ' ',
    '<a style="url(x)">',
    '\x1b$B',
    '\x1b$Baa\x1b(B',
    '\x82\xa0<a href="\x82\xa0">',
    '<a \0 href="\0">',
    '<div><table><tr><td>',
  ])('%s', (piece) => {
    const page = (bytes: number): Buffer[] => {
      const body = Buffer.from(piece.repeat(Math.ceil(bytes / piece.length)), 'latin1')
      return [
        body,
        Buffer.concat([Buffer.from('<svg>'), body]),
        Buffer.concat([Buffer.from('<img srcset="'), body, Buffer.from('">')]),
      ]
    }
    const quarters = page(BYTES / 4)
    for (const [index, whole] of page(BYTES).entries()) {
      if (workMs(whole, 1) < LINEAR_MS) continue
      expect(workMs(whole, 3) / workMs(quarters[index] as Buffer, 3)).toBeLessThan(RATIO_MAX)
    }
  })
})

describe('a page without measure', () => {
  const MEGABYTE = 1_000_000
  const scan = (...parts: (string | Buffer)[]): ParsedPage =>
    scanHtml(Buffer.concat(parts.map((part) => Buffer.from(part))), { charset: null }, options)

  test('a line of 100 MB is read to its end', () => {
    const page = scan(Buffer.alloc(100 * MEGABYTE, 'word '), '<a href=end>')
    expect(page.links).toEqual([{ href: 'end', kind: 'a', isNofollow: false }])
  })

  test.each([
    ['<div>', MEGABYTE],
    ['<svg><g>', 200_000],
    ['<math><mi>', 200_000],
    ['<table><tr><td>', 200_000],
  ] as const)('%s nested without end, %i times', (tag, times) => {
    expect(scan(tag.repeat(times), '<a href=end>').links.map(({ href }) => href)).toEqual(['end'])
  })

  test('attributes by the hundred thousand, of which the first of a name counts', () => {
    const many = Array.from({ length: 100_000 }, (_, index) => `a${index}=${index}`).join(' ')
    expect(scan(`<a ${many} href=x `, many, ' href=y>').links.map(({ href }) => href)).toEqual(['x'])
  })

  test.each(['href="', 'style="', 'srcset="a '])('an attribute of 8 MB: %s', (start) => {
    for (const filling of ['9', '(&amp;', '\0']) {
      const page = scan(`<img ${start}`, Buffer.alloc(8 * MEGABYTE, filling, 'latin1'), '"><a href=end>')
      expect(page.spans.href(page.spans.count - 1)).toBe('end')
    }
  })

  test('a million links, of which as many are kept as is said, and the others counted', () => {
    const page = scan('<a href=x>'.repeat(MEGABYTE))
    expect(page.spans.count).toBe(options.linksPerPage)
    expect(page.linksDropped).toBe(MEGABYTE - options.linksPerPage)
  })

  test('metas for robots without end are not kept without end', () => {
    expect(scan('<meta name=robots content=noindex>'.repeat(10_000)).metaRobots).toHaveLength(100)
  })

  test.each([
    '<!--',
    '<title>',
    '<script>',
    '<style>',
    '<textarea>',
    '<a href="',
    "<a title='",
    '<![CDATA[',
    '<?',
    '<!DOCTYPE ',
  ])('%s that never ends swallows the page, as in a browser', (start) => {
    expect(scan('<a href=first>', start, Buffer.alloc(MEGABYTE, '<b href=x> ')).links.map(({ href }) => href)).toEqual([
      'first',
    ])
  })
})
