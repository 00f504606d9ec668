// A crawl as its owner sees it: opened from a directory, run to its end, looked at meanwhile, closed.

import type { ClockMs, StopReason } from '../base/index.ts'
import type { FrontierFigures } from '../frontier/index.ts'
import type { CrawlIdentity } from '../ledger/index.ts'
import type { PageStatistics } from '../processors/index.ts'
import type { FailureRecord } from '../store/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import { type CheckpointFigures, copyCrawl } from './checkpoint.ts'
import { Closers } from './closers.ts'
import type { CrawlPlan } from './crawl-plan.ts'
import { type Bell, type CrawlState, openCrawlState } from './crawl-state.ts'
import type { CrawlFigures, Spent } from './figures.ts'
import { requeue } from './requeue.ts'
import { forgetUnreachable } from './robots-file.ts'
import { joinWalk, type Walk } from './walk.ts'

/** The figures of the moment, for progress and summary. */
export interface CrawlSnapshot {
  readonly figures: CrawlFigures
  readonly frontier: FrontierFigures
  readonly active: number
  /** Milliseconds of crawling, over all runs and in this one. */
  readonly totalMs: number
  readonly runMs: number
  readonly cpuMs: number
  /** Milliseconds until somebody may be asked again, when nobody is being asked. */
  readonly waitMs: number | null
  readonly isStopping: boolean
}

export class Crawl {
  readonly #plan: CrawlPlan
  readonly #state: CrawlState
  readonly #walk: Walk
  readonly #closers: Closers
  readonly #startMs: ClockMs
  readonly #startCpuMs: number

  private constructor(
    plan: CrawlPlan,
    state: CrawlState,
    walk: Walk,
    closers: Closers,
    startMs: ClockMs,
    startCpuMs: number,
  ) {
    this.#plan = plan
    this.#state = state
    this.#walk = walk
    this.#closers = closers
    this.#startMs = startMs
    this.#startCpuMs = startCpuMs
  }

  /** Takes the directory, goes on from what an earlier run left in it, and admits the seeds. */
  static async open(plan: CrawlPlan): Promise<Crawl> {
    const closers = new Closers()
    try {
      const { clock, cpuMs } = plan
      const startMs = clock.nowMs()
      const startCpuMs = cpuMs()
      const spent = (): Spent => ({
        ms: clock.nowMs() - startMs,
        cpuMs: cpuMs() - startCpuMs,
        peakRssBytes: plan.peakRssBytes(),
      })
      const bell: Bell = { ring: () => {} }
      const state = await openCrawlState(plan, closers, bell)
      const walk = await joinWalk(plan, state, closers, startMs, spent, bell)
      return new Crawl(plan, state, walk, closers, startMs, startCpuMs)
    } catch (fault) {
      // The first fault is the one to tell; what closing adds to it is its consequence.
      await closers.closeAll().catch(() => {})
      throw fault
    }
  }

  get identity(): CrawlIdentity {
    return this.#state.journal.identity
  }

  /** False when the directory held a crawl already. */
  get isNew(): boolean {
    return this.#state.past.isNew
  }

  get figures(): CrawlFigures {
    return this.#state.figures
  }

  get statistics(): PageStatistics {
    return this.#walk.statistics
  }

  /** All seeds that were given, in this run and before. */
  get seeds(): readonly CanonicalUrl[] {
    return this.#walk.seeds
  }

  /** Whether a seed was given to an earlier run. */
  isKnownSeed(url: string): boolean {
    return this.#state.past.seeds.some((entry) => entry.url === url)
  }

  /** Whether URLs are admitted by other rules than in the last run. */
  get isScopeChanged(): boolean {
    return this.#walk.changes.isScopeChanged
  }

  /** What broke the crawl, when run() ended with 'error' or 'disk-full'. */
  get fault(): unknown {
    return this.#walk.pipeline.fault
  }

  run(): Promise<StopReason> {
    return this.#walk.pipeline.run()
  }

  stop(reason: StopReason): void {
    this.#walk.pipeline.stop(reason)
  }

  /** Takes back the verdicts that `isWanted` says: the URLs wait again. Returns how many. Not while it runs. */
  async requeue(isWanted: (record: FailureRecord) => boolean): Promise<number> {
    const { files, past, robots } = this.#state
    const seeds = new Set(past.seeds.map((seed) => seed.url))
    const { books, strategy, trouble } = this.#walk
    const parts = { failures: files.failures, books, strategy, trouble, isSeed: (url: CanonicalUrl) => seeds.has(url) }
    return requeue(parts, (record) => {
      if (!isWanted(record)) return false
      if (forgetUnreachable(record.url as CanonicalUrl, robots, files.robots)) books.noted()
      return true
    })
  }

  /** A consistent copy of everything, taken while the crawl goes on. `to` must not exist. */
  async checkpoint(to: string): Promise<CheckpointFigures> {
    const { dir, clock } = this.#plan
    const { books } = this.#walk
    const hold = async (): Promise<() => void> => {
      const releaseBooks = await books.hold()
      try {
        const releaseStore = await this.#state.frontier.pauseWrites()
        return () => {
          releaseStore()
          releaseBooks()
        }
      } catch (fault) {
        releaseBooks()
        throw fault
      }
    }
    return copyCrawl({ dir, to, hold, states: () => books.states, nowMs: () => clock.nowMs() })
  }

  snapshot(): CrawlSnapshot {
    const { clock, cpuMs } = this.#plan
    const { figures, frontier } = this.#state
    const { pipeline, books } = this.#walk
    // A run that finds nothing to do takes no time off the crawl.
    const runMs = books.wasTouched ? clock.nowMs() - this.#startMs : 0
    const readyMs = pipeline.waitsUntilMs
    return {
      figures,
      frontier: frontier.figures(),
      active: pipeline.active,
      totalMs: figures.earlierMs + runMs,
      runMs,
      cpuMs: books.wasTouched ? cpuMs() - this.#startCpuMs : 0,
      waitMs: readyMs === null ? null : Math.max(0, readyMs - clock.nowMs()),
      isStopping: pipeline.isStopping,
    }
  }

  /** Writes the last batch if run() has not, finishes files and sorts the index, then lets go of the directory. */
  async close(): Promise<void> {
    try {
      await this.#walk.books.close()
    } finally {
      await this.#closers.closeAll()
    }
  }
}
