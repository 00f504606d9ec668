// Directories that show what the one above shows: /a/ and /a/b/ and /a/b/a/ with the same text, so /a/b/a/b/ will too.
// Path loops whose names do not repeat in a row are seen by this.
//
// Nearly the same text is not enough: a browser of source files shows little more than its menu in src/, src/main/ and
// src/main/java/. Either the text is the same to the word, or the names below are those of the directory above.

import type { Sketch } from '../parse/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import { isNear } from './near.ts'
import type { TrapsOptions } from './options.ts'
import { Recent } from './recent.ts'
import { authorityStart, directoryEnd, hashRange, type Places } from './url-shape.ts'

interface Directory {
  high: number
  low: number
  /** Of its whole text and its face. */
  text: number
  /** Of the names below it that were new. */
  below: number
  /** How many directories above it in a row showed the same. */
  level: number
}

export type SavedDirectory = readonly [
  directory: string,
  high: number,
  low: number,
  text: number,
  below: number,
  level: number,
]

export class Echoes {
  readonly #options: TrapsOptions
  readonly #places: Places
  readonly #directories: Recent<string, Directory>

  constructor(options: TrapsOptions, places: Places) {
    this.#options = options
    this.#places = places
    this.#directories = new Recent(options.placesKept)
  }

  judge(url: CanonicalUrl): string | null {
    const above = this.#places.of(url).parent
    const level = above === null ? 0 : (this.#directories.peek(above)?.level ?? 0)
    return level < this.#options.pathLoops ? null : `${level} directories in a row above it show the same text`
  }

  /** What a page teaches of its directory. True when nothing below it is worth asking for now. */
  learn(url: CanonicalUrl, sketch: Sketch, face: number, leads: readonly { readonly url: CanonicalUrl }[]): boolean {
    const { pathLoops, nearBits } = this.#options
    if (pathLoops === 0) return false
    const { directory, parent: above } = this.#places.of(url)
    const known = this.#directories.get(directory)
    if (known !== undefined && known.level >= pathLoops) return false
    const { high, low } = sketch
    const below = namesBelow(directory, leads)
    // Most pages lead to nothing below them, and the one above is not even looked up.
    const parent = above === null || below === 0 ? undefined : this.#directories.get(above)
    const text = sketch.sum ^ face
    const isSame = parent !== undefined && (parent.text === text || parent.below === below)
    const isEcho = isSame && isNear(parent, sketch, nearBits)
    const level = isEcho ? parent.level + 1 : 0
    // Another page of the directory may have shown more.
    if (known === undefined) this.#directories.set(directory, { high, low, text, below, level })
    else if (level >= known.level) {
      known.high = high
      known.low = low
      known.text = text
      known.below = below
      known.level = level
    }
    return level === pathLoops
  }

  /** Those that echo; of others it is enough to know what is met from now on. */
  *save(): Generator<SavedDirectory> {
    for (const [directory, { high, low, text, below, level }] of this.#directories) {
      if (level > 0) yield [directory, high, low, text, below, level]
    }
  }

  restore([directory, high, low, text, below, level]: SavedDirectory): void {
    this.#directories.set(directory, { high, low, text, below, level })
  }
}

/** A mark of what is new below it, in any order; 0 where nothing is, or something lies elsewhere: pictures beside the page would be worth the visit. */
function namesBelow(directory: string, leads: readonly { readonly url: CanonicalUrl }[]): number {
  let names = 0
  for (let i = 0; i < leads.length; i++) {
    const { url } = leads[i] as { readonly url: CanonicalUrl }
    const start = authorityStart(url)
    const end = directoryEnd(url)
    if (end - start <= directory.length || !url.startsWith(directory, start)) return 0
    names = (names + (hashRange(url, start + directory.length, end, 4) | 1)) | 0
  }
  return leads.length === 0 ? 0 : names || 1
}
