// Which parser reads a document.

import { describe, expect, test } from 'vitest'
import { parseOptions } from './options.ts'
import { canParse, parseDocument } from './parse-document.ts'

const options = parseOptions.parse({})

function links(mediaType: string | null, text: string, charset: string | null = null): string[] | null {
  return (
    parseDocument({ mediaType, charset, bytes: Buffer.from(text) }, options)?.links.map(
      ({ kind, href }) => `${kind} ${href}`,
    ) ?? null
  )
}

describe('by media type', () => {
  test.each([
    ['text/html', '<a href=x>', ['a x']],
    ['application/xhtml+xml', '<script/><a href="x"/>', ['a x']],
    ['text/css', '@import "x"; a { b: url(y) }', ['css x', 'css y']],
    ['text/xml', '<html><title/><a href="x"/></html>', ['a x']],
    [
      'application/xml',
      '<?xml version="1.0"?><urlset><url><loc>http://x.example/</loc></url></urlset>',
      ['sitemap http://x.example/'],
    ],
    [
      'text/xml',
      '<s:sitemapindex xmlns:s="x"><s:sitemap><s:loc>http://x.example/</s:loc></s:sitemap></s:sitemapindex>',
      ['sitemap http://x.example/'],
    ],
    [
      'application/rss+xml',
      '<rss><channel><item><link>http://x.example/</link></item></channel></rss>',
      ['feed http://x.example/'],
    ],
    [
      'application/atom+xml',
      '<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="http://x.example/"/></entry></feed>',
      ['feed http://x.example/'],
    ],
    ['application/xml', '<settings><link>http://x.example/</link></settings>', []],
    ['application/xml', 'no XML at all', []],
  ])('%s %s', (mediaType, text, expected) => expect(links(mediaType, text)).toEqual(expected))

  test.each([[null], ['text/plain'], ['image/png'], ['application/json'], ['']])(
    '%s holds no links we know of',
    (mediaType) => {
      expect(links(mediaType, '<a href=x>')).toBeNull()
      expect(canParse(mediaType ?? '')).toBe(false)
    },
  )

  test('what can be parsed is what is parsed', () => {
    expect(['text/html', 'application/xhtml+xml', 'text/css', 'text/xml', 'application/atom+xml'].every(canParse)).toBe(
      true,
    )
  })
})

test('a style sheet is in the encoding it declares, unless the header knows better, and else in UTF-8', () => {
  const css = (text: string, charset: string | null): string =>
    parseDocument({ mediaType: 'text/css', charset, bytes: Buffer.from(text, 'latin1') }, options)!.encoding
  expect(css('@charset "koi8-r"; a{}', null)).toBe('koi8-r')
  expect(css('@charset "koi8-r"; a{}', 'iso-8859-2')).toBe('iso-8859-2')
  expect(css('@charset "utf-16le"; a{}', null)).toBe('utf-8')
  expect(css(' @charset "koi8-r"; a{}', null)).toBe('utf-8')
})

test('the limit of links holds for every format', () => {
  const few = { ...options, linksPerPage: 2 }
  const entries = '<entry><link href="http://x.example/"/></entry>'.repeat(5)
  for (const [mediaType, text] of [
    ['text/html', '<a href=x>'.repeat(5)],
    ['text/css', 'a{b:url(x)}'.repeat(5)],
    ['text/xml', `<urlset>${'<url><loc>http://x.example/</loc></url>'.repeat(5)}</urlset>`],
    ['application/atom+xml', `<feed xmlns="http://www.w3.org/2005/Atom">${entries}</feed>`],
  ]) {
    const page = parseDocument({ mediaType: mediaType!, charset: null, bytes: Buffer.from(text!) }, few)!
    expect(page.links).toHaveLength(2)
    expect(page.linksDropped).toBeGreaterThan(0)
  }
})
