import type { FailureCode, SkipReason } from '../base/index.ts'
import type { CanonicalUrl } from '../url/index.ts'

/** What became of a URL. */
export type Verdict =
  | {
      readonly url: CanonicalUrl
      readonly kind: 'page'
      readonly status: number
      readonly bytes: number
      readonly wireBytes: number
    }
  | { readonly url: CanonicalUrl; readonly kind: 'failed'; readonly code: FailureCode }
  | { readonly url: CanonicalUrl; readonly kind: 'skipped'; readonly reason: SkipReason }
