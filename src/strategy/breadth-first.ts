// Breadth first: seeds before what was found, everything else alike. The lines of the frontier are
// first come, first served, so each host is walked breadth-first; across hosts the order is that of
// their turns, which politeness sets.

import type { FoundLink, Strategy } from './strategy.ts'

/** One band is left before the seeds, for rules that want something even sooner. */
export const SEED_BAND = 1

/** In the middle, so that rules can put something before it and something after. */
export const LINK_BAND = 4

export class BreadthFirst implements Strategy {
  bandOf(link: FoundLink): number {
    return link.isSeed ? SEED_BAND : LINK_BAND
  }
}
