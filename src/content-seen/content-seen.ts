// Have we met this content? Exact digests of decoded bodies. A digest counts from the moment its page
// is settled, never before: a page that must be fetched again is not a duplicate of itself.
//
// claim() ── new ──▶ keep() when the page is settled, or release() when it is not
//        └── known ▶ the first page that had it

import type { CanonicalUrl } from '../url/index.ts'

/** The page that had the content first. */
export interface Original {
  readonly url: CanonicalUrl
  /** Wall clock. */
  readonly fetchedAtMs: number
  /** The digest of the payload as archived (`sha256:…`), which a revisit record must share; null when not archived. */
  readonly payloadDigest: string | null
}

/** An original as a page's record holds it. */
export interface FoundOriginal {
  /** Of the decoded body: `sha256:` and hex. */
  readonly digest: string
  readonly original: Original
}

export interface ContentSeen {
  /**
   * Asks for a SHA-256 digest. Null: nobody had it, and the caller now holds the claim. A second
   * asker for a claimed digest waits until the claim is kept or released; those who wait are served
   * in order. The digest of the empty body is nobody's: it may always be had, and is never kept.
   */
  claim(digest: Uint8Array): Promise<Original | null> | Original | null
  /**
   * The page that holds the claim is settled. Without a claim: what an earlier run knew; the first stays, and a page
   * that is kept again is kept with the same position.
   *
   * `position` says where the page's record stands among all records. A set on disk reads the original back from
   * there and cannot do without; one in memory has no use for it. To be called in the same breath in which the page
   * enters its batch, so that no state of the set is committed without that batch.
   */
  keep(digest: Uint8Array, original: Original, position?: number): void
  /** The page that holds the claim will not be settled: the next asker holds the claim. */
  release(digest: Uint8Array): void
  /** Digests kept. */
  readonly size: number
}

/** What of a set can be gone through: not whole digests, of which a set on disk keeps the begin only. */
export interface KnownContents {
  readonly size: number
  /** The first 64 bits of every digest that is kept, upper and lower half; some may come twice. Not to be called while anything is kept. */
  eachKey(see: (high: number, low: number) => void): void
}
