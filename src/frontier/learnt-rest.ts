// The rest that a host has taught us with 429 and 503: it grows at once, and shrinks slowly with good answers, so that a server
// which bears one request in ten seconds is soon asked once in ten seconds, not in bursts with pauses between them.
//
//      rest  ▲ 429                     429
//            │  ╲                       ╲          grown:    half as long again as the rest that was refused; a tenth, where that rest had been borne a while
//            │    ╲___                    ╲___     fast:     down to a tenth above what was refused
//   refused ─┼────────`───.___────────────────     slow:     around it, because there it will be refused again
//            └──────────────────────▶ answers      fast:     well below it without a refusal: the limit is another one
//
// After a pause a refusal says nothing of the pace: only the first of a row teaches. Pure functions; what is kept of
// a host is four numbers. What is given away: refusals that have nothing to do with the pace, one in thirty of them, look the same as those of
// a pace just above what is borne; so about as many are taken as the price of asking at that pace. The figures are in decision 0030
// and in learnt-rest.test.ts.

export interface LearntRest {
  readonly restMs: number
  /** The rest after which the host refused last; 0 once it has borne much less. */
  readonly refusedMs: number
  /** How often it refused. */
  readonly refusals: number
  /** Good answers since the last of them. */
  readonly answers: number
}

const GROWTH = 1.5
/** After so many good answers the rest was nearly right. */
const BORNE_ANSWERS = 5
const GROWTH_BORNE = 1.1
const FAST = 0.97
const SLOW = 0.997
/** So near to what was refused it is approached slowly, until so far below it has stood. */
const NEAR = 1.1
const PAST = 0.8

/** A refusal that came after a rest of `usedMs`. */
export function learnRefusal(before: LearntRest | null, usedMs: number, maxMs: number): LearntRest {
  const growth = before !== null && before.answers >= BORNE_ANSWERS ? GROWTH_BORNE : GROWTH
  const restMs = Math.max(usedMs, Math.min(maxMs, usedMs * growth))
  return { restMs, refusedMs: usedMs, refusals: (before?.refusals ?? 0) + 1, answers: 0 }
}

/** A good answer. Null when the rest is down to what the host has anyway: forgiven. */
export function learnAnswer({ restMs, refusedMs, refusals, answers }: LearntRest, leastMs: number): LearntRest | null {
  const isNear = refusedMs > 0 && restMs <= refusedMs * NEAR
  const shorterMs = restMs * (isNear ? SLOW : FAST)
  if (shorterMs <= leastMs) return null
  return { restMs: shorterMs, refusedMs: shorterMs < refusedMs * PAST ? 0 : refusedMs, refusals, answers: answers + 1 }
}
