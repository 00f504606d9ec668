// The share of an agent, made from what others had. Two batches make it a share like any other:
//
//   1  its files, written and synced         new-share-files.ts
//   2  what waits and what was met           here: opened as the agent will open it, filled, and closed in order
//
// Until the crawl's layout names it, it counts for nothing, and whatever is there of it can be thrown away.

import { Fault, NO_FAULTS } from '../base/index.ts'
import type { FrontierEntry, HandedHost } from '../frontier/index.ts'
import { Books } from './books.ts'
import { Closers } from './closers.ts'
import type { CrawlPlan } from './crawl-plan.ts'
import { type CrawlState, openCrawlState } from './crawl-state.ts'
import { CrawlFigures, type CrawlTotals } from './figures.ts'

/** URLs taken over between two looks at whether memory is short. */
const OFFERS_PER_LOOK = 1_000
const NOTHING_SPENT = { ms: 0, cpuMs: 0, peakRssBytes: 0 }

export class NewShare {
  readonly #state: CrawlState
  readonly #plan: CrawlPlan
  readonly #closers: Closers
  /** The batch that will say that all of it is there. */
  readonly #number: number

  private constructor(plan: CrawlPlan, state: CrawlState, closers: Closers) {
    this.#plan = plan
    this.#state = state
    this.#closers = closers
    this.#number = state.journal.lastNumber + 1
  }

  static async open(plan: CrawlPlan): Promise<NewShare> {
    const closers = new Closers()
    try {
      return new NewShare(plan, await openCrawlState(plan, closers, { ring: () => {} }), closers)
    } catch (fault) {
      await closers.closeAll().catch(() => {})
      throw fault
    }
  }

  async takeOver(host: HandedHost): Promise<void> {
    const { frontier } = this.#state
    frontier.takeOver(host)
    let offered = 0
    for await (const entry of host.entries) {
      frontier.offer(entry)
      if (++offered % OFFERS_PER_LOOK === 0) await this.#makeRoom()
    }
    await this.#makeRoom()
  }

  /** A URL that was met so often. */
  met(high: number, low: number, meetings: number): void {
    this.#state.seen.restore(high, low, meetings)
  }

  /** A link that was on its way. All that was met must be here. True when it is new. */
  async arrive(entry: FrontierEntry): Promise<boolean> {
    const { seen, fingerprinter, frontier } = this.#state
    fingerprinter.compute(entry.url)
    const { high, low } = fingerprinter
    const isNew = !seen.has(high, low)
    seen.restore(high, low, 1)
    if (!isNew) return false
    frontier.offer(entry)
    await this.#makeRoom()
    return true
  }

  /** What it has to show: URLs given up, and those that wait. */
  get totals(): CrawlTotals {
    const { figures, frontier } = this.#state
    const { waiting, hosts } = frontier.figures()
    const totals = figures.totals(hosts, NOTHING_SPENT)
    return { ...totals, admitted: figures.settled + waiting }
  }

  /** Writes the last batch, with these totals, and closes everything. */
  async commit(totals: CrawlTotals): Promise<void> {
    const { clock, settings } = this.#plan
    const { journal, frontier, past, committed, heldElsewhere, writeOut } = this.#state
    try {
      const books = new Books({
        clock,
        journal,
        frontier,
        figures: CrawlFigures.from(totals),
        files: committed,
        otherFiles: past.states,
        writePage: unexpected,
        writeFailure: unexpected,
        writeHeld: unexpected,
        writeSeed: unexpected,
        heldElsewhere,
        beforeLast: writeOut,
        onDurable: () => {},
        pressureAbroad: () => undefined,
        spent: () => NOTHING_SPENT,
        tickMs: settings.agent.tick,
        faults: NO_FAULTS,
        onFault: () => {},
      })
      books.noted()
      await books.close()
    } finally {
      await this.close()
    }
  }

  /** Harmless twice. */
  close(): Promise<void> {
    return this.#closers.closeAll()
  }

  async #makeRoom(): Promise<void> {
    const { frontier } = this.#state
    if (!frontier.wantsSeal()) return
    frontier.seal(this.#number)
    frontier.committed(this.#number)
    await frontier.written()
  }
}

function unexpected(): never {
  throw new Fault('ASSERTION', 'a share that is being made visits nobody')
}
