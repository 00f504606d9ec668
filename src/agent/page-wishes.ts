// What a fetched page asks of its use, and what follows from it for this crawl (decision 0031).
//
//   headers ┐
//   metas   ├─▶ opt-outs ─▶ policy ─▶ note | unstored | skip
//   site    ┘

import type { OptOut } from '../base/index.ts'
import type { PageInHand } from '../processors/index.ts'
import { type OptOutAction, type OptOutPolicy, type PageDirectives, pageDirectives } from '../robots/index.ts'
import type { PageRecord } from '../store/index.ts'
import { pathOf } from '../url/index.ts'
import type { RobotsDesk } from './robots-desk.ts'

export interface Asked {
  readonly directives: PageDirectives
  readonly action: OptOutAction
  /** The opt-out that the action follows from. */
  readonly by: OptOut | null
}

const NO_METAS: readonly [string, string][] = []

export class PageWishes {
  readonly #policy: OptOutPolicy
  readonly #desk: Pick<RobotsDesk, 'wishesFor'> | null
  readonly #productToken: string
  /** What the last page asked that asked for nothing of us. */
  #last: Asked = { directives: { nofollow: false, optOuts: [], tdmPolicy: null, source: '' }, action: 'note', by: null }

  /** `desk` is null where robots are ignored: robots.txt is not known then. */
  constructor(policy: OptOutPolicy, desk: Pick<RobotsDesk, 'wishesFor'> | null, productToken: string) {
    this.#policy = policy
    this.#desk = desk
    this.#productToken = productToken
  }

  of({ document, parsed, mediaType }: PageInHand): Asked {
    const site = this.#desk?.wishesFor(document.url) ?? null
    const directives = pageDirectives({
      rawHeaders: document.rawHeaders,
      metaRobots: parsed?.metaRobots ?? NO_METAS,
      productToken: this.#productToken,
      site,
      pathAndQuery: site === null ? '' : pathOf(document.url),
      wallMs: document.fetchedAtMs,
    })
    if (directives.optOuts.length === 0) {
      // Nearly every page asks for nothing, in the same object.
      if (directives !== this.#last.directives) this.#last = { directives, action: 'note', by: null }
      return this.#last
    }
    return { directives, ...this.#policy.actionFor(directives.optOuts, mediaType) }
  }
}

/** Into the line of the page: what it asks, who said so, and whether a copy was left out for it. */
export function noteWishes(
  record: { -readonly [field in keyof PageRecord]: PageRecord[field] },
  { directives, action }: Asked,
): void {
  const { optOuts, source, tdmPolicy } = directives
  if (optOuts.length === 0) return
  if (optOuts.includes('noindex')) record.noindex = true
  record.optOuts = optOuts
  record.optOutSource = source
  if (tdmPolicy !== null) record.tdmPolicy = tdmPolicy
  if (action === 'unstored') record.unstored = 'opt-out'
}

/** For failures.jsonl. */
export function skipDetail({ directives, by }: Asked): string {
  return `${by}; nothing of it was kept: ${directives.source}`
}
