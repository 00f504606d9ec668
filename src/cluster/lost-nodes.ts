// A node that never comes back, and with it the WARC files that only it had: how far the others are with having its pages again.
//
//   wish 7: b is lost                       each share by itself              all shares, then each by itself
//     └─▶ lost.7.found.<share>    what of its pages stood in files of b, and which of those files are safe on the shelf
//         lost.7.forgot.<share>   nothing is kept as a copy of what is lost any more           (when all have found)
//         lost.7.waits.<share>    so many pages wait again                                     (when all have forgotten)
//
// In this order, because pages of one share may be kept as copies of another's: were a page asked for before the owner of its content
// has forgotten the lost one, it would be kept as a copy of itself. Each step is done again by whoever has the share next, where it was
// not written down; twice does no harm.

import type { Engine } from '../engine/index.ts'
import { encodeRecord } from './records.ts'
import type { LostNode } from './wishes.ts'

/** What a share had in files of the lost node. */
export interface LostFound {
  /** WARC files that are on the shelf, and pages in them. */
  readonly safeFiles: number
  readonly safePages: number
  /** Those that are nowhere. */
  readonly goneFiles: number
  readonly gonePages: number
  /** Says which files and captures these are (src/supervise/lost-share.ts); null where nothing is gone. */
  readonly object: string | null
}

/** What all shares together had. */
export interface LostSum extends Omit<LostFound, 'object'> {
  /** Shares that have looked. */
  readonly shares: number
  /** Pages that wait again, or have been had again since. */
  readonly requeued: number
}

export type LostStep = 'find' | 'forget' | 'requeue'

export class LostProgress {
  readonly #shares: number
  readonly #found = new Map<number, LostFound>()
  readonly #forgot = new Set<number>()
  readonly #waits = new Map<number, number>()

  private constructor(shares: number) {
    this.#shares = shares
  }

  static async read(engine: Pick<Engine, 'records'>, { wish }: LostNode, shares: number): Promise<LostProgress> {
    const progress = new LostProgress(shares)
    for (const { name, value } of await engine.records.list(`lost.${wish}`)) {
      const [, , step, share] = name.split('.')
      const said = JSON.parse(new TextDecoder().decode(value)) as LostFound & { readonly pages: number }
      if (step === 'found') progress.#found.set(Number(share), said)
      else if (step === 'forgot') progress.#forgot.add(Number(share))
      else if (step === 'waits') progress.#waits.set(Number(share), said.pages)
    }
    return progress
  }

  /** What a share can do now; null where it has done everything, or others have to do something first. */
  nextOf(share: number): LostStep | null {
    if (!this.#found.has(share)) return 'find'
    if (this.#found.size < this.#shares || this.sum.gonePages === 0) return null
    if (!this.#forgot.has(share)) return 'forget'
    if (this.#forgot.size < this.#shares || this.#waits.has(share)) return null
    return 'requeue'
  }

  /** All that was lost waits again, or is had again already; or nothing was. */
  get isDone(): boolean {
    if (this.#found.size < this.#shares) return false
    return this.sum.gonePages === 0 || this.#waits.size === this.#shares
  }

  /** Where it is described what a share has lost; null where nothing is, or it has not looked. */
  objectOf(share: number): string | null {
    return this.#found.get(share)?.object ?? null
  }

  /** Over the shares that have looked; a file is one share's. */
  get sum(): LostSum {
    const all = [...this.#found.values()]
    const total = (of: keyof Omit<LostFound, 'object'>): number => all.reduce((sum, one) => sum + one[of], 0)
    return {
      shares: all.length,
      safeFiles: total('safeFiles'),
      safePages: total('safePages'),
      goneFiles: total('goneFiles'),
      gonePages: total('gonePages'),
      requeued: [...this.#waits.values()].reduce((sum, pages) => sum + pages, 0),
    }
  }
}

/** Says that a share has done a step. Whoever says it first is believed. */
export async function noteLostStep(
  engine: Pick<Engine, 'records'>,
  { wish }: LostNode,
  share: number,
  said:
    | { readonly step: 'find'; readonly found: LostFound }
    | { readonly step: 'forget' }
    | { readonly step: 'requeue'; readonly pages: number },
): Promise<void> {
  const name = { find: 'found', forget: 'forgot', requeue: 'waits' }[said.step]
  const value = said.step === 'find' ? said.found : said.step === 'requeue' ? { pages: said.pages } : {}
  await engine.records.create(`lost.${wish}.${name}.${share}`, encodeRecord(value))
}
