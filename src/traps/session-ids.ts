// Parameters that change and change nothing: session ids, tracking marks.
//
// Learnt per host and parameter from pages that were fetched anyway: the same URL but for one value that looks drawn at random,
// the same text, title and pictures, and something new to follow, all of which has the parameter too. Once that was so `sessionIds` times and
// hardly ever otherwise, a URL that differs from a visited one in that parameter alone is not asked for. What was
// never visited under any value still is.
//
//     /cart?item=7&sid=x81k2   text A      rest  /cart?item=7&sid=   → A, x81k2
//     /cart?item=7&sid=9fm0q   text A      the same text: one more for sid
//     /cart?item=8&sid=9fm0q   text B      another rest: nothing is said about sid

import { distance, type Sketch } from '../parse/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import { isNear } from './near.ts'
import type { TrapsOptions } from './options.ts'
import { Recent } from './recent.ts'
import { hashRange, type Parameter, parametersOf } from './url-shape.ts'

interface Rest {
  readonly high: number
  readonly low: number
  /** Of the whole text, the title and what is shown: pages that are mostly menu have sketches alike. */
  readonly text: number
  readonly value: number
}

/** How often a parameter of a host changed nothing, and something. */
export interface Evidence {
  same: number
  other: number
}

/** Parameters of one host that are watched. */
const NAMES_MAX = 32

export type SavedRest = readonly [key: number, high: number, low: number, text: number, value: number]

export class SessionIds {
  readonly #options: TrapsOptions
  readonly #rests: Recent<number, Rest>

  constructor(options: TrapsOptions) {
    this.#options = options
    this.#rests = new Recent(options.placesKept)
  }

  /** The parameter for which the URL is not worth asking for, or null. */
  judge(url: CanonicalUrl, evidence: ReadonlyMap<string, Evidence>): string | null {
    for (const parameter of parametersOf(url)) {
      const known = evidence.get(parameter.name)
      if (known === undefined || !this.#isSession(known)) continue
      const rest = this.#rests.get(keyOf(url, parameter))
      if (rest !== undefined && rest.value !== hashOf(parameter.value)) return parameter.name
    }
    return null
  }

  /** What a page teaches of its parameters; `evidence` is its host's. True when one is known as a session id now. */
  learn(
    url: CanonicalUrl,
    sketch: Sketch,
    title: string | null,
    shown: number,
    leads: readonly { readonly url: CanonicalUrl }[],
    evidence: Map<string, Evidence>,
  ): boolean {
    let isLearnt = false
    const text = hashRange(title ?? '', 0, title?.length ?? 0, sketch.sum ^ shown)
    for (const parameter of parametersOf(url)) {
      const key = keyOf(url, parameter)
      const value = hashOf(parameter.value)
      const before = this.#rests.get(key)
      if (before === undefined) {
        this.#rests.set(key, { high: sketch.high, low: sketch.low, text, value })
        continue
      }
      if (before.value === value) continue
      const known = evidence.get(parameter.name) ?? { same: 0, other: 0 }
      if (!isNear(before, sketch, this.#options.nearBits)) known.other++
      else if (before.text !== text || distance(before, sketch) > 0) continue
      else if (!looksDrawn(parameter.value) || !carryOn(leads, parameter)) continue
      else if (++known.same === this.#options.sessionIds && this.#isSession(known)) isLearnt = true
      if (evidence.has(parameter.name) || evidence.size < NAMES_MAX) evidence.set(parameter.name, known)
    }
    return isLearnt
  }

  #isSession({ same, other }: Evidence): boolean {
    const { sessionIds } = this.#options
    return sessionIds > 0 && same >= sessionIds && same >= 10 * other
  }

  save(): SavedRest[] {
    return [...this.#rests].map(([key, { high, low, text, value }]) => [key, high, low, text, value])
  }

  restore([key, high, low, text, value]: SavedRest): void {
    this.#rests.set(key, { high, low, text, value })
  }
}

/** Digits and letters mixed, or long: nobody has chosen it. */
export function looksDrawn(value: string): boolean {
  return value.length >= 16 || (value.length >= 5 && /\d/.test(value) && /[a-z]/i.test(value))
}

/** Whether there is something new to follow, and all of it has the parameter too, with this value or the next. */
function carryOn(leads: readonly { readonly url: CanonicalUrl }[], { name }: Parameter): boolean {
  if (leads.length === 0) return false
  return leads.every((lead) => parametersOf(lead.url).some((one) => one.name === name))
}

/** 52 bits of the URL without the parameter's value. */
function keyOf(url: CanonicalUrl, { name, start, end }: Parameter): number {
  const from = start + name.length + 1
  const low = hashRange(url, end, url.length, hashRange(url, 0, from, 1))
  const high = hashRange(url, end, url.length, hashRange(url, 0, from, 2))
  return (high & 0xfffff) * 2 ** 32 + (low >>> 0)
}

function hashOf(value: string): number {
  return hashRange(value, 0, value.length, 3)
}
