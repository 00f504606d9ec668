// Directories that show what the one above shows: /a/ and /a/b/ and /a/b/a/ with the same text, so /a/b/a/b/ will too.
// Path loops whose names do not repeat in a row are seen by this.

import type { Sketch } from '../parse/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import { isNear } from './near.ts'
import type { TrapsOptions } from './options.ts'
import { Recent } from './recent.ts'
import { directoryOf, parentOf } from './url-shape.ts'

interface Directory {
  readonly high: number
  readonly low: number
  /** How many directories above it in a row showed the same. */
  readonly level: number
}

export type SavedDirectory = readonly [directory: string, high: number, low: number, level: number]

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
  learn(url: CanonicalUrl, sketch: Sketch, leads: readonly { readonly url: CanonicalUrl }[]): boolean {
    const { pathLoops, nearBits } = this.#options
    if (pathLoops === 0) return false
    const directory = directoryOf(url)
    const known = this.#directories.get(directory)
    if (known !== undefined && known.level >= pathLoops) return false
    const { high, low } = sketch
    const above = parentOf(directory)
    const parent = above === null ? undefined : this.#directories.get(above)
    const isEcho = parent !== undefined && isNear(parent, sketch, nearBits) && leadOnlyDown(directory, leads)
    const level = isEcho ? parent.level + 1 : 0
    // Another page of the directory may have shown more.
    if (known === undefined || level >= known.level) this.#directories.set(directory, { high, low, level })
    return level === pathLoops
  }

  /** Those that echo; of others it is enough to know what is met from now on. */
  *save(): Generator<SavedDirectory> {
    for (const [directory, { high, low, level }] of this.#directories) {
      if (level > 0) yield [directory, high, low, level]
    }
  }

  restore([directory, high, low, level]: SavedDirectory): void {
    this.#directories.set(directory, { high, low, level })
  }
}

/** Whether something is new, and all of it lies in directories below: pictures beside the page would be worth the visit. */
function leadOnlyDown(directory: string, leads: readonly { readonly url: CanonicalUrl }[]): boolean {
  if (leads.length === 0) return false
  return leads.every((lead) => {
    const theirs = directoryOf(lead.url)
    return theirs.length > directory.length && theirs.startsWith(directory)
  })
}
