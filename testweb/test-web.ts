// Starts a web: its value, its faces, its name server and its log, as one thing to stop in the end.

import { assert, type Clock, systemClock } from '../src/base/index.ts'
import { HostTable } from './content/host.ts'
import { Web } from './content/web.ts'
import { DnsServer } from './dns/server.ts'
import { AccessLog } from './judge/access-log.ts'
import { checkPoliteness, type PolitenessRules, type Violation } from './judge/politeness.ts'
import { type Truth, truth, type TruthQuestion } from './judge/truth.ts'
import { completeOptions, type WebOptions } from './options.ts'
import { NastyFace } from './nasty/nasty-face.ts'
import { Certificates } from './serve/certificates.ts'
import type { ServerState } from './serve/connection.ts'
import { HttpFace } from './serve/server.ts'

export interface TestWebOptions extends Partial<WebOptions> {
  /** 0 lets the system choose. */
  readonly port?: number
  readonly httpsPort?: number
  /** Beside the web, a host for every way to answer badly (nasty/behaviours.ts). Off unless asked for. */
  readonly nasty?: boolean
  /** Requests kept in the log; those beyond are counted only. */
  readonly logMax?: number
  readonly clock?: Clock
}

const LOG_MAX = 4_000_000

export interface TestWeb {
  readonly web: Web
  readonly port: number
  readonly httpsPort: number | null
  readonly dns: { readonly address: string; readonly port: number; queries(name: string, type?: 'A' | 'AAAA'): number }
  /** The certificate to trust, in PEM; null without https. */
  readonly authority: string | null
  /** Null unless asked for. */
  readonly nasty: NastyFace | null
  readonly log: AccessLog
  /** The roots of all hosts, or of the first few. */
  seeds(count?: number): string[]
  /** The URL of a numbered page; 0 is the root. */
  url(host: number, page: number): string
  truth(question?: Partial<TruthQuestion>): Truth
  /** What the log has against the crawler. */
  politeness(rules: PolitenessRules): Violation[]
  /** How often a URL was asked for. */
  requests(url: string): number
  /** The time that changing pages go by. */
  setTime(ms: number): void
  /** Forgets log and throttling, so that a second crawl meets the same web. */
  reset(): void
  stop(): Promise<void>
}

export async function startTestWeb(given: TestWebOptions = {}): Promise<TestWeb> {
  const {
    port = 0,
    httpsPort = 0,
    logMax = LOG_MAX,
    clock = systemClock,
    nasty: isNasty = false,
    ...webOptions
  } = given
  const options = completeOptions(webOptions)
  const addresses = new HostTable(options, { http: 0, https: null }).addresses()
  const log = new AccessLog(logMax)
  const certificates = options.https || isNasty ? new Certificates(clock.wallMs()) : null

  // The ports are part of every URL, so the web is made after they are bound, and nobody knows them before.
  let state: ServerState | null = null
  const theState = (): ServerState => {
    assert(state !== null, 'a connection came before the web was made')
    return state
  }
  let connections = 0
  const nextConnection = (): number => connections++
  const opened: { close(): Promise<void> }[] = []
  const stop = async (): Promise<void> => {
    await Promise.all(opened.map((each) => each.close()))
  }
  try {
    const http = await HttpFace.open(addresses, port, null, theState, nextConnection)
    opened.push(http)
    let https: HttpFace | null = null
    if (certificates !== null && options.https) {
      https = await HttpFace.open(addresses, httpsPort, certificates, theState, nextConnection)
      opened.push(https)
    }
    const web = new Web(options, { http: http.port, https: https?.port ?? null })
    let webTimeMs = 0
    const made: ServerState = {
      web,
      clock,
      log,
      webTimeMs: () => webTimeMs,
      throttled: new Map(),
      paper: web.newPaper(),
    }
    state = made
    const dns = await DnsServer.open(() => web.hosts, options.dnsTtlS, clock)
    opened.push(dns)
    const nasty = certificates !== null && isNasty ? await NastyFace.open({ clock, certificates }) : null
    if (nasty !== null) opened.push(nasty)
    return {
      web,
      port: http.port,
      httpsPort: https?.port ?? null,
      dns,
      authority: certificates?.authority ?? null,
      nasty,
      log,
      seeds: (count) => web.seeds(count),
      url: (host, page) => web.url(host, page),
      truth: (question = {}) => truth(web, { seeds: web.seeds(), ...question }),
      politeness: (rules) => {
        assert(log.dropped === 0, `the log was full: ${log.dropped} requests are missing, so it proves nothing`)
        return checkPoliteness(log.requests(), rules)
      },
      requests: (url) => countRequests(log, url),
      setTime: (ms) => {
        webTimeMs = ms
      },
      reset: () => {
        log.clear()
        made.throttled.clear()
      },
      stop,
    }
  } catch (cause) {
    await stop()
    throw cause
  }
}

function countRequests(log: AccessLog, url: string): number {
  const { hostname, protocol, pathname, search } = new URL(url)
  let count = 0
  for (const request of log.requests()) {
    if (request.path === pathname + search && request.host === hostname && `${request.scheme}:` === protocol) count++
  }
  return count
}
