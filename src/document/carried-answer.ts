import type { CanonicalUrl } from '../url/index.ts'
import type { Truncation } from './document.ts'

/** An answer that was fetched by one agent for another: plain data, of which the other makes the document it would have had. */
export interface CarriedAnswer {
  readonly url: CanonicalUrl
  readonly requestHead: string
  readonly httpVersion: '1.0' | '1.1' | '2'
  readonly status: number
  readonly statusText: string
  readonly rawHeaders: readonly string[]
  readonly responseHead: string | null
  /** As it came: whoever gets it undoes the content coding. */
  readonly wire: Uint8Array
  readonly wireTruncated: Truncation | null
  readonly fetchedAtMs: number
  readonly firstByteMs: number
  readonly durationMs: number
  readonly ip: string
}
