// What a page asks of robots: X-Robots-Tag and <meta name=robots>, the TDM and usage headers, and what its site says for
// it (site-wishes.ts). Whatever is said to everybody or to us by name counts, and the most restrictive word wins: permission
// in one place ('all', 'index', 'ai-train=yes') never takes back what another place forbids. One exception: text and data
// mining, where the protocol says that the meta supersedes the header, and the header the site's file.
//
// Hot: asked per page. One walk over the headers; a page that asks nothing costs no object.

import { OPT_OUTS, type OptOut } from '../base/index.ts'
import { productTokenOf } from './product-token.ts'
import type { SiteWishes } from './site-wishes.ts'
import { tdmReservation } from './tdm-file.ts'
import { parseUsageTerms } from './usage-terms.ts'

export interface PageDirectiveSources {
  /** Names and values of all headers, in turn. */
  readonly rawHeaders: readonly string[]
  /** Name and content of the metas that speak to robots, lower-case. */
  readonly metaRobots: readonly (readonly [name: string, content: string])[]
  readonly productToken: string
  /** What the site asks for its pages, and which of them this is. */
  readonly site: SiteWishes | null
  readonly pathAndQuery: string
  /** For `unavailable_after`. */
  readonly wallMs: number
}

export interface PageDirectives {
  /** Do not follow its links. */
  readonly nofollow: boolean
  /** What it must not be used for, in the order of the vocabulary. */
  readonly optOuts: readonly OptOut[]
  /** Where the terms for text and data mining stand, where that is reserved and they do. */
  readonly tdmPolicy: string | null
  /** Each header, meta or line that restricted something, as `X-Robots-Tag: …` or `meta robots: …`; '' when nothing did. */
  readonly source: string
}

const UNRESTRICTED: PageDirectives = Object.freeze({ nofollow: false, optOuts: [], tdmPolicy: null, source: '' })
const OPT_OUT_NAMES = Object.keys(OPT_OUTS) as readonly OptOut[]

/** Words that carry a value behind a colon, and so look like a crawler's name: `unavailable_after: 25 Jun 2027`. */
const VALUED = new Set(['unavailable_after', 'max-snippet', 'max-image-preview', 'max-video-preview'])

const WORDS: ReadonlyMap<string, readonly (OptOut | 'nofollow')[]> = new Map<string, (OptOut | 'nofollow')[]>([
  ['none', ['noindex', 'nofollow']],
  ['noindex', ['noindex']],
  ['nofollow', ['nofollow']],
  ['noarchive', ['noarchive']],
  // Bing's older word for the same wish.
  ['nocache', ['noarchive']],
  ['nosnippet', ['nosnippet']],
  ['max-snippet:0', ['nosnippet']],
  ['noimageindex', ['noimageindex']],
  ['noai', ['noai']],
  ['noml', ['noai']],
  ['noimageai', ['noimageai']],
])

/** What is kept of one source: a header may have 64 KiB. */
const SOURCE_LENGTH_MAX = 200
/** Words of one list that are read. */
const LIST_WORDS_MAX = 100

/** The headers that may ask something. */
interface AskingHeaders {
  readonly robotsTags: string[]
  readonly usage: (readonly [name: string, value: string])[]
  tdmReservation: string | null
  tdmPolicy: string | null
}

export function pageDirectives(sources: PageDirectiveSources): PageDirectives {
  const headers = askingHeaders(sources.rawHeaders)
  const { metaRobots, site } = sources
  if (headers === null && metaRobots.length === 0 && site === null) return UNRESTRICTED
  return new Reading(sources).read(headers)
}

/** Null when there are none, as for nearly every page: length and last letter are compared before the name is lowered. */
function askingHeaders(rawHeaders: readonly string[]): AskingHeaders | null {
  let found: AskingHeaders | null = null
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    const { length } = name
    // A name of another length is not even looked up: a look beyond the end of a list is a slow one.
    if (length >= LAST_LETTERS.length || (name.charCodeAt(length - 1) | 0x20) !== LAST_LETTERS[length]) continue
    const lower = name.toLowerCase()
    if (!ASKING.includes(lower)) continue
    found ??= { robotsTags: [], usage: [], tdmReservation: null, tdmPolicy: null }
    const value = rawHeaders[i + 1] as string
    if (lower === 'x-robots-tag') found.robotsTags.push(value)
    else if (lower === 'tdm-reservation') found.tdmReservation ??= value
    else if (lower === 'tdm-policy') found.tdmPolicy ??= value
    else found.usage.push([name, value])
  }
  return found
}

/** No two are of one length. */
const ASKING: readonly string[] = ['x-robots-tag', 'content-usage', 'content-signal', 'tdm-reservation', 'tdm-policy']
/** By length, the letter that such a name ends in; 0 where there is none. */
const LAST_LETTERS: readonly number[] = Array.from(
  { length: 16 },
  (_, length) => ASKING.find((name) => name.length === length)?.charCodeAt(length - 1) ?? 0,
)

function cut(text: string): string {
  return text.length > SOURCE_LENGTH_MAX ? `${text.slice(0, SOURCE_LENGTH_MAX)}…` : text
}

/** The words of one page, gathered. */
class Reading {
  readonly #sources: PageDirectiveSources
  readonly #token: string
  readonly #found = new Set<OptOut | 'nofollow'>()
  readonly #restricting: string[] = []

  constructor(sources: PageDirectiveSources) {
    this.#sources = sources
    this.#token = productTokenOf(sources.productToken)
  }

  read(headers: AskingHeaders | null): PageDirectives {
    const { metaRobots, site, pathAndQuery } = this.#sources
    for (const wish of site?.usageOf(pathAndQuery) ?? []) {
      this.#found.add(wish.optOut)
      this.#said(wish.source)
    }
    for (const tag of headers?.robotsTags ?? []) if (this.#list(tag, true)) this.#said(`X-Robots-Tag: ${tag.trim()}`)
    for (const [name, value] of headers?.usage ?? []) {
      const { denied } = parseUsageTerms(value)
      for (const optOut of denied) this.#found.add(optOut)
      if (denied.length > 0) this.#said(`${name}: ${value.trim()}`)
    }
    for (const [name, content] of metaRobots) {
      const to = name.trim().toLowerCase()
      if (to !== 'robots' && (this.#token === '' || to !== this.#token)) continue
      if (this.#list(content, false)) this.#said(`meta ${to}: ${content.trim()}`)
    }
    const tdmPolicy = this.#tdm(headers)
    if (this.#found.size === 0) return UNRESTRICTED
    return {
      nofollow: this.#found.has('nofollow'),
      optOuts: OPT_OUT_NAMES.filter((optOut) => this.#found.has(optOut)),
      tdmPolicy,
      source: this.#restricting.join('; '),
    }
  }

  #said(text: string): void {
    const source = cut(text)
    if (!this.#restricting.includes(source)) this.#restricting.push(source)
  }

  /** The last to speak decides: file, header, meta. A policy is of whoever reserves. */
  #tdm(headers: AskingHeaders | null): string | null {
    const { metaRobots, site, pathAndQuery } = this.#sources
    const file = site?.tdmOf(pathAndQuery) ?? null
    let isReserved = file?.isReserved ?? null
    let policy = file?.policy ?? null
    let source = 'tdmrep.json: tdm-reservation 1'
    const hear = (reservation: boolean | null, newPolicy: string | null, place: string): void => {
      if (reservation !== null) {
        isReserved = reservation
        source = `${place}: 1`
      }
      policy = newPolicy ?? policy
    }
    if (headers !== null) hear(tdmReservation(headers.tdmReservation), headers.tdmPolicy, 'TDM-Reservation')
    for (const [name, content] of metaRobots) {
      if (name === 'tdm-reservation') hear(tdmReservation(content), null, 'meta tdm-reservation')
      else if (name === 'tdm-policy') hear(null, content, '')
    }
    if (isReserved !== true) return null
    this.#found.add('tdm')
    this.#said(source)
    return policy === null ? null : cut(policy)
  }

  /** Applies a list of words; whether any of them restricted something. */
  #list(list: string, namesCrawlers: boolean): boolean {
    // A crawler's name before a colon holds for the rest of the header.
    let isForUs = true
    let isRestricting = false
    const parts = list.split(',', LIST_WORDS_MAX)
    for (let i = 0; i < parts.length; i++) {
      let word = (parts[i] as string).trim().toLowerCase()
      const colon = word.indexOf(':')
      if (colon >= 0) {
        const name = word.slice(0, colon).trim()
        if (VALUED.has(name)) {
          const value = word.slice(colon + 1).trim()
          if (isForUs && this.#valued(name, value, parts[i + 1] ?? '')) isRestricting = true
          continue
        }
        // What has a space in it is the rest of a date ('25 jun 2027 15:00:00'), not a name.
        if (!namesCrawlers || /\s/.test(name)) continue
        isForUs = name === '*' || (this.#token !== '' && name === this.#token)
        word = word.slice(colon + 1).trim()
      }
      if (!isForUs) continue
      for (const single of word.split(/\s+/, LIST_WORDS_MAX)) if (this.#word(single)) isRestricting = true
    }
    return isRestricting
  }

  #word(word: string): boolean {
    const means = WORDS.get(word)
    for (const one of means ?? []) this.#found.add(one)
    return means !== undefined
  }

  /** `next` is what stands behind the next comma: the rest of a date that begins with a weekday. */
  #valued(name: string, value: string, next: string): boolean {
    if (name !== 'unavailable_after') return this.#word(`${name}:${value}`)
    const date = /^[a-z]+$/.test(value) ? next.trim() : value
    // Zones as people write them are read by the engine; what it cannot read says nothing.
    const atMs = Date.parse(date.toUpperCase())
    if (!(atMs < this.#sources.wallMs)) return false
    this.#found.add('noindex')
    return true
  }
}
