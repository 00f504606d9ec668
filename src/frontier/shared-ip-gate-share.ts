// How many connections through a door an agent may have while others wait for one, and who may come first.
//
// Those who want more share equally what the content ones leave. What does not divide goes to some of
// them for a quarter of a second, then to others: with fewer connections than agents that is all there
// is, and each has the door for a while rather than for one request, because handing it over takes as
// long as it takes the other to come back and ask.
//
// When a rest ends for which several wait, one of them is drawn to come first.
//
// All agents reckon with what they see at that moment, which may differ. Nothing but fairness hangs on it.

/** A quarter of a second, in ticks. */
const SLICE_SHIFT = 10

/** The share of one of `contenders`, of whom `rank` stand before it. */
export function shareOf(connections: number, contenders: number, rank: number, nowTicks: number): number {
  const even = Math.floor(connections / contenders)
  const remainder = connections - even * contenders
  if (remainder === 0) return even
  const first = drawn((nowTicks | 0) >>> SLICE_SHIFT) % contenders
  return even + ((rank + contenders - first) % contenders < remainder ? 1 : 0)
}

/** Whether this one of the contenders is drawn; exactly one is, for any seed. */
export function isDrawn(contenders: number, rank: number, seed: number): boolean {
  return drawn(seed) % contenders === rank
}

/** A number that looks like chance: taking the slices in any regular order could fall into step with the answers. */
function drawn(seed: number): number {
  let mixed = Math.imul(seed ^ 0x5bd1e995, 0x9e3779b1)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b)
  return (mixed ^ (mixed >>> 13)) >>> 0
}
