// ftp: and ftps: (RFC 959, 3659, 4217): files, and directories as listings.
//
//   …/name    SIZE, MDTM, RETR ─▶ the file; or, where the name is that of a directory, a redirect to …/name/
//   …/name/   CWD, then MLSD or else LIST ─▶ its listing, whose entries `parse` reads as links
//
// One login per server, kept between files and closed when idle (docs/decisions/0033).

import { Fault, type Clock } from '../../base/index.ts'
import type { FetchedDocument, Spool } from '../../document/index.ts'
import type { Connector } from '../connector.ts'
import { DeadlineSweep } from '../deadline-sweep.ts'
import type { FetchOutcome, FetchRequest, SchemeFetcher } from '../fetcher.ts'
import { type FtpReply, isGood, refusalEnd } from '../ftp-reply.ts'
import { type FtpServer, FtpSession, type Transfer } from '../ftp-session.ts'
import { type Login, readLogins } from '../logins.ts'
import { mediaTypeOfName } from '../name-types.ts'
import type { FetchOptions } from '../options.ts'
import { type Talk, Talks } from '../talk.ts'
import { TalkEnd } from '../talk-end.ts'

/** Lines of MLSD or LIST, as they came. */
const LISTING_TYPE = 'text/x-ftp-listing'

/** Ends of one file only: the server waits for the next wish. */
const HARMLESS: ReadonlySet<string> = new Set(['FETCH_NOT_AVAILABLE', 'type-filtered', 'size-filtered'])

export class FtpFetcher implements SchemeFetcher {
  readonly schemes = ['ftp', 'ftps'] as const
  readonly #options: FetchOptions
  readonly #talks: Talks
  readonly #clock: Clock
  readonly #logins = new Map<string, Login>()
  /** By origin, longest unused first. */
  readonly #sessions = new Map<string, FtpSession>()
  readonly #idle: DeadlineSweep<FtpSession>
  readonly #closing = new Set<Promise<void>>()

  /** Throws a Fault when options cannot be honoured. `env` holds the passwords that options name by variable. */
  constructor(
    options: FetchOptions,
    spool: Spool,
    clock: Clock,
    env: Readonly<Record<string, string | undefined>>,
    connector: Connector,
  ) {
    this.#options = options
    this.#clock = clock
    this.#talks = new Talks(options, spool, clock, connector)
    this.#idle = new DeadlineSweep(clock)
    for (const login of readLogins(options, env)) {
      if (!/^ftps?:\/\//i.test(login.host)) continue
      if (/[\r\n]/.test(login.user + login.password)) {
        throw new Fault('CONFIG_INVALID', `login for ${login.host}: FTP cannot be told a line end`)
      }
      const { protocol, host } = new URL(login.host)
      this.#logins.set(`${protocol}//${host}`, login)
    }
  }

  /** Sessions kept or in use, and requests under way. */
  get figures(): { readonly clients: number; readonly underWay: number } {
    return { clients: this.#sessions.size, underWay: this.#talks.underWay }
  }

  async fetch(request: FetchRequest, signal: AbortSignal): Promise<FetchOutcome> {
    let session: FtpSession | null = null
    let isGoodStill = false
    const outcome = await this.#talks.run(request, signal, async (talk) => {
      const place = placeOf(request.url)
      session = this.#sessionFor(place.origin, request)
      await session.begin(talk, request.addresses)
      try {
        const document = await (place.isDirectory
          ? this.#list(talk, session, place.segments)
          : this.#retrieve(talk, session, place))
        isGoodStill = document.truncated === null
        return document
      } catch (error) {
        // A refusal of one file leaves the login as it is.
        isGoodStill = error instanceof TalkEnd && HARMLESS.has(error.code)
        if (isGoodStill) session.leave()
        throw error
      }
    })
    if (session !== null) this.#giveBack(session, isGoodStill)
    return outcome
  }

  forget(host: string): void {
    for (const session of this.#sessions.values()) {
      const { hostname } = session.server
      if (!session.isBusy && (hostname === host || `[${hostname}]` === host)) this.#discard(session)
    }
  }

  async close(): Promise<void> {
    this.#talks.close()
    for (const session of this.#sessions.values()) this.#discard(session)
    this.#idle.close()
    await Promise.all(this.#closing)
  }

  async #list(talk: Talk, session: FtpSession, segments: readonly string[]): Promise<FetchedDocument> {
    const entered = await session.say(`CWD ${session.path(segments)}`)
    if (!isGood(entered)) throw refusalEnd(entered)
    // Where we are may be called otherwise: then links lead here, in the worst case in circles. One name is enough.
    const real = await session.whereabouts()
    if (real !== null && real !== session.path(segments)) {
      return this.#moved(talk, session, `${session.server.origin}${session.urlPath(real)}`)
    }
    const isExact = session.has('MLSD') || session.has('MLST')
    let result = await session.transfer(isExact ? 'MLSD' : 'LIST')
    // Some promise MLSD and do not know it.
    if (isExact && 'code' in result && result.code >= 500) result = await session.transfer('LIST')
    if ('code' in result) {
      // Many say of a directory with nothing in it that there is no such thing.
      if (result.code !== 450 && result.code !== 550) throw refusalEnd(result)
      result = { body: talk.bodyOf(Buffer.alloc(0)), truncated: null, reply: result }
    }
    return this.#document(talk, session, result, LISTING_TYPE, null)
  }

  async #retrieve(talk: Talk, session: FtpSession, { segments, origin, path }: Place): Promise<FetchedDocument> {
    const name = session.path(segments)
    const isPage = talk.request.purpose === 'page'
    const mediaType = mediaTypeOfName(name)
    let wasDirectoryAsked = false
    if (session.has('SIZE')) {
      const size = await session.say(`SIZE ${name}`)
      const bytes = isGood(size) ? Number(/\d+/.exec(size.lines[0] ?? '')?.[0] ?? 0) : 0
      if (isPage && bytes > this.#options.announcedMax) throw new TalkEnd('size-filtered', `${bytes} bytes announced`)
      if (!isGood(size)) {
        if (await this.#isDirectory(session, name)) return this.#moved(talk, session, `${origin}${path}/`)
        wasDirectoryAsked = true
      }
    }
    if (isPage && !this.#talks.wants(mediaType)) throw new TalkEnd('type-filtered', mediaType ?? '')
    const modified = await session.dateOf(name)
    const result = await session.transfer(`RETR ${name}`)
    if ('body' in result) return this.#document(talk, session, result, mediaType, modified)
    if (result.code >= 500 && !wasDirectoryAsked && (await this.#isDirectory(session, name))) {
      return this.#moved(talk, session, `${origin}${path}/`)
    }
    throw refusalEnd(result)
  }

  async #isDirectory(session: FtpSession, path: string): Promise<boolean> {
    return isGood(await session.say(`CWD ${path}`))
  }

  /** A directory without its slash: what is in it stands one level too high, as on the web, so it is told as the web does. */
  #moved(talk: Talk, session: FtpSession, to: string): FetchedDocument {
    return talk.document(talk.bodyOf(Buffer.alloc(0)), null, session.ip, {
      status: 301,
      statusText: 'a directory',
      mediaType: null,
      rawHeaders: ['Location', to],
      conversation: session.conversation,
    })
  }

  #document(
    talk: Talk,
    session: FtpSession,
    { body, truncated, reply }: Transfer,
    mediaType: string | null,
    modified: string | null,
  ): FetchedDocument {
    return talk.document(body, truncated, session.ip, {
      // What was cut or found empty was given all the same.
      status: statusOf(reply),
      statusText: reply.lines.at(-1) ?? '',
      mediaType,
      rawHeaders: modified === null ? [] : ['Last-Modified', modified],
      conversation: session.conversation,
    })
  }

  #sessionFor(origin: string, request: FetchRequest): FtpSession {
    const kept = this.#sessions.get(origin)
    if (kept !== undefined && !kept.isBusy) {
      const isFresh = kept.isFresh(this.#clock.nowMs())
      const isStillThere = this.#options.proxy !== '' || request.addresses.some((address) => address.ip === kept.ip)
      this.#sessions.delete(origin)
      if (isFresh && isStillThere) {
        this.#sessions.set(origin, kept)
        return kept
      }
      this.#discard(kept)
    }
    const session = new FtpSession(this.#serverOf(origin), this.#talks, this.#discard)
    // Whoever breaks the rule of one request at a time gets a session more, for that request only.
    if (!this.#sessions.has(origin)) this.#keep(session)
    return session
  }

  #keep(session: FtpSession): void {
    this.#sessions.set(session.server.origin, session)
    this.#idle.add(session)
    if (this.#sessions.size <= this.#options.connectionsKept) return
    for (const candidate of this.#sessions.values()) {
      if (candidate.isBusy) continue
      this.#discard(candidate)
      return
    }
  }

  #giveBack(session: FtpSession, isGoodStill: boolean): void {
    const isKept = isGoodStill && this.#sessions.get(session.server.origin) === session
    if (!isKept || !session.rest(this.#options.keepAlive)) this.#discard(session)
  }

  readonly #discard = (session: FtpSession): void => {
    const { origin } = session.server
    if (this.#sessions.get(origin) === session) this.#sessions.delete(origin)
    this.#idle.remove(session)
    const closing = session.close()
    this.#closing.add(closing)
    void closing.finally(() => this.#closing.delete(closing))
  }

  #serverOf(origin: string): FtpServer {
    const { protocol, hostname, port } = new URL(origin)
    const login = this.#logins.get(origin)
    const isImplicit = protocol === 'ftps:'
    return {
      origin,
      hostname: hostname.startsWith('[') ? hostname.slice(1, -1) : hostname,
      port: port === '' ? (isImplicit ? 990 : 21) : Number(port),
      tls: isImplicit ? 'implicit' : this.#options.ftpTls === 'require' ? 'explicit' : 'none',
      user: login?.user ?? 'anonymous',
      // By custom the address of whoever asks.
      password:
        login?.password ?? (/^[\x21-\x7e]+$/.test(this.#options.contact) ? this.#options.contact : 'anonymous@'),
    }
  }
}

function statusOf({ code }: FtpReply): number {
  return code >= 200 && code < 300 ? code : 226
}

interface Place {
  readonly origin: string
  /** As in the URL; a '?' is part of a name here. */
  readonly path: string
  /** Names, one character per byte. */
  readonly segments: readonly string[]
  readonly isDirectory: boolean
}

function placeOf(url: string): Place {
  const pathAt = url.indexOf('/', url.indexOf(':') + 3)
  const path = url.slice(pathAt).replaceAll('?', '%3F')
  // RFC 1738 lets a URL say how to transfer; we always transfer bytes.
  const names = path.replace(/;type=[aid]$/i, '').slice(1)
  const segments = names.split('/').map(unescaped)
  if (segments.some((name) => /[\r\n\0]/.test(name))) {
    throw new TalkEnd('FETCH_NOT_AVAILABLE', 'FTP cannot be asked for a name with a line end or a NUL in it')
  }
  const isDirectory = names === '' || names.endsWith('/')
  if (isDirectory) segments.pop()
  return { origin: url.slice(0, pathAt), path, segments, isDirectory }
}

/** Escapes undone, one character per byte; a canonical URL is ASCII. */
function unescaped(text: string): string {
  return text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
}
