// Whatever the bytes, the scanner returns, and in time linear in their number.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Random } from '../base/index.ts'
import { scanHtml } from './html.ts'
import { visibleText } from './html-text.ts'
import { parseOptions } from './options.ts'

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

// A search for an end that is not there, made again from each of n starts, would be n² / 2 steps: at this size
// 8 s with the fastest search there is, minutes with a loop. Two seconds of processor time leave room for any machine.
describe('400 kB of the worst we could think of take no more than two seconds', () => {
  const BYTES = 400_000
  const CPU_SECONDS_MAX = 2

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
  ])('%s', (piece) => {
    const bytes = Buffer.from(piece.repeat(Math.ceil(BYTES / piece.length)))
    const nested = [
      bytes,
      Buffer.concat([Buffer.from('<svg>'), bytes]),
      Buffer.concat([Buffer.from('<img srcset="'), bytes, Buffer.from('">')]),
    ]
    for (const page of nested) {
      const before = process.cpuUsage()
      scanHtml(page, { charset: null }, options)
      visibleText(page, 'windows-1252')
      const { user, system } = process.cpuUsage(before)
      expect((user + system) / 1e6).toBeLessThan(CPU_SECONDS_MAX)
    }
  })
})
