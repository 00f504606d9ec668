// Sitemaps: XML lists of pages or of further sitemaps, plain lists of URLs, and feeds used as such.
// Reads what is there: a missing namespace, an unclosed element or a cut end costs at most the entry it is in.

import { createGunzip, constants } from 'node:zlib'
import { sniffEncoding } from './encoding.ts'
import { readFeed } from './feed.ts'
import type { RawLink } from './parsed-page.ts'
import { decodeText } from './text-decoding.ts'
import { localName, prefixOf, XmlScanner } from './xml-scanner.ts'

/** The limits of sitemaps.org: larger files are cut here, and said to be. */
export const SITEMAP_BYTES_MAX = 50 * 2 ** 20
export const SITEMAP_LOCATIONS_MAX = 50_000

export interface SitemapLocation {
  /** As written, references resolved, surrounding space gone. */
  readonly loc: string
  /** As written; W3C dates in sitemaps, RFC 822 ones in RSS. */
  readonly lastmod?: string
  /** Lower-case. */
  readonly changefreq?: string
  /** From 0 to 1. */
  readonly priority?: number
  /** The same page in other languages (xhtml:link). */
  readonly alternates?: readonly string[]
}

export interface Sitemap {
  /** index: the locations are sitemaps. none: this is no sitemap. */
  readonly kind: 'index' | 'urlset' | 'text' | 'feed' | 'none'
  readonly locations: readonly SitemapLocation[]
  /** More was there than the limits allow. */
  readonly isCut: boolean
}

const NO_SITEMAP: Sitemap = Object.freeze({ kind: 'none', locations: [], isCut: false })

/** Reads a sitemap that is not, or no longer, compressed. */
export function parseSitemap(bytes: Uint8Array): Sitemap {
  const isTooLong = bytes.length > SITEMAP_BYTES_MAX
  const head = isTooLong ? bytes.subarray(0, SITEMAP_BYTES_MAX) : bytes
  const { encoding } = sniffEncoding(head, { headerCharset: null, mediaType: 'text/xml' })
  const text = decodeText(head, encoding)
  const sitemap = text.trimStart().startsWith('<') ? parseXml(text) : parseText(text, isTooLong)
  return isTooLong && sitemap.kind !== 'none' ? { ...sitemap, isCut: true } : sitemap
}

/** The locations as links of a page; alternates follow the page they belong to. */
export function sitemapLinks(sitemap: Sitemap): RawLink[] {
  return sitemap.locations.flatMap(({ loc, alternates = [] }) =>
    [loc, ...alternates].map((href): RawLink => ({ href, kind: 'sitemap', isNofollow: false })),
  )
}

/**
 * Undoes the gzip that sitemaps are often stored in, up to the limit of size; bytes that are no gzip come
 * back as they are. A broken or cut stream yields what could be read.
 */
export function unpackSitemap(bytes: Uint8Array, bytesMax = SITEMAP_BYTES_MAX): Promise<Uint8Array> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return Promise.resolve(bytes)
  return new Promise((resolve) => {
    const gunzip = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH })
    const chunks: Buffer[] = []
    let length = 0
    // One byte more than the limit, so that parseSitemap sees that there was more.
    const finish = (): void => resolve(Buffer.concat(chunks, Math.min(length, bytesMax + 1)))
    gunzip.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      length += chunk.length
      if (length > bytesMax) gunzip.destroy()
    })
    // Whatever zlib complains of, the bytes before it are good: gzip is a stream. After either comes 'close'.
    gunzip.on('error', finish)
    gunzip.on('close', finish)
    gunzip.end(bytes)
  })
}

function parseText(text: string, isCut: boolean): Sitemap {
  const locations: SitemapLocation[] = []
  let start = 0
  while (start < text.length) {
    const found = text.indexOf('\n', start)
    // The last line of a cut file may be half a URL.
    if (found < 0 && isCut) break
    const end = found < 0 ? text.length : found
    const line = text.slice(start, end).trim()
    start = end + 1
    if (!/^https?:\/\/\S+$/i.test(line)) continue
    if (locations.length >= SITEMAP_LOCATIONS_MAX) return { kind: 'text', locations, isCut: true }
    locations.push({ loc: line })
  }
  return locations.length === 0 ? NO_SITEMAP : { kind: 'text', locations, isCut: false }
}

function parseXml(text: string): Sitemap {
  const scanner = new XmlScanner(text)
  for (;;) {
    const token = scanner.next()
    if (token === 'end') return NO_SITEMAP
    if (token !== 'open') continue
    const root = localName(scanner.name)
    if (root === 'urlset') return new LocationReader(scanner, 'urlset').read()
    if (root === 'sitemapindex') return new LocationReader(scanner, 'index').read()
    return readFeedAsSitemap(text)
  }
}

function readFeedAsSitemap(text: string): Sitemap {
  const feed = readFeed(text)
  if (feed === null) return NO_SITEMAP
  const locations = feed.entries
    .slice(0, SITEMAP_LOCATIONS_MAX)
    .map(({ url, updated }) => (updated === null ? { loc: url } : { loc: url, lastmod: updated }))
  return { kind: 'feed', locations, isCut: feed.isCut || feed.entries.length > locations.length }
}

const FIELDS = new Set(['loc', 'lastmod', 'changefreq', 'priority'])

/** Reads <url> or <sitemap> elements; the scanner stands behind the root's open tag. */
class LocationReader {
  readonly #scanner: XmlScanner
  readonly #kind: 'urlset' | 'index'
  readonly #entryName: string
  /** Elements of the protocol have the prefix of the root; image:loc and video:loc do not. */
  readonly #prefix: string
  readonly #locations: SitemapLocation[] = []
  #isInEntry = false
  #field = ''
  #text = ''
  #entry: { loc: string; lastmod: string; changefreq: string; priority: string } = emptyEntry()
  #alternates: string[] = []
  /** Text right inside the entry: some indexes forget the <loc>. */
  #bareText = ''
  /** Elements of the entry's own name inside one of its fields. */
  #nested = 0
  #isCut = false

  constructor(scanner: XmlScanner, kind: 'urlset' | 'index') {
    this.#scanner = scanner
    this.#kind = kind
    this.#entryName = kind === 'index' ? 'sitemap' : 'url'
    this.#prefix = prefixOf(scanner.name)
  }

  read(): Sitemap {
    const scanner = this.#scanner
    while (!this.#isCut) {
      const token = scanner.next()
      if (token === 'end') break
      if (token === 'text') this.#addText(scanner.text)
      else if (token === 'open') this.#open(scanner.name)
      else this.#close(scanner.name)
    }
    this.#finishField()
    this.#finishEntry()
    return { kind: this.#kind, locations: this.#locations, isCut: this.#isCut }
  }

  #addText(text: string): void {
    if (this.#field !== '') this.#text += text
    else if (this.#isInEntry) this.#bareText += text
  }

  #open(name: string): void {
    const local = localName(name)
    if (prefixOf(name) !== this.#prefix) {
      if (local === 'link' && this.#isInEntry) this.#addAlternate()
      // Text of extensions (image:caption, news:title) is not ours: it must not be taken for a bare location.
      else if (this.#isInEntry && this.#field === '' && !this.#scanner.isEmpty) this.#field = name
      return
    }
    if (this.#scanner.isEmpty) return
    // The field before was not closed, or it wraps its text in another element: <loc><url>…</url></loc>.
    if (FIELDS.has(this.#field) && FIELDS.has(local)) this.#finishField()
    if (this.#field !== '') {
      if (local === this.#entryName) this.#nested++
    } else if (local === this.#entryName) {
      this.#finishEntry()
      this.#isInEntry = true
    } else if (this.#isInEntry) {
      if (local === 'loc' && this.#entry.loc !== '') {
        // A second <loc> is a second entry whose tags were forgotten.
        this.#finishEntry()
        this.#isInEntry = true
      }
      this.#field = FIELDS.has(local) ? local : name
      this.#text = ''
    }
  }

  #close(name: string): void {
    const local = localName(name)
    if (this.#field !== '' && (name === this.#field || (local === this.#field && prefixOf(name) === this.#prefix))) {
      this.#finishField()
    } else if (local === this.#entryName && prefixOf(name) === this.#prefix) {
      if (this.#nested > 0) {
        this.#nested--
        return
      }
      this.#finishField()
      this.#finishEntry()
    }
  }

  #addAlternate(): void {
    const href = this.#scanner.attribute('href')?.trim() ?? ''
    if (href !== '' && /^alternate$/i.test(this.#scanner.attribute('rel') ?? '')) this.#alternates.push(href)
  }

  #finishField(): void {
    const field = this.#field
    const text = this.#text.trim()
    this.#field = ''
    this.#text = ''
    this.#nested = 0
    if (field === 'loc' || field === 'lastmod' || field === 'changefreq' || field === 'priority') {
      if (this.#entry[field] === '') this.#entry[field] = text
    }
  }

  #finishEntry(): void {
    const { loc, lastmod, changefreq, priority } = this.#entry
    const bareText = this.#bareText.trim()
    const url = loc === '' && this.#kind === 'index' && /^https?:\/\/\S+$/i.test(bareText) ? bareText : loc
    if (url !== '') {
      this.#isCut = this.#locations.length >= SITEMAP_LOCATIONS_MAX
      const rank = /^[\d.]+$/.test(priority) ? Number(priority) : Number.NaN
      if (!this.#isCut) {
        this.#locations.push({
          loc: url,
          ...(lastmod === '' ? {} : { lastmod }),
          ...(changefreq === '' ? {} : { changefreq: changefreq.toLowerCase() }),
          ...(rank >= 0 && rank <= 1 ? { priority: rank } : {}),
          ...(this.#alternates.length === 0 ? {} : { alternates: this.#alternates }),
        })
      }
    }
    this.#isInEntry = false
    this.#entry = emptyEntry()
    this.#alternates = []
    this.#bareText = ''
  }
}

function emptyEntry(): { loc: string; lastmod: string; changefreq: string; priority: string } {
  return { loc: '', lastmod: '', changefreq: '', priority: '' }
}
