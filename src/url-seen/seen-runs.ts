// The runs of a seen set, oldest first, and their files: how one is written, which are merged, and when a file may go.
//
//   |        run         |   run   | run | run |  ← the next one
//     oldest, largest                  newest
//
// A run is merged with newer ones when it holds less than twice as much as they do together: so there are few, and a
// key is written again only when the set around it has doubled.

import { readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { diskFault } from '../base/index.ts'
import { makeDirectory, mergeRuns, RunWriter, SortedRun } from '../disk/index.ts'

export type AddKey = (high: number, low: number, count: number) => void

/** Names a run to whoever opens it again. */
export interface NamedRun {
  readonly name: string
  readonly blocks: number
  readonly keys: number
}

interface RetiredRun {
  readonly name: string
  readonly mergedInto: string
}

export interface SeenRunsOptions {
  readonly directory: string
  /** For the filters of all runs. While some become one, both have filters: then it is twice as much. */
  readonly filterBudget: number
  readonly runs: readonly NamedRun[]
  /** The last number given to a run. */
  readonly runsMade: number
}

const RUN_NAME = /^seen-\d+\.run$/
const MEETINGS_MAX = 0xffff
const MERGE_RATIO = 2
/** A merge leaves no more runs than this. */
const RUNS_REST = 4
const FILTER_BYTES_MAX = 128
const FILTER_BYTES_MIN = 16
/** Of the budget, so much is shared evenly among all blocks. The rest is for runs that are young and small. */
const EVEN_FILTER_SHARE = 3 / 4
/** Of what the filters of other runs leave free, so much may go to the next one: some more will come before they merge. */
const FREE_FILTER_SHARE = 1 / 4
const BLOCK_URLS = 111

export class SeenRuns {
  readonly #directory: string
  readonly #filterBudget: number
  #runs: SortedRun[]
  #made: number
  /** Files whose keys are in another by now, in the order in which that happened. */
  #retired: RetiredRun[] = []

  private constructor({ directory, filterBudget, runsMade }: SeenRunsOptions, runs: SortedRun[]) {
    this.#directory = directory
    this.#filterBudget = filterBudget
    this.#made = runsMade
    this.#runs = runs
  }

  /** Files of runs that are not named were never promised, and are removed. */
  static async open(options: SeenRunsOptions): Promise<SeenRuns> {
    const { directory, filterBudget } = options
    await makeDirectory(directory)
    const blocksAll = options.runs.reduce((sum, run) => sum + run.blocks, 0)
    const evenBytes = evenFilterBytes(blocksAll, filterBudget)
    const runs: SortedRun[] = []
    let taken = evenBytes * blocksAll
    try {
      // Oldest first, so that what is left over goes to the young: each is asked about every new URL.
      for (const { name, ...run } of options.runs) {
        taken -= evenBytes * run.blocks
        const filterBytes = filterBytesFor(run.blocks, blocksAll, filterBudget, taken)
        runs.push(await SortedRun.open(join(directory, name), { ...run, filterBytes }))
        taken += filterBytes * run.blocks
      }
      removeOthers(directory, new Set(options.runs.map((run) => run.name)))
      return new SeenRuns(options, runs)
    } catch (cause) {
      for (const run of runs) run.close()
      throw diskFault(`opening ${directory}`, cause)
    }
  }

  /** Oldest first. */
  get all(): readonly SortedRun[] {
    return this.#runs
  }

  get made(): number {
    return this.#made
  }

  get memoryBytes(): number {
    return this.#runs.reduce((sum, run) => sum + run.memoryBytes, 0)
  }

  /** Without files that wait for forget(). */
  get diskBytes(): number {
    return this.#runs.reduce((sum, run) => sum + run.bytes, 0)
  }

  names(): NamedRun[] {
    return this.#runs.map(({ path, blocks, keys }) => ({ name: basename(path), blocks, keys }))
  }

  /** Meetings of a URL in all runs: reads a block of each that may hold it. */
  loadMeetings(high: number, low: number): number {
    let meetings = 0
    for (const run of this.#runs) {
      const block = run.locate(high, low)
      if (block !== -1) meetings += run.loadCount(block, high, low)
    }
    return meetings
  }

  /** Writes a run of new keys and adds it when it is durable. `urls` is the size of the whole set. */
  *append(keysMax: number, urls: number, fill: (add: AddKey) => Generator<number>): Generator<number | RunWriter> {
    this.#runs.push(yield* this.#write(keysMax, urls, this.#runs, fill))
  }

  /** Makes one run of those from a place on. */
  *merge(from: number, urls: number): Generator<number | RunWriter> {
    const sources = this.#runs.slice(from)
    const merged = yield* this.#write(this.keysFrom(from), urls, this.#runs.slice(0, from), (add) =>
      mergeRuns(sources, add),
    )
    // Runs written meanwhile stand behind the sources.
    this.#runs.splice(from, sources.length, merged)
    for (const run of sources) {
      run.close()
      this.#retired.push({ name: basename(run.path), mergedInto: basename(merged.path) })
    }
  }

  /** From where on runs should be one: as far back as each is not much larger than those after it together. Or null. */
  mergeDue(): number | null {
    let from = this.#runs.length - 1
    let keys = this.#runs[from]?.keys ?? 0
    for (; from > 0; from--) {
      const older = (this.#runs[from - 1] as SortedRun).keys
      if (older >= MERGE_RATIO * keys) break
      keys += older
    }
    if (this.#runs.length > RUNS_REST) from = Math.min(from, RUNS_REST - 1)
    return this.#runs.length - from < 2 ? null : from
  }

  keysFrom(from: number): number {
    return this.#runs.slice(from).reduce((sum, run) => sum + run.keys, 0)
  }

  /**
   * Unlinks files that are not needed once these runs are committed: those whose keys they hold. A file they do not name
   * because it is younger stays: a later state that names it may be on its way to be committed.
   */
  forget(committed: readonly NamedRun[]): void {
    const held = new Set(committed.map((run) => run.name))
    const needed: RetiredRun[] = []
    const unneeded: string[] = []
    // Newest first: what was merged into a file that is not needed is not needed either.
    for (const one of this.#retired.toReversed()) {
      if (!held.has(one.mergedInto)) needed.unshift(one)
      else {
        held.add(one.name)
        unneeded.push(one.name)
      }
    }
    this.#retired = needed
    for (const name of unneeded) remove(join(this.#directory, name))
  }

  close(): void {
    for (const run of this.#runs) run.close()
    this.#runs = []
  }

  /** Writes a run and waits until it is durable, with its name. `others` will stand beside it. */
  *#write(
    keysMax: number,
    urls: number,
    others: readonly SortedRun[],
    fill: (add: AddKey) => Generator<number>,
  ): Generator<number | RunWriter, SortedRun> {
    const taken = others.reduce((sum, run) => sum + run.filterBytes, 0)
    // Known URLs that were met again are in several of those that become one: there are never more than URLs.
    const blocks = Math.min(keysMax, urls) / BLOCK_URLS
    const filterBytes = filterBytesFor(blocks, urls / BLOCK_URLS, this.#filterBudget, taken)
    const path = join(this.#directory, `seen-${++this.#made}.run`)
    const writer = new RunWriter(path, keysMax, filterBytes)
    let isWritten = false
    try {
      yield* fill((high, low, count) => writer.add(high, low, Math.min(count, MEETINGS_MAX)))
      writer.finish()
      yield writer
      isWritten = true
      return writer.toRun()
    } finally {
      if (!isWritten) writer.abandon()
    }
  }
}

/** Bytes of filter that each of so many blocks can have of some memory, in whole words, or none. */
function filterBytesEach(blocks: number, memoryBytes: number): number {
  const bytes = 4 * Math.floor(Math.min(FILTER_BYTES_MAX, memoryBytes / Math.max(1, blocks)) / 4)
  return bytes < FILTER_BYTES_MIN ? 0 : bytes
}

const evenFilterBytes = (blocksAll: number, budget: number): number =>
  filterBytesEach(blocksAll, budget * EVEN_FILTER_SHARE)

/**
 * Bytes of filter per block of one run: an even share, or, where that is more, its part of what the others leave of the
 * budget. A run of a thirtieth of the set is asked about as many new URLs as the largest, and a longer filter costs it
 * a thirtieth.
 */
function filterBytesFor(blocks: number, blocksAll: number, budget: number, takenByOthers: number): number {
  const free = Math.max(0, budget - takenByOthers) * FREE_FILTER_SHARE
  return Math.max(evenFilterBytes(blocksAll, budget), filterBytesEach(blocks, free))
}

function removeOthers(directory: string, named: ReadonlySet<string>): void {
  for (const name of readdirSync(directory)) if (RUN_NAME.test(name) && !named.has(name)) remove(join(directory, name))
}

function remove(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch (cause) {
    throw diskFault(`removing ${path}`, cause)
  }
}
