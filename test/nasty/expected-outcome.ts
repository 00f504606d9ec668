import type { FailureCode, SkipReason } from '../../src/base/index.ts'
import type { Decoding, Truncation } from '../../src/document/index.ts'

/** Of a document; what is not named is 200, whole, and not coded. */
export interface ExpectedPage {
  readonly status?: number
  readonly body?: string | RegExp | number
  readonly truncated?: Truncation
  readonly decoding?: Decoding
  readonly type?: string | null
  readonly headers?: Readonly<Record<string, string>>
}

export type Expected =
  | { readonly page: ExpectedPage }
  | {
      readonly failed: FailureCode | readonly FailureCode[]
      /** What is kept at the last try, where half is better than none. */
      readonly atLast?: ExpectedPage
    }
  | { readonly skipped: SkipReason }
