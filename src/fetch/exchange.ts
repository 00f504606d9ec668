// One request and its answer, from asking to outcome: told by its connection what happens.
//
//   new ─▶ connecting ─▶ head ─▶ body ─▶ settled
//     └── (connection kept) ──▲
//
// Settled exactly once, by whatever ends it first: the end of the body, a filter, a limit, a deadline,
// an error, an abort. Only an answer that came to its own end leaves a connection worth keeping.
// hot: one object per request, all fields set in the constructor; no timers, no closures.

import { type Clock, type ClockMs, type FailureCode, Fault, type SkipReason } from '../base/index.ts'
import {
  type ContentType,
  type ContentTypes,
  FetchedDocument,
  headerValue,
  headerValues,
  type Spool,
  SpooledBody,
  type Truncation,
} from '../document/index.ts'
import type { AnswerHead } from './answer-head.ts'
import type { Asker } from './asker.ts'
import { detailOf, failureOf } from './classify-error.ts'
import type { ConnectError } from './connector.ts'
import { type Decoded, decodeContent, parseCodings } from './content-coding.ts'
import type { CookieJar } from './cookie-jar.ts'
import type { FetchOutcome, FetchRequest } from './fetcher.ts'
import type { FetchOptions } from './options.ts'
import type { OriginConnection } from './origin-connection.ts'
import type { TypeFilter } from './type-filter.ts'

/** What all exchanges of a fetcher share. */
export interface ExchangeSettings {
  readonly options: FetchOptions
  readonly clock: Clock
  readonly spool: Spool
  readonly filter: TypeFilter
  readonly contentTypes: ContentTypes
  /** Null where cookies are off. */
  readonly cookies: CookieJar | null
  /** Asked in the moment before a request is written. */
  readonly mayAsk: () => boolean
}

interface Refusal {
  readonly reason: SkipReason
  readonly detail: string
}

/** Told of the end: whether the connection is still good. */
export type OnSettled = (exchange: Exchange, isConnectionGood: boolean) => void

export class Exchange implements Asker {
  readonly connection: OriginConnection
  readonly signal: AbortSignal
  readonly requestText: string
  readonly isHead: boolean
  readonly #settings: ExchangeSettings
  readonly #request: FetchRequest
  readonly #requestHead: string
  readonly #onSettled: OnSettled
  #resolve: ((outcome: FetchOutcome) => void) | null
  readonly #reject: (fault: Fault) => void
  #phase: 'new' | 'connecting' | 'head' | 'body' | 'settled' = 'new'
  #startedAtMs: ClockMs
  /** When the attempt to connect began; then when the request was sent; then when the last byte came. */
  #movedAtMs: ClockMs
  #sentAtMs: ClockMs
  #sentAtWallMs = 0
  #firstByteAtMs: ClockMs | null = null
  #lastByteAtMs: ClockMs
  #head: AnswerHead | null = null
  #contentType: ContentType | null = null
  #wire: SpooledBody | null = null
  #hasNewCookies = false

  constructor(
    settings: ExchangeSettings,
    request: FetchRequest,
    signal: AbortSignal,
    connection: OriginConnection,
    requestText: string,
    requestHead: string,
    startedAtMs: ClockMs,
    onSettled: OnSettled,
    resolve: (outcome: FetchOutcome) => void,
    reject: (fault: Fault) => void,
  ) {
    this.#settings = settings
    this.#request = request
    this.signal = signal
    this.connection = connection
    this.requestText = requestText
    this.isHead = request.method === 'HEAD'
    this.#requestHead = requestHead
    this.#onSettled = onSettled
    this.#resolve = resolve
    this.#reject = reject
    this.#startedAtMs = startedAtMs
    this.#movedAtMs = startedAtMs
    this.#sentAtMs = startedAtMs
    this.#lastByteAtMs = startedAtMs
  }

  /** How long the server says it keeps the connection. */
  get keepMs(): number | null {
    return this.#head === null ? null : this.#head.keepMs
  }

  onConnecting(): void {
    this.#phase = 'connecting'
    this.#movedAtMs = this.#settings.clock.nowMs()
  }

  /** Ends itself if a deadline has passed. */
  check(nowMs: ClockMs): void {
    const { options } = this.#settings
    const idleMs = nowMs - this.#movedAtMs
    const { noise } = this.connection
    if (nowMs - this.#startedAtMs >= options.requestTimeout) {
      if (this.#phase === 'body') this.#complete('time', false)
      else this.#fail('FETCH_TIMEOUT', 'no complete answer in time')
    } else if (noise !== null) {
      this.onBroken(noise.code, noise.detail)
    } else if (this.#phase === 'connecting' && idleMs >= options.connectTimeout) {
      // The next address, if there is one, gets as much time.
      this.#movedAtMs = nowMs
      this.connection.timeOut()
    } else if (this.#phase === 'head' && idleMs >= options.headTimeout) {
      this.#fail('FETCH_HEAD_TIMEOUT', 'no head of an answer in time')
    } else if (this.#phase === 'body' && idleMs >= options.stallTimeout) {
      this.#breakOff('FETCH_BODY_STALLED', `the body stopped after ${this.#wire?.length ?? 0} bytes`, 'time')
    }
  }

  excuse(lateMs: number): void {
    this.#startedAtMs = (this.#startedAtMs + lateMs) as ClockMs
    this.#movedAtMs = (this.#movedAtMs + lateMs) as ClockMs
  }

  abort(): void {
    this.#fail('FETCH_CONNECTION_LOST', 'stopped')
  }

  onSent(): boolean {
    const { clock, mayAsk } = this.#settings
    if (!mayAsk()) {
      this.#break(new Fault('NODE_FENCED', `${this.#request.url} is not asked for: the lease of this node is over`))
      return false
    }
    if (this.#request.mayWrite?.() === false) {
      this.#fail('FETCH_CONNECTION_LOST', 'its turn is over')
      return false
    }
    this.#phase = 'head'
    this.#sentAtMs = clock.nowMs()
    this.#sentAtWallMs = clock.wallMs()
    this.#movedAtMs = this.#sentAtMs
    return true
  }

  onBytes(): void {
    const nowMs = this.#settings.clock.nowMs()
    this.#firstByteAtMs ??= nowMs
    this.#lastByteAtMs = nowMs
    // A head has its time as a whole, so its pieces do not count as moving.
    if (this.#phase === 'body') this.#movedAtMs = nowMs
  }

  onHead(head: AnswerHead): boolean {
    this.#phase = 'body'
    this.#movedAtMs = this.#lastByteAtMs
    this.#head = head
    const { options, spool, cookies, contentTypes } = this.#settings
    this.#contentType = contentTypes.of(head.rawHeaders)
    if (cookies !== null && setsCookies(head.rawHeaders)) this.#takeCookies(cookies, head)
    const isPage = this.#request.purpose === 'page'
    const refusal = isPage && !this.isHead ? this.#refusalOf(head) : null
    if (refusal !== null) {
      // The connection goes with it, since draining may cost more than a new one.
      this.#skip(refusal)
      return false
    }
    this.#wire = new SpooledBody(
      spool,
      isPage ? options.bodyMax : options.robotsMax,
      this.isHead ? 0 : Math.max(0, head.length),
    )
    return true
  }

  onBody(source: Buffer, start: number, end: number): boolean {
    const wire = this.#wire as SpooledBody
    if (wire.appendCopy(source, start, end) === end - start) return true
    this.#complete('length', false)
    return false
  }

  onEnd(isReusable: boolean): void {
    const refusal = this.isHead && this.#head !== null ? this.#refusalOf(this.#head) : null
    if (refusal !== null) {
      this.#wire?.release()
      return this.#skip(refusal, isReusable)
    }
    this.#complete(null, isReusable)
  }

  onBroken(code: FailureCode, detail: string): void {
    if (this.#phase === 'body') this.#breakOff(code, detail, 'disconnect')
    else this.#fail(code, detail)
  }

  onConnectError({ code, detail }: ConnectError): void {
    if (this.#phase === 'settled') return
    if (code === 'private-address') this.#skip({ reason: code, detail })
    else this.#fail(code, detail)
  }

  onError(error: Error): void {
    if (this.#phase === 'settled') return
    try {
      this.onBroken(failureOf(error, this.#phase === 'body' ? 'body' : 'head'), detailOf(error))
    } catch (fault) {
      this.#break(fault)
    }
  }

  #takeCookies(cookies: CookieJar, head: AnswerHead): void {
    const lines = headerValues(head.rawHeaders, 'set-cookie')
    this.#hasNewCookies = cookies.take(this.connection.host, this.#request.url, lines, this.#settings.clock.wallMs())
  }

  /** Why what the head shows is unwanted; null where it is not. */
  #refusalOf(head: AnswerHead): Refusal | null {
    if (head.status >= 300) return null
    const mediaType = this.#contentType === null ? null : this.#contentType.mediaType
    if (!this.#settings.filter.wants(mediaType)) return { reason: 'type-filtered', detail: mediaType ?? '' }
    if (head.length <= this.#settings.options.announcedMax) return null
    return { reason: 'size-filtered', detail: `${head.length} bytes announced` }
  }

  /** A body that ended too soon: a failure, unless half of it is asked for or it belongs to a redirect. */
  #breakOff(code: FailureCode, detail: string, truncation: Truncation): void {
    const status = this.#head === null ? 0 : this.#head.status
    const isRedirect = status >= 300 && status < 400
    if (this.#request.acceptPartial || isRedirect) this.#complete(truncation, false)
    else this.#fail(code, detail)
  }

  #complete(wireTruncated: Truncation | null, isConnectionGood: boolean): void {
    const wire = this.#wire as SpooledBody
    const head = this.#head as AnswerHead
    if (wireTruncated === 'time') this.#lastByteAtMs = this.#settings.clock.nowMs()
    // The next request may use the connection while this body is still being decoded.
    const { ip } = this.connection
    const requestHead = this.connection.recorded(this.#requestHead)
    this.#end(isConnectionGood)
    wire.finish()
    try {
      const { options, spool } = this.#settings
      const lengthMax = Math.min(options.decodedMax, Math.max(options.ratioFrom, wire.length * options.ratioMax))
      const decoded = decodeContent(wire, codingsOf(head), spool, lengthMax, wireTruncated === null)
      if (!(decoded instanceof Promise)) return this.#deliver(decoded, wireTruncated, requestHead, ip)
      decoded
        .then((later) => this.#deliver(later, wireTruncated, requestHead, ip))
        .catch((fault: unknown) => this.#break(fault))
    } catch (fault) {
      this.#break(fault)
    }
  }

  #deliver(
    { body, decoding, isCut }: Decoded,
    wireTruncated: Truncation | null,
    requestHead: string,
    ip: string,
  ): void {
    const head = this.#head as AnswerHead
    const document = new FetchedDocument({
      url: this.#request.url,
      requestHead,
      httpVersion: head.httpVersion,
      status: head.status,
      statusText: head.statusText,
      rawHeaders: head.rawHeaders,
      responseHead: head.text,
      contentType: this.#contentType,
      wire: this.#wire as SpooledBody,
      body,
      decoding,
      truncated: wireTruncated ?? (isCut ? 'length' : null),
      wireTruncated,
      fetchedAtMs: this.#sentAtWallMs,
      firstByteMs: (this.#firstByteAtMs ?? this.#sentAtMs) - this.#sentAtMs,
      durationMs: this.#lastByteAtMs - this.#sentAtMs,
      ip,
    })
    this.#settle({ kind: 'fetched', document, hasNewCookies: this.#hasNewCookies })
  }

  #fail(code: FailureCode, detail: string): void {
    if (this.#phase === 'settled') return
    // What began while we were held up is excused by more than its age.
    const durationMs = Math.max(0, this.#settings.clock.nowMs() - this.#startedAtMs)
    this.#end(false)
    this.#wire?.release()
    this.#settle({ kind: 'failed', code, detail, durationMs })
  }

  #skip({ reason, detail }: Refusal, isConnectionGood = false): void {
    this.#end(isConnectionGood)
    this.#settle({ kind: 'skipped', reason, detail })
  }

  /** We are broken, not the web. */
  #break(fault: unknown): void {
    if (this.#phase !== 'settled') this.#end(false)
    this.#wire?.release()
    this.#resolve = null
    this.#reject(fault instanceof Fault ? fault : new Fault('ASSERTION', `fetching ${this.#request.url} broke`, fault))
  }

  /** The wire is done with: what comes now is not heard any more. */
  #end(isConnectionGood: boolean): void {
    this.#phase = 'settled'
    this.#onSettled(this, isConnectionGood)
  }

  #settle(outcome: FetchOutcome): void {
    const resolve = this.#resolve
    this.#resolve = null
    resolve?.(outcome)
  }
}

/** Of the content and, after them, of the transfer, which were applied last. Mostly there are none. */
function codingsOf({ rawHeaders, transferCodings }: AnswerHead): readonly string[] {
  if (headerValue(rawHeaders, 'content-encoding') === null) return transferCodings
  const codings = parseCodings(headerValues(rawHeaders, 'content-encoding'))
  return transferCodings.length === 0 ? codings : [...codings, ...transferCodings]
}

function setsCookies(rawHeaders: readonly string[]): boolean {
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    if (name.length === 10 && name.toLowerCase() === 'set-cookie') return true
  }
  return false
}
