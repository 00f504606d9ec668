// How long a node of a cluster may act after its last sign of life, as it is said when a crawl is set up.

import { formatDuration, parseDuration } from '../base/index.ts'
import type { Problem } from '../config/index.ts'

/**
 * Outlasts the loss of a leader in the engine, up to 8 s and a beat (a fifth of it), and lets heirs begin in time: they wait for it and the
 * margin, 16 s, of the 25 a takeover may take.
 */
export const LEASE_MS_USUAL = 12_000
/** Rights to ask an address last for 4 s and have to be over before a lease is (src/exchange/shared-turns.ts). */
const LEASE_MS_MIN = 5_000
const LEASE_MS_MAX = 600_000
/** The margin in relation to the lease: for clocks of different speed. */
const MARGIN_SHARE = 1 / 3

export interface LeaseLength {
  readonly leaseMs: number
  readonly marginMs: number
}

/** Complaints go to `problems`. */
export function readLease(text: string | undefined, problems: Problem[]): LeaseLength {
  const leaseMs = text === undefined ? LEASE_MS_USUAL : parseDuration(text)
  if (leaseMs !== null && leaseMs >= LEASE_MS_MIN && leaseMs <= LEASE_MS_MAX) return leaseOf(leaseMs)
  const range = `from ${formatDuration(LEASE_MS_MIN)} to ${formatDuration(LEASE_MS_MAX)}`
  problems.push({ where: '--lease', what: `'${text}' is no time ${range}; say something like 12s` })
  return leaseOf(LEASE_MS_USUAL)
}

export function leaseOf(leaseMs: number): LeaseLength {
  return { leaseMs, marginMs: Math.ceil(leaseMs * MARGIN_SHARE) }
}
