// Slots go to the agents of one machine or the shares of a cluster, which are numbered from 0 and weigh the same.

import type { Assignment } from './assignment.ts'
import { RENDEZVOUS } from './rendezvous.ts'

/** Into how many parts the space of hosts is cut: a slot is the top 16 bits of a fingerprint. */
export const SLOTS = 65_536

/** By slot: the share that has it. Never changes for a number of shares: what is on its way between them relies on it. */
export function shareOfSlot(shares: number, assignment: Assignment = RENDEZVOUS): Uint16Array {
  return assignment.owners(
    SLOTS,
    Array.from({ length: shares }, (_, id) => ({ id, weight: 1 })),
  )
}
