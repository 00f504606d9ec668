// Seeds that are given to a crawl, when it is opened or while it runs: each agent is told of all, takes those of its hosts, and
// grows its scope by the others'.

import type { RefusalReason } from '../base/index.ts'
import type { CanonicalUrl, Scope } from '../url/index.ts'
import { type Admission, type AdmissionSink, seedEntry } from './admission.ts'
import type { Books } from './books.ts'

export interface SeedParts {
  readonly admission: Admission
  readonly books: Books
  readonly scope: Scope
  readonly sink: AdmissionSink
  /** Seeds that stand in the crawl's file of seeds. */
  readonly isKnown: (seed: CanonicalUrl) => boolean
}

/** What became of seeds whose hosts an agent owns. */
export interface AdmittedSeeds {
  readonly added: readonly CanonicalUrl[]
  /** They were met before, as seeds or as links. */
  readonly known: readonly CanonicalUrl[]
  readonly refused: readonly { readonly url: CanonicalUrl; readonly reason: RefusalReason }[]
}

export async function admitSeeds(seeds: readonly CanonicalUrl[], parts: SeedParts): Promise<AdmittedSeeds> {
  const { admission, books, scope, sink, isKnown } = parts
  const added: CanonicalUrl[] = []
  const known: CanonicalUrl[] = []
  const refused: { readonly url: CanonicalUrl; readonly reason: RefusalReason }[] = []
  for (const seed of seeds) {
    if (await admission.admitSeed(seed, sink)) {
      added.push(seed)
      continue
    }
    const reason = scope.judge(seed, 0)
    // Another's: it widens our scope too, also in a run that is given no seeds.
    if (admission.isAbroad(seed)) {
      if (!isKnown(seed) && reason === null) books.seedAbroad(seedEntry(seed))
    } else if (reason === null) known.push(seed)
    else refused.push({ url: seed, reason })
  }
  return { added, known, refused }
}
