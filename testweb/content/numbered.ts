// A numbered page to its answer: one case per variant.

import type { WebOptions } from '../options.ts'
import { Answer, type Delivery, plainAnswer, PLAIN_DELIVERY, redirectAnswer, type Throttle } from './answer.ts'
import { encode } from './charset.ts'
import { type Dress, dressLinks, dressOf, PLAIN_DRESS } from './dress.ts'
import type { Filler } from './filler.ts'
import type { Resource } from './layout.ts'
import type { Link, WayKind } from './link.ts'
import { pageBytes, type PageText, writePage } from './markup.ts'
import { isMisdeed, turnAt } from './misdeeds.ts'
import { mix } from './mix.ts'
import { otherMedia } from './other-media.ts'
import { BASE_PATH, type PageLinks } from './page-links.ts'
import { type BytePaper, TextPaper } from './paper.ts'
import type { Variant } from './variant.ts'

/** The date of version 0 of every page: an arbitrary day of the past. */
const FIRST_MODIFIED_MS = Date.UTC(2020, 0, 1)

/** In RCDATA nothing here is an element; only the end tag of title would end it. */
const HOSTILE_TITLE = `<script>alert("testweb")</script><img src=x onerror=alert(1)> & 'quotes' \\`

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
    const { variant, host, number } = resource
    const turn = turnAt(this.#options.misbehaving, host, number)
    if (turn !== null && isMisdeed(turn)) return deliver(plainAnswer(200, ''), { misdeed: turn })
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
        return new Answer(200, 'text/html', [], () => undefined)
      case 'lost':
        return deliver(plainAnswer(200, ''), { breakage: 'lost', isLast: true })
      default: {
        const other = otherMedia(resource, this.#pageLinks)
        return other === null ? this.#dressed(resource, timeMs) : this.#withEntity(other, resource, 0)
      }
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
    const answer = new Answer(200, PLAIN_DRESS.type, links, (paper) =>
      this.#write(paper, resource, links, PLAIN_DRESS, 0),
    )
    return this.#withEntity(answer, resource, timeMs)
  }

  /** A page that is not plain in how it is written or delivered, or in what it asks for. */
  #dressed(resource: Resource, timeMs: number): Answer {
    const { variant } = resource
    const dress = dressOf(variant)
    const links = dressLinks(resource, this.#pageLinks.of(resource))
    if (variant === 'refresh') links.push(this.#refreshLink(resource))
    const version = this.version(resource, timeMs).number
    const type = variant === 'untyped-html' ? null : dress.type
    const answer = new Answer(200, type, links, (paper) => this.#write(paper, resource, links, dress, version))
    answer.isNofollow = variant === 'nofollow-meta' || variant === 'nofollow-header'
    answer.isNoindex = variant === 'noindex'
    if (variant === 'nofollow-header') answer.headers = 'X-Robots-Tag: otherbot: noindex\r\nX-Robots-Tag: nofollow\r\n'
    if (variant === 'noarchive' || variant === 'noai' || variant === 'tdm') answer.optOut = variant
    if (variant === 'noarchive') answer.headers = 'X-Robots-Tag: noarchive\r\n'
    if (variant === 'tdm') answer.headers = 'TDM-Reservation: 1\r\n'
    answer.delivery = this.#delivery(variant)
    return this.#withEntity(answer, resource, timeMs)
  }

  #write(paper: BytePaper, resource: Resource, links: readonly Link[], dress: Dress, version: number): void {
    const { variant, number, host, hash } = resource
    const title = variant === 'hostile-title' ? HOSTILE_TITLE : `Page ${number} of ${host.name}`
    const page: PageText = {
      title: version > 0 ? `${title}, version ${version}` : title,
      language: dress.language,
      head: dress.head + headOf(variant),
      links,
      frame: this.#pageLinks.frame(resource),
      hash,
      bytes: pageBytes(this.#options.meanBytes, hash),
      isFrameset: variant === 'frameset',
    }
    if (dress === PLAIN_DRESS) {
      writePage(page, paper)
      return
    }
    const text = new TextPaper(this.#filler)
    writePage(page, text)
    paper.bytes(encode(text.toString(), dress.charset))
  }

  #withEntity(answer: Answer, resource: Resource, timeMs: number): Answer {
    const { number, periodMs } = this.version(resource, timeMs)
    answer.entity = {
      tag: `"${resource.hash >>> 1}-${number}"`,
      modifiedMs: FIRST_MODIFIED_MS + number * periodMs,
    }
    return answer
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
    const to = this.#pageLinks.targets.redirect(resource, isAway)
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
    const to = this.#pageLinks.targets.redirect(resource, false)
    return linkTo(to, to.path, 'refresh')
  }
}

function deliver(answer: Answer, delivery: Partial<Delivery>): Answer {
  answer.delivery = { ...PLAIN_DELIVERY, ...delivery }
  return answer
}

function linkTo(to: Resource, path: string, kind: WayKind): Link {
  return { kind, href: path, url: to.host.origin + path, isNofollow: false }
}

function headOf(variant: Variant): string {
  if (variant === 'nofollow-meta') return '<meta name="ROBOTS" content="index, NoFollow">\n'
  if (variant === 'noindex') return '<meta name="robots" content="noindex">\n'
  if (variant === 'noai') return '<meta name="robots" content="noai, noimageai">\n'
  if (variant === 'based') return `<base href="${BASE_PATH}">\n<base href="/wrong/">\n`
  return ''
}
