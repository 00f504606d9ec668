// The words of a shared gate: what their bits mean, and how time is counted in them.
//
//   rest    | ticks until when, 31 bits, even | 1: a claim's own |      0: never rested
//   agent   | until when it waits, 20 bits, units of 16 ms; 0: it does not | connections out, 12 bits |
//
// Times are those of one scale for all threads, in ticks of 1/4 ms modulo 2³² (12 days), rounded to
// every second tick so that no rest is shortened. A rest that seems to lie further ahead than any can
// is one of long ago.

export const TICKS_PER_MS = 4
/** A rest of the past, however long ago. */
const LONG_OVER = -(2 ** 31)
/** The word of a door that never rested. */
export const NO_REST = 0
/** In the word of a rest: it is a claim's own. */
export const OF_CLAIM = 1
/** A thread may see a clock reading of another that is ahead of its own, if it was kept waiting, by no more than this. */
export const SKEW_TICKS = 600_000 * TICKS_PER_MS

export const COUNT_BITS = 12
export const COUNT_MASK = 2 ** COUNT_BITS - 1
const WAIT_MASK = 2 ** (32 - COUNT_BITS) - 1
export const WAIT_SHIFT = 6

/** The last even tick not after a time, the first not before it; not yet modulo 2³². */
export function ticksBefore(ms: number): number {
  return Math.floor(ms * (TICKS_PER_MS / 2)) * 2
}
export function ticksAfter(ms: number): number {
  return Math.ceil(ms * (TICKS_PER_MS / 2)) * 2
}

/** How far the end of a rest lies ahead; 0 or less when it is over. */
export function aheadTicks(rest: number, nowTicks: number, max: number): number {
  if (rest === NO_REST) return LONG_OVER
  const ahead = ((rest & ~OF_CLAIM) - nowTicks) | 0
  return ahead > max ? LONG_OVER : ahead
}

/** The rest of a door ends at `until` or later, and belongs to no claim. */
export function lengthenRest(words: Int32Array, at: number, until: number): void {
  const untilWord = until | 0 || 2
  let rest = Atomics.load(words, at)
  for (;;) {
    // Another agent may have read its clock later than we did.
    const ahead = aheadTicks(rest, untilWord, SKEW_TICKS)
    const found = Atomics.compareExchange(words, at, rest, ahead > 0 ? rest & ~OF_CLAIM : untilWord)
    if (found === rest) return
    rest = found
  }
}

/** A time as an agent's word keeps it. */
export function waitOf(ticks: number): number {
  return ((ticks | 0) >>> WAIT_SHIFT) & WAIT_MASK || 1
}

/** Whether an agent waits that was told to come back at most `max` units later than now. */
export function doesWait(word: number, nowWait: number, max: number): boolean {
  const until = word >>> COUNT_BITS
  return until !== 0 && ((until - nowWait) & WAIT_MASK) <= max
}
