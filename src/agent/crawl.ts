// A crawl as its owner sees it: opened from a directory, run to its end, looked at meanwhile, closed.

import type { ClockMs, StopReason } from '../base/index.ts'
import type { FrontierFigures } from '../frontier/index.ts'
import type { CrawlIdentity } from '../ledger/index.ts'
import type { PageStatistics } from '../processors/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import type { Spent } from './books.ts'
import { Closers } from './closers.ts'
import type { CrawlPlan } from './crawl-plan.ts'
import { type CrawlState, openCrawlState } from './crawl-state.ts'
import type { CrawlFigures } from './figures.ts'
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
      const runStartedAtMs = clock.wallMs()
      const spent = (): Spent => ({
        runStartedAtMs,
        ranMs: clock.nowMs() - startMs,
        cpuMs: cpuMs() - startCpuMs,
        peakRssBytes: plan.peakRssBytes(),
      })
      const state = await openCrawlState(plan, closers)
      const walk = await joinWalk(plan, state, closers, startMs, spent)
      return new Crawl(plan, state, walk, closers, startMs, startCpuMs)
    } catch (fault) {
      // The first fault is the one to tell; what closing adds to it is its consequence.
      await closers.closeAll().catch(() => {})
      throw fault
    }
  }

  get identity(): CrawlIdentity {
    return this.#state.ledger.identity
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

  /** Finishes files and sorts the index, then lets go of the directory. */
  close(): Promise<void> {
    return this.#closers.closeAll()
  }
}
