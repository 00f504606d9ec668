// What the answer to a request for robots.txt means (RFC 9309, 2.3.1 and 2.4), apart from its body.

/** RFC 9309, 2.3.1.2: at least five redirects are followed, to other hosts too. */
export const ROBOTS_HOPS_MAX = 5

export type RobotsVerdict = 'parse' | 'follow' | 'allow-all' | 'disallow-all'

export interface RobotsAnswer {
  /** null when there was no answer: DNS, connection, TLS, time-out. */
  readonly status: number | null
  /** Where a redirect leads, if that is a URL we could ask. */
  readonly location: string | null
  /** Redirects already followed to get this answer. */
  readonly hops: number
}

/**
 * - 2xx: the body is parsed.
 * - 3xx: followed; without a usable target, or after five, the file counts as missing.
 * - 4xx: there is none, everything is allowed. But 429 is a server asking us to go away for a while,
 *   so it counts as unreachable (as for Google; the RFC would let us in).
 * - 5xx, no answer, or no HTTP status at all: unreachable, nothing is allowed.
 */
export function judgeRobotsAnswer(answer: RobotsAnswer): RobotsVerdict {
  const { status, location, hops } = answer
  if (status === null) return 'disallow-all'
  if (status >= 200 && status < 300) return 'parse'
  if (status >= 300 && status < 400) return location !== null && hops < ROBOTS_HOPS_MAX ? 'follow' : 'allow-all'
  if (status >= 400 && status < 500 && status !== 429) return 'allow-all'
  return 'disallow-all'
}

export interface RobotsLife {
  readonly ttlMs: number
  readonly ttlMinMs: number
  readonly unreachableTtlMs: number
}

/**
 * How long an answer may be relied on. Cache-Control can shorten the usual time, not below the minimum
 * (many servers send max-age=0 with everything, and obeying that would cost them a request per page)
 * and never lengthen it.
 */
export function robotsLifeMs(verdict: RobotsVerdict, cacheControl: string | null, life: RobotsLife): number {
  if (verdict === 'disallow-all') return Math.min(life.unreachableTtlMs, life.ttlMs)
  const wishMs = cacheControl === null ? null : maxAgeMs(cacheControl)
  return wishMs === null ? life.ttlMs : Math.min(life.ttlMs, Math.max(wishMs, life.ttlMinMs))
}

function maxAgeMs(cacheControl: string): number | null {
  let result: number | null = null
  for (const part of cacheControl.toLowerCase().split(',')) {
    const directive = part.trim()
    if (directive === 'no-store' || directive === 'no-cache') return 0
    const match = /^max-age="?(\d{1,10})"?$/.exec(directive)
    if (match !== null) result = Math.min(result ?? Infinity, Number(match[1]) * 1_000)
  }
  return result
}
