// What a parser finds in a document. Links are raw: the attribute as written, character references
// decoded, surrounding white space gone. Making them canonical is the work of `url`, at the top of the walk.

/** Where a link stood. Decides whether it is followed (options) and what it means in the graph. */
export type LinkKind =
  | 'a'
  | 'area'
  | 'frame'
  | 'iframe'
  | 'link'
  | 'img'
  | 'script'
  | 'media'
  | 'object'
  | 'form'
  | 'refresh'
  | 'css'
  | 'sitemap'
  | 'feed'
  | 'redirect'

export interface RawLink {
  readonly href: string
  readonly kind: LinkKind
  /** rel=nofollow on the element itself. */
  readonly isNofollow: boolean
}

export interface ParsedPage {
  /** In document order, not deduplicated. */
  readonly links: readonly RawLink[]
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
}
