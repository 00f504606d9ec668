// What operators have asked for, added up in the order they asked. Everybody reads the same wishes and comes to the same sum.

import { SPEED_LIMITS, type SpeedChange, type Wish } from './records.ts'

/** Nodes with wishes that still hold. Beyond it, the node that was mentioned longest ago is forgotten. */
export const WISHED_NODES_MAX = 4_096

/** Nodes that were lost; beyond it, the first ones are forgotten: their pages have long been had again. */
export const LOST_NODES_MAX = 1_024

/** A node that never comes back, and the wish that said so: files that it writes in a later life are not meant. */
export interface LostNode {
  readonly wish: number
  readonly node: string
}

/** Limits that hold, of all, of a node or of a share; beyond it, those that were said longest ago are forgotten. */
export const SPEED_WISHES_MAX = 4_096

/** One limit. Of several that are about the same share the last counts. */
export interface SpeedWish {
  readonly node: string | null
  readonly share: number | null
  readonly change: SpeedChange
}

export interface NodeWishes {
  readonly isDraining: boolean
  /** Instead of the weight it joined with. */
  readonly weight: number | null
  /** The wish that removed it; lives of the node that knew it when they joined are not meant. 0: never. */
  readonly removedBy: number
}

const NOTHING_WISHED: NodeWishes = { isDraining: false, weight: null, removedBy: 0 }

export class Wishes {
  readonly #nodes = new Map<string, NodeWishes>()
  /** By whom it is about and the limit, the oldest first. */
  readonly #speeds = new Map<string, SpeedWish>()
  #lost: readonly LostNode[] = []
  #upTo = 0
  #run = 1
  #isStopping = false
  #isPaused = false

  /** False: it is known, or one before it is missing; nothing changed. */
  add(number: number, wish: Wish): boolean {
    if (number !== this.#upTo + 1) return false
    this.#upTo = number
    if (wish.kind === 'stop') this.#isStopping = true
    if (wish.kind === 'pause' || wish.kind === 'unpause') this.#isPaused = wish.kind === 'pause'
    if (wish.kind === 'go') {
      this.#isStopping = false
      this.#run++
    }
    if (wish.kind === 'speed') this.#setSpeed(wish)
    else if (wish.node !== null) this.#add(number, wish.node, wish)
    return true
  }

  #setSpeed({ node, share = null, speed = {} }: Wish): void {
    for (const limit of SPEED_LIMITS) {
      if (speed[limit] === undefined) continue
      const key = `${node ?? ''} ${share ?? ''} ${limit}`
      this.#speeds.delete(key)
      this.#speeds.set(key, { node, share, change: { [limit]: speed[limit] } })
    }
    for (const key of this.#speeds.keys()) {
      if (this.#speeds.size <= SPEED_WISHES_MAX) break
      this.#speeds.delete(key)
    }
  }

  #add(number: number, node: string, wish: Wish): void {
    const before = this.of(node)
    // Re-inserted, so that the first one in the map is the one that was mentioned longest ago.
    this.#nodes.delete(node)
    if (wish.kind === 'drain') this.#nodes.set(node, { ...before, isDraining: true })
    else if (wish.kind === 'resume') this.#nodes.set(node, { ...before, isDraining: false })
    else if (wish.kind === 'weight') this.#nodes.set(node, { ...before, weight: wish.weight ?? null })
    else if (wish.kind === 'remove' || wish.kind === 'lost')
      this.#nodes.set(node, { ...NOTHING_WISHED, removedBy: number })
    if (wish.kind === 'lost') this.#lost = [...this.#lost, { wish: number, node }].slice(-LOST_NODES_MAX)
    const [oldest] = this.#nodes.keys()
    if (this.#nodes.size > WISHED_NODES_MAX && oldest !== undefined) this.#nodes.delete(oldest)
  }

  of(node: string): NodeWishes {
    return this.#nodes.get(node) ?? NOTHING_WISHED
  }

  /** Nodes that never come back, in the order they were said to be lost. */
  get lost(): readonly LostNode[] {
    return this.#lost
  }

  /** Limits in the order they were said. */
  get speeds(): readonly SpeedWish[] {
    return [...this.#speeds.values()]
  }

  get upTo(): number {
    return this.#upTo
  }

  /** 1, and one more for each wish to go on. */
  get run(): number {
    return this.#run
  }

  /** Nobody is to be asked for anything, in this run and the next, until an operator says otherwise. */
  get isPaused(): boolean {
    return this.#isPaused
  }

  /** The present run was asked to stop. */
  get isStopping(): boolean {
    return this.#isStopping
  }
}
