export { cssLinks } from './css.ts'
export { type Encoding, type EncodingHints, sniffEncoding } from './encoding.ts'
export { type Feed, type FeedEntry, parseFeed, readFeed } from './feed.ts'
export { type HtmlHints, scanHtml } from './html.ts'
export { visibleText } from './html-text.ts'
export { SNIFF_BYTES, sniffMediaType } from './media-type.ts'
export type { ParseOptions } from './options.ts'
export { canParse, parseDocument, type ParseInput } from './parse-document.ts'
export { spansOfText } from './page-builder.ts'
export {
  LINK_KINDS,
  type LinkKind,
  type LinkSpans,
  MEANS_KIND,
  MEANS_NOFOLLOW,
  type ParsedPage,
  type RawLink,
} from './parsed-page.ts'
export { parseSitemap, type Sitemap, sitemapLinks, type SitemapLocation, unpackSitemap } from './sitemap.ts'
export { decodeText, encodingOf } from './text-decoding.ts'
export { distance, formatSketch, type Sketch } from './text-sketch.ts'
