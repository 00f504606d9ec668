// HTTP/2 to one origin, over a socket that the connector made (so its address is judged, its certificate too, its way through
// a proxy made): Node's reader of frames, one stream at a time, nothing pushed.
//
//   asker ─▶ ask() ─▶ stream ─▶ Http2Answer ─▶ asker
//   idle: GOAWAY, an end, noise ─▶ onUseless
//
// Memory is bounded by the window (what may come unread), the session's limit and the limit of headers. Frames that are no
// answer (pings, settings, priorities, empty data …) cost their sender its connection once there are NOISE_BYTES_MAX of them.

import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import { Complaint, HEADERS_MAX } from './answer-head.ts'
import type { Asker } from './asker.ts'
import { type Ending, Http2Answer } from './http2-answer.ts'
import { complaintOf, wantsHttp1 } from './http2-complaint.ts'
import { http2Fields, http2Text } from './http2-head.ts'

/** What a server may send before we have dealt with it. */
const WINDOW_BYTES = 256 * 1024
/** All that Node may keep for a connection. */
const SESSION_MIB_MAX = 2
/** Pseudo headers and a few more: then it is our own count that complains, by name. */
const HEADERS_READ_MAX = HEADERS_MAX + 50
/** Bytes of frames that bring no answer: settings, pings and windows of an honest server are some hundred. */
const NOISE_BYTES_MAX = 64 * 1024
/** Beside each byte of a body: nine of its frame if it comes alone, and some padding. */
const NOISE_PER_BODY_BYTE = 16

export interface Http2SessionSettings {
  readonly headMax: number
  /** Idle and of no more use. */
  readonly onUseless: () => void
  /** It answered that it wants HTTP/1.1. */
  readonly onWantsHttp1: () => void
}

export class Http2Session {
  readonly #socket: TLSSocket
  readonly #session: ClientHttp2Session
  readonly #settings: Http2SessionSettings
  #answer: Http2Answer | null = null
  /** Of the server's GOAWAY. */
  #goawayCode: number | null = null
  /** Read when the request was sent, or the last answer was over. */
  #bytesBefore = 0

  constructor(socket: TLSSocket, origin: string, settings: Http2SessionSettings) {
    this.#socket = socket
    this.#settings = settings
    const session = connect(origin, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: WINDOW_BYTES, maxHeaderListSize: settings.headMax },
      maxSessionMemory: SESSION_MIB_MAX,
      maxHeaderListPairs: HEADERS_READ_MAX,
    })
    this.#session = session
    // That of the connection is set apart from that of its streams, and would be the smaller one.
    session.setLocalWindowSize(WINDOW_BYTES)
    session.on('goaway', (code) => {
      this.#goawayCode = code
      if (wantsHttp1(code)) settings.onWantsHttp1()
      this.#loseIdle()
    })
    // A stream of the server's own is a push, which we have said we do not take.
    session.on('stream', () => this.#end())
    session.on('close', () => this.#loseIdle())
    // Its stream, if there is one, is told too.
    session.on('error', () => this.#loseIdle())
  }

  /** Whether it may be asked. */
  get isOpen(): boolean {
    return this.#goawayCode === null && !this.#session.closed && !this.#session.destroyed
  }

  /** What is wrong with what comes beside the answer, or while none is awaited. */
  get noise(): Complaint | null {
    const bodyBytes = this.#answer?.bodyBytes ?? 0
    const bytes = this.#socket.bytesRead - this.#bytesBefore - bodyBytes
    const bytesMax = NOISE_BYTES_MAX + (this.#answer === null ? 0 : this.#settings.headMax)
    if (bytes <= bytesMax + bodyBytes * NOISE_PER_BODY_BYTE) return null
    const code = this.#answer?.hasHead === true ? 'FETCH_BODY_MALFORMED' : 'FETCH_HEAD_MALFORMED'
    return new Complaint(code, `HTTP/2: more than ${bytesMax} bytes of frames that are no answer`)
  }

  ask(asker: Asker): void {
    if (!asker.onSent()) return
    this.#bytesBefore = this.#socket.bytesRead
    let stream: ClientHttp2Stream
    try {
      // A GET has no body: its head ends the stream.
      stream = this.#session.request(http2Fields(asker.requestText), { endStream: true })
    } catch (error) {
      return asker.onError(error as Error)
    }
    const answer = new Http2Answer(
      asker,
      stream,
      this.#settings.headMax,
      () => {
        this.#answer = null
        this.#bytesBefore = this.#socket.bytesRead
        asker.onEnd(this.isOpen)
      },
      (end) => this.#break(answer, end),
    )
    this.#answer = answer
  }

  recorded(requestHead: string): string {
    return http2Text(requestHead)
  }

  /** Nobody is told any more. The socket is closed by whoever owns it. */
  destroy(): void {
    this.#answer?.stop()
    this.#answer = null
    this.#session.destroy()
  }

  #break(answer: Http2Answer, end: Ending | Complaint): void {
    this.#answer = null
    const { asker } = answer
    if (end instanceof Complaint) return asker.onBroken(end.code, end.detail)
    const { error, hasHead, missing } = end
    const ownCode = error?.code ?? 'ERR_HTTP2_'
    // Of the socket or of TLS, or ours.
    if (error !== null && !ownCode.startsWith('ERR_HTTP2_')) return asker.onError(error)
    const isGoaway = this.#goawayCode !== null && this.#goawayCode !== 0
    const code = isGoaway ? (this.#goawayCode as number) : end.rstCode
    if (!isGoaway && wantsHttp1(code)) this.#settings.onWantsHttp1()
    const wireBytes = this.#socket.bytesRead - this.#bytesBefore
    const complaint = complaintOf({ code, isGoaway, error, hasHead, missing, wireBytes })
    asker.onBroken(complaint.code, complaint.detail)
  }

  #loseIdle(): void {
    if (this.#answer === null) this.#settings.onUseless()
  }

  #end(): void {
    const answer = this.#answer
    if (answer === null) return this.#settings.onUseless()
    answer.stop()
    this.#break(answer, new Complaint('FETCH_HEAD_MALFORMED', 'HTTP/2: a push nobody asked for'))
  }
}
