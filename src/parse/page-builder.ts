// Collects what a parser finds, within the limits of the options, in the shape every parser returns.

import type { ParseOptions } from './options.ts'
import {
  LINK_KINDS,
  type LinkKind,
  type LinkSpans,
  MEANS_NOFOLLOW,
  type ParsedPage,
  type RawLink,
} from './parsed-page.ts'
import type { Sketch } from './text-sketch.ts'

const NUMBER_OF_KIND = Object.fromEntries(LINK_KINDS.map((kind, number) => [kind, number])) as Record<LinkKind, number>

const NO_BYTES = new Uint8Array(0)

/** Metas for robots kept of a page; pages have one or two. What they say adds up, and later ones are forgotten. */
const META_ROBOTS_MAX = 100

export class PageBuilder {
  readonly #linksMax: number
  readonly #links: FoundLinks
  #linksDropped = 0
  baseHref: string | null = null
  title: string | null = null
  language: string | null = null
  canonical: string | null = null
  readonly metaRobots: [name: string, content: string][] = []

  /** `text` is the latin-1 string of `bytes`; without them links are text only. */
  constructor(options: ParseOptions, bytes: Uint8Array = NO_BYTES, text = '') {
    this.#linksMax = options.linksPerPage
    this.#links = new FoundLinks(bytes, text)
  }

  link(href: string, kind: LinkKind, isNofollow = false): void {
    const links = this.#links
    if (links.count >= this.#linksMax) this.#linksDropped++
    else links.add(-1, links.texts.push(href) - 1, meaningOf(kind, isNofollow))
  }

  /** A link that stands at [start, end) of the bytes and means what it says: ASCII without references, white space and NUL. */
  linkAt(start: number, end: number, kind: LinkKind, isNofollow: boolean): void {
    if (this.#links.count >= this.#linksMax) this.#linksDropped++
    else this.#links.add(start, end, meaningOf(kind, isNofollow))
  }

  robots(meta: [name: string, content: string]): void {
    if (this.metaRobots.length < META_ROBOTS_MAX) this.metaRobots.push(meta)
  }

  build(encoding: string, sketch: Sketch | null = null): ParsedPage {
    return new BuiltPage(this.#links, this.#linksDropped, this, encoding, sketch)
  }
}

function meaningOf(kind: LinkKind, isNofollow: boolean): number {
  return isNofollow ? NUMBER_OF_KIND[kind] | MEANS_NOFOLLOW : NUMBER_OF_KIND[kind]
}

/** Links that are text already, in the shape of those that are places. */
export function spansOfText(links: readonly RawLink[]): LinkSpans {
  const spans = new FoundLinks(NO_BYTES, '')
  for (const { href, kind, isNofollow } of links) spans.add(-1, spans.texts.push(href) - 1, meaningOf(kind, isNofollow))
  return spans
}

class FoundLinks implements LinkSpans {
  count = 0
  readonly bytes: Uint8Array
  readonly #text: string
  readonly places: number[] = []
  /** Of links that only text will do for; their end is the place here. */
  readonly texts: string[] = []

  constructor(bytes: Uint8Array, text: string) {
    this.bytes = bytes
    this.#text = text
  }

  add(start: number, end: number, meaning: number): void {
    this.count++
    this.places.push(start, end, meaning)
  }

  href(index: number): string {
    const start = this.places[3 * index] as number
    const end = this.places[3 * index + 1] as number
    return start === -1 ? (this.texts[end] as string) : this.#text.slice(start, end)
  }
}

class BuiltPage implements ParsedPage {
  readonly spans: LinkSpans
  readonly linksDropped: number
  readonly baseHref: string | null
  readonly title: string | null
  readonly encoding: string
  readonly language: string | null
  readonly canonical: string | null
  readonly metaRobots: readonly (readonly [name: string, content: string])[]
  readonly sketch: Sketch | null
  #links: RawLink[] | null = null

  constructor(spans: LinkSpans, linksDropped: number, found: PageBuilder, encoding: string, sketch: Sketch | null) {
    this.spans = spans
    this.linksDropped = linksDropped
    this.baseHref = found.baseHref
    this.title = found.title
    this.encoding = encoding
    this.language = found.language
    this.canonical = found.canonical
    this.metaRobots = found.metaRobots
    this.sketch = sketch
  }

  /** Made when they are asked for: a crawl does without. */
  get links(): readonly RawLink[] {
    if (this.#links === null) {
      const { spans } = this
      this.#links = Array.from({ length: spans.count }, (_, index) => {
        const meaning = spans.places[3 * index + 2] as number
        const kind = LINK_KINDS[meaning & ~MEANS_NOFOLLOW] as LinkKind
        return { href: spans.href(index), kind, isNofollow: (meaning & MEANS_NOFOLLOW) !== 0 }
      })
    }
    return this.#links
  }
}
