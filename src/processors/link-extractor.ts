import { canParse, parseDocument, type ParseOptions } from '../parse/index.ts'
import type { PageInHand, Processor } from './processor.ts'

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
    return mediaType !== null && canParse(mediaType)
  }

  process(page: PageInHand): void {
    const { document } = page
    // Links of an error page lead nowhere anybody meant to go.
    if (document.status < 200 || document.status >= 300) return
    const bytes = document.body.bytes(this.#bytesMax)
    page.parsed = parseDocument({ mediaType: page.mediaType, charset: document.charset, bytes }, this.#options)
  }
}
