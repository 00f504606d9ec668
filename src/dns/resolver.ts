import type { FailureCode } from '../base/index.ts'
import type { HostKey } from '../url/index.ts'

export interface Address {
  readonly ip: string
  readonly family: 4 | 6
}

export type Resolution =
  /** At least one address, in the order to be tried. */
  | { readonly kind: 'resolved'; readonly addresses: readonly Address[] }
  | { readonly kind: 'failed'; readonly code: FailureCode; readonly detail: string }

export interface Resolver {
  /** Concurrent askers of one host share one query. IP literals resolve to themselves at once. Never rejects. */
  resolve(host: HostKey): Promise<Resolution>
  close(): void
}
