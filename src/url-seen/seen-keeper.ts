// What of a seen set is on disk, and how it gets there: generations are written out as runs, runs are merged, and what
// is durable gets a name.
//
//   flush(generation) ─▶ written ─▶ synced ─▶ searched ─▶ named by state() ─▶ committed() ─▶ merged-away files go
//                                                ▲              │
//                                             merging      not while held
//
// Always true: nothing is named in the turn of the event loop in which it was written, but by finishNow().

import { assert } from '../base/index.ts'
import { PacedJob, type Steps } from '../disk/index.ts'
import { ascending } from './ascending.ts'
import type { Generation } from './generation.ts'
import type { NamedRun, SeenRuns } from './seen-runs.ts'

/** What a caller commits, and hands back when it opens the set again. JSON-able. */
export interface SeenState {
  /** Oldest first. */
  readonly runs: readonly NamedRun[]
  /** Different URLs in the runs. */
  readonly urls: number
  /** The last number given to a run. */
  readonly runsMade: number
  /** The last mark() before all that is in the runs: what was met after it is to be replayed. */
  readonly replayFrom: number
}

/** Whoever would write one more run than this waits for the merge that is going on. */
const RUNS_MAX = 8
/** Keys of work per check. Each key counts twice, so a generation is written when half of the next is met: a sync takes its time too. */
const FLUSH_PACE = 4
const MERGE_PACE_MIN = 2
/** A merge is paced to end within this many turn-overs. Longer means more runs meanwhile, shorter slower checks. */
const MERGE_GENERATIONS = 3

export class SeenKeeper {
  readonly runs: SeenRuns
  readonly #generationUrls: number
  readonly #onFault: (cause: unknown) => void
  #flushing: PacedJob | null = null
  #merging: PacedJob | null = null
  /** As in the runs, named or not. */
  #urls: number
  #replayFrom: number
  #named: SeenState
  #holds = 0

  /** `generationUrls` is how many make a generation. `onFault` hears of a sync that failed; other faults are thrown. */
  constructor(runs: SeenRuns, state: SeenState, generationUrls: number, onFault: (cause: unknown) => void) {
    this.runs = runs
    this.#generationUrls = generationUrls
    this.#urls = state.urls
    this.#replayFrom = state.replayFrom
    this.#named = state
    this.#onFault = onFault
  }

  state(): SeenState {
    return this.#named
  }

  /** A generation is in no run yet. */
  get isFlushing(): boolean {
    return this.#flushing !== null
  }

  /** What must end before the next flush(). */
  jobInTheWay(): PacedJob | null {
    return this.#flushing ?? (this.runs.all.length >= RUNS_MAX ? this.#merging : null)
  }

  /** Begins to write a generation, which must not change any more. `urls` is the size of the set with it. */
  flush(generation: Generation, urls: number, mark: number): void {
    assert(this.#flushing === null, 'a generation is written before the next')
    this.#flushing = this.#newJob(this.#write(generation, urls, mark), FLUSH_PACE)
  }

  /** All that was met up to this mark is in the runs. While naming is held the runs named may be older: then it comes later. */
  advance(mark: number): void {
    this.#replayFrom = mark
    if (this.#holds === 0) this.#named = { ...this.#named, replayFrom: mark }
  }

  /** Work that is due for so many checks. */
  work(checks: number): void {
    this.#flushing?.work(checks)
    this.#merging?.work(checks)
  }

  /** Makes one run of all. Step by step: what is given must be finished before it is asked again; null at the end. */
  compactionJob(): PacedJob | null {
    if (this.#flushing !== null || this.#merging !== null) return this.#flushing ?? this.#merging
    if (this.runs.all.length > 1) this.#merging = this.#newJob(this.#merge(0), MERGE_PACE_MIN)
    return this.#merging
  }

  /** Until release() nothing is named. */
  hold(): void {
    this.#holds++
  }

  /** Names what is durable by now, in a later turn of the event loop. */
  release(): void {
    this.#holds--
    setImmediate(() => this.#name())
  }

  async close(): Promise<void> {
    this.hold()
    await this.#flushing?.abandon()
    await this.#merging?.abandon()
    this.runs.close()
  }

  *#write(generation: Generation, urls: number, mark: number): Steps {
    yield* this.runs.append(generation.size, urls, (add) => ascending(generation, add))
    this.#urls = urls
    this.#replayFrom = mark
    this.#flushing = null
    this.#planMerge()
    this.#name()
  }

  *#merge(from: number): Steps {
    yield* this.runs.merge(from, this.#urls)
    this.#merging = null
    this.#planMerge()
    this.#name()
  }

  #planMerge(): void {
    if (this.#merging !== null) return
    const from = this.runs.mergeDue()
    if (from === null) return
    const pace = this.runs.keysFrom(from) / (MERGE_GENERATIONS * this.#generationUrls)
    this.#merging = this.#newJob(this.#merge(from), Math.max(MERGE_PACE_MIN, pace))
  }

  #name(): void {
    if (this.#holds > 0) return
    this.#named = {
      runs: this.runs.names(),
      urls: this.#urls,
      runsMade: this.runs.made,
      replayFrom: this.#replayFrom,
    }
  }

  #newJob(steps: Steps, pace: number): PacedJob {
    return new PacedJob(steps, pace, this.#onFault)
  }
}
