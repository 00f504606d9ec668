// From media type to parser: one table.

import { cssLinks } from './css.ts'
import { isXmlType, sniffEncoding } from './encoding.ts'
import { readFeed } from './feed.ts'
import { parseFtpListing } from './ftp-listing.ts'
import { parseGopherMenu } from './gopher-menu.ts'
import { scanHtml } from './html.ts'
import type { ParseOptions } from './options.ts'
import { PageBuilder } from './page-builder.ts'
import type { ParsedPage } from './parsed-page.ts'
import { parseSitemap, sitemapLinks } from './sitemap.ts'
import { decodeText, encodingOf } from './text-decoding.ts'
import { XmlScanner } from './xml-scanner.ts'

export interface ParseInput {
  /** Bare and lower-case; null when nobody knows. */
  readonly mediaType: string | null
  /** The charset parameter of Content-Type; null when absent. */
  readonly charset: string | null
  readonly bytes: Uint8Array
}

type Parser = (input: ParseInput, options: ParseOptions) => ParsedPage

const PARSERS: ReadonlyMap<string, Parser> = new Map<string, Parser>([
  ['text/html', parseHtml],
  ['application/xhtml+xml', parseXhtml],
  ['text/css', parseCss],
  ['text/xml', parseXml],
  ['application/xml', parseXml],
  ['application/rss+xml', parseXml],
  ['application/atom+xml', parseXml],
  ['application/rdf+xml', parseXml],
  ['text/x-ftp-listing', ({ bytes }, options) => parseFtpListing(bytes, options)],
  ['application/gopher-menu', ({ bytes }, options) => parseGopherMenu(bytes, options)],
])

export function canParse(mediaType: string): boolean {
  return PARSERS.has(mediaType)
}

/** Links and facts of a document; null when its media type is none that holds links we know how to find. */
export function parseDocument(input: ParseInput, options: ParseOptions): ParsedPage | null {
  return PARSERS.get(input.mediaType ?? '')?.(input, options) ?? null
}

function parseHtml({ bytes, charset }: ParseInput, options: ParseOptions): ParsedPage {
  return scanHtml(bytes, { charset }, options)
}

function parseXhtml({ bytes, charset }: ParseInput, options: ParseOptions): ParsedPage {
  return scanHtml(bytes, { charset, syntax: 'xml' }, options)
}

/** XML by its root element: a page, a sitemap, a feed, or something without links. */
function parseXml(input: ParseInput, options: ParseOptions): ParsedPage {
  const { bytes, charset, mediaType } = input
  const { encoding } = sniffEncoding(bytes, {
    headerCharset: charset,
    mediaType: isXmlType(mediaType) ? mediaType : 'text/xml',
  })
  const text = decodeText(bytes, encoding)
  const root = rootName(text)
  if (root === 'html') return parseXhtml(input, options)
  const page = new PageBuilder(options)
  const links =
    root === 'urlset' || root === 'sitemapindex'
      ? sitemapLinks(parseSitemap(bytes))
      : (readFeed(text, null, options.linksPerPage + 1)?.links ?? [])
  for (const { href, kind, isNofollow } of links) page.link(href, kind, isNofollow)
  return page.build(encoding)
}

/** Local name of the root element, lower-case; empty when there is none. */
function rootName(text: string): string {
  const scanner = new XmlScanner(text)
  for (let token = scanner.next(); token !== 'end'; token = scanner.next()) {
    if (token === 'open') return scanner.name.slice(scanner.name.indexOf(':') + 1).toLowerCase()
  }
  return ''
}

/** A style sheet: byte order mark, header, its own @charset, else UTF-8 (CSS Syntax 3.2, without the referring page). */
function parseCss({ bytes, charset }: ParseInput, options: ParseOptions): ParsedPage {
  const { encoding: sniffed, source } = sniffEncoding(bytes, { headerCharset: charset, mediaType: 'text/xml' })
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 128)).toString('latin1')
  const declared = source === 'guess' ? encodingOf(/^@charset "([^"]*)";/.exec(head)?.[1] ?? '') : null
  const encoding = declared === null ? sniffed : declared.startsWith('utf-16') ? 'utf-8' : declared
  const page = new PageBuilder(options)
  for (const url of cssLinks(decodeText(bytes, encoding))) page.link(url, 'css')
  return page.build(encoding)
}
