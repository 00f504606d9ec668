// What a parser finds in a document. Links are raw: the attribute as written, character references
// decoded, surrounding white space gone. Making them canonical is the work of `url`, at the top of the walk.

import type { LinkPlaces } from '../url/index.ts'
import type { Sketch } from './text-sketch.ts'

/** Where a link can stand: their order gives the kinds their numbers in a meaning (LinkSpans). */
export const LINK_KINDS = [
  'a',
  'area',
  'frame',
  'iframe',
  'link',
  'img',
  'script',
  'media',
  'object',
  'form',
  'refresh',
  'css',
  'sitemap',
  'feed',
] as const

/** Where a link stood. Decides whether it is followed (options) and what it means in the graph. */
export type LinkKind = (typeof LINK_KINDS)[number]

export interface RawLink {
  readonly href: string
  readonly kind: LinkKind
  /** rel=nofollow on the element itself. */
  readonly isNofollow: boolean
}

/**
 * Links as places in the bytes of their page, for whoever can do without their text: most links are known already, and
 * that can be told from the bytes (`url`, LinkJoiner).
 */
export interface LinkSpans extends LinkPlaces {
  readonly count: number
  /** The value of a link as text: character references decoded, surrounding white space gone. */
  href(index: number): string
}

/** What of a meaning is the number of the kind. */
export const MEANS_KIND = 31
/** Added to it where the element itself says nofollow. (And where `&` is written `&amp;`: src/url/link-places.ts.) */
export const MEANS_NOFOLLOW = 32

export interface ParsedPage {
  /** In document order, not deduplicated. */
  readonly links: readonly RawLink[]
  /** The same links in the same order. */
  readonly spans: LinkSpans
  /** Links beyond the limit of the options, counted and not kept. */
  readonly linksDropped: number
  /** href of the first <base>, raw; null when there is none. */
  readonly baseHref: string | null
  readonly title: string | null
  /** WHATWG name of the encoding the text was read in ('utf-8', 'shift_jis' …). */
  readonly encoding: string
  /** lang of <html>, lower-case. */
  readonly language: string | null
  /** href of rel=canonical, raw: recorded, not obeyed. */
  readonly canonical: string | null
  /** Every <meta name=… content=…> whose name speaks to robots: [name, content], lower-case. */
  readonly metaRobots: readonly (readonly [name: string, content: string])[]
  /** SimHash of the visible text; null where there is none or nobody wants to know. */
  readonly sketch: Sketch | null
}
