// What a crawl leaves behind, as written in pages.jsonl and failures.jsonl. A contract with the
// outside: fields may be added, never renamed.

import type { OptOut } from '../base/index.ts'

/** Where a record stands: file relative to the crawl's directory, offset and length as stored. */
export interface WarcLocation {
  readonly file: string
  readonly offset: number
  readonly length: number
}

export interface PageRecord {
  readonly url: string
  readonly status: number
  /** Bare media type, or null. */
  readonly type: string | null
  /** Decoded bytes. */
  readonly bytes: number
  /** Payload bytes as they came. */
  readonly wireBytes: number
  readonly depth: number
  /** `sha256:` and hex of the decoded body. */
  readonly digest: string
  /** `sha256:` and hex of the payload as archived, where content coding makes it another. */
  readonly payloadDigest?: string
  /** ISO 8601, UTC, milliseconds. */
  readonly fetchedAt: string
  readonly via: string | null
  readonly location?: string
  readonly title?: string
  readonly truncated?: string
  /** The body does not decode as its codings say: 'broken' (as far as it did, or as it came), or 'unknown' ones. */
  readonly decoding?: 'broken' | 'unknown'
  readonly duplicateOf?: string
  readonly canonical?: string
  readonly charset?: string
  readonly language?: string
  /** Of the visible text of an HTML page: 64 bits, sixteen hexadecimal digits. */
  readonly simhash?: string
  /** Directives that keep the page out of an index: archived, but not for search. */
  readonly noindex?: true
  /** What the page or its site asks that it not be used for. */
  readonly optOuts?: readonly OptOut[]
  /** The headers, metas and lines that say so. */
  readonly optOutSource?: string
  /** Where the terms for text and data mining stand, if that is reserved. */
  readonly tdmPolicy?: string
  /** Why there is no copy in the archive, where there is one of other pages. */
  readonly unstored?: 'opt-out'
  /** To the first and to the last byte. */
  readonly firstByteMs: number
  readonly durationMs: number
  readonly ip: string
  readonly server?: string
  readonly warc: WarcLocation | null
}

/** A URL that was given up or skipped. */
export interface FailureRecord {
  readonly url: string
  readonly kind: 'failed' | 'skipped'
  /** A failure code or a skip reason. */
  readonly reason: string
  readonly detail: string
  readonly depth: number
  readonly via: string | null
  readonly at: string
}
