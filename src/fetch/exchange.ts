// One request and its answer, from dispatch to outcome: what undici calls as things happen.
//
//   queued ─▶ connecting ─▶ head ─▶ body ─▶ settled
//        └── (connection kept) ──▲
//
// Settled exactly once, by whatever ends it first: the end of the body, a filter, a limit, a deadline,
// an error, an abort. Only an answer that came to its own end leaves a connection worth keeping.
// hot: one object per request, all fields set in the constructor; no timers, no closures.

import type { Dispatcher } from 'undici'
import { type Clock, type ClockMs, type FailureCode, Fault, type SkipReason } from '../base/index.ts'
import {
  type ContentType,
  FetchedDocument,
  headerValue,
  headerValues,
  parseContentType,
  type Spool,
  SpooledBody,
  type Truncation,
} from '../document/index.ts'
import { detailOf, failureOf } from './classify-error.ts'
import { ConnectError } from './connector.ts'
import { type Decoded, decodeContent, parseCodings } from './content-coding.ts'
import type { FetchOutcome, FetchRequest } from './fetcher.ts'
import type { FetchOptions } from './options.ts'
import type { OriginClient } from './origin-client.ts'
import type { TypeFilter } from './type-filter.ts'

/** What all exchanges of a fetcher share. */
export interface ExchangeSettings {
  readonly options: FetchOptions
  readonly clock: Clock
  readonly spool: Spool
  readonly filter: TypeFilter
}

/** Told of the end: whether the connection is still good. */
export type OnSettled = (exchange: Exchange, isConnectionGood: boolean) => void

/** Given to undici when we end a request ourselves; never seen outside. */
const ENDED = new Error('ended by Portolan')
const NO_HEADERS: readonly string[] = []

export class Exchange implements Dispatcher.DispatchHandler {
  readonly origin: OriginClient
  readonly signal: AbortSignal
  readonly #settings: ExchangeSettings
  readonly #request: FetchRequest
  readonly #requestHead: string
  readonly #onSettled: OnSettled
  #resolve: ((outcome: FetchOutcome) => void) | null
  readonly #reject: (fault: Fault) => void
  #controller: Dispatcher.DispatchController | null = null
  #phase: 'queued' | 'connecting' | 'head' | 'body' | 'settled' = 'queued'
  readonly #startedAtMs: ClockMs
  /** When the attempt to connect began; then when the request was sent; then when the last byte came. */
  #movedAtMs: ClockMs
  #sentAtMs: ClockMs
  #sentAtWallMs = 0
  #firstByteAtMs: ClockMs
  #status = 0
  #statusText = ''
  #rawHeaders: readonly string[] = NO_HEADERS
  #contentType: ContentType | null = null
  #wire: SpooledBody | null = null

  constructor(
    settings: ExchangeSettings,
    request: FetchRequest,
    signal: AbortSignal,
    origin: OriginClient,
    requestHead: string,
    onSettled: OnSettled,
    resolve: (outcome: FetchOutcome) => void,
    reject: (fault: Fault) => void,
  ) {
    this.#settings = settings
    this.#request = request
    this.signal = signal
    this.origin = origin
    this.#requestHead = requestHead
    this.#onSettled = onSettled
    this.#resolve = resolve
    this.#reject = reject
    this.#startedAtMs = settings.clock.nowMs()
    this.#movedAtMs = this.#startedAtMs
    this.#sentAtMs = this.#startedAtMs
    this.#firstByteAtMs = this.#startedAtMs
  }

  /** The origin's client has begun to connect. */
  connecting(): void {
    if (this.#phase !== 'queued') return
    this.#phase = 'connecting'
    this.#movedAtMs = this.#settings.clock.nowMs()
  }

  /** Ends itself if a deadline has passed. */
  check(nowMs: ClockMs): void {
    const { options } = this.#settings
    const idleMs = nowMs - this.#movedAtMs
    if (nowMs - this.#startedAtMs >= options.requestTimeout) {
      if (this.#phase === 'body') this.#complete('time')
      else this.#fail('FETCH_TIMEOUT', 'no complete answer in time')
    } else if (this.#phase === 'connecting' && idleMs >= options.connectTimeout) {
      // The next address, if there is one, gets as much time.
      this.#movedAtMs = nowMs
      this.origin.attempt?.timeOut()
    } else if (this.#phase === 'head' && idleMs >= options.headTimeout) {
      this.#fail('FETCH_HEAD_TIMEOUT', 'no head of an answer in time')
    } else if (this.#phase === 'body' && idleMs >= options.stallTimeout) {
      this.#breakOff('FETCH_BODY_STALLED', `the body stopped after ${this.#wire?.length ?? 0} bytes`, 'time')
    }
  }

  abort(): void {
    this.#fail('FETCH_CONNECTION_LOST', 'stopped')
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#phase === 'settled') {
      controller.abort(ENDED)
      return
    }
    const { clock } = this.#settings
    this.#controller = controller
    this.#phase = 'head'
    this.#sentAtMs = clock.nowMs()
    this.#sentAtWallMs = clock.wallMs()
    this.#movedAtMs = this.#sentAtMs
    this.origin.expectAnswer()
  }

  onResponseStarted(): void {
    this.#firstByteAtMs = this.#settings.clock.nowMs()
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, _headers: unknown, statusText = ''): void {
    // An interim answer (103 Early Hints) announces another.
    if (status < 200 || this.#phase === 'settled') return
    this.#phase = 'body'
    this.#movedAtMs = this.#settings.clock.nowMs()
    this.#status = status
    this.#statusText = statusText
    this.#rawHeaders = textsOf(controller.rawHeaders as Buffer[])
    this.#contentType = parseContentType(headerValues(this.#rawHeaders, 'content-type'))
    const { options, spool } = this.#settings
    if (this.#request.purpose === 'page' && status < 300 && this.#isFiltered()) return
    this.#wire = new SpooledBody(spool, this.#request.purpose === 'robots' ? options.robotsMax : options.bodyMax)
  }

  onResponseData(_controller: Dispatcher.DispatchController, piece: Buffer): void {
    const wire = this.#wire
    if (this.#phase !== 'body' || wire === null) return
    this.#movedAtMs = this.#settings.clock.nowMs()
    if (wire.append(piece) < piece.length) this.#complete('length')
  }

  onResponseEnd(): void {
    if (this.#phase === 'body') this.#complete(null)
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#phase === 'settled') return
    try {
      this.#judge(error)
    } catch (fault) {
      this.#break(fault)
    }
  }

  #judge(error: Error): void {
    if (error instanceof ConnectError) {
      if (error.code === 'private-address') this.#skip(error.code, error.message)
      else this.#fail(error.code, error.message)
    } else if (this.#phase === 'body') {
      this.#breakOff(failureOf(error, 'body'), detailOf(error), 'disconnect')
    } else {
      this.#fail(failureOf(error, 'head'), detailOf(error))
    }
  }

  /** Skips what the head already shows to be unwanted; the connection goes with it, since draining may cost more than a new one. */
  #isFiltered(): boolean {
    const mediaType = this.#contentType === null ? null : this.#contentType.mediaType
    if (!this.#settings.filter.wants(mediaType)) {
      this.#skip('type-filtered', mediaType ?? '')
      return true
    }
    const announced = Number(headerValue(this.#rawHeaders, 'content-length') ?? 0)
    if (announced > this.#settings.options.announcedMax) {
      this.#skip('size-filtered', `${announced} bytes announced`)
      return true
    }
    return false
  }

  /** A body that ended too soon: a failure, unless half of it is asked for or it belongs to a redirect. */
  #breakOff(code: FailureCode, detail: string, truncation: Truncation): void {
    const isRedirect = this.#status >= 300 && this.#status < 400
    if (this.#request.acceptPartial || isRedirect) this.#complete(truncation)
    else this.#fail(code, detail)
  }

  #complete(wireTruncated: Truncation | null): void {
    const wire = this.#wire as SpooledBody
    const { clock, options, spool } = this.#settings
    const durationMs = clock.nowMs() - this.#sentAtMs
    // The next request may use the connection while this body is still being decoded.
    const { ip, httpVersion } = this.origin
    this.#end(wireTruncated === null)
    wire.finish()
    const deliver = ({ body, decoding, isCut }: Decoded): void => {
      const document = new FetchedDocument({
        url: this.#request.url,
        requestHead: this.#requestHead,
        httpVersion,
        status: this.#status,
        statusText: this.#statusText,
        rawHeaders: this.#rawHeaders,
        contentType: this.#contentType,
        wire,
        body,
        decoding,
        truncated: wireTruncated ?? (isCut ? 'length' : null),
        wireTruncated,
        fetchedAtMs: this.#sentAtWallMs,
        firstByteMs: this.#firstByteAtMs - this.#sentAtMs,
        durationMs,
        ip,
      })
      this.#settle({ kind: 'fetched', document })
    }
    try {
      const codings = parseCodings(headerValues(this.#rawHeaders, 'content-encoding'))
      const lengthMax = Math.min(options.decodedMax, Math.max(options.ratioFrom, wire.length * options.ratioMax))
      const decoded = decodeContent(wire, codings, spool, lengthMax, wireTruncated === null)
      if (decoded instanceof Promise) decoded.then(deliver).catch((fault: unknown) => this.#break(fault))
      else deliver(decoded)
    } catch (fault) {
      this.#break(fault)
    }
  }

  #fail(code: FailureCode, detail: string): void {
    if (this.#phase === 'settled') return
    const durationMs = this.#settings.clock.nowMs() - this.#startedAtMs
    this.#end(false)
    this.#wire?.release()
    this.#settle({ kind: 'failed', code, detail, durationMs })
  }

  #skip(reason: SkipReason, detail: string): void {
    this.#end(false)
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
    if (!isConnectionGood) this.#controller?.abort(ENDED)
    this.#onSettled(this, isConnectionGood)
  }

  #settle(outcome: FetchOutcome): void {
    const resolve = this.#resolve
    this.#resolve = null
    resolve?.(outcome)
  }
}

/** Undici's raw headers are views of what came off the socket; as strings they let go of it. */
function textsOf(raw: readonly Buffer[]): string[] {
  const texts: string[] = []
  for (const part of raw) texts.push(part.toString('latin1'))
  return texts
}
