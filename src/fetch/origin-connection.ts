// One connection to one origin, from the attempt to make it to its end: asks one thing at a time.
//
//   connecting ─▶ busy ─▶ idle ─▶ busy … ─▶ destroyed
//
// It is worth keeping only while every answer came to its own end and nothing came that was not asked
// for. Whoever owns it (`connection-pool.ts`) destroys it; it says when that is due.
// hot: receive() is called for each piece that comes off the socket.

import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Clock, ClockMs } from '../base/index.ts'
import type { Address } from '../dns/index.ts'
import { AnswerReader } from './answer-reader.ts'
import type { Asker } from './asker.ts'
import type { Complaint } from './answer-head.ts'
import { type ConnectAttempt, ConnectError, type Connector, type Target } from './connector.ts'
import type { Timed } from './deadline-sweep.ts'
import type { HttpVersions } from './http-versions.ts'
import type { Http2Session } from './http2-session.ts'
import type { Outbox, Sender } from './outbox.ts'
import type { RequestHead } from './request-head.ts'

export interface ConnectionSettings {
  readonly connector: Connector
  readonly clock: Clock
  readonly headMax: number
  readonly keepAliveMs: number
  readonly versions: HttpVersions
  readonly outbox: Outbox
}

export class OriginConnection implements Timed, Sender {
  readonly origin: string
  /** As in URLs: an IPv6 literal has brackets. */
  readonly host: string
  readonly head: RequestHead
  /** The other end, '' while there is none. */
  ip = ''
  readonly #settings: ConnectionSettings
  readonly #target: Target
  readonly #reader: AnswerReader
  /** Idle and of no more use: closed by the server, or idle for too long. */
  readonly #onUseless: (connection: OriginConnection) => void
  #attempt: ConnectAttempt | null = null
  #socket: Socket | null = null
  /** Over the socket, where the server chose HTTP/2: then it is read there and not here. */
  #http2: Http2Session | null = null
  #asker: Asker | null = null
  /** The asker's request waits in the outbox. */
  #isPosted = false
  #idleUntilMs = 0

  constructor(
    origin: string,
    host: string,
    target: Target,
    head: RequestHead,
    settings: ConnectionSettings,
    onUseless: (connection: OriginConnection) => void,
  ) {
    this.origin = origin
    this.host = host
    this.head = head
    this.#target = target
    this.#settings = settings
    this.#reader = new AnswerReader(settings.headMax)
    this.#onUseless = onUseless
  }

  get isBusy(): boolean {
    return this.#asker !== null
  }

  /** Whether an idle connection is to be asked again; the sweep may be late. */
  isFresh(nowMs: ClockMs): boolean {
    return nowMs < this.#idleUntilMs && (this.#http2 === null || (this.#http2.isOpen && this.#http2.noise === null))
  }

  check(nowMs: ClockMs): void {
    if (this.#asker !== null) this.#asker.check(nowMs)
    else if (!this.isFresh(nowMs)) this.#onUseless(this)
  }

  excuse(lateMs: number): void {
    this.#asker?.excuse?.(lateMs)
  }

  /** Calls off what is asked here; for a signal, only what is asked for it. */
  abort(signal: AbortSignal | null): void {
    const asker = this.#asker
    if (asker !== null && (signal === null || asker.signal === signal)) asker.abort()
  }

  /** What comes beside the answer is too much. */
  get noise(): Complaint | null {
    return this.#http2 === null ? null : this.#http2.noise
  }

  /** A request that goes, or went, over this connection, as it is written down. */
  recorded(requestHead: string): string {
    return this.#http2 === null ? requestHead : this.#http2.recorded(requestHead)
  }

  /** Asks over the connection there is, or makes one first. */
  ask(asker: Asker, addresses: readonly Address[]): void {
    this.#asker = asker
    if (this.#http2 !== null) return this.#http2.ask(asker)
    if (this.#socket !== null) return this.#post(asker)
    this.#attempt = this.#settings.connector.connect(this.#target, addresses, this.#receive, (result) => {
      this.#attempt = null
      if (result instanceof ConnectError) return asker.onConnectError(result)
      this.ip = result.ip
      this.#socket = result.socket
      if (result.http2 !== null) return this.#speakHttp2(result.http2).ask(asker)
      this.#watch(result.socket)
      this.#post(asker)
    })
    asker.onConnecting()
  }

  /** The address being connected to took too long. */
  timeOut(): void {
    this.#attempt?.timeOut()
  }

  /**
   * The asker has what it wants; `keepMs` is how long the server says it keeps the connection. False
   * when it is not to be kept at all.
   */
  rest(keepMs: number | null): boolean {
    this.#asker = null
    const { clock, keepAliveMs } = this.#settings
    // Not to the last moment: a request that meets the server's closing is lost.
    const restMs = keepMs === null ? keepAliveMs : Math.min(keepAliveMs, Math.max(keepMs - 1_000, keepMs / 2))
    this.#idleUntilMs = clock.nowMs() + restMs
    return restMs > 0
  }

  /** Destroys the connection, also one being made. Resolves when the socket is closed. */
  destroy(): Promise<void> {
    this.#asker = null
    this.#isPosted = false
    this.#idleUntilMs = 0
    this.#reader.stop()
    this.#attempt?.cancel()
    this.#attempt = null
    const socket = this.#socket
    this.#socket = null
    this.#http2?.destroy()
    this.#http2 = null
    if (socket === null || socket.closed) return Promise.resolve()
    socket.destroy()
    return new Promise((resolve) => socket.once('close', () => resolve()))
  }

  #speakHttp2(socket: TLSSocket): Http2Session {
    const { headMax, versions } = this.#settings
    this.#http2 = versions.speakHttp2(socket, this.origin, {
      headMax,
      onUseless: () => {
        if (this.#asker === null) this.#loseIdle()
      },
      onWantsHttp1: () => versions.wantsHttp1(this.origin),
    })
    return this.#http2
  }

  /** The request is written with those of others that are ready in the same moment. */
  #post(asker: Asker): void {
    this.#reader.expect(asker, !asker.isHead)
    this.#isPosted = true
    this.#settings.outbox.add(this)
  }

  /** Its time in the outbox is over. */
  send(): void {
    const asker = this.#asker
    if (!this.#isPosted || asker === null) return
    this.#isPosted = false
    try {
      if (asker.onSent()) this.#socket?.write(asker.requestText, 'latin1')
    } catch (error) {
      asker.onError(error as Error)
    }
  }

  #watch(socket: Socket): void {
    socket.on('error', (error) => {
      if (this.#asker !== null) this.#asker.onError(error)
      else this.#loseIdle()
    })
    socket.on('end', () => {
      if (this.#asker !== null) this.#guarded(() => this.#reader.readEnd())
      else this.#loseIdle()
    })
  }

  /** Bytes are valid during the call only. */
  readonly #receive = (bytes: Buffer, length: number): void => {
    const asker = this.#asker
    if (asker === null || this.#socket === null) return this.#loseIdle()
    // It is the answer to nothing.
    if (this.#isPosted) return asker.onBroken('FETCH_CONNECTION_LOST', 'bytes came before anything was asked')
    try {
      asker.onBytes()
      this.#reader.read(bytes, length)
    } catch (error) {
      asker.onError(error as Error)
    }
  }

  #guarded(work: () => void): void {
    const asker = this.#asker
    try {
      work()
    } catch (error) {
      asker?.onError(error as Error)
    }
  }

  #loseIdle(): void {
    if (this.#socket !== null) this.#onUseless(this)
  }
}
