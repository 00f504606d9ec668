// The links of feeds, by a small feed of each kind.

import { expect, test } from 'vitest'
import { parseFeed, readFeed } from './feed.ts'

const hrefs = (text: string, baseUrl: string | null = null): string[] =>
  parseFeed(text, baseUrl).map(({ href }) => href)

test('RSS 2.0: links, permanent guids, enclosures, comments and media', () => {
  const text = `<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
    <link>http://a/</link><atom:link href="http://a/feed" rel="self"/>
    <image><url>http://a/logo.png</url></image>
    <item><title>http://no/</title><link> http://a/1?x&amp;y </link><guid>http://a/1</guid>
      <enclosure url="http://a/1.mp3" length="1" type="audio/mpeg"/><comments>http://a/1#c</comments>
      <description><![CDATA[<a href="http://no/">]]></description><media:content url="http://a/1.jpg"/></item>
    <item><link/><guid isPermaLink="false">http://a/2</guid></item>
    <item><guid>tag:a,2026:3</guid></item>
  </channel></rss>`
  expect(hrefs(text)).toEqual([
    'http://a/',
    'http://a/feed',
    'http://a/logo.png',
    'http://a/1?x&y',
    'http://a/1',
    'http://a/1.mp3',
    'http://a/1#c',
    'http://a/1.jpg',
  ])
  expect(readFeed(text)?.entries).toEqual([
    { url: 'http://a/1?x&y', updated: null },
    { url: 'http://a/2', updated: null },
  ])
  expect(parseFeed(text)[0]).toEqual({ href: 'http://a/', kind: 'feed', isNofollow: false })
})

test('RSS 1.0: items stand beside the channel', () => {
  const text = `<rdf:RDF xmlns:rdf="x" xmlns="http://purl.org/rss/1.0/"><channel><link>http://a/</link></channel>
    <item rdf:about="http://a/1"><link>http://a/1</link><dc:date>2026-01-01</dc:date></item></rdf:RDF>`
  expect(hrefs(text)).toEqual(['http://a/', 'http://a/1'])
  expect(readFeed(text)?.entries).toEqual([{ url: 'http://a/1', updated: '2026-01-01' }])
})

test('Atom: every link, and the first alternate is where the entry is', () => {
  const text = `<feed xmlns="http://www.w3.org/2005/Atom"><link href="/" /><id>http://no/</id>
    <entry><link rel="edit" href="/edit"/><link rel="alternate" href="/1"/><link href="/1.html"/>
      <updated>2026-01-01T00:00:00Z</updated><content src="/1.pdf"/></entry></feed>`
  expect(hrefs(text)).toEqual(['/', '/edit', '/1', '/1.html', '/1.pdf'])
  expect(readFeed(text)?.entries).toEqual([{ url: '/1', updated: '2026-01-01T00:00:00Z' }])
})

test('xml:base holds for the element that carries it and those inside, and only there', () => {
  const text = `<feed xml:base="http://a/x/"><link href="f"/>
    <entry xml:base="sub/"><link href="1"/><link xml:base="http://b/" href="2"/><link href="3"/></entry>
    <entry><link href="4"/></entry></feed>`
  expect(hrefs(text)).toEqual(['http://a/x/f', 'http://a/x/sub/1', 'http://b/2', 'http://a/x/sub/3', 'http://a/x/4'])
})

test('a relative xml:base stands on the address of the feed, and is passed over when that is not known', () => {
  const text = '<feed><entry xml:base="/blog/"><link href="1"/></entry></feed>'
  expect(hrefs(text, 'http://a/feed.xml')).toEqual(['http://a/blog/1'])
  expect(hrefs(text)).toEqual(['1'])
})

test.each(['', '<html><link href="x"></html>', '<urlset/>', 'rss', '<'])('%j is no feed', (text) => {
  expect(readFeed(text)).toBeNull()
  expect(parseFeed(text)).toEqual([])
})

test('more links than wanted are left out, and that is said', () => {
  const feed = readFeed(`<feed>${'<link href="a"/>'.repeat(10)}</feed>`, null, 3)
  expect([feed?.links.length, feed?.isCut]).toEqual([3, true])
})
