// Nodes that never come back, as one of the others sees to them: its agents look at what is lost, forget it and put it back in line when
// they are opened (lost-share.ts); here it is looked when the next step of each can be taken, and its agent opened anew for that.

import { type Clock, Fault } from '../base/index.ts'
import { type LostNode, LostProgress, type LostSum } from '../cluster/index.ts'
import type { Engine } from '../engine/index.ts'
import { loadLost } from './lost-object.ts'

export interface LostNodesParts {
  readonly engine: Engine
  readonly shares: number
  readonly clock: Clock
  /** Shares whose agents run here. */
  readonly hosted: () => readonly number[]
  /** Has the agent of a share opened anew; false where that cannot be now. */
  readonly renew: (share: number) => Promise<boolean>
  /** Everything is done about one. */
  readonly onSettled: (lost: LostNode, sum: LostSum) => void
}

/** A step that came to nothing (a shelf that does not answer) is tried again after this, and later and later. */
const AGAIN_MS_MIN = 60_000
const AGAIN_MS_MAX = 600_000

export class LostNodes {
  readonly #parts: LostNodesParts
  /** By the numbers of their wishes: nothing is left to do. */
  readonly #settled = new Set<number>()
  /** By wish, share and step: as many as there are steps of shares that were here. */
  readonly #tried = new Map<string, { readonly atMs: number; readonly waitMs: number }>()
  #looking: Promise<void> | null = null

  constructor(parts: LostNodesParts) {
    this.#parts = parts
  }

  /** Whether all that these had lost waits again. */
  isSettled(lost: readonly LostNode[]): boolean {
    return lost.every(({ wish }) => this.#settled.has(wish))
  }

  /** Costs nothing where no node is lost, or everything was done. */
  look(lost: readonly LostNode[]): Promise<void> {
    if (this.isSettled(lost)) return Promise.resolve()
    this.#looking ??= this.#look(lost)
      .catch((fault: unknown) => {
        // The engine is away: another time.
        if (!(fault instanceof Fault)) throw fault
      })
      .finally(() => (this.#looking = null))
    return this.#looking
  }

  async #look(all: readonly LostNode[]): Promise<void> {
    const { engine, shares, hosted, renew, onSettled } = this.#parts
    for (const lost of all) {
      if (this.#settled.has(lost.wish)) continue
      const progress = await LostProgress.read(engine, lost, shares)
      if (progress.isDone) {
        this.#settled.add(lost.wish)
        onSettled(lost, progress.sum)
        continue
      }
      await Promise.all(hosted().map((share) => this.#step(lost, share, progress, renew)))
    }
  }

  async #step(
    { wish }: LostNode,
    share: number,
    progress: LostProgress,
    renew: LostNodesParts['renew'],
  ): Promise<void> {
    const step = progress.nextOf(share)
    if (step === null) return
    const key = `${wish} ${share} ${step}`
    const { clock } = this.#parts
    const before = this.#tried.get(key)
    if (before !== undefined && clock.nowMs() < before.atMs + before.waitMs) return
    if (!(await renew(share))) return
    const waitMs = before === undefined ? AGAIN_MS_MIN : Math.min(2 * before.waitMs, AGAIN_MS_MAX)
    this.#tried.set(key, { atMs: clock.nowMs(), waitMs })
  }

  /** Files that are nowhere, and that these shares have pages in. */
  async goneFiles(lost: readonly LostNode[], ofShares: readonly number[]): Promise<ReadonlySet<string>> {
    const { engine, shares } = this.#parts
    const gone = new Set<string>()
    for (const one of lost) {
      const progress = await LostProgress.read(engine, one, shares)
      for (const share of ofShares) {
        const object = progress.objectOf(share)
        if (object !== null) for (const file of (await loadLost(engine.objects, object)).files.gone) gone.add(file)
      }
    }
    return gone
  }
}
