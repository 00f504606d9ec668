// Collects what a parser finds, within the limits of the options, in the shape every parser returns.

import { MEANS_AMPERSANDS } from '../url/index.ts'
import { PLAIN_LINKS, TAG } from './html-names.ts'
import type { ParseOptions } from './options.ts'
import {
  LINK_KINDS,
  type LinkKind,
  type LinkSpans,
  MEANS_KIND,
  MEANS_NOFOLLOW,
  type ParsedPage,
  type RawLink,
} from './parsed-page.ts'
import type { Sketch } from './text-sketch.ts'

const NUMBER_OF_KIND = Object.fromEntries(LINK_KINDS.map((kind, number) => [kind, number])) as Record<LinkKind, number>

const MEANING_BY_TAG: number[] = []
for (const [tag, [, kind]] of Object.entries(PLAIN_LINKS))
  MEANING_BY_TAG[TAG[tag as keyof typeof TAG]] = NUMBER_OF_KIND[kind]

const NO_BYTES = Buffer.alloc(0)

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

  /** Without bytes links are text only. */
  constructor(options: ParseOptions, bytes: Buffer = NO_BYTES) {
    this.#linksMax = options.linksPerPage
    this.#links = new FoundLinks(bytes)
  }

  link(href: string, kind: LinkKind, isNofollow = false): void {
    const links = this.#links
    if (links.count >= this.#linksMax) this.#linksDropped++
    else links.add(-1, links.texts.push(href) - 1, meaningOf(kind, isNofollow))
  }

  /**
   * A link that stands at [start, end) of the bytes and means what it says: ASCII without references, white space and NUL; or, where
   * `hasAmpersands`, with no other reference than `&amp;`, and every '&' written so.
   */
  linkAt(start: number, end: number, kind: LinkKind, isNofollow: boolean, hasAmpersands: boolean): void {
    const meaning = meaningOf(kind, isNofollow)
    if (this.#links.count >= this.#linksMax) this.#linksDropped++
    else this.#links.add(start, end, hasAmpersands ? meaning | MEANS_AMPERSANDS : meaning)
  }

  /** Such links of the elements that are mostly that: three numbers each, where it starts and ends, and the id of the element. */
  linksAt(links: Int32Array, count: number): void {
    for (let index = 0; index < 3 * count; index += 3) {
      const meaning = MEANING_BY_TAG[links[index + 2] as number] as number
      if (this.#links.count >= this.#linksMax) this.#linksDropped++
      else this.#links.add(links[index] as number, links[index + 1] as number, meaning)
    }
  }

  robots(meta: [name: string, content: string]): void {
    if (this.metaRobots.length < META_ROBOTS_MAX) this.metaRobots.push(meta)
  }

  /** Once, when all is found. */
  build(encoding: string, sketch: Sketch | null = null): ParsedPage {
    this.#links.close()
    return new BuiltPage(this.#links, this.#linksDropped, this, encoding, sketch)
  }
}

function meaningOf(kind: LinkKind, isNofollow: boolean): number {
  return isNofollow ? NUMBER_OF_KIND[kind] | MEANS_NOFOLLOW : NUMBER_OF_KIND[kind]
}

/** What a link says that was written so. */
function meant(written: string, meaning: number): string {
  return (meaning & MEANS_AMPERSANDS) === 0 ? written : written.replaceAll('&amp;', '&')
}

/** Links that are text already, in the shape of those that are places. */
export function spansOfText(links: readonly RawLink[]): LinkSpans {
  const spans = new FoundLinks(NO_BYTES)
  for (const { href, kind, isNofollow } of links) spans.add(-1, spans.texts.push(href) - 1, meaningOf(kind, isNofollow))
  spans.close()
  return spans
}

/** Numbers that may stay in the array that pages take turns with; a larger one is let go. */
const SPARE_MAX = 3 * 1_024

/** For the next page to gather its places in: whoever has it has it alone. hot: an array that grows takes three times the memory of one cut to size. */
let spare: number[] = []

class FoundLinks implements LinkSpans {
  count = 0
  readonly bytes: Buffer
  /** Of all links, once no more come. */
  places: readonly number[] = []
  #gathered: number[]
  /** Of links that only text will do for; their end is the place here. */
  readonly texts: string[] = []

  constructor(bytes: Buffer) {
    this.bytes = bytes
    this.#gathered = spare
    spare = []
  }

  add(start: number, end: number, meaning: number): void {
    const at = 3 * this.count++
    this.#gathered[at] = start
    this.#gathered[at + 1] = end
    this.#gathered[at + 2] = meaning
  }

  /** No more links come. */
  close(): void {
    const gathered = this.#gathered
    this.places = gathered.slice(0, 3 * this.count)
    if (gathered.length <= SPARE_MAX) spare = gathered
  }

  href(index: number): string {
    const start = this.places[3 * index] as number
    const end = this.places[3 * index + 1] as number
    if (start === -1) return this.texts[end] as string
    return meant(this.bytes.toString('latin1', start, end), this.places[3 * index + 2] as number)
  }

  /** All of them as text. Of one string of the page: to cut it is several times cheaper than to make one of each. */
  asText(): RawLink[] {
    const text = this.bytes.toString('latin1')
    return Array.from({ length: this.count }, (_, index) => {
      const start = this.places[3 * index] as number
      const end = this.places[3 * index + 1] as number
      const meaning = this.places[3 * index + 2] as number
      return {
        href: start === -1 ? (this.texts[end] as string) : meant(text.slice(start, end), meaning),
        kind: LINK_KINDS[meaning & MEANS_KIND] as LinkKind,
        isNofollow: (meaning & MEANS_NOFOLLOW) !== 0,
      }
    })
  }
}

class BuiltPage implements ParsedPage {
  readonly spans: FoundLinks
  readonly linksDropped: number
  readonly baseHref: string | null
  readonly title: string | null
  readonly encoding: string
  readonly language: string | null
  readonly canonical: string | null
  readonly metaRobots: readonly (readonly [name: string, content: string])[]
  readonly sketch: Sketch | null
  #links: RawLink[] | null = null

  constructor(spans: FoundLinks, linksDropped: number, found: PageBuilder, encoding: string, sketch: Sketch | null) {
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
    this.#links ??= this.spans.asText()
    return this.#links
  }
}
