// What a numbered page of the web may be other than a plain page. Each variant is chosen by rule for
// a share of the pages, and stands besides at `/_/<variant>` on every host for directed tests.

import { asFraction } from './mix.ts'

/** Each with the media family it belongs to, which decides the ending of its path and the elements that link to it. */
export const VARIANTS = {
  page: 'html',
  // Moved.
  'redirect-301': 'html',
  'redirect-302': 'html',
  'redirect-303': 'html',
  'redirect-307': 'html',
  'redirect-308': 'html',
  'redirect-away': 'html',
  'redirect-loop': 'html',
  // Not there, or not now.
  missing: 'html',
  gone: 'html',
  error: 'html',
  busy: 'html',
  'throttled-seconds': 'html',
  'throttled-date': 'html',
  'throttled-bare': 'html',
  unavailable: 'html',
  lost: 'html',
  short: 'html',
  // Delivered differently.
  slow: 'html',
  'http-1.0': 'html',
  closing: 'html',
  chunked: 'html',
  gzip: 'html',
  deflate: 'html',
  br: 'html',
  zstd: 'html',
  // Written differently.
  french: 'html',
  russian: 'html',
  'shift-jis': 'html',
  'euc-jp': 'html',
  'utf-16': 'html',
  'hostile-title': 'html',
  empty: 'html',
  'untyped-html': 'html',
  based: 'html',
  refresh: 'html',
  frameset: 'html',
  changing: 'html',
  // Asking for something.
  'nofollow-meta': 'html',
  'nofollow-header': 'html',
  noindex: 'html',
  noarchive: 'html',
  noai: 'html',
  tdm: 'html',
  // Not HTML.
  image: 'image',
  style: 'style',
  script: 'script',
  pdf: 'file',
  text: 'file',
  rss: 'feed',
  atom: 'feed',
} as const

export type Variant = keyof typeof VARIANTS
export type MediaFamily = (typeof VARIANTS)[Variant]
export const VARIANT_NAMES = Object.keys(VARIANTS) as readonly Variant[]

/** How much of the web is other than plain. `mild` has no variant that costs a crawler waiting or retries. */
export type Faults = 'none' | 'mild' | 'all'

/** Never chosen by `mild`: these make a crawler wait, retry or give up. */
const COSTLY: ReadonlySet<Variant> = new Set<Variant>([
  'busy',
  'throttled-seconds',
  'throttled-date',
  'throttled-bare',
  'unavailable',
  'lost',
  'short',
  'slow',
])

/** Chosen only where named: the webs of a seed stay what they were. */
const NAMED_ONLY: ReadonlySet<Variant> = new Set<Variant>(['noarchive', 'noai', 'tdm'])

/** The share of each variant beside 'page', which takes what is left. */
export function presetShares(faults: Faults): Partial<Record<Variant, number>> {
  const shares: Partial<Record<Variant, number>> = {}
  if (faults === 'none') return shares
  for (const variant of VARIANT_NAMES) {
    if (variant === 'page' || NAMED_ONLY.has(variant)) continue
    if (COSTLY.has(variant)) {
      if (faults === 'all') shares[variant] = 0.004
    } else shares[variant] = 0.007
  }
  return shares
}

/** Chooses by share from a hash. 'page' is asked first, as it is most of any web. */
export class VariantTable {
  readonly #names: Variant[] = ['page']
  readonly #upTo: number[]

  constructor(shares: Partial<Record<Variant, number>>) {
    let total = 0
    for (const variant of VARIANT_NAMES) total += variant === 'page' ? 0 : (shares[variant] ?? 0)
    if (total > 1) throw new RangeError(`the shares of the variants add up to ${total}, which is more than 1`)
    let upTo = 1 - total
    this.#upTo = [upTo]
    for (const variant of VARIANT_NAMES) {
      const share = variant === 'page' ? 0 : (shares[variant] ?? 0)
      if (share <= 0) continue
      upTo += share
      this.#names.push(variant)
      this.#upTo.push(upTo)
    }
  }

  choose(hash: number): Variant {
    const fraction = asFraction(hash)
    for (let i = 0; i < this.#upTo.length; i++) {
      if (fraction < (this.#upTo[i] as number)) return this.#names[i] as Variant
    }
    return 'page'
  }
}
