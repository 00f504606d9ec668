// A crawl as a node of a cluster means it: as it was when the node began, and what changes of it have come since. What a node cannot
// read, or open a share with, it does not half obey: it goes on with the last that it could, and says so by its number.

import type { CrawlSettings } from '../agent/index.ts'
import { Fault } from '../base/index.ts'
import type { Changes } from '../cluster/index.ts'
import { canonicalise, type CanonicalUrl } from '../url/index.ts'

export interface MeantOrders {
  readonly seeds: readonly CanonicalUrl[]
  readonly settings: CrawlSettings
}

/** As it is meant by the last change of it that this node could read. */
export interface MeantCrawl {
  /** The number of that change. */
  change(): number
  /** All seeds and options: what an agent is opened with. */
  orders(): MeantOrders
  /** What an agent that has an earlier change must hear of to have this one; null: it must be opened anew. */
  since(change: number): readonly CanonicalUrl[] | null
}

export class ChangingCrawl implements MeantCrawl {
  readonly #read: (said: unknown) => CrawlSettings
  #change: number
  #orders: MeantOrders
  #changes: Changes | null = null
  /** What was meant before; and the change that no share could be opened with. */
  #before: { readonly change: number; readonly orders: MeantOrders } | null = null
  #refused = 0

  /** `change`: the one that it begins with; `read`: options as they were said, as they hold here. Throws a Fault where they do not. */
  constructor(orders: MeantOrders, change: number, read: (said: unknown) => CrawlSettings) {
    this.#orders = orders
    this.#change = change
    this.#read = read
  }

  /** Why the last one cannot be read here; null where it can, and is what is meant from now on. */
  hear(changes: Changes): Fault | null {
    const { upTo } = changes
    if (upTo <= Math.max(this.#change, this.#refused)) return null
    const before = { change: this.#change, orders: this.#orders }
    try {
      const said = changes.settingsAfter(this.#change)
      const { seeds, settings } = this.#orders
      this.#orders = {
        seeds: [...new Set([...seeds, ...urlsOf(changes.seedsAfter(this.#change))])],
        settings: said === null ? settings : this.#read(said),
      }
    } catch (fault) {
      if (fault instanceof Fault) return fault
      throw fault
    }
    this.#change = upTo
    this.#changes = changes
    this.#before = before
    return null
  }

  /** A share cannot be opened with this change here (a file that is not there): what was meant before is meant until the next one. */
  retreat(change: number): boolean {
    if (this.#before === null || change !== this.#change) return false
    this.#refused = change
    this.#change = this.#before.change
    this.#orders = this.#before.orders
    this.#before = null
    return true
  }

  change(): number {
    return this.#change
  }

  orders(): MeantOrders {
    return this.#orders
  }

  since(change: number): readonly CanonicalUrl[] | null {
    if (this.#changes === null || this.#changes.needsOpening(change)) return null
    return urlsOf(this.#changes.seedsAfter(change))
  }
}

function urlsOf(seeds: readonly string[]): CanonicalUrl[] {
  return seeds.flatMap((seed) => {
    const url = canonicalise(seed)
    return typeof url === 'string' ? [url] : []
  })
}
