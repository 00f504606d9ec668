// Numbers and paths. Every host has numbered pages; a path is a function of host and number, and the
// number can be read back from the path, so a request is answered without any table of pages.
//
//    0 … pages−1        the web proper; 0 is the root
//    next VARIANTS      the exhibits, one per variant, at /_/<variant>
//    next ORPHANS       pages that only the sitemap knows

import type { WebOptions } from '../options.ts'
import { variantShares } from '../options.ts'
import type { Host } from './host.ts'
import { isMisdeed, turnAt } from './misdeeds.ts'
import { mix } from './mix.ts'
import type { Place } from './writing.ts'
import { type Variant, VARIANT_NAMES, VARIANTS, VariantTable } from './variant.ts'

/** One numbered page, known but not yet written. */
export interface Resource extends Place {
  readonly number: number
  readonly hash: number
  readonly variant: Variant
}

/** Two of the eight are named in the rules of some robots.txt. */
const SECTIONS = ['news', 'docs', 'blog', 'shop', 'people', 'archive', 'private', 'tmp'] as const
const SUBSECTIONS = ['north', 'east', 'south', 'west'] as const
const ORPHANS = 3
const EXHIBIT_PREFIX = '/_/'

const ENDINGS: Partial<Record<Variant, string>> = {
  image: '.png',
  style: '.css',
  script: '.js',
  pdf: '.pdf',
  text: '.txt',
  rss: '.rss',
  atom: '.atom',
}
const NUMBER_IN_PATH = /^\/[a-z]+\/(?:[a-z]+\/)?(?:p|caf%C3%A9-|view\?id=)?(\d{1,9})(?![\d])/
const VARIANT_INDEX: ReadonlyMap<string, number> = new Map(VARIANT_NAMES.map((name, index) => [name, index]))

export class Layout {
  readonly orphans: number
  readonly #variants: VariantTable
  readonly #misbehaving: number

  constructor(options: WebOptions) {
    this.#misbehaving = options.misbehaving
    this.#variants = new VariantTable(variantShares(options))
    this.orphans = options.faults === 'none' ? 0 : ORPHANS
  }

  resource(host: Host, number: number): Resource {
    const hash = mix(host.hash, number + 1)
    const variant = this.#variantOf(host, number, hash)
    return { host, path: pathOf(host, number, hash, variant), number, hash, variant }
  }

  exhibit(host: Host, variant: Variant): Resource {
    return this.resource(host, host.pages + (VARIANT_INDEX.get(variant) ?? 0))
  }

  orphan(host: Host, index: number): Resource {
    return this.resource(host, host.pages + VARIANT_NAMES.length + index)
  }

  /** The numbered page that stands at a path (with query), or null. */
  find(host: Host, path: string): Resource | null {
    if (path === '/') return this.resource(host, 0)
    if (path.startsWith(EXHIBIT_PREFIX)) {
      const index = VARIANT_INDEX.get(path.slice(EXHIBIT_PREFIX.length))
      return index === undefined ? null : this.resource(host, host.pages + index)
    }
    const digits = NUMBER_IN_PATH.exec(path)?.[1]
    if (digits === undefined) return null
    const number = Number(digits)
    if (number >= host.pages && !this.#isOrphan(host, number)) return null
    const resource = this.resource(host, number)
    return resource.path === path ? resource : null
  }

  #isOrphan(host: Host, number: number): boolean {
    const index = number - host.pages - VARIANT_NAMES.length
    return index >= 0 && index < this.orphans
  }

  #variantOf(host: Host, number: number, hash: number): Variant {
    if (number === 0) return 'page'
    const turn = turnAt(this.#misbehaving, host, number)
    if (turn !== null) return isMisdeed(turn) ? 'page' : turn
    if (number < host.pages) return this.#variants.choose(mix(hash, 7))
    return VARIANT_NAMES[number - host.pages] ?? 'page'
  }
}

function pathOf(host: Host, number: number, hash: number, variant: Variant): string {
  if (number === 0) return '/'
  const exhibit = VARIANT_NAMES[number - host.pages]
  if (exhibit !== undefined) return EXHIBIT_PREFIX + exhibit
  const section = SECTIONS[hash & 7] as string
  const ending = ENDINGS[variant]
  if (ending !== undefined) return `/${section}/p${number}${ending}`
  switch ((hash >>> 3) & 15) {
    case 0:
    case 1:
      return `/${section}/view?id=${number}&v=${hash >>> 24}`
    case 2:
      return `/${section}/${number}/`
    case 3:
    case 4:
      return `/${section}/${SUBSECTIONS[(hash >>> 7) & 3]}/p${number}.html`
    case 5:
      return `/${section}/caf%C3%A9-${number}.html`
    default:
      return `/${section}/p${number}.html`
  }
}

/** Whether `linked` elements other than a fit: what an image, a style sheet … would be linked by. */
export function familyOf(resource: Resource): (typeof VARIANTS)[Variant] {
  return VARIANTS[resource.variant]
}
