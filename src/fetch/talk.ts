// One request of a protocol that talks in turns, from asking to outcome: the connections it uses, its deadlines, its
// end. What exchange.ts is to HTTP, for protocols whose modules are written as they are read, with await.
//
//   connect ─▶ head (each thing asked for has its time) ─▶ body ─▶ document
//      └───────────┴── deadline, abort, error ──────────────┴─▶ TalkEnd, thrown where the module waits
//
// Always true: whatever ends a talk early destroys the connections it uses; in the body, running out of time keeps what
// came, as with HTTP.

import { type Clock, type ClockMs, FAILURES, type FailureCode, Fault, type SkipReason } from '../base/index.ts'
import type { Address } from '../dns/index.ts'
import { FetchedDocument, type Spool, SpooledBody, type Truncation } from '../document/index.ts'
import { AbortWatch } from './abort-watch.ts'
import { detailOf, failureOf } from './classify-error.ts'
import { type ConnectAttempt, ConnectError, type Connector, type Target } from './connector.ts'
import { DeadlineSweep, type Timed } from './deadline-sweep.ts'
import type { FetchOutcome, FetchRequest } from './fetcher.ts'
import type { FetchOptions } from './options.ts'
import { TalkEnd } from './talk-end.ts'
import { TypeFilter } from './type-filter.ts'
import { Wire } from './wire.ts'

/** What a document is besides its body. */
export interface DocumentLabel {
  readonly status: number
  readonly statusText: string
  readonly mediaType: string | null
  /** What the protocol tells beside the body, named as HTTP names it: [name, value …]. */
  readonly rawHeaders: readonly string[]
  /** What was said on the way, passwords withheld. */
  readonly conversation: string
}

/** What all talks of a module share. */
export class Talks {
  readonly options: FetchOptions
  readonly clock: Clock
  readonly spool: Spool
  readonly connector: Connector
  readonly #filter: TypeFilter
  readonly #sweep: DeadlineSweep<Talk>
  readonly #aborts = new AbortWatch((signal) => {
    for (const talk of this.#sweep.values()) if (talk.signal === signal) talk.abort()
  })
  #isClosed = false

  constructor(options: FetchOptions, spool: Spool, clock: Clock, connector: Connector) {
    this.options = options
    this.clock = clock
    this.spool = spool
    this.connector = connector
    this.#filter = new TypeFilter(options.acceptTypes, options.rejectTypes)
    this.#sweep = new DeadlineSweep(clock)
  }

  get underWay(): number {
    return this.#sweep.size
  }

  /** Whether a page of a type is wanted. */
  wants(mediaType: string | null): boolean {
    return this.#filter.wants(mediaType)
  }

  /** Runs one request. What is thrown by its name is its outcome; anything else is a Fault. */
  async run(
    request: FetchRequest,
    signal: AbortSignal,
    work: (talk: Talk) => Promise<FetchedDocument>,
  ): Promise<FetchOutcome> {
    if (this.#isClosed || signal.aborted) {
      return { kind: 'failed', code: 'FETCH_CONNECTION_LOST', detail: 'stopped', durationMs: 0 }
    }
    const talk = new Talk(this, request, signal)
    this.#sweep.add(talk)
    this.#aborts.watch(signal)
    try {
      return { kind: 'fetched', document: await work(talk) }
    } catch (error) {
      return talk.outcomeOf(error)
    } finally {
      this.#sweep.remove(talk)
    }
  }

  /** Ends what is under way. */
  close(): void {
    this.#isClosed = true
    for (const talk of this.#sweep.values()) talk.abort()
    this.#sweep.close()
  }
}

export class Talk implements Timed {
  readonly request: FetchRequest
  readonly signal: AbortSignal
  readonly #talks: Talks
  readonly #startedAtMs: ClockMs
  readonly #startedWallMs: number
  #phase: 'connect' | 'head' | 'body' = 'connect'
  /** Time of ours that is not held against the server. */
  #excusedMs = 0
  #movedAtMs: ClockMs
  #firstByteAtMs: ClockMs | null = null
  #lastByteAtMs: ClockMs
  #attempt: ConnectAttempt | null = null
  #failConnecting: ((end: TalkEnd) => void) | null = null
  readonly #wires = new Set<Wire>()
  #pouring: Wire | null = null
  #isEnd: (tail: string) => boolean = () => false
  #body: SpooledBody | null = null
  #end: TalkEnd | null = null

  constructor(talks: Talks, request: FetchRequest, signal: AbortSignal) {
    this.#talks = talks
    this.request = request
    this.signal = signal
    this.#startedAtMs = talks.clock.nowMs()
    this.#startedWallMs = talks.clock.wallMs()
    this.#movedAtMs = this.#startedAtMs
    this.#lastByteAtMs = this.#startedAtMs
  }

  async connect(target: Target, addresses: readonly Address[]): Promise<Wire> {
    this.#check()
    this.#enter('connect')
    const wire = new Wire()
    const connected = await new Promise<{ socket: Parameters<Wire['attach']>[0]; ip: string }>((resolve, reject) => {
      this.#failConnecting = reject
      this.#attempt = this.#talks.connector.connect(target, addresses, wire.receive, (result) => {
        if (result instanceof ConnectError) reject(new TalkEnd(result.code, result.detail))
        else resolve(result)
      })
    }).finally(() => {
      this.#attempt = null
      this.#failConnecting = null
    })
    wire.attach(connected.socket, connected.ip)
    this.use(wire)
    this.ask()
    return wire
  }

  /** A connection that ends when the talk ends early. */
  use(wire: Wire): void {
    this.#wires.add(wire)
    wire.onBytes = () => this.#moved()
    if (this.#end !== null) wire.break(this.#end)
  }

  /** The connection outlives the talk, or is closed. */
  leave(wire: Wire): void {
    this.#wires.delete(wire)
    wire.onBytes = () => undefined
  }

  /** Something was asked for: its answer has its own time. */
  ask(): void {
    this.#check()
    this.#enter('head')
  }

  /** TLS begins, and has the time of connecting. */
  secure(): void {
    this.#check()
    this.#enter('connect')
  }

  /**
   * All a connection has to give. The body is the document's, or released when there will be none. `isEnd` tells from the last
   * bytes that nothing is missing: for servers that leave the closing to us.
   */
  async pour(
    wire: Wire,
    isEnd: (tail: string) => boolean = () => false,
  ): Promise<{ body: SpooledBody; truncated: Truncation | null }> {
    this.#check()
    const { options, spool } = this.#talks
    const body = new SpooledBody(spool, this.request.purpose === 'page' ? options.bodyMax : options.robotsMax, 0)
    this.#body = body
    this.#enter('body')
    this.#pouring = wire
    this.#isEnd = isEnd
    const truncated = await wire.pour(body).catch((error: unknown) => this.#breakOff(error))
    this.#pouring = null
    body.finish()
    return { body, truncated: truncated === 'time' && isEnd(wire.tail) ? null : truncated }
  }

  /** A body that was not poured: what is known already. */
  bodyOf(bytes: Uint8Array): SpooledBody {
    this.#body = new SpooledBody(this.#talks.spool, bytes.length)
    this.#body.append(bytes)
    this.#body.finish()
    return this.#body
  }

  document(body: SpooledBody, truncated: Truncation | null, ip: string, label: DocumentLabel): FetchedDocument {
    const { clock } = this.#talks
    const endMs = truncated === 'time' ? clock.nowMs() : this.#lastByteAtMs
    this.#body = null
    return new FetchedDocument({
      url: this.request.url,
      requestHead: label.conversation,
      httpVersion: null,
      status: label.status,
      statusText: label.statusText,
      rawHeaders: label.rawHeaders,
      responseHead: null,
      contentType: label.mediaType === null ? null : { mediaType: label.mediaType, charset: null },
      wire: body,
      body,
      decoding: 'none',
      truncated,
      wireTruncated: truncated,
      fetchedAtMs: this.#startedWallMs,
      firstByteMs: (this.#firstByteAtMs ?? endMs) - this.#startedAtMs,
      durationMs: endMs - this.#startedAtMs,
      ip,
    })
  }

  check(nowMs: ClockMs): void {
    const { options } = this.#talks
    const idleMs = nowMs - this.#movedAtMs
    if (nowMs - this.#startedAtMs - this.#excusedMs >= options.requestTimeout) {
      if (this.#pouring !== null) this.#pouring.cut('time')
      else this.#stop('FETCH_TIMEOUT', 'no complete answer in time')
    } else if (this.#phase === 'connect' && idleMs >= options.connectTimeout) {
      this.#movedAtMs = nowMs
      if (this.#attempt !== null) this.#attempt.timeOut()
      else this.#stop('FETCH_CONNECT_TIMEOUT', 'no TLS handshake in time')
    } else if (this.#phase === 'head' && idleMs >= options.headTimeout) {
      this.#stop('FETCH_HEAD_TIMEOUT', 'no answer in time')
    } else if (this.#phase === 'body' && idleMs >= options.stallTimeout) {
      if (this.#pouring !== null && this.#isEnd(this.#pouring.tail)) return this.#pouring.cut('time')
      this.#stop('FETCH_BODY_STALLED', `the body stopped after ${this.#body?.length ?? 0} bytes`)
    }
  }

  excuse(lateMs: number): void {
    this.#excusedMs += lateMs
    this.#movedAtMs = (this.#movedAtMs + lateMs) as ClockMs
  }

  abort(): void {
    this.#stop('FETCH_CONNECTION_LOST', 'stopped')
  }

  outcomeOf(error: unknown): FetchOutcome {
    this.#body?.release()
    for (const wire of this.#wires) void wire.close()
    let end: TalkEnd
    if (error instanceof TalkEnd) end = error
    else if (error instanceof Fault || !(error instanceof Error)) throw error
    else end = new TalkEnd(failureOf(error, this.#phase === 'connect' ? 'tls' : this.#phase), detailOf(error))
    const { code, detail } = end
    if (!isFailure(code)) return { kind: 'skipped', reason: code, detail }
    return { kind: 'failed', code, detail, durationMs: this.#talks.clock.nowMs() - this.#startedAtMs }
  }

  /** A body that ended too soon: a failure, unless half of it is asked for. */
  #breakOff(error: unknown): Truncation {
    const isOurs = error instanceof Fault || !(error instanceof Error)
    const isStopped = error instanceof TalkEnd && error.code === 'FETCH_CONNECTION_LOST'
    if (isOurs || isStopped || !this.request.acceptPartial) throw error
    return error instanceof TalkEnd ? 'time' : 'disconnect'
  }

  #enter(phase: 'connect' | 'head' | 'body'): void {
    this.#phase = phase
    this.#movedAtMs = this.#talks.clock.nowMs()
  }

  #moved(): void {
    const nowMs = this.#talks.clock.nowMs()
    this.#firstByteAtMs ??= nowMs
    this.#lastByteAtMs = nowMs
    // An answer has its time as a whole, so its pieces do not count as moving.
    if (this.#phase === 'body') this.#movedAtMs = nowMs
  }

  #stop(code: FailureCode, detail: string): void {
    if (this.#end !== null) return
    this.#end = new TalkEnd(code, detail)
    this.#attempt?.cancel()
    this.#failConnecting?.(this.#end)
    for (const wire of this.#wires) wire.break(this.#end)
  }

  #check(): void {
    if (this.#end !== null) throw this.#end
  }
}

function isFailure(code: FailureCode | SkipReason): code is FailureCode {
  return code in FAILURES
}
