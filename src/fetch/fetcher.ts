// url + addresses → outcome. One protocol module per scheme; an outcome is a value, never a throw.

import type { FailureCode, SkipReason } from '../base/index.ts'
import type { Document } from '../document/index.ts'
import type { Address } from '../dns/index.ts'
import type { CanonicalUrl } from '../url/index.ts'

export interface FetchRequest {
  readonly url: CanonicalUrl
  /** All addresses of the host, in the order to be tried; connecting picks among them. May be empty behind a proxy. */
  readonly addresses: readonly Address[]
  /** 'page' applies the filters by type and size; 'robots' fetches whatever comes, up to its own size. */
  readonly purpose: 'page' | 'robots'
  /** GET by default. What answers a HEAD is a document without a body, or skipped as a GET would be. */
  readonly method?: 'GET' | 'HEAD'
  /** The host will rest before it is asked again: the connection may be parked or closed. */
  readonly isLast: boolean
  /**
   * A body that broke off is better than none: it comes back as a truncated document instead of a
   * failure. For the last try. Redirects are always taken so: their body matters to nobody.
   */
  readonly acceptPartial: boolean
  /** Of an earlier answer: the server may say that it still holds (304). */
  readonly validators?: Validators | undefined
  /** Asked in the moment before the request is written: false where whoever lent the turn may have it back by now. */
  readonly mayWrite?: (() => boolean) | undefined
}

/** What a server told one answer of a URL from another by. */
export interface Validators {
  readonly etag?: string | undefined
  readonly lastModified?: string | undefined
}

export type FetchOutcome =
  /** `hasNewCookies`: the answer set cookies, and asked again the request would be another one. */
  | { readonly kind: 'fetched'; readonly document: Document; readonly hasNewCookies?: boolean }
  /** We turned it down on its head or its address. */
  | { readonly kind: 'skipped'; readonly reason: SkipReason; readonly detail: string }
  | { readonly kind: 'failed'; readonly code: FailureCode; readonly detail: string; readonly durationMs: number }

export interface Fetcher {
  /**
   * The web's misdeeds are outcomes; it rejects only with a Fault, when we are broken (a full disk).
   * Aborting the signal destroys the socket and yields FETCH_CONNECTION_LOST. The caller asks an
   * origin for one thing at a time, and releases the document it gets.
   */
  fetch(request: FetchRequest, signal: AbortSignal): Promise<FetchOutcome>
  /** Closes idle connections of a host the crawl has no more URLs for. */
  forget(host: string): void
  /** Ends what is under way as FETCH_CONNECTION_LOST and resolves when all sockets are closed. */
  close(): Promise<void>
}

/** A protocol module: a fetcher for the schemes it names ('http'). */
export interface SchemeFetcher extends Fetcher {
  readonly schemes: readonly string[]
}
