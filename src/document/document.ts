// One fetched thing: what the server said (head) and what it sent (body), readable many times by
// many modules (Mercator's rewindable stream). The vessel; `fetch` fills it.

import type { CanonicalUrl } from '../url/index.ts'

/** Bytes that can be read again and again: in memory while small, in a file beyond. */
export interface Body {
  readonly length: number
  /** The first `max` bytes in one piece (all of them by default). A view when in memory; do not write to it. */
  bytes(max?: number): Uint8Array
  /** All bytes in pieces of at most 64 KiB, from the start each time. The piece is valid until the next one. */
  chunks(): Iterable<Uint8Array>
  /** Frees memory and file. Harmless twice. */
  release(): void
}

/** Why a body is not whole, in the words of WARC-Truncated. */
export type Truncation = 'length' | 'time' | 'disconnect'

/**
 * What became of the content coding. 'broken': it ended early or does not decode; the body holds what
 * could be decoded, or the wire bytes if nothing could. 'unknown': a coding we do not speak; the body
 * holds the bytes as far as they could be undone.
 */
export type Decoding = 'none' | 'decoded' | 'broken' | 'unknown'

export interface Document {
  readonly url: CanonicalUrl
  /** The request as it was sent: start line and header block, CRLF, ending with an empty line. Of FTP what both sides said. */
  readonly requestHead: string
  /** Null where the protocol is another: then there are no heads, and the archive keeps a thing instead of an answer. */
  readonly httpVersion: '1.0' | '1.1' | '2' | null
  /** What the server said: of HTTP, or the last reply of FTP. Gopher and files have none: 200 says that it came. */
  readonly status: number
  readonly statusText: string
  /** Name and value in turn, as received and in order: [name, value, name, value …], latin-1. */
  readonly rawHeaders: readonly string[]
  /** The answer's head byte for byte: status line to empty line, latin-1. Null where the protocol has no such text (HTTP/2). */
  readonly responseHead: string | null
  /** The first value of a header, by lower-case name; null when absent. */
  header(name: string): string | null
  /** All values of a header, by lower-case name. */
  headers(name: string): string[]
  /** Bare lower-case media type of Content-Type ('text/html'), null when absent or nonsense. */
  readonly mediaType: string | null
  /** The charset parameter of Content-Type, lower-case, null when absent. */
  readonly charset: string | null
  /** The payload as it came, transfer coding undone, content coding not. */
  readonly wire: Body
  /** The payload decoded. The same object as `wire` when there is no content coding. */
  readonly body: Body
  readonly decoding: Decoding
  /** Why `body` is not whole: `wire` was cut, or decoding it was ('length'). */
  readonly truncated: Truncation | null
  /** Why `wire` is not whole: what an archive must say of the record. */
  readonly wireTruncated: Truncation | null
  /** Date of the request, wall clock. */
  readonly fetchedAtMs: number
  /** From sending the request to the first byte, and to the last. */
  readonly firstByteMs: number
  readonly durationMs: number
  /** Address asked; the proxy's when there is one. */
  readonly ip: string
  release(): void
}
