import type { CanonicalUrl } from '../url/index.ts'
import type { ContentType } from './content-type.ts'
import type { Body, Decoding, Document, Truncation } from './document.ts'
import { headerValue, headerValues } from './headers.ts'

/** What a protocol module knows when an answer is in. */
export interface DocumentFacts {
  readonly url: CanonicalUrl
  readonly requestHead: string
  readonly httpVersion: '1.0' | '1.1' | '2' | null
  readonly status: number
  readonly statusText: string
  readonly rawHeaders: readonly string[]
  readonly responseHead: string | null
  readonly contentType: ContentType | null
  readonly wire: Body
  readonly body: Body
  readonly decoding: Decoding
  readonly truncated: Truncation | null
  readonly wireTruncated: Truncation | null
  readonly fetchedAtMs: number
  readonly firstByteMs: number
  readonly durationMs: number
  readonly ip: string
}

/** A document with all fields set once and in one order: thousands a second pass through the same code. */
export class FetchedDocument implements Document {
  readonly url: CanonicalUrl
  readonly requestHead: string
  readonly httpVersion: '1.0' | '1.1' | '2' | null
  readonly status: number
  readonly statusText: string
  readonly rawHeaders: readonly string[]
  readonly responseHead: string | null
  readonly mediaType: string | null
  readonly charset: string | null
  readonly wire: Body
  readonly body: Body
  readonly decoding: Decoding
  readonly truncated: Truncation | null
  readonly wireTruncated: Truncation | null
  readonly fetchedAtMs: number
  readonly firstByteMs: number
  readonly durationMs: number
  readonly ip: string

  constructor(facts: DocumentFacts) {
    this.url = facts.url
    this.requestHead = facts.requestHead
    this.httpVersion = facts.httpVersion
    this.status = facts.status
    this.statusText = facts.statusText
    this.rawHeaders = facts.rawHeaders
    this.responseHead = facts.responseHead
    this.mediaType = facts.contentType === null ? null : facts.contentType.mediaType
    this.charset = facts.contentType === null ? null : facts.contentType.charset
    this.wire = facts.wire
    this.body = facts.body
    this.decoding = facts.decoding
    this.truncated = facts.truncated
    this.wireTruncated = facts.wireTruncated
    this.fetchedAtMs = facts.fetchedAtMs
    this.firstByteMs = facts.firstByteMs
    this.durationMs = facts.durationMs
    this.ip = facts.ip
  }

  header(name: string): string | null {
    return headerValue(this.rawHeaders, name)
  }

  headers(name: string): string[] {
    return headerValues(this.rawHeaders, name)
  }

  release(): void {
    this.wire.release()
    if (this.body !== this.wire) this.body.release()
  }
}
