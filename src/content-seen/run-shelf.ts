// The runs of a set of contents, oldest first: looked through, written, merged, and named in a state that the caller
// commits.
//
//   generation ──write──▶ | run | run |    run    |        run          |
//                          newest                         oldest
//
// A run is merged with newer ones when it holds less than twice as much as they do together. Writing and merging are
// done in steps by work(), paced so that they end in time.
//
// Durable is what state() names, once the caller has committed it: files are synced before they enter the state, and
// unlinked only when a committed state no longer names them. After a fault nothing is answered any more.

import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { diskFault, Fault } from '../base/index.ts'
import { makeDirectory, PacedJob, type Steps, type Syncable } from '../disk/index.ts'
import type { Generation } from './generation.ts'
import { mergeRuns } from './merge-runs.ts'
import { FILTER_BYTES_MAX, FILTER_BYTES_MIN, PositionIndex } from './position-index.ts'
import { blocksFor, PositionRun, type PositionRunFacts } from './position-run.ts'
import { PositionRunWriter } from './position-run-writer.ts'

const RUN_NAME = /^content-\d+\.run$/
const MERGE_RATIO = 2
/** A merge leaves no more runs than this, */
const RUNS_REST = 4
/** and whoever would write one more than this waits for the merge that is going on. */
const RUNS_MAX = 8
/** A merge is paced to end within this many generations. Longer means more runs meanwhile, shorter slower pages. */
const MERGE_GENERATIONS = 3
/** Writing is done twice as fast as the next generation can fill: a sync takes its time too. */
const PACE_LEAST = 2

/** What a caller commits, and hands back when it opens the set again. JSON-able. */
export interface ContentState {
  /** Oldest first. */
  readonly runs: readonly { readonly number: number; readonly pages: number; readonly filterBytes: number }[]
  /** The last number given to a run. */
  readonly runsMade: number
  /** The last mark() before all that is in the runs: what was kept after it is to be kept again. */
  readonly replayFrom: number
}

export interface RunShelfOptions {
  readonly directory: string
  /** For the indices of all runs; while runs become one, both have indices. */
  readonly indexBytes: number
  /** How many pages a generation holds. */
  readonly generationPages: number
  readonly state: ContentState
}

export class RunShelf {
  readonly #options: RunShelfOptions
  #runs: PositionRun[]
  #runsMade: number
  #replayFrom: number
  /** Runs that were merged away, by number, until a committed state does without them. */
  #retired: number[] = []
  #writing: PacedJob | null = null
  #merging: PacedJob | null = null
  #memoryInWork = 0
  #fault: Fault | null = null

  private constructor(options: RunShelfOptions, runs: PositionRun[]) {
    this.#options = options
    this.#runs = runs
    this.#runsMade = options.state.runsMade
    this.#replayFrom = options.state.replayFrom
  }

  /** Goes on from a committed state. Files of runs beyond it were never promised and are removed. */
  static async open(options: RunShelfOptions): Promise<RunShelf> {
    const { directory, state, indexBytes } = options
    await makeDirectory(directory)
    const blocks = state.runs.reduce((sum, run) => sum + blocksFor(run.pages), 0)
    const runs: PositionRun[] = []
    try {
      for (const { number, pages, filterBytes } of state.runs) {
        const facts = { path: join(directory, nameOf(number)), number, pages, savedFilterBytes: filterBytes }
        runs.push(await PositionRun.open(facts, filterBytesFor(blocks, indexBytes)))
      }
      const named = new Set(state.runs.map((run) => nameOf(run.number)))
      for (const name of readdirSync(directory)) {
        if (RUN_NAME.test(name) && !named.has(name)) remove(join(directory, name))
      }
      return new RunShelf(options, runs)
    } catch (cause) {
      for (const run of runs) run.close()
      throw diskFault(`opening ${directory}`, cause)
    }
  }

  /** Pages in all runs. */
  get pages(): number {
    return this.#runs.reduce((sum, run) => sum + run.facts.pages, 0)
  }

  /** Bytes of the runs on disk, without those that wait for committed(). */
  get diskBytes(): number {
    return this.#runs.reduce((sum, run) => sum + run.bytes, 0)
  }

  get memoryBytes(): number {
    return this.#runs.reduce((sum, run) => sum + run.memoryBytes, this.#memoryInWork)
  }

  /** A generation is on its way into a run. */
  get isWriting(): boolean {
    return this.#writing !== null
  }

  get isEmpty(): boolean {
    return this.#runs.length === 0
  }

  /** The positions of all pages whose digests begin with this key, in the order of their records. */
  find(high: number, low: number): number[] {
    this.assertSound()
    const found: number[] = []
    try {
      for (const run of this.#runs) run.find(high, low, found)
    } catch (cause) {
      throw this.#fail(cause)
    }
    return found.sort((a, b) => a - b)
  }

  /** Every key of every run, as it stands there. */
  eachKey(see: (high: number, low: number) => void): void {
    this.assertSound()
    try {
      for (const run of this.#runs) for (const cursor = run.cursor(); cursor.next();) see(cursor.high, cursor.low)
    } catch (cause) {
      throw this.#fail(cause)
    }
  }

  /** Begins to write a generation out, which must not change until that is done. All up to the mark is then in runs. */
  write(generation: Generation, mark: number): void {
    this.#writing = this.#newJob(this.#writeOut(generation, mark), PACE_LEAST)
  }

  /** Does what is due when so many pages were kept. */
  work(pages: number): void {
    this.assertSound()
    try {
      this.#writing?.work(pages)
      this.#merging?.work(pages)
    } catch (cause) {
      throw this.#fail(cause)
    }
  }

  /** What must end before the next generation can be written. */
  get #jobInTheWay(): PacedJob | null {
    return this.#writing ?? (this.#runs.length >= RUNS_MAX ? this.#merging : null)
  }

  get isReady(): boolean {
    return this.#jobInTheWay === null
  }

  /** Resolves when the next generation can be written. */
  async ready(): Promise<void> {
    this.assertSound()
    for (let job = this.#jobInTheWay; job !== null; job = this.#jobInTheWay) await this.#finish(job)
  }

  /** The same for callers that cannot wait. */
  readyNow(): void {
    this.assertSound()
    try {
      for (let job = this.#jobInTheWay; job !== null; job = this.#jobInTheWay) job.finishNow()
    } catch (cause) {
      throw this.#fail(cause)
    }
  }

  /** Makes one run of all. */
  async compact(): Promise<void> {
    await this.ready()
    while (this.#merging !== null) await this.#finish(this.#merging)
    if (this.#runs.length > 1) this.#merging = this.#newJob(this.#merge(0), PACE_LEAST)
    while (this.#merging !== null) await this.#finish(this.#merging)
  }

  state(): ContentState {
    return {
      runs: this.#runs.map(({ facts: { number, pages, savedFilterBytes } }) => ({
        number,
        pages,
        filterBytes: savedFilterBytes,
      })),
      runsMade: this.#runsMade,
      replayFrom: this.#replayFrom,
    }
  }

  /** The state is committed: runs that were merged away and that it does not name are unlinked. */
  committed(state: ContentState): void {
    const named = new Set(state.runs.map((run) => run.number))
    const unneeded = this.#retired.filter((number) => !named.has(number))
    this.#retired = this.#retired.filter((number) => named.has(number))
    for (const number of unneeded) remove(this.#pathOf(number))
  }

  async close(): Promise<void> {
    this.#fault ??= new Fault(
      'ASSERTION',
      `the set of contents in ${this.#options.directory} was used after it was closed`,
    )
    for (const job of [this.#writing, this.#merging]) await job?.abandon()
    for (const run of this.#runs) run.close()
    this.#runs = []
  }

  assertSound(): void {
    if (this.#fault !== null) throw this.#fault
  }

  *#writeOut(generation: Generation, mark: number): Steps {
    const run = yield* this.#make(generation.size, (add) => generation.ascending(add))
    this.#runs.push(run)
    this.#replayFrom = mark
    this.#writing = null
    this.#planMerge()
  }

  *#merge(from: number): Steps {
    const sources = this.#runs.slice(from)
    const pages = sources.reduce((sum, run) => sum + run.facts.pages, 0)
    const merged = yield* this.#make(pages, (add) => mergeRuns(sources, add))
    // Runs written meanwhile stand behind the sources.
    this.#runs.splice(from, sources.length, merged)
    for (const run of sources) {
      run.close()
      this.#retired.push(run.facts.number)
    }
    this.#merging = null
    this.#planMerge()
  }

  /** Writes a run and makes it durable. */
  *#make(
    pages: number,
    fill: (add: (high: number, low: number, position: number) => void) => Generator<number>,
  ): Generator<number | Syncable, PositionRun> {
    const number = ++this.#runsMade
    const blocks = blocksFor(pages)
    const blocksAll = blocksFor(Math.max(pages, this.pages))
    const savedFilterBytes = filterBytesFor(blocksAll, this.#options.indexBytes)
    const facts: PositionRunFacts = { path: this.#pathOf(number), number, pages, savedFilterBytes }
    const memory = PositionIndex.bytesFor(blocks, savedFilterBytes)
    const writer = new PositionRunWriter(facts)
    let isWritten = false
    this.#memoryInWork += memory
    try {
      yield* fill((high, low, position) => writer.add(high, low, position))
      yield* writer.finish()
      yield writer
      isWritten = true
      return writer.toRun()
    } finally {
      this.#memoryInWork -= memory
      if (!isWritten) writer.abandon()
    }
  }

  /** Merges the newest runs, as far back as each is not much larger than those after it together. */
  #planMerge(): void {
    if (this.#merging !== null) return
    const pagesOf = (at: number): number => this.#runs[at]?.facts.pages ?? 0
    let from = this.#runs.length - 1
    let pages = pagesOf(from)
    for (; from > 0; from--) {
      if (pagesOf(from - 1) >= MERGE_RATIO * pages) break
      pages += pagesOf(from - 1)
    }
    if (this.#runs.length > RUNS_REST) from = Math.min(from, RUNS_REST - 1)
    if (this.#runs.length - from < 2) return
    pages = this.#runs.slice(from).reduce((sum, run) => sum + run.facts.pages, 0)
    const pace = Math.max(PACE_LEAST, pages / (MERGE_GENERATIONS * this.#options.generationPages))
    this.#merging = this.#newJob(this.#merge(from), pace)
  }

  /** A sync that fails has no caller: the set is broken from then on. */
  #newJob(steps: Steps, pace: number): PacedJob {
    return new PacedJob(steps, pace, (cause) => void this.#fail(cause))
  }

  async #finish(job: PacedJob): Promise<void> {
    this.assertSound()
    try {
      await job.finish()
    } catch (cause) {
      throw this.#fail(cause)
    }
    this.assertSound()
  }

  #pathOf(number: number): string {
    return join(this.#options.directory, nameOf(number))
  }

  #fail(cause: unknown): Fault {
    this.#fault ??= diskFault(`the set of contents in ${this.#options.directory}`, cause)
    return this.#fault
  }
}

/** Bytes of filter a block that so many blocks can have, beside their first keys: a power of two, or none. */
function filterBytesFor(blocks: number, indexBytes: number): number {
  const bytes = indexBytes / Math.max(1, blocks) - PositionIndex.bytesFor(1, 0)
  return bytes < FILTER_BYTES_MIN ? 0 : 2 ** Math.floor(Math.log2(Math.min(FILTER_BYTES_MAX, bytes)))
}

function nameOf(number: number): string {
  return `content-${number}.run`
}

function remove(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch (cause) {
    throw diskFault(`removing ${path}`, cause)
  }
}
