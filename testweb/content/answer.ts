// What the web says to a request, before anything is on the wire. The truth reads links and status
// from it; the server turns it into bytes. A pure function of the web, the URL and the time given.

import type { Link } from './link.ts'
import type { MisdeedName } from './misdeeds.ts'
import type { BytePaper } from './paper.ts'

export type ContentCoding = 'gzip' | 'deflate' | 'br' | 'zstd'

/** How an answer travels. */
export interface Delivery {
  readonly httpVersion: '1.0' | '1.1'
  /** 'close': the end of the connection is the end of the body. */
  readonly framing: 'length' | 'chunked' | 'close'
  readonly isLast: boolean
  /** Used when the request accepts it. */
  readonly coding: ContentCoding | null
  readonly firstByteMs: number
  /** 'lost': the connection is reset instead of an answer. 'short': it ends before the announced length. */
  readonly breakage: 'lost' | 'short' | null
  /** Instead of an answer. */
  readonly misdeed: MisdeedName | null
  /** The first `times` requests for the URL get this instead. */
  readonly throttle: Throttle | null
}

export interface Throttle {
  readonly status: 429 | 503
  readonly times: number
  readonly retryAfter: 'seconds' | 'date' | null
  readonly seconds: number
}

export const PLAIN_DELIVERY: Delivery = {
  httpVersion: '1.1',
  framing: 'length',
  isLast: false,
  coding: null,
  firstByteMs: 0,
  breakage: null,
  misdeed: null,
  throttle: null,
}

/** What If-None-Match and If-Modified-Since are compared with. */
export interface Entity {
  readonly tag: string
  readonly modifiedMs: number
}

export class Answer {
  readonly status: number
  /** Content-Type as sent. */
  readonly type: string | null
  /** In the order of the document; a redirect is one link of kind 'redirect'. */
  readonly links: readonly Link[]
  readonly #write: (paper: BytePaper) => void
  /** More header lines, each ending in CRLF. */
  headers = ''
  /** The page, or its head, asks that its links not be followed. */
  isNofollow = false
  isNoindex = false
  /** What else it asks not to be done with it. */
  optOut: 'noarchive' | 'noai' | 'tdm' | null = null
  entity: Entity | null = null
  delivery: Delivery = PLAIN_DELIVERY

  constructor(status: number, type: string | null, links: readonly Link[], write: (paper: BytePaper) => void) {
    this.status = status
    this.type = type
    this.links = links
    this.#write = write
  }

  /** Writes the body, anew each time: most pages of a web are asked for once. */
  write(paper: BytePaper): void {
    this.#write(paper)
  }

  /** Where a redirect leads. */
  get moved(): Link | null {
    const link = this.links[0]
    return link?.kind === 'redirect' ? link : null
  }
}

const NOTHING: readonly Link[] = []

/** A few words about what went wrong, without links. */
export function plainAnswer(status: number, text: string, type = 'text/plain'): Answer {
  return new Answer(status, type, NOTHING, (paper) => paper.text(text))
}

export function redirectAnswer(status: number, link: Link): Answer {
  // No link in the body: whether a crawler reads the body of a redirect must not matter to the truth.
  return new Answer(status, 'text/html', [link], (paper) => paper.text('<!DOCTYPE html><title>Moved</title><p>Moved.'))
}
