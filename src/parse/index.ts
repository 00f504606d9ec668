export { type Encoding, type EncodingHints, sniffEncoding } from './encoding.ts'
export { type HtmlHints, scanHtml } from './html.ts'
export { type ParseOptions, parseOptions } from './options.ts'
export type { LinkKind, ParsedPage, RawLink } from './parsed-page.ts'
