// Modules that look at a page in hand, chosen by media type (Mercator's processing modules). They
// run one after another on the same rewindable document; link extraction is one of them.

import type { SkipReason } from '../base/index.ts'
import type { Document } from '../document/index.ts'
import type { ParsedPage } from '../parse/index.ts'

/** A page on its way through the chain: what was fetched, and what the processors have found so far. */
export class PageInHand {
  readonly document: Document
  /** A robots.txt names it as a sitemap. */
  readonly isNamedSitemap: boolean
  /** Content-Type's media type, or what sniffing says when that is missing or text/plain. */
  mediaType: string | null
  /** Set by the link extractor, null where it found nothing it can read. */
  parsed: ParsedPage | null
  /** Set by a processor that does not want the page kept; the rest of the chain is left out. */
  dropped: { readonly reason: SkipReason; readonly detail: string } | null

  constructor(document: Document, mediaType: string | null, isNamedSitemap: boolean) {
    this.document = document
    this.isNamedSitemap = isNamedSitemap
    this.mediaType = mediaType
    this.parsed = null
    this.dropped = null
  }
}

export interface Processor {
  readonly name: string
  /** Asked once per media type; null is a page of unknown type. */
  accepts(mediaType: string | null): boolean
  /** A promise only where there is something to wait for: a page costs microseconds. */
  process(page: PageInHand): Promise<void> | undefined | void
}
