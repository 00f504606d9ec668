// Sitemaps as the protocol has them, as the web has them, and as the sitemap material has them.

import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hasMaterial, materialPath, readMaterial } from '../../test/material.ts'
import { parseSitemap, SITEMAP_LOCATIONS_MAX, sitemapLinks, unpackSitemap } from './sitemap.ts'

const parse = (text: string): ReturnType<typeof parseSitemap> => parseSitemap(Buffer.from(text))
const locs = (text: string): string[] => parse(text).locations.map(({ loc }) => loc)
const urlset = (body: string): string => `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${body}</urlset>`

describe('a urlset', () => {
  test('gives each location with what is said of it', () => {
    const sitemap = parse(
      `<?xml version="1.0" encoding="UTF-8"?>\n${urlset(`
        <url><loc> http://a/?x=1&amp;y=2 </loc><lastmod>2026-01-02</lastmod><changefreq>Daily</changefreq><priority>0.8</priority></url>
        <url><loc><![CDATA[http://a/b?c&d]]></loc><priority>7</priority></url>
        <url><loc></loc></url><url/>`)}`,
    )
    expect(sitemap).toEqual({
      kind: 'urlset',
      locations: [
        { loc: 'http://a/?x=1&y=2', lastmod: '2026-01-02', changefreq: 'daily', priority: 0.8 },
        { loc: 'http://a/b?c&d' },
      ],
      isCut: false,
    })
  })

  test('is known by its root under any prefix and any namespace', () => {
    expect(locs('<s:urlset xmlns:s="x"><s:url><s:loc>http://a/</s:loc></s:url></s:urlset>')).toEqual(['http://a/'])
    expect(locs('<urlset><url><loc>http://a/</loc></url></urlset>')).toEqual(['http://a/'])
  })

  test('does not mistake images, videos and news for pages, but keeps translations', () => {
    const sitemap = parse(
      urlset(`<url><loc>http://a/</loc>
        <image:image><image:loc>http://a/i.png</image:loc><image:caption>http://no/</image:caption></image:image>
        <xhtml:link rel="alternate" hreflang="de" href="http://a/de"/><xhtml:link rel="amphtml" href="http://a/amp"/></url>
        <url><news:news><news:title>unclosed</news:news></url><url><loc>http://b/</loc></url>`),
    )
    expect(sitemap.locations).toEqual([{ loc: 'http://a/', alternates: ['http://a/de'] }, { loc: 'http://b/' }])
    expect(sitemapLinks(sitemap).map(({ href, kind }) => `${kind} ${href}`)).toEqual([
      'sitemap http://a/',
      'sitemap http://a/de',
      'sitemap http://b/',
    ])
  })

  test.each([
    ['<url><loc>http://a/</loc><loc>http://b/</loc></url>', ['http://a/', 'http://b/']],
    ['<url><loc>http://a/<lastmod>2026</lastmod></url><url><loc>http://b/</loc></url>', ['http://a/', 'http://b/']],
    [
      '<url><loc><url>http://a/</url></loc><lastmod>2026</lastmod></url><url><loc>http://b/</loc></url>',
      ['http://a/', 'http://b/'],
    ],
    ['<url><loc>http://a/</loc><url><loc>http://b/</loc>', ['http://a/', 'http://b/']],
    ['<url><loc>http://a/?x=1&y=2</loc></url>', ['http://a/?x=1&y=2']],
  ])('survives %s', (body, expected) => {
    expect(locs(urlset(body))).toEqual(expected)
  })

  test('cut off in a location loses that location, not half of it', () => {
    expect(locs('<urlset><url><loc>http://a/</loc></url><url><loc>http://b/pag')).toEqual(['http://a/'])
  })

  test('beyond 50,000 locations is cut and says so', () => {
    const sitemap = parse(urlset('<url><loc>http://a/</loc></url>'.repeat(SITEMAP_LOCATIONS_MAX + 1)))
    expect([sitemap.locations.length, sitemap.isCut]).toEqual([SITEMAP_LOCATIONS_MAX, true])
  })

  test('in another encoding is read in it', () => {
    const latin1 = Buffer.from(
      '<?xml version="1.0" encoding="ISO-8859-1"?><urlset><url><loc>http://a/é</loc></url></urlset>',
      'latin1',
    )
    const utf16 = Buffer.from('\uFEFF<urlset><url><loc>http://a/é</loc></url></urlset>', 'utf16le')
    expect([latin1, utf16].map((bytes) => parseSitemap(bytes).locations[0]?.loc)).toEqual(['http://a/é', 'http://a/é'])
  })
})

test('an index lists sitemaps, also those whose <loc> was forgotten', () => {
  const text =
    '<sitemapindex><sitemap><loc>http://a/1.xml</loc></sitemap><sitemap>\nhttp://a/2.xml\n</sitemap></sitemapindex>'
  expect(parse(text)).toMatchObject({
    kind: 'index',
    locations: [{ loc: 'http://a/1.xml' }, { loc: 'http://a/2.xml' }],
  })
})

test('a plain list gives its URLs and passes over other lines', () => {
  expect(parse('\uFEFFhttp://a/1\r\n# note\r\n\r\n  https://a/2  \nnot a url\nftp://a/3')).toMatchObject({
    kind: 'text',
    locations: [{ loc: 'http://a/1' }, { loc: 'https://a/2' }],
  })
})

test('a feed gives one location per entry', () => {
  const text = `<rss><channel><link>http://a/</link>
    <item><link>http://a/1</link><pubDate>Tue, 06 Sep 2011 16:20:00 GMT</pubDate></item>
    <item><guid>http://a/2</guid></item></channel></rss>`
  expect(parse(text)).toMatchObject({
    kind: 'feed',
    locations: [{ loc: 'http://a/1', lastmod: 'Tue, 06 Sep 2011 16:20:00 GMT' }, { loc: 'http://a/2' }],
  })
})

test.each([
  '',
  ' ',
  '<',
  '<!doctype html><html><body>http://a/</body></html>',
  'hello',
  '{"a":1}',
  '<?xml version="1.0"?>',
])('%j is no sitemap', (text) => {
  expect(parse(text)).toEqual({ kind: 'none', locations: [], isCut: false })
})

test('any bytes are read without a throw', () => {
  const part = fc.constantFrom(
    '<urlset>',
    '<url>',
    '</url>',
    '<loc>',
    '</loc>',
    'http://a/',
    '<sitemapindex>',
    '<x:y>',
    '</x:y>',
    '&',
    '<',
  )
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      expect(parse(parts.join('')).locations.length).toBeLessThanOrEqual(parts.length)
    }),
  )
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect(parseSitemap(bytes).locations.length).toBeLessThanOrEqual(bytes.length)
    }),
  )
})

describe('a compressed sitemap', () => {
  const text = urlset('<url><loc>http://a/</loc></url>'.repeat(1_000))

  test('is unpacked, and one that is not compressed stays as it is', async () => {
    expect(Buffer.from(await unpackSitemap(gzipSync(text))).toString()).toBe(text)
    expect(Buffer.from(await unpackSitemap(Buffer.from(text))).toString()).toBe(text)
  })

  test('that unpacks to more than the limit is cut just behind it', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000))
    expect((await unpackSitemap(bomb, 100_000)).length).toBe(100_001)
  })

  test('that is cut or damaged yields what was good', async () => {
    const long = text.repeat(10)
    const packed = gzipSync(long)
    const damaged = Buffer.from(packed)
    damaged.fill(0xff, damaged.length - 8)
    for (const bytes of [packed.subarray(0, packed.length - 40), damaged]) {
      const good = Buffer.from(await unpackSitemap(bytes)).toString()
      expect(good.length).toBeGreaterThan(long.length / 2)
      expect(long.startsWith(good)).toBe(true)
    }
    expect((await unpackSitemap(Buffer.from([0x1f, 0x8b, 1, 2, 3]))).length).toBe(0)
  })
})

interface Vector {
  readonly name: string
  readonly content?: string
  readonly file?: string
  readonly options: { readonly strict: boolean; readonly setStrictNamespace?: boolean; readonly setURLFilter?: string }
  readonly expected: {
    readonly rejected?: boolean
    readonly isIndex?: boolean
    readonly urlCount?: number
    readonly sitemapCount?: number
    readonly firstUrl?: string
    readonly 'first.getChangeFrequency'?: string
  }
}

/** Vector (by place) → why we answer otherwise. */
const DIFFERENCES: Readonly<Record<string, string>> = {
  'testSitemapXXE rejected': 'the entity is ignored and the rest read, as in testSitemapXXEWithDocTypeAllowed',
  'testSitemapWithWrongNamespace rejected':
    'a wrong namespace is a mistake, not a danger; the lenient twin of the vector passes',
  'testSitemapTXTfilterUrls urls': 'a line without scheme is no URL; the vector adds one by its filter',
  'testLenientParser urls':
    'which hosts and paths a sitemap may list is for the scope; the lenient twin of the vector passes',
}

describe.skipIf(!hasMaterial)(
  hasMaterial ? 'the sitemap material' : 'the sitemap material (material not present)',
  () => {
    test('is read as crawler-commons reads it', async () => {
      const { vectors } = readMaterial<{ vectors: Vector[] }>('sitemaps', 'crawler-commons-sitemaps.json') as {
        vectors: Vector[]
      }
      const met = new Set<string>()
      expect(vectors.length).toBeGreaterThan(50)
      for (const { name, content, file, options, expected } of vectors) {
        const bytes =
          file === undefined ? Buffer.from(content ?? '') : readFileSync(materialPath('sitemaps', file) as string)
        const { kind, locations } = parseSitemap(await unpackSitemap(bytes))
        const check = (what: string, actual: unknown, wanted: unknown): void => {
          const isLenientTwin = name === 'testLenientParser' && !options.strict
          const key = `${name} ${what}`
          if (DIFFERENCES[key] === undefined || isLenientTwin) expect.soft(actual, key).toEqual(wanted)
          else {
            met.add(key)
            expect.soft(actual, `${key} is listed as a difference but agrees`).not.toEqual(wanted)
          }
        }
        if (expected.rejected === true) check('rejected', kind === 'none', true)
        if (expected.isIndex !== undefined) check('index', kind === 'index', expected.isIndex)
        if (expected.urlCount !== undefined) check('urls', locations.length, expected.urlCount)
        if (expected.sitemapCount !== undefined) check('sitemaps', locations.length, expected.sitemapCount)
        // Among the entries of a feed the vectors name any one as the first.
        const candidates = kind === 'feed' ? locations : locations.slice(0, 1)
        if (expected.firstUrl !== undefined) {
          check('first', candidates.map(({ loc }) => loc).includes(expected.firstUrl), true)
        }
        const frequency = expected['first.getChangeFrequency']
        if (frequency !== undefined) check('frequency', locations[0]?.changefreq, frequency.toLowerCase())
      }
      expect(Object.keys(DIFFERENCES).filter((key) => !met.has(key))).toEqual([])
    })
  },
)
