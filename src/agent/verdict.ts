import type { FailureCode, SkipReason } from '../base/index.ts'
import type { FailureRecord, PageRecord } from '../store/index.ts'
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

/** As pages.jsonl has it. */
export function pageVerdict({
  url,
  status,
  bytes,
  wireBytes,
}: Pick<PageRecord, 'url' | 'status' | 'bytes' | 'wireBytes'>): Verdict {
  return { url: url as CanonicalUrl, kind: 'page', status, bytes, wireBytes }
}

/** As failures.jsonl has it. */
export function failureVerdict({ url, kind, reason }: FailureRecord): Verdict {
  return kind === 'failed'
    ? { url: url as CanonicalUrl, kind, code: reason as FailureCode }
    : { url: url as CanonicalUrl, kind, reason: reason as SkipReason }
}
