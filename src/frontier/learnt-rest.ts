// The rest that a host has taught us with 429 and 503: it grows at once, and shrinks slowly with good answers, so that a server
// which bears one request in ten seconds is soon asked once in ten seconds, not in bursts with pauses between them.
//
//      rest  ▲ 429                     429
//            │  ╲                       ╲          grown:    half as long again as the rest that was refused
//            │    ╲___                    ╲___     fast:     down to a tenth above what was refused
//   refused ─┼────────`───.___────────────────     slow:     around it, because there it will be refused again
//            └──────────────────────▶ answers      fast:     well below it without a refusal: the limit is another one
//
// After a pause a refusal says nothing of the pace: only the first of a row teaches. Pure functions; what is kept of
// a host is three numbers. The figures that chose these are in decision 0030 and in learnt-rest.test.ts.

export interface LearntRest {
  readonly restMs: number
  /** The rest after which the host refused last; 0 once it has borne much less. */
  readonly refusedMs: number
  /** How often it refused. */
  readonly refusals: number
}

const GROWTH = 1.5
const FAST = 0.98
const SLOW = 0.999
/** So near to what was refused it is approached slowly, until so far below it has stood. */
const NEAR = 1.1
const PAST = 0.8

/** A refusal that came after a rest of `usedMs`. */
export function learnRefusal(before: LearntRest | null, usedMs: number, maxMs: number): LearntRest {
  const restMs = Math.max(usedMs, Math.min(maxMs, usedMs * GROWTH))
  return { restMs, refusedMs: usedMs, refusals: (before?.refusals ?? 0) + 1 }
}

/** A good answer. Null when the rest is down to what the host has anyway: forgiven. */
export function learnAnswer({ restMs, refusedMs, refusals }: LearntRest, leastMs: number): LearntRest | null {
  const isNear = refusedMs > 0 && restMs <= refusedMs * NEAR
  const shorterMs = restMs * (isNear ? SLOW : FAST)
  if (shorterMs <= leastMs) return null
  return { restMs: shorterMs, refusedMs: shorterMs < refusedMs * PAST ? 0 : refusedMs, refusals }
}
