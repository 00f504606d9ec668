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
import { directoryOf, hashRange, parentOf } from './url-shape.ts'

interface Directory {
  readonly high: number
  readonly low: number
  /** Of its whole text and its face. */
  readonly text: number
  /** Of the names below it that were new. */
  readonly below: number
  /** How many directories above it in a row showed the same. */
  readonly level: number
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
  readonly #directories: Recent<string, Directory>

  constructor(options: TrapsOptions) {
    this.#options = options
    this.#directories = new Recent(options.placesKept)
  }

  judge(url: CanonicalUrl): string | null {
    const above = parentOf(directoryOf(url))
    const level = above === null ? 0 : (this.#directories.peek(above)?.level ?? 0)
    return level < this.#options.pathLoops ? null : `${level} directories in a row above it show the same text`
  }

  /** What a page teaches of its directory. True when nothing below it is worth asking for now. */
  learn(url: CanonicalUrl, sketch: Sketch, face: number, leads: readonly { readonly url: CanonicalUrl }[]): boolean {
    const { pathLoops, nearBits } = this.#options
    if (pathLoops === 0) return false
    const directory = directoryOf(url)
    const known = this.#directories.get(directory)
    if (known !== undefined && known.level >= pathLoops) return false
    const { high, low } = sketch
    const above = parentOf(directory)
    const parent = above === null ? undefined : this.#directories.get(above)
    const below = namesBelow(directory, leads)
    const text = sketch.sum ^ face
    const isSame = parent !== undefined && (parent.text === text || parent.below === below)
    const isEcho = isSame && below !== 0 && isNear(parent, sketch, nearBits)
    const level = isEcho ? parent.level + 1 : 0
    // Another page of the directory may have shown more.
    if (known === undefined || level >= known.level) this.#directories.set(directory, { high, low, text, below, level })
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
  for (const { url } of leads) {
    const theirs = directoryOf(url)
    if (theirs.length <= directory.length || !theirs.startsWith(directory)) return 0
    names = (names + (hashRange(theirs, directory.length, theirs.length, 4) | 1)) | 0
  }
  return leads.length === 0 ? 0 : names || 1
}
