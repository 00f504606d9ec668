import {
  canParse,
  parseDocument,
  type ParseOptions,
  parseSitemap,
  sitemapLinks,
  spansOfText,
  type ParsedPage,
  unpackSitemap,
} from '../parse/index.ts'
import type { PageInHand, Processor } from './processor.ts'

const GZIP_TYPES: ReadonlySet<string> = new Set(['application/gzip', 'application/x-gzip'])
/** Compressed sitemaps call themselves so; unpacking every archive one meets to look for links would be folly. */
const SITEMAP_PATH = /(\.xml|\/sitemap[^/]*)\.gz$/i

/** Finds links and facts (title, language, directives) in every format `parse` reads. */
export class LinkExtractor implements Processor {
  readonly name = 'link-extractor'
  readonly #bytesMax: number
  readonly #options: ParseOptions

  /** `bytesMax`: how much of a page is read for links. */
  constructor(bytesMax: number, options: ParseOptions) {
    this.#bytesMax = bytesMax
    this.#options = options
  }

  accepts(mediaType: string | null): boolean {
    return mediaType !== null && (canParse(mediaType) || GZIP_TYPES.has(mediaType) || mediaType === 'text/plain')
  }

  process(page: PageInHand): Promise<void> | undefined {
    const { document, mediaType } = page
    // Links of an error page lead nowhere anybody meant to go.
    if (document.status < 200 || document.status >= 300) return
    if (mediaType !== null && GZIP_TYPES.has(mediaType)) {
      return SITEMAP_PATH.test(document.url) ? this.#unpack(page) : undefined
    }
    const bytes = document.body.bytes(this.#bytesMax)
    if (mediaType !== 'text/plain')
      page.parsed = parseDocument({ mediaType, charset: document.charset, bytes }, this.#options)
    else if (page.isNamedSitemap) page.parsed = asPage(bytes)
  }

  async #unpack(page: PageInHand): Promise<void> {
    const { document } = page
    page.parsed = asPage(await unpackSitemap(document.body.bytes(this.#bytesMax)))
  }
}

function asPage(bytes: Uint8Array): ParsedPage {
  const links = sitemapLinks(parseSitemap(bytes))
  return {
    links,
    spans: spansOfText(links),
    baseHref: null,
    title: null,
    encoding: 'utf-8',
    language: null,
    canonical: null,
    metaRobots: [],
    linksDropped: 0,
    sketch: null,
  }
}
