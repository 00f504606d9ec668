// Floods: a directory that gives ever more pages with the same text, or the host's "not found" with status 200.
//
// Each pattern of URLs (url-shape.ts) remembers the sketches of its last pages. A page is stale when it is a near-duplicate of
// one of them under another name, with the same face (face.ts), and led to nothing new outside of its pattern. Only where nearly all pages of hundreds
// were stale, and many of them fed the pattern with new URLs, is it closed: what does not feed itself ends by itself, and
// may be a manual whose pages are mostly menu. The same name in a sister directory is no evidence either: versions
// of a manual look alike.
//
//     /product/*     sketches  [A B C …]   pages 200   stale 194   feeders 150   → closed: near-duplicates
//     /internals/*   mostly menu           pages 260   stale 247   feeders 3     → it will end
//     /docs/~/*      v1/x.html ≈ v2/x.html, the same name                        → not stale

import type { Sketch } from '../parse/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import { saysMissing } from './missing-pages.ts'
import { isNear } from './near.ts'
import type { TrapsOptions } from './options.ts'
import { Recent } from './recent.ts'
import { nameOf, type Places } from './url-shape.ts'

export type FloodReason = 'near-duplicates' | 'soft-404'

interface Pattern {
  /** Asked for, under a budget. */
  asked: number
  pages: number
  stale: number
  missing: number
  /** Those of the stale ones that led to new URLs of the pattern. */
  feeders: number
  closed: FloodReason | null
  /** Sketches of the last pages: high, low, name, face of each. */
  readonly sketches: number[]
  next: number
}

const SKETCHES_MAX = 16
/** Numbers of each. */
const STRIDE = 4
/** A place without end has a new URL on every page, on average; where they come in bunches, on fewer. */
const FEEDERS_SHARE = 0.25
export type SavedPattern = readonly [
  pattern: string,
  asked: number,
  pages: number,
  stale: number,
  missing: number,
  feeders: number,
  closed: FloodReason | null,
  sketches: readonly number[],
]

export class Floods {
  readonly #options: TrapsOptions
  readonly #places: Places
  readonly #patterns: Recent<string, Pattern>

  constructor(options: TrapsOptions, places: Places) {
    this.#options = options
    this.#places = places
    this.#patterns = new Recent(options.placesKept)
  }

  /** Why no more of its pattern is asked for, or null. */
  judge(url: CanonicalUrl): { readonly reason: FloodReason; readonly detail: string } | null {
    const pattern = this.#places.patternOf(url)
    const known = this.#patterns.peek(pattern)
    if (known === undefined || known.closed === null) return null
    const { closed, pages, stale, missing } = known
    const many = Math.round(closed === 'soft-404' ? missing : stale)
    const what = closed === 'soft-404' ? 'said that there is no such page' : 'were nearly the same'
    return { reason: closed, detail: `of the last ${Math.round(pages)} pages of ${pattern}, ${many} ${what}` }
  }

  /** Whether its pattern has had all pages it may have. Counts a URL that is asked for where `isAsked`. */
  isSpent(url: CanonicalUrl, limit: number, isAsked: boolean): boolean {
    const pattern = this.#of(this.#places.patternOf(url))
    if (isAsked) pattern.asked++
    return pattern.asked >= limit
  }

  /** What a page teaches; `isMissing` where it is known as the host's "not found". True when its pattern is closed by it. */
  learn(
    url: CanonicalUrl,
    sketch: Sketch,
    title: string | null,
    face: number,
    isMissing: boolean,
    leads: readonly { readonly url: CanonicalUrl }[],
    leadsAway: number,
  ): boolean {
    const { floodPages, softMissing, share, nearBits } = this.#options
    if (floodPages === 0 && softMissing === 0) return false
    const key = this.#places.patternOf(url)
    const pattern = this.#of(key)
    if (pattern.closed !== null) return false
    if (pattern.pages >= 2 * Math.max(floodPages, softMissing)) {
      pattern.pages /= 2
      pattern.stale /= 2
      pattern.missing /= 2
      pattern.feeders /= 2
    }
    pattern.pages++
    const name = nameOf(url)
    // Most pages are new, and nothing they lead to is looked at.
    if (meets(pattern.sketches, sketch, name, face, nearBits)) {
      if (leadsAway === 0 && leads.every((lead) => this.#places.patternOf(lead.url) === key)) {
        pattern.stale++
        if (isMissing || saysMissing(title)) pattern.missing++
        if (leads.length > 0) pattern.feeders++
      }
    }
    keep(pattern, sketch, name, face)
    if (pattern.feeders < FEEDERS_SHARE * pattern.pages) return false
    const isAll = (many: number, least: number): boolean =>
      least > 0 && pattern.pages >= least && many >= share * pattern.pages
    if (isAll(pattern.missing, softMissing)) pattern.closed = 'soft-404'
    else if (isAll(pattern.stale, floodPages)) pattern.closed = 'near-duplicates'
    return pattern.closed !== null
  }

  #of(key: string): Pattern {
    return (
      this.#patterns.get(key) ??
      this.#patterns.set(key, {
        asked: 0,
        pages: 0,
        stale: 0,
        missing: 0,
        feeders: 0,
        closed: null,
        sketches: [],
        next: 0,
      })
    )
  }

  /** Patterns of one page have taught nothing yet. */
  *save(): Generator<SavedPattern> {
    for (const [key, { asked, pages, stale, missing, feeders, closed, sketches }] of this.#patterns) {
      if (pages > 1 || asked > 0)
        yield [key, asked, pages, stale, missing, feeders, closed, closed === null ? sketches : []]
    }
  }

  restore([key, asked, pages, stale, missing, feeders, closed, sketches]: SavedPattern): void {
    this.#patterns.set(key, {
      asked,
      pages,
      stale,
      missing,
      feeders,
      closed,
      sketches: [...sketches],
      next: (sketches.length / STRIDE) % SKETCHES_MAX,
    })
  }
}

function meets(sketches: readonly number[], sketch: Sketch, name: number, face: number, bits: number): boolean {
  for (let at = 0; at < sketches.length; at += STRIDE) {
    if (sketches[at + 2] === name || sketches[at + 3] !== face) continue
    if (isNear({ high: sketches[at] as number, low: sketches[at + 1] as number }, sketch, bits)) return true
  }
  return false
}

function keep(pattern: Pattern, { high, low }: Sketch, name: number, face: number): void {
  const at = STRIDE * pattern.next
  pattern.sketches[at] = high
  pattern.sketches[at + 1] = low
  pattern.sketches[at + 2] = name
  pattern.sketches[at + 3] = face
  pattern.next = (pattern.next + 1) % SKETCHES_MAX
}
