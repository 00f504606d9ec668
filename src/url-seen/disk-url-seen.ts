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
// Writing and merging are done in small steps by the calls of meet(), paced so that they end in time; only the sync
// goes on beside. A batch is met in one go, after any waiting, so calls of meet() may overlap.
//
// Durable is what state() names, once the caller has committed it: files are synced before they enter the state, and
// unlinked only when a committed state no longer needs them. What was met since is for the caller to replay.
//
// Always true: a URL enters state() in a later turn of the event loop than the answer to its meeting. So a caller that
// notes what came of an answer before it gives control away, and commits state() with its notes, never commits a run
// that holds a URL it has not noted: after a crash that URL would be known, and waited for by nobody.
//   - Within meet() nothing is synced, and a job goes on after its sync in a turn of its own.
//   - A batch that fits a generation waits first and is met at the end. Of a larger one parts are written before it is
//     answered: until then, and a turn longer, no run is named.

import { diskFault, Fault } from '../base/index.ts'
import type { PacedJob } from '../disk/index.ts'
import { mergeRuns } from '../disk/index.ts'
import { Generation } from './generation.ts'
import { LOOKUP_URLS_MAX, RunLookup } from './run-lookup.ts'
import { SeenKeeper, type SeenState } from './seen-keeper.ts'
import { SeenRuns } from './seen-runs.ts'
import type { FingerprintBatch, UrlSeen } from './url-seen.ts'

const MEETINGS_MAX = 0xffff
/** Shares of the memory: each generation, and the filters of all runs. While two runs become one, both have filters. */
const GENERATION_SHARE = 3 / 16
const FILTER_SHARE = 7 / 32

export interface DiskUrlSeenOptions {
  readonly directory: string
  /** For generations, indices and filters together. */
  readonly memoryBytes: number
  /** The last state that was committed; null begins anew. */
  readonly state: SeenState | null
}

/** Places that are looked at together before each is looked up: the links of a page, and few enough to stay in the cache. */
const TOUCHED_URLS = 64

export class DiskUrlSeen implements UrlSeen {
  readonly #directory: string
  readonly #runs: SeenRuns
  readonly #keeper: SeenKeeper
  readonly #lookup = new RunLookup()
  #active: Generation
  #previous: Generation
  #size: number
  #mark: number
  #fault: Fault | null = null

  private constructor({ directory, memoryBytes }: DiskUrlSeenOptions, state: SeenState, runs: SeenRuns) {
    this.#directory = directory
    this.#active = new Generation(memoryBytes * GENERATION_SHARE)
    this.#previous = new Generation(memoryBytes * GENERATION_SHARE)
    this.#size = state.urls
    this.#mark = state.replayFrom
    this.#runs = runs
    this.#keeper = new SeenKeeper(runs, state, this.#active.sizeMax, (cause) => void this.#fail(cause))
  }

  /** Goes on from a committed state. Files of runs beyond it were never promised and are removed. */
  static async open(options: DiskUrlSeenOptions): Promise<DiskUrlSeen> {
    const { directory, memoryBytes } = options
    const state = options.state ?? { runs: [], urls: 0, runsMade: 0, replayFrom: 0 }
    const { runs, runsMade } = state
    const filterBudget = memoryBytes * FILTER_SHARE
    return new DiskUrlSeen(options, state, await SeenRuns.open({ directory, filterBudget, runs, runsMade }))
  }

  meet(batch: FingerprintBatch): Promise<void> | undefined {
    const met = this.#meetNow(batch, 0)
    return met === batch.count ? undefined : this.#meetLater(batch, met)
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
    return generations + this.#lookup.memoryBytes + this.#runs.memoryBytes
  }

  /** Bytes of the runs on disk, without those that wait for committed(). */
  get diskBytes(): number {
    return this.#runs.diskBytes
  }

  visit(visitor: (high: number, low: number, meetings: number) => void): void {
    for (const _ of this.visitInSteps(visitor));
  }

  /** The same, giving control away now and then: some thousand URLs a step. */
  *visitInSteps(visitor: (high: number, low: number, meetings: number) => void): Generator<void> {
    const show = (high: number, low: number, more: number): void =>
      visitor(high, low, Math.min(more + this.#recentMeetings(high, low), MEETINGS_MAX))
    for (const _ of mergeRuns(this.#runs.all, show)) {
      this.#assertSound()
      yield
    }
    if (this.#keeper.isFlushing) this.#previous.visitNew((high, low) => show(high, low, 0))
    this.#active.visitNew((high, low) => show(high, low, 0))
  }

  /** For what is committed already: here it may be written, synced and named at once. */
  restore(high: number, low: number, meetings: number): void {
    if (meetings <= 0) return
    this.#assertSound()
    if (this.#active.size >= this.#active.sizeMax) {
      for (let job = this.#keeper.jobInTheWay(); job !== null; job = this.#keeper.jobInTheWay()) this.#finishNow(job)
      this.#turnOver()
    }
    const isKnown = this.has(high, low)
    this.#active.reserve(1)
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
    // Nothing was met that is in no run: then nothing before this need be told again.
    if (this.#active.size === 0 && !this.#keeper.isFlushing) this.#keeper.advance(position)
  }

  /** What is durable now. It counts once the caller has committed it, and said so. */
  state(): SeenState {
    return this.#keeper.state()
  }

  /** The state is committed: files that were merged into others that it names are unlinked. */
  committed(state: SeenState): void {
    this.#runs.forget(state.runs)
  }

  /** Writes out all that was met: nothing is left to replay once the state is committed. */
  async flush(): Promise<void> {
    this.#assertSound()
    // Again, because somebody else who waited may have been quicker to turn over.
    while (this.#keeper.jobInTheWay() !== null) await this.#finishAll(() => this.#keeper.jobInTheWay())
    if (this.#active.size === 0) return
    this.#turnOver()
    await this.#finishAll(() => (this.#keeper.isFlushing ? this.#keeper.jobInTheWay() : null))
  }

  /** Makes one run of all. */
  async compact(): Promise<void> {
    await this.flush()
    await this.#finishAll(() => this.#keeper.compactionJob())
  }

  /** Ends without writing: what is not in the last committed state is for the caller to replay. */
  async close(): Promise<void> {
    this.#fault ??= new Fault('ASSERTION', `the seen set in ${this.#directory} was used after it was closed`)
    await this.#keeper.close()
  }

  /** Meets as much of a batch as can be answered without waiting; where it stopped. */
  #meetNow(batch: FingerprintBatch, from: number): number {
    const { sizeMax } = this.#active
    let at = from
    while (at < batch.count) {
      this.#assertSound()
      if (this.#active.size + Math.min(batch.count - at, sizeMax) > sizeMax) {
        if (this.#keeper.jobInTheWay() !== null) break
        this.#turnOver()
      }
      const end = Math.min(batch.count, at + LOOKUP_URLS_MAX, at + sizeMax - this.#active.size)
      try {
        this.#active.reserve(end - at)
        this.#size += this.#meetPiece(batch, at, end)
        this.#keeper.work(end - at)
      } catch (cause) {
        // Half a piece is in the active generation as new: no later answer can be trusted.
        throw this.#fail(cause)
      }
      at = end
    }
    return at
  }

  async #meetLater(batch: FingerprintBatch, from: number): Promise<void> {
    const isCut = batch.count > this.#active.sizeMax
    if (isCut) this.#keeper.hold()
    try {
      for (let at = from; at < batch.count; at = this.#meetNow(batch, at)) {
        await this.#finishAll(() => this.#keeper.jobInTheWay())
      }
    } finally {
      if (isCut) this.#keeper.release()
    }
  }

  /** Meets some places of a batch; how many are new. */
  #meetPiece(batch: FingerprintBatch, from: number, to: number): number {
    const { high: highs, low: lows, isNew } = batch
    const active = this.#active
    const previous = this.#previous
    this.#lookup.begin(to - from)
    for (let i = from; i < to; i++) {
      if ((i - from) % TOUCHED_URLS === 0) active.touch(highs, lows, i, Math.min(to, i + TOUCHED_URLS))
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
          this.#lookup.add(i, place)
        }
      }
      active.count(place, 1)
    }
    // Oldest first: it is the largest, and most known URLs are there.
    return this.#lookup.search(this.#runs.all, batch, (place) => active.setKnown(place))
  }

  /** Meetings that are in no run yet. */
  #recentMeetings(high: number, low: number): number {
    const unwritten = this.#keeper.isFlushing ? this.#previous.meetings(high, low) : 0
    return this.#active.meetings(high, low) + unwritten
  }

  #loadMeetings(high: number, low: number): number {
    this.#assertSound()
    return this.#runs.loadMeetings(high, low)
  }

  /** The active generation becomes the previous one, which must have been written. */
  #turnOver(): void {
    const empty = this.#previous
    empty.clear()
    this.#previous = this.#active
    this.#active = empty
    this.#keeper.flush(this.#previous, this.#size, this.#mark)
  }

  /** Gives control away until no job is left of those it is told of. */
  async #finishAll(nextJob: () => PacedJob | null): Promise<void> {
    try {
      for (let job = nextJob(); job !== null; job = nextJob()) {
        await job.finish()
        this.#assertSound()
      }
    } catch (cause) {
      throw this.#fail(cause)
    }
  }

  #finishNow(job: PacedJob): void {
    try {
      job.finishNow()
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
