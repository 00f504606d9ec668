// What relative links are resolved against: made once per page, asked once per link.

import type { CanonicalUrl } from './canonical-url.ts'
import { pathEnd, pathStart } from './url-parts.ts'

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
    this.isPlain = isCanonical && !href.startsWith('gopher:')
    this.protocol = href.slice(0, href.indexOf(':') + 1)
    this.origin = href.slice(0, start)
    this.directory = href.slice(0, href.lastIndexOf('/', end - 1) + 1)
    this.file = href.slice(0, end)
  }

  static of(url: CanonicalUrl): BaseUrl {
    return new BaseUrl(url, true)
  }

  /** Of a URL that is whole but not one of ours: with a user name, or of a scheme we do not crawl. */
  static ofForeign(href: string): BaseUrl {
    return new BaseUrl(href, false)
  }
}
