// One answer off the wire, in whatever pieces it comes: interim heads, head, body, end.
//
//   head ─▶ length bytes │ chunks │ until the connection ends ─▶ over
//     └─◀ interim (100, 103): announces another head
//
// Always true: how the bytes were cut into pieces changes nothing of what the listener is told, except
// the pieces of the body; after onEnd, onBroken or a false nothing more is told; bytes are only valid
// during the call they come with.
// hot: a head that comes in one piece, as nearly all do, is read where it lies.

import type { FailureCode } from '../base/index.ts'
import { type AnswerHead, CHUNKED, Complaint, parseHead, UNTIL_CLOSE } from './answer-head.ts'
import { type BodyTaker, ChunkReader } from './chunk-reader.ts'

export interface AnswerListener extends BodyTaker {
  /** False: what follows is not wanted. */
  onHead(head: AnswerHead): boolean
  /** The answer is whole. Whether the connection may carry another. */
  onEnd(isReusable: boolean): void
  onBroken(code: FailureCode, detail: string): void
}

/** Interim answers to one request; servers send one or two. */
export const INTERIM_MAX = 20
/** Pieces of heads kept beyond this are let go of with their answer. */
const PENDING_BYTES_KEPT = 4 * 1024

const HTTP_FIRST = /^HTTP/i
const LF = 10
const CR = 13

type State = 'over' | 'head' | 'length' | 'chunks' | 'until-close'

export class AnswerReader {
  readonly #headMax: number
  readonly #chunks = new ChunkReader()
  #listener: AnswerListener | null = null
  #state: State = 'over'
  #interimCount = 0
  #isPersistent = false
  /** False for the answer to a HEAD, whatever it says. */
  #hasBody = true
  /** Bytes of the body that are missing, while its length is known. */
  #missing = 0
  /** A head that came in pieces: what there is of it. */
  #pending: Buffer = Buffer.alloc(0)
  #pendingLength = 0

  constructor(headMax: number) {
    this.#headMax = headMax
  }

  /** The next byte begins an answer. */
  expect(listener: AnswerListener, hasBody = true): void {
    this.#listener = listener
    this.#hasBody = hasBody
    this.#state = 'head'
    this.#interimCount = 0
    this.#pendingLength = 0
  }

  /** Nothing more is told. */
  stop(): void {
    this.#state = 'over'
    this.#listener = null
    if (this.#pending.length > PENDING_BYTES_KEPT) this.#pending = Buffer.alloc(0)
  }

  read(bytes: Buffer, length: number): void {
    let at = 0
    while (this.#state === 'head') {
      at = this.#readHead(bytes, at, length)
      if (at === -1) return
    }
    const listener = this.#listener
    if (listener === null) return
    switch (this.#state) {
      case 'length': {
        const end = Math.min(length, at + this.#missing)
        this.#missing -= end - at
        if (end > at && !listener.onBody(bytes, at, end)) this.stop()
        else if (this.#missing === 0) this.#end(end === length)
        return
      }
      case 'chunks':
        at = this.#chunks.read(bytes, at, length, listener)
        if (at === -1) this.#break(this.#chunks.complaint)
        else if (this.#chunks.isOver) this.#end(at === length)
        return
      default:
        if (length > at && !listener.onBody(bytes, at, length)) this.stop()
    }
  }

  /** The connection has ended as connections should. */
  readEnd(): void {
    switch (this.#state) {
      case 'over':
        return
      case 'head':
        return this.#break(new Complaint('FETCH_CONNECTION_LOST', 'the connection ended before the head did'))
      case 'until-close':
        return this.#end(false)
      case 'chunks':
        if (this.#chunks.isBodyWhole) return this.#end(false)
        return this.#break(new Complaint('FETCH_BODY_SHORT', 'the connection ended before the last chunk'))
      case 'length':
        return this.#break(new Complaint('FETCH_BODY_SHORT', `${this.#missing} bytes are missing`))
    }
  }

  /** Reads one head and returns where it ends; -1 when it is not all there, or nothing more is to be read. */
  #readHead(bytes: Buffer, start: number, end: number): number {
    let text: string
    let next: number
    if (this.#pendingLength === 0) {
      next = headEnd(bytes, start, end)
      if (next === -1) return this.#wait(bytes, start, end)
      text = bytes.toString('latin1', start, next)
    } else {
      const before = this.#pendingLength
      this.#keep(bytes, start, end)
      const found = headEnd(this.#pending, Math.max(0, before - 2), this.#pendingLength)
      if (found === -1) return this.#wait(bytes, end, end)
      text = this.#pending.toString('latin1', 0, found)
      next = start + found - before
      this.#pendingLength = 0
    }
    // Empty lines before a head are what an earlier answer left behind, and count like interim answers.
    const first = text.charCodeAt(0)
    if (first === CR || first === LF) text = text.replace(/^[\r\n]+/, '')
    if (text.length > this.#headMax && HTTP_FIRST.test(text)) return this.#tooLong()
    return this.#takeHead(text) ? next : -1
  }

  /** Whether there is more to read. */
  #takeHead(text: string): boolean {
    const head = text === '' ? null : parseHead(text)
    if (head instanceof Complaint) return this.#breakOff(head)
    if (head === null || head.status < 200) {
      if (head?.status === 101) return this.#breakOff(malformed('a change of protocol nobody asked for'))
      return ++this.#interimCount <= INTERIM_MAX || this.#breakOff(malformed('interim answers without end'))
    }
    this.#isPersistent = head.isPersistent
    this.#state = 'until-close'
    if (!this.#hasBody) {
      this.#state = 'length'
      this.#missing = 0
    } else if (head.length === CHUNKED) {
      this.#state = 'chunks'
      this.#chunks.reset()
    } else if (head.length !== UNTIL_CLOSE) {
      this.#state = 'length'
      this.#missing = head.length
    }
    if (this.#listener?.onHead(head) === true) return true
    this.stop()
    return false
  }

  /** Keeps a piece of a head, unless it is already clear that it will not become one. */
  #wait(bytes: Buffer, start: number, end: number): -1 {
    if (end > start) this.#keep(bytes, start, end)
    if (!mayBeHead(this.#pending, this.#pendingLength)) {
      const seen = JSON.stringify(this.#pending.toString('latin1', 0, Math.min(60, this.#pendingLength)))
      this.#break(malformed(`no status line: ${seen}`))
    } else if (this.#pendingLength > this.#headMax) this.#tooLong()
    return -1
  }

  #keep(bytes: Buffer, start: number, end: number): void {
    const length = this.#pendingLength + end - start
    if (length > this.#pending.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#pending.length))
      this.#pending.copy(larger, 0, 0, this.#pendingLength)
      this.#pending = larger
    }
    bytes.copy(this.#pending, this.#pendingLength, start, end)
    this.#pendingLength = length
  }

  /** Bytes behind an answer were never asked for: a connection that brings them is not trusted again. */
  #end(isAllRead: boolean): void {
    const listener = this.#listener
    this.stop()
    listener?.onEnd(isAllRead && this.#isPersistent)
  }

  #break(complaint: Complaint | null): void {
    const listener = this.#listener
    this.stop()
    if (complaint !== null) listener?.onBroken(complaint.code, complaint.detail)
  }

  #breakOff(complaint: Complaint): false {
    this.#break(complaint)
    return false
  }

  #tooLong(): -1 {
    this.#break(new Complaint('FETCH_HEAD_TOO_LONG', `more than ${this.#headMax} bytes of head`))
    return -1
  }
}

/** Behind the empty line that ends a head, or -1. */
function headEnd(bytes: Buffer, start: number, end: number): number {
  for (let at = start; at < end; at++) {
    if (bytes[at] !== LF) continue
    const next = bytes[at + 1]
    if (next === LF && at + 1 < end) return at + 2
    if (next === CR && at + 2 < end && bytes[at + 2] === LF) return at + 3
  }
  return -1
}

/** Whether bytes begin like 'HTTP', as far as there are any. Line ends may stand before it. */
function mayBeHead(bytes: Buffer, length: number): boolean {
  let at = 0
  while (at < length && (bytes[at] === CR || bytes[at] === LF)) at++
  return 'HTTP'.startsWith(bytes.toString('latin1', at, Math.min(length, at + 4)).toUpperCase())
}

function malformed(detail: string): Complaint {
  return new Complaint('FETCH_HEAD_MALFORMED', detail)
}
