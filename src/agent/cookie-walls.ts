// A page that redirects to itself until a cookie comes back. A browser asks once more, with the cookie, and so do we: the
// URL goes back to the head of its line, one hop further. What the wall said is no page and not archived: whoever plays
// the archive back would go round in circles (docs/decisions/0025).

import type { Document } from '../document/index.ts'
import { locationOf } from '../document/index.ts'
import type { FrontierEntry } from '../frontier/index.ts'
import { BaseUrl, type Canonicalise } from '../url/index.ts'

export class CookieWalls {
  readonly #canonicalise: Canonicalise
  readonly #redirectsMax: number
  /** Requests that were made again with a cookie. */
  passed = 0

  /** `canonicalise` is the crawl's own: a session id that it takes out of URLs makes two of them one. */
  constructor(canonicalise: Canonicalise, redirectsMax: number) {
    this.#canonicalise = canonicalise
    this.#redirectsMax = redirectsMax
  }

  /** What to ask again, of an answer that set cookies; null where asking again is no use. */
  again(entry: FrontierEntry, document: Document): FrontierEntry | null {
    const { status } = document
    const isRedirect = status === 301 || status === 302 || status === 303 || status === 307 || status === 308
    if (!isRedirect || entry.hops >= this.#redirectsMax) return null
    const location = locationOf(document)
    if (location === null || this.#canonicalise(location, BaseUrl.of(entry.url)) !== entry.url) return null
    this.passed++
    return { ...entry, hops: entry.hops + 1 }
  }
}
