// Rules of the user that put some URLs before or after the rest, over any other strategy.

import { assert } from '../base/index.ts'
import { BANDS } from '../frontier/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import type { FoundLink, Strategy } from './strategy.ts'

export interface PriorityRule {
  /** Compiled from the configuration; must not throw. */
  readonly matches: (url: CanonicalUrl) => boolean
  readonly band: number
}

/** The first rule that matches gives the band; where none does, the strategy below decides. */
export class PriorityRules implements Strategy {
  readonly #rules: readonly PriorityRule[]
  readonly #below: Strategy

  constructor(rules: readonly PriorityRule[], below: Strategy) {
    for (const { band } of rules) {
      assert(
        Number.isInteger(band) && band >= 0 && band < BANDS,
        `a priority rule names band ${band}; bands are 0 to ${BANDS - 1}`,
      )
    }
    this.#rules = rules
    this.#below = below
  }

  bandOf(link: FoundLink): number {
    for (const rule of this.#rules) if (rule.matches(link.url)) return rule.band
    return this.#below.bandOf(link)
  }
}
