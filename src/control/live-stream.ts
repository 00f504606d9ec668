// Server-sent events of one crawl to one reader.
//
//   source.watch ─▶ crawl (only the newest is worth sending) ─┐
//                ─▶ event (each) ─────────────────────────────┴▶ the reader's connection, or the end of it
//
// Nothing is kept for a reader who does not read: when more than BUFFER_MAX bytes wait in its connection it is cut, and comes again
// to what is then. A comment every BEAT_MS shows both sides that the other is there.

import type { ServerResponse } from 'node:http'
import type { CrawlInfo } from './api.ts'
import type { CrawlSource } from './crawl-source.ts'

const BEAT_MS = 15_000
const BUFFER_MAX = 256 << 10

export class LiveStream {
  readonly #response: ServerResponse
  readonly #bufferMax: number
  #isOver = false
  #unwatch: (() => void) | null = null
  readonly #beat: NodeJS.Timeout

  constructor(response: ServerResponse, bufferMax = BUFFER_MAX) {
    this.#response = response
    this.#bufferMax = bufferMax
    this.#beat = setInterval(() => this.#write(': here\n\n'), BEAT_MS)
    response.on('close', () => this.end())
    response.on('error', () => this.end())
  }

  /** Begins with how the crawl stands. */
  begin(source: CrawlSource, first: CrawlInfo): void {
    this.#response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    })
    this.#send('crawl', first)
    this.#unwatch = source.watch(
      (info) => this.#send('crawl', info),
      (event) => this.#send('event', event),
    )
    // A source may find its end before it has given us the way to stop it.
    if (this.#isOver) this.#unwatch()
  }

  /** In order: nothing more is watched, and the reader is told. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    clearInterval(this.#beat)
    this.#unwatch?.()
    if (this.#response.headersSent && !this.#response.writableEnded) this.#response.end()
  }

  #send(event: string, data: unknown): void {
    // JSON has no bare line breaks: one line.
    this.#write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  #write(text: string): void {
    if (this.#isOver || !this.#response.headersSent) return
    this.#response.write(text)
    if (this.#response.writableLength <= this.#bufferMax) return
    this.end()
    this.#response.destroy()
  }
}
