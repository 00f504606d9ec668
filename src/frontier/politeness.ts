// How long a host rests: pure functions of what was configured and what just happened.

/** Where the jitter comes from; base's Random is one. */
interface Chance {
  /** A number in [0, 1). */
  fraction(): number
}

export interface RestFacts {
  /** The configured minimum. 0 switches the latency factor off too: the user asked for no rests. */
  readonly delayMs: number
  /** What robots.txt asks for, already capped by whoever read it; 0 when it asks for nothing. */
  readonly crawlDelayMs: number
  readonly latencyFactor: number
  /** From sending the request to the last byte of its answer. */
  readonly lastResponseMs: number
  /** Bounds what latency alone may cause; never the configured minimum or the Crawl-delay. */
  readonly restMaxMs: number
}

/**
 * The rest after an answer: the configured minimum, the Crawl-delay, or `latencyFactor` times what
 * the answer took, whichever is longest. A server that is slow is asked less: with a factor f it
 * spends at most 1 / (1 + f) of its time on us.
 */
export function restAfter(facts: RestFacts): number {
  const asked = Math.max(facts.delayMs, facts.crawlDelayMs)
  if (facts.delayMs === 0) return asked
  return Math.max(asked, Math.min(facts.latencyFactor * facts.lastResponseMs, facts.restMaxMs))
}

export interface BackoffFacts {
  /** Pauses the host asked for, or failures it was blamed for, one after another, this one included. */
  readonly pausesInARow: number
  /** What Retry-After asked for; null when it did not. */
  readonly retryAfterMs: number | null
  /** The longest Retry-After that is obeyed in full. */
  readonly retryAfterMaxMs: number
  readonly baseMs: number
  readonly maxMs: number
  readonly random: Chance
}

/** What Retry-After asks for is lengthened by up to a tenth, and no more than this: a thousand hosts behind one front that fails are told the same. */
const RETRY_AFTER_SPREAD = 0.1
const RETRY_AFTER_SPREAD_MS_MAX = 60_000

/**
 * The rest after a 429, a 503 or a failure of the host: doubles with each in a row up to `maxMs`, of
 * which between half and all is slept, so that hosts that failed together do not return together and
 * the next rest of a row is never shorter than the last. Never less than Retry-After asks (up to its own cap).
 */
export function backoffAfter(facts: BackoffFacts): number {
  const grownMs = Math.min(facts.maxMs, facts.baseMs * 2 ** (Math.max(1, facts.pausesInARow) - 1))
  const jitteredMs = (grownMs / 2) * (1 + facts.random.fraction())
  const askedMs = Math.min(facts.retryAfterMs ?? 0, facts.retryAfterMaxMs)
  const spreadMs = Math.min(askedMs * RETRY_AFTER_SPREAD, RETRY_AFTER_SPREAD_MS_MAX)
  return Math.max(jitteredMs, askedMs + spreadMs * facts.random.fraction())
}
