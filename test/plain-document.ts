// A document made by hand, for tests of what takes documents: everything in memory, nothing fetched.

import { createHash } from 'node:crypto'
import type { Body, Document } from '../src/document/index.ts'
import type { CanonicalUrl } from '../src/url/index.ts'

const PIECE_BYTES = 64 * 2 ** 10

/** Bytes in memory. As the contract allows, pieces share one buffer: each is overwritten by the next. */
export class PlainBody implements Body {
  readonly #bytes: Buffer

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes)
  }

  get length(): number {
    return this.#bytes.length
  }

  bytes(max = this.#bytes.length): Uint8Array {
    return this.#bytes.subarray(0, max)
  }

  *chunks(): Generator<Uint8Array> {
    const piece = Buffer.alloc(PIECE_BYTES)
    for (let at = 0; at < this.#bytes.length; at += PIECE_BYTES) {
      const count = this.#bytes.copy(piece, 0, at)
      yield piece.subarray(0, count)
      piece.fill('!')
    }
  }

  release(): void {
    // Nothing is held.
  }
}

type Facts = Partial<Omit<Document, 'wire' | 'body' | 'url'>>

export function plainDocument(url: string, content: Uint8Array | string, facts: Facts = {}): Document {
  const wire = new PlainBody(Buffer.from(content as string))
  const rawHeaders = facts.rawHeaders ?? ['Content-Type', 'text/html; charset=utf-8']
  const headers = (name: string): string[] =>
    rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === name)
  return {
    url: url as CanonicalUrl,
    requestHead: `GET ${new URL(url).pathname} HTTP/1.1\r\nHost: ${new URL(url).host}\r\n\r\n`,
    httpVersion: '1.1',
    status: 200,
    statusText: 'OK',
    rawHeaders,
    responseHead: null,
    header: (name) => headers(name)[0] ?? null,
    headers,
    mediaType: 'text/html',
    charset: 'utf-8',
    wire,
    body: wire,
    decoding: 'none',
    truncated: null,
    wireTruncated: null,
    fetchedAtMs: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
    firstByteMs: 12,
    durationMs: 34.5,
    ip: '127.0.0.1',
    release: () => undefined,
    ...facts,
  }
}

/** `sha256:` and hex, as pages and archives write it. */
export function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}
