// http: and https:, one connection per origin, HTTP/1.1 spoken by ourselves (docs/decisions/0014), HTTP/2 on request (0034).

import type { Clock, ClockMs } from '../../base/index.ts'
import { ContentTypes, type Spool } from '../../document/index.ts'
import { AbortWatch } from '../abort-watch.ts'
import { ConnectionPool } from '../connection-pool.ts'
import { Connector, type Offer, type Target } from '../connector.ts'
import { type CookieFigures, CookieJar } from '../cookie-jar.ts'
import { Exchange, type ExchangeSettings } from '../exchange.ts'
import type { FetchOutcome, FetchRequest, SchemeFetcher } from '../fetcher.ts'
import { HttpVersions } from '../http-versions.ts'
import type { FetchOptions } from '../options.ts'
import { type ConnectionSettings, OriginConnection } from '../origin-connection.ts'
import { Outbox } from '../outbox.ts'
import { parseProxy, type Proxy } from '../proxy.ts'
import { headWith, RequestHeads } from '../request-head.ts'
import { TypeFilter } from '../type-filter.ts'

/** Length of 'https://': no path begins before it. */
const PATH_MIN_AT = 8

export class HttpFetcher implements SchemeFetcher {
  readonly schemes = ['http', 'https'] as const
  readonly #settings: ExchangeSettings
  readonly #connectionSettings: ConnectionSettings
  readonly #proxy: Proxy | null
  /** The proxy is one that is asked for whole URLs of http. */
  readonly #isToldUrls: boolean
  readonly #heads: RequestHeads
  readonly #pool: ConnectionPool
  readonly #aborts = new AbortWatch((signal) => this.#abort(signal))
  #underWay = 0
  #isClosed = false

  /** Throws a Fault when options cannot be honoured. `env` holds the passwords that options name by variable. */
  constructor(
    options: FetchOptions,
    spool: Spool,
    clock: Clock,
    env: Readonly<Record<string, string | undefined>> = {},
    connector?: Connector,
    mayAsk: () => boolean = () => true,
  ) {
    const filter = new TypeFilter(options.acceptTypes, options.rejectTypes)
    const limits = { perHost: options.cookiesPerHost, bytes: options.cookieBytes }
    const cookies = options.cookies === 'off' ? null : new CookieJar(limits)
    this.#settings = { options, clock, spool, filter, contentTypes: new ContentTypes(), cookies, mayAsk }
    this.#proxy = parseProxy(options.proxy)
    this.#isToldUrls = this.#proxy?.kind === 'http' || this.#proxy?.kind === 'https'
    this.#connectionSettings = {
      connector: connector ?? new Connector(options, this.#proxy, env),
      clock,
      headMax: options.headMax,
      keepAliveMs: options.keepAlive,
      versions: new HttpVersions(options.http2),
      outbox: new Outbox(),
    }
    this.#heads = new RequestHeads(options, this.#proxy, env)
    this.#pool = new ConnectionPool(options.connectionsKept, clock)
  }

  /** Connections kept or in use, and requests under way. */
  get figures(): { readonly clients: number; readonly underWay: number } {
    return { clients: this.#pool.size, underWay: this.#underWay }
  }

  /** Null where cookies are off. */
  get cookieFigures(): CookieFigures | null {
    return this.#settings.cookies?.figures ?? null
  }

  fetch(request: FetchRequest, signal: AbortSignal): Promise<FetchOutcome> {
    if (this.#isClosed || signal.aborted) {
      return Promise.resolve({ kind: 'failed', code: 'FETCH_CONNECTION_LOST', detail: 'stopped', durationMs: 0 })
    }
    const loading = this.#connectionSettings.versions.load()
    if (loading !== null) return loading.then(() => this.fetch(request, signal))
    return new Promise((resolve, reject) => {
      const { url } = request
      const pathAt = url.indexOf('/', PATH_MIN_AT)
      const nowMs = this.#settings.clock.nowMs()
      const connection = this.#connectionFor(url.slice(0, pathAt), request, nowMs)
      // A proxy is told the whole URL, except through a tunnel.
      const path = this.#isToldUrls && !url.startsWith('https:') ? url : url.slice(pathAt)
      const { validators } = request
      const jar = this.#settings.cookies
      const cookies = jar === null || jar.isEmpty ? '' : jar.header(connection.host, url, this.#settings.clock.wallMs())
      const isPlain = cookies === '' && validators === undefined
      const { sent, recorded } = isPlain ? connection.head : headWith(connection.head, cookies, validators)
      const startLine = `${request.method ?? 'GET'} ${path} HTTP/1.1\r\n`
      const requestText = startLine + sent
      const exchange = new Exchange(
        this.#settings,
        request,
        signal,
        connection,
        requestText,
        recorded === sent ? requestText : startLine + recorded,
        nowMs,
        this.#onSettled,
        resolve,
        reject,
      )
      this.#underWay++
      this.#aborts.watch(signal)
      connection.ask(exchange, request.addresses)
    })
  }

  forget(host: string): void {
    this.#pool.forget(host)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#abort(null)
    await this.#pool.close()
  }

  #abort(signal: AbortSignal | null): void {
    for (const connection of this.#pool.values()) connection.abort(signal)
  }

  #connectionFor(origin: string, request: FetchRequest, nowMs: ClockMs): OriginConnection {
    let connection = this.#pool.get(origin)
    if (connection !== undefined && !connection.isBusy) {
      const isFresh = connection.isFresh(nowMs)
      // A connection to an address the host no longer has would ask a stranger, and rest the wrong IP.
      if (!isFresh || !this.#isStillAt(connection.ip, request)) {
        this.#pool.discard(connection)
        connection = undefined
      }
    }
    // Whoever breaks the rule of one request at a time gets a connection more, for that request only.
    if (connection !== undefined && !connection.isBusy) this.#pool.use(connection)
    else {
      const target = targetOf(origin, this.#connectionSettings.versions.offerTo(origin))
      const host = target.hostname.includes(':') ? `[${target.hostname}]` : target.hostname
      const head = this.#heads.of(origin.slice(origin.indexOf('/') + 2), target.isSecure)
      connection = new OriginConnection(origin, host, target, head, this.#connectionSettings, this.#onUseless)
      this.#pool.keep(connection)
    }
    return connection
  }

  #isStillAt(ip: string, request: FetchRequest): boolean {
    if (this.#proxy !== null) return true
    for (const address of request.addresses) if (address.ip === ip) return true
    return false
  }

  readonly #onSettled = (exchange: Exchange, isConnectionGood: boolean): void => {
    const { connection } = exchange
    this.#underWay--
    const isKept = isConnectionGood && this.#pool.has(connection) && connection.rest(exchange.keepMs)
    if (!isKept) this.#pool.discard(connection)
  }

  readonly #onUseless = (connection: OriginConnection): void => this.#pool.discard(connection)
}

/** Where the origin of a canonical URL is; its port is absent when it is the scheme's own. */
function targetOf(origin: string, offer: Offer): Target {
  const { protocol, hostname, port } = new URL(origin)
  const isSecure = protocol === 'https:'
  return {
    isSecure,
    hostname: hostname.startsWith('[') ? hostname.slice(1, -1) : hostname,
    port: port === '' ? (isSecure ? 443 : 80) : Number(port),
    isHttp: true,
    offer,
  }
}
