// http: and https: on undici's dispatch, one connection per origin (docs/decisions/0005).

import type { Clock } from '../../base/index.ts'
import type { Spool } from '../../document/index.ts'
import { AbortWatch } from '../abort-watch.ts'
import { ClientPool } from '../client-pool.ts'
import { Connector, type Target } from '../connector.ts'
import { DeadlineSweep } from '../deadline-sweep.ts'
import { Exchange, type ExchangeSettings } from '../exchange.ts'
import type { FetchOutcome, FetchRequest, SchemeFetcher } from '../fetcher.ts'
import type { FetchOptions } from '../options.ts'
import { OriginClient } from '../origin-client.ts'
import { parseProxy, type Proxy } from '../proxy.ts'
import { RequestHeads } from '../request-head.ts'
import { TypeFilter } from '../type-filter.ts'

/** Length of 'https://': no path begins before it. */
const PATH_MIN_AT = 8

export class HttpFetcher implements SchemeFetcher {
  readonly schemes = ['http', 'https'] as const
  readonly #settings: ExchangeSettings
  readonly #connector: Connector
  readonly #proxy: Proxy | null
  readonly #heads: RequestHeads
  readonly #pool: ClientPool
  /** Also the list of all exchanges under way. */
  readonly #sweep: DeadlineSweep<Exchange>
  readonly #aborts = new AbortWatch()
  #isClosed = false

  /** Throws a Fault when options cannot be honoured. `env` holds the passwords that options name by variable. */
  constructor(
    options: FetchOptions,
    spool: Spool,
    clock: Clock,
    env: Readonly<Record<string, string | undefined>> = {},
  ) {
    this.#settings = { options, clock, spool, filter: new TypeFilter(options.acceptTypes, options.rejectTypes) }
    this.#proxy = parseProxy(options.proxy)
    this.#connector = new Connector(options, this.#proxy)
    this.#heads = new RequestHeads(options, this.#proxy, env)
    this.#pool = new ClientPool(options.connectionsKept)
    this.#sweep = new DeadlineSweep(clock)
  }

  /** Connections kept or in use, and requests under way. */
  get figures(): { readonly clients: number; readonly underWay: number } {
    return { clients: this.#pool.size, underWay: this.#sweep.size }
  }

  fetch(request: FetchRequest, signal: AbortSignal): Promise<FetchOutcome> {
    if (this.#isClosed || signal.aborted) {
      return Promise.resolve({ kind: 'failed', code: 'FETCH_CONNECTION_LOST', detail: 'stopped', durationMs: 0 })
    }
    return new Promise((resolve, reject) => {
      const { url } = request
      const pathAt = url.indexOf('/', PATH_MIN_AT)
      const origin = this.#originClient(url.slice(0, pathAt), request)
      // A proxy is told the whole URL, except through a tunnel.
      const path = this.#proxy === null || url.startsWith('https:') ? url.slice(pathAt) : url
      const exchange = new Exchange(
        this.#settings,
        request,
        signal,
        origin,
        `GET ${path} HTTP/1.1\r\n${origin.head.recorded}`,
        this.#onSettled,
        resolve,
        reject,
      )
      origin.current = exchange
      this.#sweep.add(exchange)
      this.#aborts.add(signal, exchange)
      origin.client.dispatch(
        { method: 'GET', path, headers: origin.head.headers, reset: this.#settings.options.keepAlive === 0 },
        exchange,
      )
    })
  }

  forget(host: string): void {
    this.#pool.forget(host)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const exchange of this.#sweep.values()) exchange.abort()
    this.#sweep.close()
    await this.#pool.close()
  }

  #originClient(origin: string, request: FetchRequest): OriginClient {
    let client = this.#pool.get(origin)
    // A connection to an address the host no longer has would ask a stranger, and rest the wrong IP.
    const isStrange = client !== undefined && client.ip !== '' && !this.#isStillAt(client.ip, request)
    if (client !== undefined && isStrange && client.busyCount === 0) {
      this.#pool.discard(client)
      client = undefined
    }
    if (client === undefined) {
      const target = targetOf(origin)
      const { options } = this.#settings
      const host = target.hostname.includes(':') ? `[${target.hostname}]` : target.hostname
      const head = this.#heads.of(origin.slice(origin.indexOf('/') + 2), target.isSecure)
      client = new OriginClient(origin, host, target, this.#connector, head, {
        headMax: options.headMax,
        keepAliveMs: options.keepAlive,
      })
    }
    client.addresses = request.addresses
    client.busyCount++
    this.#pool.keep(client)
    return client
  }

  #isStillAt(ip: string, request: FetchRequest): boolean {
    if (this.#proxy !== null) return true
    for (const address of request.addresses) if (address.ip === ip) return true
    return false
  }

  readonly #onSettled = (exchange: Exchange, isConnectionGood: boolean): void => {
    const { origin, signal } = exchange
    this.#sweep.remove(exchange)
    this.#aborts.remove(signal, exchange)
    origin.busyCount--
    if (origin.current === exchange) origin.current = null
    if (!isConnectionGood) this.#pool.discard(origin)
  }
}

/** Where the origin of a canonical URL is; its port is absent when it is the scheme's own. */
function targetOf(origin: string): Target {
  const { protocol, hostname, port } = new URL(origin)
  const isSecure = protocol === 'https:'
  return {
    isSecure,
    hostname: hostname.startsWith('[') ? hostname.slice(1, -1) : hostname,
    port: port === '' ? (isSecure ? 443 : 80) : Number(port),
  }
}
