// Facets: one path whose parameters are combined in every way (?colour=red&size=3&sort=price&brand=…), a page for each.
//
// Few values, many pages: an id has as many values as pages, a facet has a handful, and their combinations are the pages.
// Parameters that come and go (eight sets of names at least), pages by far more than values, and nearly none of the last
// hundreds that led to another path: then combinations of two and more are not asked for. One parameter alone, with
// the pages of what it gives, always is, so that every item keeps a way to it.

import type { CanonicalUrl } from '../url/index.ts'
import type { TrapsOptions } from './options.ts'
import { Recent } from './recent.ts'
import { hashRange, parametersOf, placeOf } from './url-shape.ts'

interface Path {
  pages: number
  /** Pages that led to something new elsewhere. */
  fruitful: number
  /** Sets of names met, by hash; no more than are needed. */
  readonly names: number[]
  /** Values of each parameter, by hash; null once there are too many for a facet. */
  readonly values: Map<string, number[] | null>
  isExplosion: boolean
}

/** Names of parameters that leaf through what the others have chosen. */
const PAGE_NUMBER = /^(?:p|pg|page|paged|pageno|page_?num(?:ber)?|start|offset|from|skip|seite|pagina)$/i
const NAME_SETS_MIN = 8
const VALUES_MAX = 64
const PARAMETERS_MAX = 16
/** Pages by this many times more than values. */
const PAGES_PER_VALUE = 3
/** Paths with a query that are watched at once: each may hold a thousand values. */
const PATHS_MAX = 1_000

export type SavedPath = readonly [
  place: string,
  pages: number,
  fruitful: number,
  names: readonly number[],
  values: readonly (readonly [string, readonly number[] | null])[],
  isExplosion: boolean,
]

export class Facets {
  readonly #options: TrapsOptions
  readonly #paths: Recent<string, Path>

  constructor(options: TrapsOptions) {
    this.#options = options
    this.#paths = new Recent(Math.min(PATHS_MAX, options.placesKept))
  }

  judge(url: CanonicalUrl): string | null {
    const path = this.#paths.get(placeOf(url))
    if (path === undefined || !path.isExplosion) return null
    if (parametersOf(url).filter(({ name }) => !PAGE_NUMBER.test(name)).length < 2) return null
    const values = [...path.values.values()].reduce((sum, each) => sum + (each?.length ?? 0), 0)
    return `combinations of ${path.values.size} parameters with ${values} values in all, none of which leads elsewhere`
  }

  /** What a page with a query teaches. True when its path is known as an explosion now. */
  learn(url: CanonicalUrl, leads: readonly { readonly url: CanonicalUrl }[]): boolean {
    const { facetPages, share } = this.#options
    const parameters = parametersOf(url)
    if (facetPages === 0 || parameters.length === 0) return false
    const place = placeOf(url)
    const path = this.#paths.get(place) ?? this.#paths.set(place, newPath())
    if (path.pages >= 2 * facetPages) {
      path.pages /= 2
      path.fruitful /= 2
    }
    path.pages++
    if (leads.some((lead) => placeOf(lead.url) !== place)) path.fruitful++
    let names = 0
    for (const { name, value } of parameters) {
      names ^= hashRange(name, 0, name.length, 1)
      addValue(path.values, name, hashRange(value, 0, value.length, 2))
    }
    if (path.names.length < NAME_SETS_MIN && !path.names.includes(names)) path.names.push(names)
    if (path.isExplosion || path.pages < facetPages || path.names.length < NAME_SETS_MIN) return false
    let values = 0
    for (const each of path.values.values()) values += each === null ? Infinity : each.length
    path.isExplosion = path.pages >= PAGES_PER_VALUE * values && path.fruitful <= (1 - share) * path.pages
    return path.isExplosion
  }

  save(): SavedPath[] {
    return [...this.#paths].map(([place, path]) => [
      place,
      path.pages,
      path.fruitful,
      path.names,
      [...path.values],
      path.isExplosion,
    ])
  }

  restore([place, pages, fruitful, names, values, isExplosion]: SavedPath): void {
    const mine = values.map(([name, each]): [string, number[] | null] => [name, each === null ? null : [...each]])
    this.#paths.set(place, { pages, fruitful, names: [...names], values: new Map(mine), isExplosion })
  }
}

function newPath(): Path {
  return { pages: 0, fruitful: 0, names: [], values: new Map(), isExplosion: false }
}

function addValue(values: Map<string, number[] | null>, name: string, value: number): void {
  const known = values.get(name)
  // A parameter that is not counted makes it no explosion: better a request too many.
  if (known === undefined) {
    if (values.size < PARAMETERS_MAX) values.set(name, [value])
    else values.set('', null)
  } else if (known !== null && !known.includes(value)) {
    if (known.length < VALUES_MAX) known.push(value)
    else values.set(name, null)
  }
}
