// What relative links are resolved against: made once per page, asked once per link.

import type { CanonicalUrl } from './canonical-url.ts'
import { parseUrl } from './parse-url.ts'
import { pathEnd, pathStart } from './url-parts.ts'

/** Schemes whose URLs the standard resolves as those of the web. */
const PLAIN_SCHEME = /^(?:https?|ftp):/

export class BaseUrl {
  /** A whole URL without a fragment. */
  readonly href: string
  /** Canonical and of a scheme whose links may take the short way (plain-href.ts). */
  readonly isPlain: boolean
  /** `https:` */
  readonly protocol: string
  /** `https://example.org:8443` */
  readonly origin: string
  /** Up to and with the last '/' of the path. */
  readonly directory: string
  /** Without the query. */
  readonly file: string

  private constructor(href: string, isCanonical: boolean) {
    this.href = href
    const start = isCanonical ? pathStart(href as CanonicalUrl) : 0
    const end = pathEnd(href as CanonicalUrl)
    this.isPlain = isCanonical && PLAIN_SCHEME.test(href)
    this.protocol = href.slice(0, href.indexOf(':') + 1)
    this.origin = href.slice(0, start)
    this.directory = href.slice(0, href.lastIndexOf('/', end - 1) + 1)
    this.file = href.slice(0, end)
  }

  static of(url: CanonicalUrl): BaseUrl {
    return new BaseUrl(url, true)
  }

  /**
   * The base of a page: its first `<base href>` resolved against its own URL, or its own URL when there is
   * none, or when it is no URL, or a data: or javascript: one (HTML, "document base URL"). A base with a
   * user name or of a scheme we do not crawl is a base all the same; links relative to it are refused one by one.
   */
  static ofPage(page: CanonicalUrl, baseHref: string | null): BaseUrl {
    if (baseHref === null) return new BaseUrl(page, true)
    const canonical = parseUrl(baseHref, page)
    if (typeof canonical === 'string') return new BaseUrl(canonical, true)
    const parsed = URL.parse(baseHref, page)
    if (parsed === null || parsed.protocol === 'data:' || parsed.protocol === 'javascript:') {
      return new BaseUrl(page, true)
    }
    parsed.hash = ''
    return new BaseUrl(parsed.href, false)
  }
}
