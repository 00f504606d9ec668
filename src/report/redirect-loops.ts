// Redirects that lead nowhere: to themselves, round in a circle, or into such a circle.
//
// Every redirect is noted with its target; when all are known, each chain is followed once. Memory:
// about 400 bytes for each redirect noted, of which there are at most REDIRECTS_MAX. Beyond that only
// those to themselves are noticed, for they need no memory.

import { canonicalise, type CanonicalUrl } from '../url/index.ts'

const REDIRECTS_MAX = 100_000

/** A redirect in or into a loop, as a broken URL. */
export interface RedirectLoop {
  readonly url: string
  readonly status: number
  readonly failure: null
  readonly detail: string
  readonly via: string | null
}

interface Redirect {
  readonly status: number
  readonly target: string
  readonly via: string | null
  /** How many URLs the circle has it is part of; 0 until known, or when it is part of none. */
  circle: number
  /** Number of the walk that came by; 0 before the first. */
  walk: number
  leadsNowhere: boolean
}

export class RedirectLoops {
  readonly #redirectsMax: number
  readonly #redirects = new Map<string, Redirect>()
  readonly #toThemselves: RedirectLoop[] = []
  #loopCount = 0

  constructor(redirectsMax: number = REDIRECTS_MAX) {
    this.#redirectsMax = redirectsMax
  }

  /** `location` is the header as it came; a target that is no URL of ours leads out of every loop. */
  note(url: string, status: number, location: string, via: string | null): void {
    const target = canonicalise(location, url as CanonicalUrl)
    if (typeof target !== 'string') return
    if (this.#redirects.size < this.#redirectsMax) {
      this.#redirects.set(url, { status, target, via, circle: 0, walk: 0, leadsNowhere: false })
    } else if (target === url && this.#toThemselves.length < this.#redirectsMax) {
      this.#toThemselves.push({ url, status, failure: null, detail: detailOf(1), via })
    }
  }

  /** How many loops() found. */
  get loopCount(): number {
    return this.#loopCount
  }

  /** Every redirect after which a reader sees nothing, in the order they were noted. */
  loops(): RedirectLoop[] {
    this.#walkAll()
    const loops: RedirectLoop[] = []
    for (const [url, { status, circle, via, leadsNowhere }] of this.#redirects) {
      if (leadsNowhere) loops.push({ url, status, failure: null, detail: detailOf(circle), via })
    }
    loops.push(...this.#toThemselves)
    this.#loopCount = loops.length
    return loops
  }

  /** Each redirect is stepped on once by its own walk and looked at once by the next: linear. */
  #walkAll(): void {
    let walk = 0
    for (const start of this.#redirects.values()) {
      if (start.walk !== 0) continue
      walk++
      const path: Redirect[] = []
      let at: Redirect | undefined = start
      while (at !== undefined && at.walk === 0) {
        at.walk = walk
        path.push(at)
        at = this.#redirects.get(at.target)
      }
      if (at === undefined) continue
      // Back on its own path: from there on it is a circle.
      const circle = at.walk === walk ? path.slice(path.indexOf(at)) : []
      for (const redirect of circle) redirect.circle = circle.length
      if (circle.length > 0 || at.leadsNowhere) for (const redirect of path) redirect.leadsNowhere = true
    }
  }
}

function detailOf(circle: number): string {
  if (circle === 0) return 'leads into a redirect loop'
  return circle === 1 ? 'redirect loop: leads to itself' : `redirect loop of ${circle} URLs`
}
