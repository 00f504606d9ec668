// RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0: the links of a feed, and one URL per entry for feeds that
// serve as sitemaps.

import type { RawLink } from './parsed-page.ts'
import { localName, XmlScanner } from './xml-scanner.ts'

export interface FeedEntry {
  /** Where the entry is to be read. */
  readonly url: string
  /** As written: pubDate, updated, dc:date … */
  readonly updated: string | null
}

export interface Feed {
  readonly links: readonly RawLink[]
  readonly entries: readonly FeedEntry[]
  /** The end was left out because there were more links than wanted. */
  readonly isCut: boolean
}

/** Elements whose text is a URL, and those with a URL in an attribute. Anything else is prose. */
const TEXT_LINKS = new Set(['link', 'guid', 'comments', 'url', 'docs'])
const ATTRIBUTE_LINKS: ReadonlyMap<string, string> = new Map([
  ['enclosure', 'url'],
  ['source', 'url'],
  ['content', 'url'],
  ['thumbnail', 'url'],
])
const DATES = new Set(['pubdate', 'updated', 'published', 'modified', 'issued', 'date'])
const ROOTS = new Set(['rss', 'rdf', 'feed'])
const LINKS_MAX = 100_000

/** The links of a feed in order, not deduplicated; none when it is no feed. `baseUrl` is what a relative xml:base stands on. */
export function parseFeed(text: string, baseUrl: string | null = null): readonly RawLink[] {
  return readFeed(text, baseUrl)?.links ?? []
}

/** Reads a feed, or null when the text is none. */
export function readFeed(text: string, baseUrl: string | null = null, linksMax = LINKS_MAX): Feed | null {
  const scanner = new XmlScanner(text)
  for (;;) {
    const token = scanner.next()
    if (token === 'end') return null
    if (token !== 'open') continue
    return ROOTS.has(localName(scanner.name)) ? new FeedReader(scanner, baseUrl, linksMax).read() : null
  }
}

class FeedReader {
  readonly #scanner: XmlScanner
  readonly #linksMax: number
  readonly #links: RawLink[] = []
  readonly #entries: FeedEntry[] = []
  /** xml:base in force, by the depth of the element that set it; innermost last. */
  readonly #bases: { readonly depth: number; readonly url: string | null }[]
  #isInEntry = false
  /** What the open entry offers as its URL. */
  #link: string | null = null
  #guid: string | null = null
  #updated: string | null = null
  /** The element whose text is being collected, and whether that text may be a link. */
  #collecting = ''
  #collected = ''
  #isPermaLink = true

  constructor(scanner: XmlScanner, baseUrl: string | null, linksMax: number) {
    this.#scanner = scanner
    this.#linksMax = linksMax
    this.#bases = [{ depth: 0, url: baseUrl }]
  }

  /** Starts at the open root element. */
  read(): Feed {
    const scanner = this.#scanner
    this.#noteBase()
    for (;;) {
      const token = scanner.next()
      if (token === 'open') this.#open(localName(scanner.name))
      else if (token === 'close') this.#close(localName(scanner.name))
      else if (token === 'text') {
        if (this.#collecting !== '') this.#collected += scanner.text
      } else break
      if (this.#links.length >= this.#linksMax) break
    }
    this.#settleEntry()
    return { links: this.#links, entries: this.#entries, isCut: this.#links.length >= this.#linksMax }
  }

  #open(name: string): void {
    const scanner = this.#scanner
    this.#noteBase()
    if (name === 'item' || name === 'entry') {
      this.#settleEntry()
      this.#isInEntry = true
    } else if (name === 'link' && scanner.attribute('href') !== null) {
      this.#addAtomLink(scanner.attribute('href') ?? '', scanner.attribute('rel') ?? 'alternate')
    } else if (ATTRIBUTE_LINKS.has(name)) {
      const url =
        scanner.attribute(ATTRIBUTE_LINKS.get(name) ?? '') ?? (name === 'content' ? scanner.attribute('src') : null)
      if (url !== null) this.#add(url)
    } else if ((TEXT_LINKS.has(name) || DATES.has(name)) && !scanner.isEmpty) {
      this.#collecting = name
      this.#collected = ''
      this.#isPermaLink = name !== 'guid' || scanner.attribute('isPermaLink')?.trim().toLowerCase() !== 'false'
    }
    if (scanner.isEmpty) this.#dropBases()
  }

  #close(name: string): void {
    if (name === this.#collecting && name !== '') this.#finishText()
    if (name === 'item' || name === 'entry') this.#settleEntry()
    this.#dropBases()
  }

  #finishText(): void {
    const name = this.#collecting
    const text = this.#collected.trim()
    this.#collecting = ''
    if (text === '') return
    if (DATES.has(name)) {
      if (this.#isInEntry) this.#updated ??= text
      return
    }
    const href = this.#resolved(text)
    if (name === 'guid') {
      // Without scheme a guid is a name, whatever isPermaLink says by default.
      if (!/^https?:\/\//i.test(text)) return
      this.#guid = href
      if (!this.#isPermaLink) return
    }
    this.#push(href)
    if (name === 'link' && this.#isInEntry) this.#link ??= href
  }

  #addAtomLink(rawHref: string, rel: string): void {
    const href = this.#add(rawHref)
    if (href !== null && this.#isInEntry && /(?:^|\s)alternate(?:\s|$)/i.test(rel)) this.#link ??= href
  }

  #add(rawHref: string): string | null {
    const text = rawHref.trim()
    if (text === '') return null
    const href = this.#resolved(text)
    this.#push(href)
    return href
  }

  #push(href: string): void {
    this.#links.push({ href, kind: 'feed', isNofollow: false })
  }

  #settleEntry(): void {
    if (!this.#isInEntry) return
    const url = this.#link ?? this.#guid
    if (url !== null) this.#entries.push({ url, updated: this.#updated })
    this.#isInEntry = false
    this.#link = null
    this.#guid = null
    this.#updated = null
  }

  /** Without an xml:base the link stays as written; with one, only we can resolve it. */
  #resolved(href: string): string {
    const base = this.#bases.at(-1)
    if (base === undefined || base.depth === 0 || base.url === null) return href
    return URL.parse(href, base.url)?.href ?? href
  }

  #noteBase(): void {
    const written = this.#scanner.attribute('xml:base')
    if (written === null) return
    const outer = this.#bases.at(-1)?.url ?? null
    const url = outer === null ? URL.parse(written) : URL.parse(written, outer)
    const depth = this.#scanner.depth + (this.#scanner.isEmpty ? 1 : 0)
    this.#bases.push({ depth, url: url?.href ?? outer })
  }

  #dropBases(): void {
    while (this.#bases.length > 1 && (this.#bases.at(-1)?.depth ?? 0) > this.#scanner.depth) this.#bases.pop()
  }
}
