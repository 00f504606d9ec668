// The seen set that outgrows memory: two generations in memory, sorted runs on disk.
//
//   meet() → | active |   | previous |   | run | run |    run    |        run          |
//             being met     being written   newest                            oldest
//                           or a cache
//
// A fingerprint is looked for in the active generation, in the previous one, and last in the runs, whose filters keep
// most new URLs from touching the disk. Wherever it is found, its meeting is counted in the active generation. When that is
// full it becomes the previous one and is written out as a run: new URLs, and further meetings of known ones. The
// previous generation stays until the next turn-over: what is popular is met again and moves on to the active one,
// so the two are the cache of popular URLs. A count is the sum over all places.
//
// A run is merged with newer ones when it holds less than twice as much as they do together. Writing and merging are
// done in small steps by the calls of meet(), paced so that they end in time; only the sync goes on beside.
// Every piece of a batch is answered in one go, so calls of meet() may overlap.
//
// Durable is what state() names, once the caller has committed it: files are synced before they enter the state, and
// unlinked only when a committed state no longer names them. What was met since is for the caller to replay.

import { readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { diskFault, Fault } from '../base/index.ts'
import { makeDirectory, mergeRuns, RUN_WINDOW_BLOCKS, RunWriter, SortedRun } from '../disk/index.ts'
import { Generation } from './generation.ts'
import type { FingerprintBatch, UrlSeen } from './url-seen.ts'

const MEETINGS_MAX = 0xffff
const RUN_NAME = /^seen-\d+\.run$/
/** Fingerprints answered in one go; a larger batch is cut. */
const PIECE_URLS = 2 ** 16
/** Blocks that are read along rather than asking the system twice: copying 8 KiB costs as much as a call. */
const GAP_BLOCKS = 8
const MERGE_RATIO = 2
/** A merge leaves no more runs than this, */
const RUNS_REST = 4
/** and whoever would write one more than this waits for the merge that is going on. */
const RUNS_MAX = 8
/** A merge is paced to end within this many turn-overs. Longer means more runs meanwhile, shorter slower checks. */
const MERGE_GENERATIONS = 3
/** Shares of the memory: each generation, and the filters of all runs. While two runs become one, both have filters. */
const GENERATION_SHARE = 3 / 16
const FILTER_SHARE = 7 / 32
const FILTER_BYTES_MAX = 128
const FILTER_BYTES_MIN = 16
const BLOCK_URLS = 111

/** What a caller commits, and hands back when it opens the set again. JSON-able. */
export interface SeenState {
  /** Oldest first. */
  readonly runs: readonly { readonly name: string; readonly blocks: number; readonly keys: number }[]
  /** Different URLs in the runs. */
  readonly urls: number
  /** The last name given to a run. */
  readonly runsMade: number
  /** The last mark() before all that is in the runs: what was met after it is to be replayed. */
  readonly replayFrom: number
}

export interface DiskUrlSeenOptions {
  readonly directory: string
  /** For generations, indices and filters together. */
  readonly memoryBytes: number
  /** The last state that was committed; null begins anew. */
  readonly state: SeenState | null
}

/** Work in steps: keys done since the last one, or a run to be synced before it can go on. */
type Steps = Generator<number | RunWriter, void>

interface Job {
  readonly steps: Steps
  /** Keys of work per check. */
  readonly pace: number
  credit: number
  syncing: { readonly writer: RunWriter; readonly done: Promise<void> } | null
}

export class DiskUrlSeen implements UrlSeen {
  readonly #directory: string
  readonly #filterBudget: number
  #active: Generation
  #previous: Generation
  #runs: SortedRun[]
  #runsMade: number
  #size: number
  /** Files of runs that were merged away, by name, until a committed state does without them. */
  #retired: string[] = []
  #flushing: Job | null = null
  #merging: Job | null = null
  #fault: Fault | null = null
  #mark: number
  #durableUrls: number
  #durableMark: number
  readonly #pending = new Uint32Array(PIECE_URLS)
  readonly #places = new Uint32Array(PIECE_URLS)
  readonly #candidates = new Float64Array(PIECE_URLS)

  private constructor(options: DiskUrlSeenOptions, state: SeenState, runs: SortedRun[]) {
    this.#directory = options.directory
    this.#filterBudget = options.memoryBytes * FILTER_SHARE
    this.#active = new Generation(options.memoryBytes * GENERATION_SHARE)
    this.#previous = new Generation(options.memoryBytes * GENERATION_SHARE)
    this.#runs = runs
    this.#runsMade = state.runsMade
    this.#size = state.urls
    this.#durableUrls = state.urls
    this.#mark = state.replayFrom
    this.#durableMark = state.replayFrom
  }

  /** Goes on from a committed state. Files of runs beyond it were never promised and are removed. */
  static async open(options: DiskUrlSeenOptions): Promise<DiskUrlSeen> {
    const { directory, memoryBytes } = options
    const state = options.state ?? { runs: [], urls: 0, runsMade: 0, replayFrom: 0 }
    await makeDirectory(directory)
    const blocks = state.runs.reduce((sum, run) => sum + run.blocks, 0)
    const filterBytes = filterBytesFor(blocks, memoryBytes * FILTER_SHARE)
    const runs: SortedRun[] = []
    try {
      for (const { name, ...run } of state.runs) {
        runs.push(await SortedRun.open(join(directory, name), { ...run, filterBytes }))
      }
      removeOthers(directory, new Set(state.runs.map((run) => run.name)))
      return new DiskUrlSeen(options, state, runs)
    } catch (cause) {
      for (const run of runs) run.close()
      throw diskFault(`opening ${directory}`, cause)
    }
  }

  meet(batch: FingerprintBatch): Promise<void> | undefined {
    return this.#meetFrom(batch, 0)
  }

  has(high: number, low: number): boolean {
    return this.#active.holds(high, low) || this.#previous.holds(high, low) || this.#loadMeetings(high, low) > 0
  }

  meetings(high: number, low: number): number {
    return Math.min(this.#recentMeetings(high, low) + this.#loadMeetings(high, low), MEETINGS_MAX)
  }

  get size(): number {
    return this.#size
  }

  get memoryBytes(): number {
    const generations = this.#active.memoryBytes + this.#previous.memoryBytes
    return this.#runs.reduce((sum, run) => sum + run.memoryBytes, generations + PIECE_URLS * 16)
  }

  /** Bytes of the runs on disk, without those that wait for committed(). */
  get diskBytes(): number {
    return this.#runs.reduce((sum, run) => sum + run.bytes, 0)
  }

  visit(visitor: (high: number, low: number, meetings: number) => void): void {
    const show = (high: number, low: number, more: number): void =>
      visitor(high, low, Math.min(more + this.#recentMeetings(high, low), MEETINGS_MAX))
    for (const _ of mergeRuns(this.#runs, show)) this.#assertSound()
    if (this.#flushing !== null) this.#previous.visitNew((high, low) => show(high, low, 0))
    this.#active.visitNew((high, low) => show(high, low, 0))
  }

  restore(high: number, low: number, meetings: number): void {
    if (meetings <= 0) return
    this.#assertSound()
    if (this.#active.size >= this.#active.sizeMax) {
      for (let job = this.#jobInTheWay(); job !== null; job = this.#jobInTheWay()) this.#finishNow(job)
      this.#turnOver()
    }
    const isKnown = this.has(high, low)
    const place = this.#active.find(high, low)
    if (this.#active.isFree(place)) {
      this.#active.take(place, high, low)
      if (isKnown) this.#active.setKnown(place)
      else this.#size++
    }
    this.#active.count(place, meetings)
  }

  /** The caller's position, such as the number of a batch, up to which all was met. It comes back as `replayFrom`. */
  mark(position: number): void {
    this.#mark = position
  }

  /** What is durable now. It counts once the caller has committed it, and said so. */
  state(): SeenState {
    return {
      runs: this.#runs.map(({ path, blocks, keys }) => ({ name: basename(path), blocks, keys })),
      urls: this.#durableUrls,
      runsMade: this.#runsMade,
      replayFrom: this.#durableMark,
    }
  }

  /** The state is committed: files that were merged away and that it does not name are unlinked. */
  committed(state: SeenState): void {
    const named = new Set(state.runs.map((run) => run.name))
    const unneeded = this.#retired.filter((name) => !named.has(name))
    this.#retired = this.#retired.filter((name) => named.has(name))
    for (const name of unneeded) remove(join(this.#directory, name))
  }

  /** Writes out all that was met: nothing is left to replay once the state is committed. */
  async flush(): Promise<void> {
    this.#assertSound()
    for (let job = this.#jobInTheWay(); job !== null; job = this.#jobInTheWay()) await this.#finish(job)
    if (this.#active.size === 0) return
    this.#turnOver()
    while (this.#flushing !== null) await this.#finish(this.#flushing)
  }

  /** Makes one run of all. */
  async compact(): Promise<void> {
    await this.flush()
    while (this.#merging !== null) await this.#finish(this.#merging)
    if (this.#runs.length > 1) this.#merging = newJob(this.#merge(0), 0)
    while (this.#merging !== null) await this.#finish(this.#merging)
  }

  /** Ends without writing: what is not in the last committed state is for the caller to replay. */
  async close(): Promise<void> {
    this.#fault ??= new Fault('ASSERTION', `the seen set in ${this.#directory} was used after it was closed`)
    for (const job of [this.#flushing, this.#merging]) {
      await job?.syncing?.done
      job?.steps.return()
    }
    for (const run of this.#runs) run.close()
    this.#runs = []
  }

  #meetFrom(batch: FingerprintBatch, from: number): Promise<void> | undefined {
    for (let at = from; at < batch.count;) {
      this.#assertSound()
      if (this.#active.size >= this.#active.sizeMax) {
        const job = this.#jobInTheWay()
        if (job !== null) {
          const here = at
          return this.#finish(job).then(() => this.#meetFrom(batch, here))
        }
        this.#turnOver()
      }
      const end = Math.min(batch.count, at + PIECE_URLS, at + this.#active.sizeMax - this.#active.size)
      try {
        this.#size += this.#meetPiece(batch, at, end)
        this.#work(end - at)
      } catch (cause) {
        // Half a piece is in the active generation as new: no later answer can be trusted.
        throw this.#fail(cause)
      }
      at = end
    }
    return undefined
  }

  /** Meets some places of a batch; how many are new. */
  #meetPiece({ high: highs, low: lows, isNew }: FingerprintBatch, from: number, to: number): number {
    const active = this.#active
    const previous = this.#previous
    let pending = 0
    for (let i = from; i < to; i++) {
      const high = highs[i] as number
      const low = lows[i] as number
      const place = active.find(high, low)
      isNew[i] = 0
      if (active.isFree(place)) {
        // Taken as new, so that a second one in this batch finds it; set right below where a run knows it.
        active.take(place, high, low)
        if (previous.holds(high, low)) active.setKnown(place)
        else {
          isNew[i] = 1
          this.#pending[pending] = i
          this.#places[pending++] = place
        }
      }
      active.count(place, 1)
    }
    // Oldest first: it is the largest, and most known URLs are there.
    for (const run of this.#runs) pending = this.#probe(run, highs, lows, isNew, pending)
    return pending
  }

  /** Looks for the pending places of a batch in a run, block by block; how many are pending still. */
  #probe(run: SortedRun, highs: Uint32Array, lows: Uint32Array, isNew: Uint8Array, pending: number): number {
    const candidates = this.#candidates
    let count = 0
    for (let j = 0; j < pending; j++) {
      const i = this.#pending[j] as number
      const block = run.locate(highs[i] as number, lows[i] as number)
      // Block and place in one number: sorted by block, in a typed array, without a comparator.
      if (block !== -1) candidates[count++] = block * PIECE_URLS + j
    }
    if (count === 0) return pending
    if (count > 1) candidates.subarray(0, count).sort()
    for (let at = 0; at < count;) {
      const first = blockOf(candidates[at] as number)
      let last = first
      let end = at + 1
      for (; end < count; end++) {
        const block = blockOf(candidates[end] as number)
        if (block - last > GAP_BLOCKS || block - first >= RUN_WINDOW_BLOCKS) break
        last = block
      }
      run.load(first, last - first + 1)
      for (; at < end; at++) {
        const candidate = candidates[at] as number
        const block = blockOf(candidate)
        const j = candidate - block * PIECE_URLS
        const i = this.#pending[j] as number
        if (run.loadCount(block, highs[i] as number, lows[i] as number) === 0) continue
        isNew[i] = 0
        this.#active.setKnown(this.#places[j] as number)
      }
    }
    let left = 0
    for (let j = 0; j < pending; j++) {
      if (isNew[this.#pending[j] as number] === 0) continue
      this.#pending[left] = this.#pending[j] as number
      this.#places[left++] = this.#places[j] as number
    }
    return left
  }

  /** Meetings that are in no run yet. */
  #recentMeetings(high: number, low: number): number {
    const unwritten = this.#flushing === null ? 0 : this.#previous.meetings(high, low)
    return this.#active.meetings(high, low) + unwritten
  }

  #loadMeetings(high: number, low: number): number {
    this.#assertSound()
    let meetings = 0
    for (const run of this.#runs) {
      const block = run.locate(high, low)
      if (block !== -1) meetings += run.loadCount(block, high, low)
    }
    return meetings
  }

  /** What must end before the next turn-over. */
  #jobInTheWay(): Job | null {
    return this.#flushing ?? (this.#runs.length >= RUNS_MAX ? this.#merging : null)
  }

  /** The active generation becomes the previous one, which must have been written. */
  #turnOver(): void {
    const empty = this.#previous
    empty.clear()
    this.#previous = this.#active
    this.#active = empty
    // Twice as fast as the active one can fill: a sync takes its time too.
    this.#flushing = newJob(this.#flush(this.#previous, this.#size, this.#mark), 2)
  }

  *#flush(generation: Generation, urls: number, mark: number): Steps {
    const run = yield* this.#write([generation.size], (add) => generation.ascending(add))
    this.#runs.push(run)
    this.#durableUrls = urls
    this.#durableMark = mark
    this.#flushing = null
    this.#planMerge()
  }

  *#merge(from: number): Steps {
    const sources = this.#runs.slice(from)
    const merged = yield* this.#write(
      sources.map((run) => run.keys),
      (add) => mergeRuns(sources, add),
    )
    // Runs written meanwhile stand behind the sources.
    this.#runs.splice(from, sources.length, merged)
    for (const run of sources) {
      run.close()
      this.#retired.push(basename(run.path))
    }
    this.#merging = null
    this.#planMerge()
  }

  /** Writes a run of at most as many keys as there are in all parts, and makes it durable. */
  *#write(
    parts: readonly number[],
    fill: (add: (high: number, low: number, count: number) => void) => Generator<number>,
  ): Generator<number | RunWriter, SortedRun> {
    const keysMax = parts.reduce((sum, keys) => sum + keys, 0)
    const keysAll = Math.max(this.#size, keysMax)
    const filterBytes = filterBytesFor(Math.ceil(keysAll / BLOCK_URLS), this.#filterBudget)
    const path = join(this.#directory, `seen-${++this.#runsMade}.run`)
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

  /** Merges the newest runs, as far back as each is not much larger than those after it together. */
  #planMerge(): void {
    if (this.#merging !== null) return
    let from = this.#runs.length - 1
    let keys = this.#runs[from]?.keys ?? 0
    for (; from > 0; from--) {
      const older = (this.#runs[from - 1] as SortedRun).keys
      if (older >= MERGE_RATIO * keys) break
      keys += older
    }
    if (this.#runs.length > RUNS_REST) from = Math.min(from, RUNS_REST - 1)
    if (this.#runs.length - from < 2) return
    keys = this.#runs.slice(from).reduce((sum, run) => sum + run.keys, 0)
    this.#merging = newJob(this.#merge(from), Math.max(2, keys / (MERGE_GENERATIONS * this.#active.sizeMax)))
  }

  /** Work that is due for so many checks. */
  #work(checks: number): void {
    for (const job of [this.#flushing, this.#merging]) {
      if (job === null || job.syncing !== null) continue
      job.credit += checks * job.pace
      while (job.credit > 0 && this.#isGoingOn(job) && job.syncing === null) job.credit -= this.#step(job)
    }
  }

  #isGoingOn(job: Job): boolean {
    return job === this.#flushing || job === this.#merging
  }

  /** One step of a job; how many keys that were. A sync is begun, and the job goes on by itself when it is done. */
  #step(job: Job): number {
    const { value } = job.steps.next()
    if (typeof value === 'number') return value
    if (value === undefined) return 0
    job.syncing = { writer: value, done: this.#sync(job, value) }
    return 0
  }

  async #sync(job: Job, writer: RunWriter): Promise<void> {
    try {
      await writer.sync()
      // Where somebody could not wait it is done already.
      if (job.syncing?.writer !== writer || this.#fault !== null) return
      job.syncing = null
      this.#step(job)
    } catch (cause) {
      // Of a sync that was done over nothing matters: the file may have been merged and closed meanwhile.
      if (this.#isGoingOn(job)) this.#fail(cause)
    }
  }

  /** Drives a job to its end, giving control away while it syncs. */
  async #finish(job: Job): Promise<void> {
    try {
      while (this.#isGoingOn(job) && job.syncing === null) this.#step(job)
    } catch (cause) {
      throw this.#fail(cause)
    }
    await job.syncing?.done
    this.#assertSound()
  }

  #finishNow(job: Job): void {
    try {
      while (this.#isGoingOn(job)) {
        job.syncing?.writer.syncNow()
        job.syncing = null
        this.#step(job)
      }
    } catch (cause) {
      throw this.#fail(cause)
    }
  }

  #assertSound(): void {
    if (this.#fault !== null) throw this.#fault
  }

  #fail(cause: unknown): Fault {
    this.#fault ??= diskFault(`the seen set in ${this.#directory}`, cause)
    return this.#fault
  }
}

function newJob(steps: Steps, pace: number): Job {
  return { steps, pace, credit: 0, syncing: null }
}

function blockOf(candidate: number): number {
  return Math.floor(candidate / PIECE_URLS)
}

/** Bytes of filter per block that so many blocks can have of a budget: a power of two, or none. */
function filterBytesFor(blocks: number, budget: number): number {
  const bytes = 2 ** Math.floor(Math.log2(Math.min(FILTER_BYTES_MAX, budget / Math.max(1, blocks))))
  return bytes < FILTER_BYTES_MIN ? 0 : bytes
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
