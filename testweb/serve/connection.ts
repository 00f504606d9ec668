// One connection: reads requests, answers them in order. Hot: this is what must not be the bottleneck.
//
// A request that arrives while an answer is outstanding waits its turn, but its start is noted when it
// arrived: pipelining on a host is asking twice at once, and must show as such in the log.

import type { Socket } from 'node:net'
import type { Clock, ClockMs } from '../../src/base/index.ts'
import type { Answer, Throttle } from '../content/answer.ts'
import { type MisdeedName, misdeedOf } from '../content/misdeeds.ts'
import type { BytePaper } from '../content/paper.ts'
import { MISDIRECTED, type Web } from '../content/web.ts'
import type { AccessLog } from '../judge/access-log.ts'
import { BEHAVIOURS } from '../nasty/behaviours.ts'
import { HEAD_CHARS_MAX, readRequest, type Request } from './request.ts'
import { httpDate, wire, type Wire, wireText } from './wire.ts'

/** What all connections of a server share. */
export interface ServerState {
  readonly web: Web
  readonly clock: Clock
  readonly log: AccessLog
  /** The time that changing pages go by; the test's to set. */
  readonly webTimeMs: () => number
  /** The one thing that is not a function of the URL: how often a throttled one was asked for. */
  readonly throttled: Map<string, number>
  /** Shared by all connections, and replaced when the kernel did not take all of it at once. */
  paper: BytePaper
}

/** No number of a request. */
const NONE = -1

export class Connection {
  readonly #socket: Socket
  readonly #state: ServerState
  readonly #id: number
  readonly #scheme: 'http' | 'https'
  readonly #ip: string
  /** Bytes not yet read as requests, from #at on. */
  #text = ''
  #at = 0
  #arrivedMs = 0
  /** An answer is waiting for its time or for the socket to drain. */
  #isBusy = false
  #cancelTimer: (() => void) | null = null
  /** The request whose answer is on its way, by its number in the log. */
  #open = NONE

  constructor(socket: Socket, state: ServerState, id: number, scheme: 'http' | 'https', ip: string) {
    this.#socket = socket
    this.#state = state
    this.#id = id
    this.#scheme = scheme
    this.#ip = ip
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    // Clients of tests leave abruptly; that is their right.
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      this.#cancelTimer?.()
      // The client left before its answer was sent: with that the request is over.
      if (this.#open !== NONE) this.#end(this.#open, state.clock.nowMs(), 0)
    })
  }

  #receive(chunk: Buffer): void {
    this.#arrivedMs = this.#state.clock.nowMs()
    const text = chunk.toString('latin1')
    this.#text = this.#at >= this.#text.length ? text : this.#text.slice(this.#at) + text
    this.#at = 0
    if (this.#isBusy) {
      // Enough is enough: a client that only sends is not read from until it reads.
      if (this.#text.length > HEAD_CHARS_MAX) this.#socket.pause()
    } else this.#serve()
  }

  #serve(): void {
    while (!this.#isBusy && this.#at < this.#text.length) {
      const request = readRequest(this.#text, this.#at)
      if (request === 'partial') {
        if (this.#text.length - this.#at > HEAD_CHARS_MAX) this.#refuse(431)
        return
      }
      if (request === 'bad') {
        this.#refuse(400)
        return
      }
      if (request.end > this.#text.length && request.bodyBytes > 0) return
      this.#at = request.end
      this.#handle(request)
    }
  }

  #handle(request: Request): void {
    const { web, clock, log } = this.#state
    const name = request.host ?? this.#ip
    const entry = log.begin(this.#arrivedMs, name, this.#ip, this.#id, this.#scheme === 'https', request.path)
    this.#open = entry
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      this.#send(wireText(405, 'Only GET and HEAD.\n', 'Allow: GET, HEAD\r\n', this.#date(), true), entry)
      return
    }
    const host = web.hosts.find(name)
    const answer = host === null ? MISDIRECTED : web.answer(host, this.#scheme, request.path, this.#state.webTimeMs())
    const { delivery } = answer
    const delayMs = delivery.firstByteMs + web.options.latencyMs
    if (delayMs === 0) {
      this.#answer(answer, request, name, entry)
      return
    }
    this.#isBusy = true
    this.#cancelTimer = clock.callAt((clock.nowMs() + delayMs) as ClockMs, () => {
      this.#cancelTimer = null
      this.#isBusy = false
      this.#answer(answer, request, name, entry)
      this.#goOn()
    })
  }

  #answer(answer: Answer, request: Request, name: string, entry: number): void {
    const { breakage, misdeed, throttle } = answer.delivery
    if (misdeed !== null) {
      this.#misbehave(misdeed, request, name, entry)
      return
    }
    if (breakage === 'lost') {
      this.#end(entry, this.#state.clock.nowMs(), 0)
      this.#isBusy = true
      this.#socket.resetAndDestroy()
      return
    }
    if (throttle !== null && this.#isThrottled(throttle, `${this.#scheme}://${name}${request.path}`)) {
      this.#send(this.#throttleWire(throttle, request), entry)
    } else this.#send(wire(answer, request, this.#date(), this.#state.paper), entry)
  }

  /** Hands the socket over. The request ends now for the log: whoever gives up on it must not be blamed for our going on. */
  #misbehave(misdeed: MisdeedName, request: Request, name: string, entry: number): void {
    const { clock, web } = this.#state
    this.#end(entry, clock.nowMs(), 0)
    if (!misdeedOf(misdeed).goesOn) this.#isBusy = true
    const home = web.hosts.find(name)?.origin ?? ''
    const { method, path } = request
    const socket = this.#socket
    BEHAVIOURS.get(misdeed)?.act({ socket, raw: socket, method, path, home, plainHome: home, clock })
  }

  /** Counts the request. The same URL is refused `times` times, however long ago, until the counter is reset. */
  #isThrottled(throttle: Throttle, key: string): boolean {
    const { throttled } = this.#state
    const count = throttled.get(key) ?? 0
    throttled.set(key, count + 1)
    return count < throttle.times
  }

  #throttleWire(throttle: Throttle, request: Request): Wire {
    let headers = ''
    if (throttle.retryAfter === 'seconds') headers = `Retry-After: ${Math.ceil(throttle.seconds)}\r\n`
    else if (throttle.retryAfter === 'date') {
      // Dates have whole seconds: rounded up, so that the pause is never shorter than asked for.
      const untilMs = Math.ceil((this.#state.clock.wallMs() + throttle.seconds * 1_000) / 1_000) * 1_000
      headers = `Retry-After: ${httpDate(untilMs)}\r\n`
    }
    return wireText(throttle.status, 'Not so fast.\n', headers, this.#date(), request.connection === 'close')
  }

  #send({ bytes, status, isLast }: Wire, entry: number): void {
    const { clock, web } = this.#state
    const socket = this.#socket
    // Before the write: the kernel may give the bytes to the client before write() returns, and a
    // client must not be blamed for our being slow to look at the clock.
    const endMs = clock.nowMs()
    socket.write(bytes)
    if (socket.writableLength > 0) this.#state.paper = web.newPaper()
    if (isLast) {
      this.#isBusy = true
      if (socket.writableLength === 0) this.#end(entry, endMs, status)
      else socket.once('finish', () => this.#end(entry, clock.nowMs(), status))
      socket.end()
      return
    }
    if (socket.writableLength === 0) {
      this.#end(entry, endMs, status)
      return
    }
    // The kernel took only part of it: the answer ends when the rest is gone.
    this.#isBusy = true
    socket.write('', () => {
      this.#end(entry, clock.nowMs(), status)
      this.#isBusy = false
      this.#goOn()
    })
  }

  #end(entry: number, endMs: number, status: number): void {
    if (this.#open === entry) this.#open = NONE
    this.#state.log.end(entry, endMs, status)
  }

  #goOn(): void {
    if (this.#socket.isPaused()) this.#socket.resume()
    if (!this.#socket.destroyed) this.#serve()
  }

  #refuse(status: 400 | 431): void {
    const entry = this.#state.log.begin(this.#arrivedMs, '', this.#ip, this.#id, this.#scheme === 'https', '')
    this.#text = ''
    this.#send(wireText(status, 'Not a request.\n', '', this.#date(), true), entry)
  }

  #date(): string {
    return httpDate(this.#state.clock.wallMs())
  }
}
