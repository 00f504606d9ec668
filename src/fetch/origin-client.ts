// One origin's connection: an undici Client, what it needs to connect, and what it has connected to.
//
// hot: read() is called for each piece that comes off the socket and looks at eight bytes per answer.

import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { Client } from 'undici'
import type { Address } from '../dns/index.ts'
import { type ConnectAttempt, ConnectError, type Connector, type Target } from './connector.ts'
import type { RequestHead } from './request-head.ts'

export interface OriginLimits {
  readonly headMax: number
  readonly keepAliveMs: number
}

/** Where the minor version stands in 'HTTP/1.1 200 OK'. */
const MINOR_VERSION_AT = 7
const DIGIT_ZERO = 0x30

export class OriginClient {
  readonly origin: string
  /** As in URLs: an IPv6 literal has brackets. */
  readonly host: string
  readonly client: Client
  readonly head: RequestHead
  /** Where the next connection may go; set with each request. */
  addresses: readonly Address[] = []
  /** Where the last connection went, '' before the first. */
  ip = ''
  /** The connection being made. */
  attempt: ConnectAttempt | null = null
  /** Requests dispatched and not settled: 0 or 1 unless a caller breaks the rule. */
  busyCount = 0
  /** The request under way, which wants to know when a connection attempt begins. */
  current: { connecting(): void } | null = null
  /** Of the answer under way; undici's parser knows it and does not tell. */
  httpVersion: '1.0' | '1.1' = '1.1'
  #answerBytes = 0

  constructor(
    origin: string,
    host: string,
    target: Target,
    connector: Connector,
    head: RequestHead,
    limits: OriginLimits,
  ) {
    this.origin = origin
    this.host = host
    this.head = head
    this.client = new Client(origin, {
      pipelining: 1,
      maxHeaderSize: limits.headMax,
      // All deadlines are watched by DeadlineSweep, with one timer for all requests.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: Math.max(1, limits.keepAliveMs),
      keepAliveMaxTimeout: Math.max(1, limits.keepAliveMs),
      connect: (_options, callback) => {
        this.ip = ''
        this.attempt = connector.connect(target, this.addresses, (result) => {
          this.attempt = null
          if (result instanceof ConnectError) return callback(result, null)
          this.ip = result.ip
          this.#watch(result.socket)
          callback(null, result.socket)
        })
        this.current?.connecting()
      },
    })
    // Without a listener an error undici has no request for would end the process.
    ;(this.client as EventEmitter).on('error', () => undefined)
  }

  /** A request goes out; what comes off the socket next begins its answer. */
  expectAnswer(): void {
    this.#answerBytes = 0
    this.httpVersion = '1.1'
  }

  /** Destroys the connection, also one being made. Resolves when the socket is closed. */
  destroy(): Promise<void> {
    this.attempt?.cancel()
    this.attempt = null
    return this.client.destroy()
  }

  #watch(socket: Socket): void {
    const read: (size?: number) => Buffer | null = socket.read.bind(socket)
    socket.read = (size?: number) => {
      const piece = read(size)
      if (piece !== null && this.#answerBytes <= MINOR_VERSION_AT) {
        const at = MINOR_VERSION_AT - this.#answerBytes
        if (piece[at] === DIGIT_ZERO) this.httpVersion = '1.0'
        this.#answerBytes += piece.length
      }
      return piece
    }
  }
}
