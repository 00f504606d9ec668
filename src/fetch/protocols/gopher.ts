// gopher: (RFC 1436, RFC 4266): a selector goes out, a thing comes back, the connection closes.
//
//   gopher://host/1/docs     the first character says what is asked for (1: a menu), the rest is the selector
//
// A selector never holds a line end: with one, a link could make us say anything to any port, to a mail server for one.

import type { Clock } from '../../base/index.ts'
import type { SpooledBody, Spool } from '../../document/index.ts'
import type { Connector } from '../connector.ts'
import type { FetchOutcome, FetchRequest, SchemeFetcher } from '../fetcher.ts'
import { mediaTypeOfName } from '../name-types.ts'
import type { FetchOptions } from '../options.ts'
import { Talks } from '../talk.ts'
import { TalkEnd } from '../talk-end.ts'

const MENU_TYPE = 'application/gopher-menu'

/** What the types of items are. Others, and 9 and its like, go by the ending of the name. */
const TYPES: Readonly<Record<string, string>> = {
  0: 'text/plain',
  1: MENU_TYPE,
  4: 'application/mac-binhex40',
  6: 'text/x-uuencode',
  7: MENU_TYPE,
  g: 'image/gif',
  h: 'text/html',
  p: 'image/png',
}
/** Kinds that are written in lines, and may be ended by a line with a dot alone. */
const IN_LINES = '0167h'

/** An error is a menu of one line. */
const ERROR_BYTES_MAX = 1024
const ERROR = /^3([^\t\r\n]*)\t[^\t\r\n]*\t[^\t\r\n]*\t\d+[^\r\n]*\r?\n(?:\.\r?\n?)?$/

export class GopherFetcher implements SchemeFetcher {
  readonly schemes = ['gopher'] as const
  readonly #talks: Talks
  readonly #closing = new Set<Promise<void>>()

  constructor(options: FetchOptions, spool: Spool, clock: Clock, connector: Connector) {
    this.#talks = new Talks(options, spool, clock, connector)
  }

  get figures(): { readonly clients: number; readonly underWay: number } {
    return { clients: 0, underWay: this.#talks.underWay }
  }

  fetch(request: FetchRequest, signal: AbortSignal): Promise<FetchOutcome> {
    return this.#talks.run(request, signal, async (talk) => {
      const { hostname, port, kind, selector } = placeOf(request.url)
      const mediaType = TYPES[kind] ?? mediaTypeOfName(selector)
      const isMenu = mediaType === MENU_TYPE
      // Without menus there is no way on, so they are always wanted.
      if (request.purpose === 'page' && !isMenu && !this.#talks.wants(mediaType)) {
        throw new TalkEnd('type-filtered', mediaType ?? '')
      }
      const wire = await talk.connect({ hostname, port, isSecure: false, isHttp: false }, request.addresses)
      wire.write(`${selector}\r\n`)
      const { body, truncated } = await talk.pour(wire, IN_LINES.includes(kind) ? isEndOfLines : undefined)
      talk.leave(wire)
      const closing = wire.close()
      this.#closing.add(closing)
      void closing.finally(() => this.#closing.delete(closing))
      const complaint = truncated === null ? complaintOf(body) : null
      if (complaint !== null) throw new TalkEnd('FETCH_NOT_AVAILABLE', complaint)
      return talk.document(body, truncated, wire.ip, {
        status: 200,
        statusText: '',
        mediaType,
        rawHeaders: [],
        conversation: '',
      })
    })
  }

  /** Nothing is kept between requests. */
  forget(): void {}

  async close(): Promise<void> {
    this.#talks.close()
    await Promise.all(this.#closing)
  }
}

/** A last line with a dot alone. */
function isEndOfLines(tail: string): boolean {
  return /(?:^|\n)\.\r?\n$/.test(tail)
}

/** What the server complains of, if the whole answer is an error. */
function complaintOf(body: SpooledBody): string | null {
  if (body.length === 0 || body.length > ERROR_BYTES_MAX) return null
  const match = ERROR.exec(Buffer.from(body.bytes()).toString('latin1'))
  return match === null ? null : (match[1] as string).replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 200)
}

interface Place {
  readonly hostname: string
  readonly port: number
  /** One character. */
  readonly kind: string
  readonly selector: string
}

function placeOf(url: string): Place {
  const { hostname, port } = new URL(url)
  const pathAt = url.indexOf('/', 'gopher://'.length)
  // A '?' is part of the selector: what is searched for stands behind a tab.
  const path = url
    .slice(pathAt + 1)
    .replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
  if (/[\r\n\0]/.test(path)) {
    throw new TalkEnd('FETCH_NOT_AVAILABLE', 'a selector has no line end and no NUL')
  }
  return {
    hostname: hostname.startsWith('[') ? hostname.slice(1, -1) : hostname,
    port: port === '' ? 70 : Number(port),
    kind: path === '' ? '1' : (path[0] as string),
    selector: path.slice(1),
  }
}
