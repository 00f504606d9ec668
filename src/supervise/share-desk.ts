// What a node answers to the chair: how its shares stand, and what it does with permits to add pages. One question does it all, in
// totals rather than in steps, so that it may be lost, come late or come twice without harm.
//
//   chair ── round 7 of chair 3: share 5, in epoch 2, life 1, may have had 40 permits altogether ──▶ desk
//         ◀── share 5, epoch 2, life 1: began with 12 pages, had 40 permits, gave 3 up, stands so ──
//
// Laws
//   - A chair is the epoch of share 0. Whoever has heard a later one refuses the earlier one, and says so.
//   - A desk that takes a share knows the chair that there was *after* it had taken it (`ShareOpened.chair`): no earlier one can
//     grant that share anything. With the chair's own law (chair.ts) that makes `--max-pages` exact.
//   - An answer is put together after all that was asked for is done: what it says of permits and of standing belongs together.

import type { Standing } from '../agent/index.ts'

/** One life of a share: the later of two is known by its epoch, then by its life. */
export interface ShareLife {
  readonly share: number
  readonly epoch: number
  /** Counts the threads that had it in this epoch. */
  readonly life: number
}

export interface DeskOrder extends ShareLife {
  /** Permits that this life has been granted, altogether. */
  readonly granted: number
  /** Gives up what it does not use. */
  readonly recall: boolean
}

export interface DeskQuestion {
  /** The epoch of share 0, by which the asker is the chair. */
  readonly chair: number
  readonly orders: readonly DeskOrder[]
}

/** As JSON has it: null stands for permits without limit. */
export type PlainStanding = Omit<Standing, 'permits'> & { readonly permits: number | null }

export interface ShareReport extends ShareLife {
  /** Pages that it had when this life began. */
  readonly pages: number
  readonly granted: number
  /** Of those, altogether. */
  readonly surrendered: number
  /** It waits for permits. */
  readonly isShort: boolean
  /** The last change of the crawl that it runs under, or has taken in. */
  readonly change: number
  /** How long its crawl has taken. */
  readonly ms: number
  readonly standing: PlainStanding
}

export type DeskAnswer =
  | { readonly kind: 'shares'; readonly shares: readonly ShareReport[] }
  /** Another has the chair. */
  | { readonly kind: 'refused'; readonly chair: number }

/** The agents of a node, as their desk needs them. What they are told they hear in order. */
export interface DeskAgents {
  /** How it stands after everything that it was told before. Rejects where it is gone. */
  probe(share: number): Promise<{ readonly standing: Standing; readonly ms: number }>
  grant(share: number, pages: number): void
  /** Answered by `surrendered`, before any later probe is. */
  recall(share: number): void
}

export interface ShareOpened {
  readonly epoch: number
  /** Pages in its batches. */
  readonly pages: number
  /** The epoch of share 0 as its log said after this epoch had begun. */
  readonly chair: number
  /** The change of the crawl that it was opened with. */
  readonly change: number
}

interface Held {
  readonly epoch: number
  readonly life: number
  readonly pages: number
  change: number
  granted: number
  surrendered: number
  isShort: boolean
}

export class ShareDesk {
  readonly #agents: DeskAgents
  readonly #held = new Map<number, Held>()
  #lives = 0
  #chair = 0

  constructor(agents: DeskAgents) {
    this.#agents = agents
  }

  /** An agent has opened a share, for the first time or again; it has no permits. */
  opened(share: number, { epoch, pages, chair, change }: ShareOpened): void {
    this.#chair = Math.max(this.#chair, chair)
    this.#held.set(share, { epoch, life: ++this.#lives, pages, change, granted: 0, surrendered: 0, isShort: false })
  }

  /** Its thread has ended, or the share was given up. */
  lost(share: number): void {
    this.#held.delete(share)
  }

  /** Its agent has taken a change in while it runs: what it is asked from now on it answers as one that has. */
  took(share: number, change: number): void {
    const held = this.#held.get(share)
    if (held !== undefined) held.change = Math.max(held.change, change)
  }

  /** The change that it runs under; null where no agent has it open. */
  changeOf(share: number): number | null {
    return this.#held.get(share)?.change ?? null
  }

  /** Its agent wants permits and has none. */
  short(share: number): void {
    const held = this.#held.get(share)
    if (held !== undefined) held.isShort = true
  }

  surrendered(share: number, pages: number): void {
    const held = this.#held.get(share)
    if (held !== undefined) held.surrendered += pages
  }

  async answer({ chair, orders }: DeskQuestion): Promise<DeskAnswer> {
    if (chair < this.#chair) return { kind: 'refused', chair: this.#chair }
    // From here to the probes in one breath: an earlier chair's order is done before a later one is known, or never.
    this.#chair = chair
    for (const order of orders) this.#obey(order)
    // What it runs under is what it had when it was asked: how it stands is said after that.
    const asked = [...this.#held].map(([share, held]) => [share, held, held.change] as const)
    const probes = await Promise.allSettled(asked.map(([share]) => this.#agents.probe(share)))
    const shares: ShareReport[] = []
    for (const [place, [share, held, change]] of asked.entries()) {
      const probe = probes[place]
      if (probe?.status !== 'fulfilled' || this.#held.get(share) !== held) continue
      const { standing, ms } = probe.value
      const permits = standing.permits === Infinity ? null : standing.permits
      shares.push({ share, ...held, change, ms, standing: { ...standing, permits } })
    }
    return { kind: 'shares', shares }
  }

  #obey({ share, epoch, life, granted, recall }: DeskOrder): void {
    const held = this.#held.get(share)
    if (held === undefined || held.epoch !== epoch || held.life !== life) return
    if (granted > held.granted) {
      this.#agents.grant(share, granted - held.granted)
      held.granted = granted
      held.isShort = false
    }
    if (recall) this.#agents.recall(share)
  }
}
