// Whatever the bytes say they are, reading them returns: style sheets, feeds, sitemaps, XML of any kind. And much of
// anything run nobody out of stack.

import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Random } from '../base/index.ts'
import { cssLinks } from './css.ts'
import { readFeed } from './feed.ts'
import { sniffMediaType } from './media-type.ts'
import { parseOptions } from './options.ts'
import { parseDocument } from './parse-document.ts'
import { parseSitemap, unpackSitemap } from './sitemap.ts'

const options = parseOptions.parse({})
const MEDIA_TYPES = [
  'text/html',
  'application/xhtml+xml',
  'text/css',
  'text/xml',
  'application/rss+xml',
  'application/atom+xml',
  'application/rdf+xml',
]

const SAMPLES = [
  `@charset "utf-8"; @import url("a.css") screen; @import 'b'; p { background: url( c ), url("d"); x: image-set("e" 1x, "f" 2x) } /* url(g) */ @namespace url(h);`,
  `<?xml version="1.0" encoding="utf-8"?><!DOCTYPE urlset [<!ENTITY e "x">]><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="x"><url><loc>http://a/?b&amp;c</loc>
   <lastmod>2024-01-01</lastmod><priority>0.5</priority><xhtml:link rel="alternate" hreflang="de" href="http://a/de"/></url></urlset>`,
  `<sitemapindex><sitemap><loc><![CDATA[http://a/s.xml]]></loc></sitemap></sitemapindex>`,
  `<rss version="2.0"><channel><link>http://a/</link><item><title>t</title><link>http://a/1</link><guid isPermaLink="true">http://a/2</guid><enclosure url="x"/></item></channel></rss>`,
  `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://b/"><link rel="self" href="c"/><entry><link href="d"/><content src="e"/><updated>2024</updated></entry></feed>`,
  `http://a/1\r\nhttp://a/2\n# no\n\uFEFF`,
].map((text) => Buffer.from(text))

function readAll(bytes: Buffer): void {
  const text = bytes.toString('utf8')
  expect(cssLinks(text).length).toBeLessThanOrEqual(bytes.length)
  expect(parseSitemap(bytes).locations.length).toBeLessThanOrEqual(bytes.length)
  readFeed(text, 'http://base.example/')
  sniffMediaType(bytes)
  for (const mediaType of MEDIA_TYPES) {
    expect(parseDocument({ mediaType, charset: null, bytes }, options)?.spans.count ?? 0).toBeLessThanOrEqual(
      bytes.length,
    )
  }
}

test('random bytes are a document of any type', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) => readAll(Buffer.from(bytes))),
    { numRuns: 300 },
  )
})

test('documents mutated and spliced at random are still read', async () => {
  const random = new Random('formats-fuzz')
  const marks = Buffer.from('<>/!?[]&;"\'()\\{}@-:= \n\0\xff', 'latin1')
  for (let round = 0; round < 1_500; round++) {
    let bytes = Buffer.from(random.pick(SAMPLES))
    for (let change = 0; change < 1 + random.below(8); change++) {
      const at = random.below(bytes.length)
      const what = random.below(4)
      if (what === 0) bytes[at] = random.below(256)
      else if (what === 1) bytes[at] = marks[random.below(marks.length)] as number
      else if (what === 2) bytes.copyWithin(at, random.below(bytes.length), random.below(bytes.length))
      else bytes = Buffer.concat([bytes.subarray(0, at), random.pick(SAMPLES).subarray(random.below(40))])
    }
    readAll(bytes)
    // A stream cut or broken anywhere yields what could be read.
    if (round % 20 === 0) {
      const packed = gzipSync(bytes)
      packed[random.below(packed.length)] = random.below(256)
      readAll(Buffer.from(await unpackSitemap(packed.subarray(0, random.below(packed.length)))))
    }
  }
})

describe('300 kB of it', () => {
  test.each([
    '<', '<a', '<a b="', '<a b=c ', '</', '<!--', '<![CDATA[', '<?', '<!DOCTYPE [', '&', '&amp;', '&#1', '<urlset><url><loc>', '<loc>', '<rss><item>', '<x:y ',
    'url(', 'url("', '@import ', '"', "'", '\\', '\\72', '/*', '(', 'image-set(', '@', 'a', ' ', '\n', '\0', 'http://a/\n', '\xff', '\x1b$B',
  ])('%j', (piece) => {
    readAll(Buffer.from(piece.repeat(Math.ceil(300_000 / piece.length)), 'latin1'))
  }) // prettier-ignore
})
