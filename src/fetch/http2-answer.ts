// One answer over HTTP/2: a stream, told to its asker as an answer over HTTP/1.1 would be.
//
//   interim heads ─▶ head ─▶ body ─▶ (trailers) ─▶ end of the stream
//
// Always true: the asker is told of one end, and of nothing after it; only a stream that the server itself has ended is
// whole. A stream that was reset looks whole to Node (it emits 'end' all the same), so the end is taken from where it differs:
// see `#hearEnd`.

import type { ClientHttp2Stream } from 'node:http2'
import { type AnswerHead, Complaint } from './answer-head.ts'
import { INTERIM_MAX } from './answer-reader.ts'
import type { Asker } from './asker.ts'
import { answerHeadOf } from './http2-head.ts'

const END_STREAM = 1

/** How a stream ended; the session knows the rest. */
export interface Ending {
  readonly rstCode: number
  readonly error: NodeJS.ErrnoException | null
  readonly hasHead: boolean
  readonly missing: number
}

export class Http2Answer {
  readonly asker: Asker
  /** Of the body, so far. */
  bodyBytes = 0
  readonly #stream: ClientHttp2Stream
  readonly #headMax: number
  /** The answer is whole. */
  readonly #onWhole: () => void
  /** It will not be. */
  readonly #onBroken: (end: Ending | Complaint) => void
  #isOver = false
  #isEnded = false
  #interimCount = 0
  #head: AnswerHead | null = null
  #error: NodeJS.ErrnoException | null = null

  constructor(
    asker: Asker,
    stream: ClientHttp2Stream,
    headMax: number,
    onWhole: () => void,
    onBroken: (end: Ending | Complaint) => void,
  ) {
    this.asker = asker
    this.#stream = stream
    this.#headMax = headMax
    this.#onWhole = onWhole
    this.#onBroken = onBroken
    this.#hearEnd(stream)
    stream.on('headers', () => this.#guarded(() => this.#takeInterim()))
    stream.on('response', (headers, flags, fields) =>
      this.#guarded(() => this.#takeHead(headers[':status'] ?? 0, flags, fields)),
    )
    stream.on('data', (piece: Buffer) => this.#guarded(() => this.#takeBody(piece)))
    stream.on('end', () => this.#guarded(() => this.#takeEnd()))
    stream.on('error', (error) => (this.#error = error))
    stream.on('close', () => this.#guarded(() => this.#takeClose()))
  }

  get hasHead(): boolean {
    return this.#head !== null
  }

  /** Nothing more is told. */
  stop(): void {
    this.#isOver = true
  }

  /**
   * Node pushes the end of the body while the stream is open when the server has said that it ends there, and when the
   * stream is closed in all other cases: a reset without an error would else be a whole page.
   */
  #hearEnd(stream: ClientHttp2Stream): void {
    const push = stream.push.bind(stream)
    stream.push = (piece: unknown, encoding?: BufferEncoding): boolean => {
      if (piece === null && !stream.closed) this.#isEnded = true
      return push(piece, encoding)
    }
  }

  #takeInterim(): void {
    this.asker.onBytes()
    if (++this.#interimCount <= INTERIM_MAX) return
    this.#break(new Complaint('FETCH_HEAD_MALFORMED', 'interim answers without end'))
  }

  #takeHead(status: number, flags: number, fields: readonly string[]): void {
    this.asker.onBytes()
    const head = answerHeadOf(status, fields, this.#headMax)
    if (head instanceof Complaint) return this.#break(head)
    this.#head = head
    if ((flags & END_STREAM) !== 0) this.#isEnded = true
    if (!this.asker.onHead(head)) this.stop()
  }

  #takeBody(piece: Buffer): void {
    this.bodyBytes += piece.length
    this.asker.onBytes()
    if (!this.asker.onBody(piece, 0, piece.length)) this.stop()
  }

  #takeEnd(): void {
    if (!this.#isEnded || this.#head === null) return
    this.#isOver = true
    this.#onWhole()
  }

  #takeClose(): void {
    const { rstCode } = this.#stream
    const missing = this.#head === null || this.asker.isHead ? 0 : Math.max(0, this.#head.length - this.bodyBytes)
    this.#isOver = true
    this.#onBroken({ rstCode: rstCode ?? 0, error: this.#error, hasHead: this.#head !== null, missing })
  }

  #break(complaint: Complaint): void {
    this.#isOver = true
    this.#onBroken(complaint)
  }

  #guarded(work: () => void): void {
    if (this.#isOver) return
    try {
      work()
    } catch (error) {
      this.#isOver = true
      this.asker.onError(error as Error)
    }
  }
}
