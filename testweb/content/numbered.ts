// A numbered page to its answer: one case per variant.

import type { LinkKind } from '../../src/parse/index.ts'
import { Random } from '../../src/base/index.ts'
import type { WebOptions } from '../options.ts'
import { Answer, type Delivery, plainAnswer, PLAIN_DELIVERY, redirectAnswer, type Throttle } from './answer.ts'
import { type Charset, encode, encodeQueryWord } from './charset.ts'
import { type Filler, type Language, QUERY_WORDS } from './filler.ts'
import type { Resource } from './layout.ts'
import { type Link, PlaceLink } from './link.ts'
import { escapeAttribute, pageBytes, writePage } from './markup.ts'
import { mix } from './mix.ts'
import { BASE_PATH, type PageLinks } from './page-links.ts'
import type { Variant } from './variant.ts'
import { writeHref } from './writing.ts'

/** The date of version 0 of every page: an arbitrary day of the past. */
const FIRST_MODIFIED_MS = Date.UTC(2020, 0, 1)

/** How a page in another language is encoded, and where it says so. */
interface Dress {
  readonly language: Language
  readonly charset: Charset
  readonly type: string
  readonly head: string
}

const PLAIN_DRESS: Dress = { language: 'en', charset: 'utf-8', type: 'text/html; charset=utf-8', head: '' }
const DRESSES: Partial<Record<Variant, Dress>> = {
  french: { language: 'fr', charset: 'iso-8859-1', type: 'text/html; charset=ISO-8859-1', head: '' },
  russian: { language: 'ru', charset: 'utf-8', type: 'text/html', head: '<meta charset="utf-8">\n' },
  'shift-jis': {
    language: 'ja',
    charset: 'shift_jis',
    type: 'text/html',
    head: '<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS">\n',
  },
  'euc-jp': { language: 'ja', charset: 'euc-jp', type: 'text/html;charset="euc-jp"', head: '' },
  'utf-16': { language: 'el', charset: 'utf-16le', type: 'text/html', head: '' },
}

/** In RCDATA nothing here is an element; only the end tag of title would end it. */
const HOSTILE_TITLE = `<script>alert("testweb")</script><img src=x onerror=alert(1)> & 'quotes' \\`

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

export class Numbered {
  readonly #options: WebOptions
  readonly #pageLinks: PageLinks
  readonly #filler: Filler

  constructor(options: WebOptions, pageLinks: PageLinks, filler: Filler) {
    this.#options = options
    this.#pageLinks = pageLinks
    this.#filler = filler
  }

  answer(resource: Resource, timeMs: number): Answer {
    const { variant } = resource
    switch (variant) {
      case 'page':
        return this.#page(resource, timeMs)
      case 'redirect-301':
      case 'redirect-302':
      case 'redirect-303':
      case 'redirect-307':
      case 'redirect-308':
        return this.#redirect(resource, Number(variant.slice(-3)), false)
      case 'redirect-away':
        return this.#redirect(resource, 302, true)
      case 'redirect-loop':
        return redirectAnswer(302, linkTo(resource, `/loop/${resource.number}`, 'redirect'))
      case 'missing':
        return plainAnswer(404, 'There is no such page.\n')
      case 'gone':
        return plainAnswer(410, 'The page is gone.\n')
      case 'error':
        return plainAnswer(500, 'The server is broken.\n')
      case 'busy':
        return plainAnswer(502, 'The gateway is broken.\n')
      case 'empty':
        return new Answer(200, 'text/html', [], () => '')
      case 'lost':
        return deliver(plainAnswer(200, ''), { breakage: 'lost', isLast: true })
      case 'image':
        return this.#data(resource, 'image/png', () => Buffer.concat([PNG, tail(resource)]))
      case 'pdf':
        return this.#data(resource, 'application/pdf', () =>
          Buffer.concat([Buffer.from('%PDF-1.4\n%\xE2\xE3\xCF\xD3\n', 'latin1'), tail(resource)]),
        )
      case 'script':
        return this.#data(
          resource,
          'text/javascript',
          () => `export const page = ${resource.number} // ${resource.hash}\n`,
        )
      case 'text':
        return this.#data(
          resource,
          'text/plain',
          () => `Page ${resource.number}. No link: ${resource.host.origin}/not-linked\n`,
        )
      case 'style':
        return this.#style(resource)
      case 'rss':
      case 'atom':
        return this.#feed(resource, variant)
      default:
        return this.#dressed(resource, timeMs)
    }
  }

  /** The version of a page at a time. Only changing pages have more than version 0. */
  version(resource: Resource, timeMs: number): { readonly number: number; readonly periodMs: number } {
    if (resource.variant !== 'changing') return { number: 0, periodMs: 0 }
    const periodMs = this.#options.changePeriodMs * 4 ** (mix(resource.hash, 5) % 3)
    return { number: Math.max(0, Math.floor(timeMs / periodMs)), periodMs }
  }

  #page(resource: Resource, timeMs: number): Answer {
    const links = this.#pageLinks.of(resource)
    const answer = new Answer(200, PLAIN_DRESS.type, links, () => this.#write(resource, links, PLAIN_DRESS, 0))
    return this.#withEntity(answer, resource, timeMs)
  }

  /** A page that is not plain in how it is written or delivered, or in what it asks for. */
  #dressed(resource: Resource, timeMs: number): Answer {
    const { variant } = resource
    const dress = DRESSES[variant] ?? PLAIN_DRESS
    let links = this.#pageLinks.of(resource)
    if (DRESSES[variant] !== undefined) links = [...links.map(withLetters), ...queryLinks(resource, dress)]
    if (variant === 'refresh' && links[0] !== undefined) links.push(this.#refreshLink(resource))
    const version = this.version(resource, timeMs).number
    const type = variant === 'untyped-html' ? null : dress.type
    const answer = new Answer(200, type, links, () => this.#write(resource, links, dress, version))
    answer.isNofollow = variant === 'nofollow-meta' || variant === 'nofollow-header'
    answer.isNoindex = variant === 'noindex'
    if (variant === 'nofollow-header') answer.headers = 'X-Robots-Tag: otherbot: noindex\r\nX-Robots-Tag: nofollow\r\n'
    answer.delivery = this.#delivery(variant)
    return this.#withEntity(answer, resource, timeMs)
  }

  #write(resource: Resource, links: readonly Link[], dress: Dress, version: number): string | Uint8Array {
    const { variant, number, host, hash } = resource
    const title = variant === 'hostile-title' ? HOSTILE_TITLE : `Page ${number} of ${host.name}`
    const text = writePage(
      {
        title: version > 0 ? `${title}, version ${version}` : title,
        language: dress.language,
        head: dress.head + headOf(variant),
        links,
        hash,
        bytes: pageBytes(this.#options.meanBytes, hash),
        isFrameset: variant === 'frameset',
      },
      this.#filler,
    )
    return dress === PLAIN_DRESS ? text : encode(text, dress.charset)
  }

  #withEntity(answer: Answer, resource: Resource, timeMs: number): Answer {
    const { number, periodMs } = this.version(resource, timeMs)
    answer.entity = {
      tag: `"${resource.hash.toString(36)}-${number}"`,
      modifiedMs: FIRST_MODIFIED_MS + number * periodMs,
    }
    return answer
  }

  #data(resource: Resource, type: string, write: () => string | Uint8Array): Answer {
    return this.#withEntity(new Answer(200, type, [], write), resource, 0)
  }

  #delivery(variant: Variant): Delivery {
    switch (variant) {
      case 'slow':
        return { ...PLAIN_DELIVERY, firstByteMs: this.#options.slowMs }
      case 'http-1.0':
        return { ...PLAIN_DELIVERY, httpVersion: '1.0', framing: 'close', isLast: true }
      case 'closing':
        return { ...PLAIN_DELIVERY, isLast: true }
      case 'chunked':
        return { ...PLAIN_DELIVERY, framing: 'chunked' }
      case 'short':
        return { ...PLAIN_DELIVERY, breakage: 'short', isLast: true }
      case 'gzip':
      case 'deflate':
      case 'br':
      case 'zstd':
        return { ...PLAIN_DELIVERY, coding: variant }
      case 'throttled-seconds':
        return { ...PLAIN_DELIVERY, throttle: this.#throttle(429, 'seconds') }
      case 'throttled-date':
        return { ...PLAIN_DELIVERY, throttle: this.#throttle(429, 'date') }
      case 'throttled-bare':
        return { ...PLAIN_DELIVERY, throttle: this.#throttle(429, null) }
      case 'unavailable':
        return { ...PLAIN_DELIVERY, throttle: this.#throttle(503, 'seconds') }
      default:
        return PLAIN_DELIVERY
    }
  }

  #throttle(status: 429 | 503, retryAfter: Throttle['retryAfter']): Throttle {
    return { status, times: this.#options.throttleTimes, retryAfter, seconds: this.#options.retryAfterS }
  }

  /** Each status has its own way to write the target. */
  #redirect(resource: Resource, status: number, isAway: boolean): Answer {
    const to = this.#pageLinks.redirectTarget(resource, isAway)
    const url = to.host.origin + to.path
    const written: Readonly<Record<number, string>> = {
      302: isAway ? url : to.path,
      303: to.host.scheme === resource.host.scheme ? `//${to.host.authority}${to.path}` : url,
      307: to.host === resource.host ? `.././../..${to.path}` : url,
      308: `${url}#there`,
    }
    return redirectAnswer(status, { kind: 'redirect', href: written[status] ?? url, url, isNofollow: false })
  }

  #refreshLink(resource: Resource): Link {
    const to = this.#pageLinks.redirectTarget(resource, false)
    return linkTo(to, to.path, 'refresh')
  }

  #style(resource: Resource): Answer {
    const links = this.#someLinks(resource, 5, 'css')
    return this.#withEntity(
      new Answer(200, 'text/css', links, () => {
        const [first, ...rest] = links
        let text = `/* url(/not-a-link.png) */\n@import "${first?.href ?? ''}";\n`
        rest.forEach((link, i) => {
          text +=
            i % 2 === 0
              ? `.c${i} { background: url("${link.href}") }\n`
              : `.c${i} { background: url( ${link.href} ) }\n`
        })
        return text
      }),
      resource,
      0,
    )
  }

  #feed(resource: Resource, format: 'rss' | 'atom'): Answer {
    const links = this.#someLinks(resource, 10, 'feed')
    const write = (): string => {
      let text =
        format === 'rss'
          ? '<?xml version="1.0"?>\n<rss version="2.0"><channel><title>News</title>\n'
          : '<?xml version="1.0"?>\n<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title>\n'
      for (const link of links) {
        const url = escapeAttribute(link.url ?? '')
        text +=
          format === 'rss'
            ? `<item><title>x</title><link>${url}</link></item>\n`
            : `<entry><title>x</title><link href="${url}"/></entry>\n`
      }
      return text + (format === 'rss' ? '</channel></rss>\n' : '</feed>\n')
    }
    return this.#withEntity(new Answer(200, `application/${format}+xml`, links, write), resource, 0)
  }

  /** Links of a document that is not HTML: to pages of the same host, written plainly. */
  #someLinks(resource: Resource, count: number, kind: LinkKind): Link[] {
    const random = new Random(resource.hash)
    return this.#pageLinks
      .targets(resource, random, Math.min(count, Math.max(1, this.#options.linksPerPage)))
      .filter((to) => to.host === resource.host)
      .map((to) => new PlaceLink(kind, writeHref(resource, to, 'plain', random), to, false))
  }
}

function deliver(answer: Answer, delivery: Partial<Delivery>): Answer {
  answer.delivery = { ...PLAIN_DELIVERY, ...delivery }
  return answer
}

function linkTo(to: Resource, path: string, kind: LinkKind): Link {
  return { kind, href: path, url: to.host.origin + path, isNofollow: false }
}

function headOf(variant: Variant): string {
  if (variant === 'nofollow-meta') return '<meta name="ROBOTS" content="index, NoFollow">\n'
  if (variant === 'noindex') return '<meta name="robots" content="noindex">\n'
  if (variant === 'based') return `<base href="${BASE_PATH}">\n<base href="/wrong/">\n`
  return ''
}

/** Paths are UTF-8 whatever the page is in, so here the letter itself may stand for its bytes. */
function withLetters(link: Link): Link {
  const { href } = link
  return link instanceof PlaceLink && href.includes('%C3%A9') ? link.rewritten(href.replaceAll('%C3%A9', 'é')) : link
}

/** Links whose query holds letters: the encoding of the page decides their bytes. */
function queryLinks(resource: Resource, dress: Dress): Link[] {
  const words = [QUERY_WORDS[dress.language]]
  // Japanese cannot be said in Latin-1.
  if (dress.charset === 'iso-8859-1') words.push(QUERY_WORDS.ja)
  return words.map((word) => ({
    kind: 'a' as const,
    href: `/find/${resource.number}?q=${word}`,
    url: `${resource.host.origin}${findPath(resource.number, word, dress.charset)}`,
    isNofollow: false,
  }))
}

function findPath(number: number, word: string, charset: Charset): string {
  return `/find/${number}?q=${encodeQueryWord(word, charset)}`
}

/** Whether a page of a given number has a link to this very search. */
export function isFindPath(resource: Resource, path: string): boolean {
  const dress = DRESSES[resource.variant]
  return dress !== undefined && queryLinks(resource, dress).some((link) => link.url === resource.host.origin + path)
}

/** Makes the bytes of one page unlike those of any other. */
function tail(resource: Resource): Uint8Array {
  return Buffer.from(`${resource.hash.toString(16)} ${resource.host.name} ${resource.number}`, 'latin1')
}
