// A connection whose bytes are awaited, line by line or poured into a body: for protocols that talk in turns (FTP, Gopher)
// and are not worth a state machine of their own.
//
//   socket ─▶ receive ─▶ pending ─▶ line()
//                   └──────────────▶ pour(), straight into the body
//
// Always true: what is pending is bounded; who waits is told once, with what came, the end, or why not; after break()
// everything rejects with its reason.

import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { SpooledBody, Truncation } from '../document/index.ts'
import { TalkEnd } from './talk-end.ts'

/** What comes before it is listened to is let in up to here, and one read more. */
const PENDING_BYTES_MAX = 64 * 1024

/** Enough for a line with a dot alone. */
const TAIL_BYTES = 4

const LF = 10
const CR = 13

export class Wire {
  /** The other end. */
  ip = ''
  /** The last bytes that were poured. */
  tail = ''
  /** Called as bytes come. */
  onBytes: () => void = () => undefined
  #socket: Socket | null = null
  #pending: Buffer = Buffer.alloc(0)
  #isEnded = false
  #broken: Error | null = null
  #wake: (() => void) | null = null
  #body: SpooledBody | null = null
  /** Why no more goes into the body. */
  #cut: Truncation | null = null

  /** What the connector made; bytes may have come before. */
  attach(socket: Socket, ip: string): void {
    this.ip = ip
    this.#socket = socket
    this.#watch(socket)
  }

  /** False once nothing can come any more. */
  get isOpen(): boolean {
    return !this.#isEnded && this.#broken === null
  }

  /** Something came that nobody asked for. */
  get hasPending(): boolean {
    return this.#pending.length > 0
  }

  /** Of a secure connection: what a second one to the same server may go on with. */
  get session(): Buffer | undefined {
    const socket = this.#socket as Partial<TLSSocket> | null
    return socket?.getSession?.() ?? undefined
  }

  readonly receive = (bytes: Buffer, length: number): void => {
    this.onBytes()
    if (this.#body !== null) this.#append(bytes, length)
    else {
      this.#pending = Buffer.concat([this.#pending, bytes.subarray(0, length)])
      // Data may come before we have heard that it will.
      if (this.#pending.length > PENDING_BYTES_MAX) this.#socket?.pause()
    }
    this.#notify()
  }

  /** TLS from here on, over the same connection; `secure` wraps the socket. Resolves when the handshake is done. */
  async upgrade(secure: (socket: Socket) => TLSSocket): Promise<void> {
    const plain = this.#socket as Socket
    plain.removeAllListeners('data')
    plain.removeAllListeners('end')
    // What was said in the clear after TLS was agreed on is somebody's attempt to slip words in (CVE-2011-0411).
    if (this.#pending.length > 0) throw new TalkEnd('FETCH_HEAD_MALFORMED', 'words in the clear before TLS began')
    const secured = secure(plain)
    this.#socket = secured
    this.#watch(secured)
    secured.on('data', (piece: Buffer) => this.receive(piece, piece.length))
    const handshake = { isDone: false }
    secured.once('secureConnect', () => {
      handshake.isDone = true
      this.#notify()
    })
    while (!handshake.isDone) {
      this.#check()
      if (this.#isEnded) throw new TalkEnd('FETCH_TLS_FAILED', 'closed during the TLS handshake')
      await this.#more()
    }
  }

  write(text: string): void {
    this.#check()
    this.#socket?.write(text, 'latin1')
  }

  /** The next line without its end, one character per byte; null when the other side has closed before one came. */
  async line(lengthMax: number): Promise<string | null> {
    for (;;) {
      const end = this.#pending.indexOf(LF)
      if (end > lengthMax || (end === -1 && this.#pending.length > lengthMax)) {
        throw new TalkEnd('FETCH_HEAD_TOO_LONG', `a line of more than ${lengthMax} bytes`)
      }
      if (end !== -1) {
        const line = this.#pending.toString('latin1', 0, this.#pending[end - 1] === CR ? end - 1 : end)
        this.#pending = this.#pending.subarray(end + 1)
        return line
      }
      this.#check()
      if (this.#isEnded) return null
      await this.#more()
    }
  }

  /** All that comes until the other side closes, into a body. Why not all of it, or null. */
  async pour(body: SpooledBody): Promise<Truncation | null> {
    const early = this.#pending
    this.#pending = Buffer.alloc(0)
    this.#body = body
    this.#append(early, early.length)
    for (;;) {
      if (this.#cut !== null) return this.#cut
      this.#check()
      if (this.#isEnded) return null
      await this.#more()
    }
  }

  /** Ends pour(): what came is kept. */
  cut(why: Truncation): void {
    this.#cut ??= why
    this.#notify()
  }

  /** Destroys the connection; whoever waits is told why. */
  break(reason: Error): void {
    this.#broken ??= reason
    this.#socket?.destroy()
    this.#notify()
  }

  /** Destroys the connection and resolves when it is closed. */
  close(): Promise<void> {
    const socket = this.#socket
    this.#isEnded = true
    this.#notify()
    if (socket === null || socket.closed) return Promise.resolve()
    socket.destroy()
    return new Promise((resolve) => socket.once('close', () => resolve()))
  }

  #append(bytes: Buffer, length: number): void {
    if (this.#cut !== null || this.#broken !== null || length === 0) return
    this.tail = (this.tail + bytes.toString('latin1', Math.max(0, length - TAIL_BYTES), length)).slice(-TAIL_BYTES)
    try {
      if (this.#body !== null && this.#body.appendCopy(bytes, 0, length) < length) this.#cut = 'length'
    } catch (fault) {
      // Our disk, not the web.
      this.break(fault as Error)
    }
  }

  #watch(socket: Socket): void {
    socket.on('error', (error) => this.break(error))
    const onEnd = (): void => {
      this.#isEnded = true
      this.#notify()
    }
    socket.on('end', onEnd)
    socket.on('close', onEnd)
  }

  #check(): void {
    if (this.#broken !== null) throw this.#broken
  }

  #more(): Promise<void> {
    this.#socket?.resume()
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  #notify(): void {
    const wake = this.#wake
    this.#wake = null
    wake?.()
  }
}
