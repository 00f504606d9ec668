// Why a link was turned away, as a value. One frozen object per reason: refusing allocates nothing,
// and a page may hold thousands of mailto: links.

import { REFUSALS, type RefusalReason } from '../base/index.ts'

export interface Refusal {
  readonly refused: RefusalReason
}

export const REFUSED = Object.freeze(
  Object.fromEntries(
    (Object.keys(REFUSALS) as RefusalReason[]).map((reason) => [reason, Object.freeze({ refused: reason })]),
  ),
) as { readonly [reason in RefusalReason]: Refusal }
