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
  /** Which visit of this URL it was, where it was not the first: the line of the last visit counts. */
  readonly visit?: number
  /** `fetchedAt` of an earlier visit of this URL that brought the same content; of status 304 always. */
  readonly revisitOf?: string
  /** The validators of a whole answer, for the next visit to ask with. */
  readonly etag?: string
  readonly lastModified?: string
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

/** A page that was put back in line (state/returns.jsonl): which of its lines counts no more, and what the next visit needs of it. */
export interface ReturnNote {
  readonly url: string
  /** Of the line that was taken back. Those of this visit and of earlier ones do not count. */
  readonly visit: number
  readonly status: number
  readonly bytes: number
  readonly wireBytes: number
  readonly depth: number
  readonly via: string | null
  /** What a server may call unchanged; null where no whole answer with status 200 is known. */
  readonly capture: Capture | null
  /** Its WARC file is lost: the page is had anew. */
  readonly lost?: true
}

/** A content of a page as it was had. */
export interface Capture {
  readonly fetchedAt: string
  readonly type: string | null
  readonly digest: string
  /** Of the payload as archived; null where it is not in the archive. */
  readonly payloadDigest: string | null
  readonly etag?: string
  readonly lastModified?: string
  /** What its line said of the content; a 304 stands for that too. */
  readonly facts?: ContentFacts
}

/** What a page says about itself, in its content or with it. */
export type ContentFacts = Pick<
  PageRecord,
  'title' | 'charset' | 'language' | 'canonical' | 'noindex' | 'optOuts' | 'optOutSource' | 'tdmPolicy'
>
