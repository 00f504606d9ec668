// url + addresses → outcome. One protocol module per scheme; an outcome is a value, never a throw.

import type { FailureCode, SkipReason } from '../base/index.ts'
import type { Document } from '../document/index.ts'
import type { Address } from '../dns/index.ts'
import type { CanonicalUrl } from '../url/index.ts'

export interface FetchRequest {
  readonly url: CanonicalUrl
  /** All addresses of the host, in the order to be tried; connecting picks among them. */
  readonly addresses: readonly Address[]
  /** 'page' applies the filters by type and size; 'robots' fetches whatever comes, up to its own size. */
  readonly purpose: 'page' | 'robots'
  /** The host will rest before it is asked again: the connection may be parked or closed. */
  readonly isLast: boolean
}

export type FetchOutcome =
  | { readonly kind: 'fetched'; readonly document: Document }
  /** We turned it down on its head or its address. `document` is the head with an empty body, if there was one. */
  | { readonly kind: 'skipped'; readonly reason: SkipReason; readonly detail: string }
  | { readonly kind: 'failed'; readonly code: FailureCode; readonly detail: string; readonly durationMs: number }

export interface Fetcher {
  /** Never rejects. Aborting the signal destroys the socket and yields FETCH_CONNECTION_LOST. */
  fetch(request: FetchRequest, signal: AbortSignal): Promise<FetchOutcome>
  /** Closes idle connections of a host the crawl has no more URLs for. */
  forget(host: string): void
  close(): Promise<void>
}
