// A crawl as its owner sees it: opened from a directory, run to its end, looked at meanwhile, closed.

import { join } from 'node:path'
import { assert, type StopReason } from '../base/index.ts'
import type { Wire } from '../exchange/index.ts'
import type { FrontierFigures, HostState } from '../frontier/index.ts'
import type { CrawlIdentity, OriginalNote } from '../ledger/index.ts'
import type { PageStatistics } from '../processors/index.ts'
import { type FailureRecord, type PageRecord, readJsonLines } from '../store/index.ts'
import type { CanonicalUrl, HostKey, UrlOptions } from '../url/index.ts'
import type { BrokenFigures } from './broken-visits.ts'
import { archivePlaces, type CheckpointFigures, copyCrawl } from './checkpoint.ts'
import { Closers } from './closers.ts'
import type { ArchivePlaces } from './crawl-copy.ts'
import type { CrawlPlan } from './crawl-plan.ts'
import { type Bell, type CrawlState, openCrawlState } from './crawl-state.ts'
import type { CrawlFigures, CrawlTotals, Spent } from './figures.ts'
import type { PaceFigures, Speed } from './pace.ts'
import type { LostCaptures } from './lost-captures.ts'
import { originalNotesIn, unlessKnown } from './page-originals.ts'
import { noteLost, requeue, requeueLost, requeuePages, type LostParts, type ReturnParts } from './requeue.ts'
import { forgetUnreachable } from './robots-file.ts'
import type { AdmittedSeeds } from './new-seeds.ts'
import { previewScope, type ScopePreview } from './scope-preview.ts'
import { Stopwatch } from './stopwatch.ts'
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
  /** What was done in this run, where it is not what the figures have grown by: parts of a crawl that move bring what they did elsewhere. */
  readonly done?: { readonly pages: number; readonly bytes: number }
  /** Nobody is asked until it is resumed; what was under way may still be ending. */
  readonly isPaused: boolean
}

/** Where an agent stands among the others. */
export interface Standing {
  /** Nobody is being asked, everything is durable, and nothing is on its way to or from others. */
  readonly isQuiet: boolean
  /** Grows with every message: where it stands still at all agents while all are quiet, nothing will come. */
  readonly moves: number
  readonly waiting: number
  /** No permit is left, taken or not. */
  readonly isSpent: boolean
  /** Permits that are not in use; Infinity where pages are not limited. */
  readonly permits: number
  /** When somebody may be asked; null where that is not known or nothing waits. */
  readonly readyInMs: number | null
}

/** What a copy of the state is of. */
export interface StateCopy {
  readonly identity: CrawlIdentity
  /** What the last batch in it says of files and parts, by name. */
  readonly states: Readonly<Record<string, unknown>>
  /** Batches up to this one are in every part of it. */
  readonly partsHold: number
}

export class Crawl {
  readonly #plan: CrawlPlan
  readonly #state: CrawlState
  readonly #walk: Walk
  readonly #closers: Closers
  readonly #watch: Stopwatch
  readonly #startCpuMs: number

  private constructor(
    plan: CrawlPlan,
    state: CrawlState,
    walk: Walk,
    closers: Closers,
    watch: Stopwatch,
    startCpuMs: number,
  ) {
    this.#plan = plan
    this.#state = state
    this.#walk = walk
    this.#closers = closers
    this.#watch = watch
    this.#startCpuMs = startCpuMs
  }

  /** Takes the directory, goes on from what an earlier run left in it, and admits the seeds. */
  static async open(plan: CrawlPlan): Promise<Crawl> {
    const closers = new Closers()
    try {
      const { clock, cpuMs } = plan
      const startMs = plan.since?.ms ?? clock.nowMs()
      const startCpuMs = plan.since?.cpuMs ?? cpuMs()
      const watch = new Stopwatch(clock, startMs)
      const spent = (): Spent => ({
        ms: watch.ms,
        cpuMs: cpuMs() - startCpuMs,
        peakRssBytes: plan.peakRssBytes(),
      })
      const bell: Bell = { ring: () => {} }
      const state = await openCrawlState(plan, closers, bell)
      const walk = await joinWalk(plan, state, closers, startMs, spent, bell)
      return new Crawl(plan, state, walk, closers, watch, startCpuMs)
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

  /** Seeds given to earlier runs, and what they redirected to. */
  get knownSeeds(): readonly CanonicalUrl[] {
    return this.#state.past.seeds.map((seed) => seed.url)
  }

  /** Whether URLs are admitted by other rules than in the last run. */
  get isScopeChanged(): boolean {
    return this.#walk.changes.isScopeChanged
  }

  /** What an owner should know of how it was opened, in sentences. */
  get warnings(): readonly string[] {
    const warning = this.#walk.traps?.warning ?? null
    return warning === null ? [] : [warning]
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

  /** Asks nobody from now on; what is under way ends. Time stands still: neither --max-time nor the figures count it. */
  pause(): void {
    this.#watch.pause()
    this.#walk.pipeline.pause()
  }

  resume(): void {
    this.#watch.resume()
    this.#walk.pipeline.resume()
  }

  /** More seeds, while it runs. Those of other agents' hosts widen the scope here and are not counted. Durable when it resolves. */
  addSeeds(seeds: readonly CanonicalUrl[]): Promise<AdmittedSeeds> {
    return this.#walk.addSeeds(seeds)
  }

  /** What another scope would skip of what waits. */
  previewScope(options: UrlOptions): Promise<ScopePreview> {
    const { clock } = this.#plan
    const { pipeline, scopeSeeds } = this.#walk
    const isStopping = (): boolean => pipeline.isStopping
    return previewScope(options, { clock, frontier: this.#state.frontier, seeds: scopeSeeds(), isStopping })
  }

  /** The state of a host; null where it was never met. */
  hostState(host: HostKey): Promise<HostState | null> {
    return this.#state.frontier.look(host)
  }

  /** Hosts for which something waits, and how much. */
  waitingHosts(): AsyncIterable<{ readonly host: HostKey; readonly waiting: number }> {
    return this.#state.frontier.waitingHosts()
  }

  /** Follows a URL from now on: what happens to it is told (`CrawlPlan.onTrace`). */
  trace(url: string): void {
    this.#walk.traces.follow(url)
  }

  /** Other limits from now on, of this agent alone; what is not named stays as it is. */
  setSpeed(change: Partial<Speed>): void {
    this.#walk.pace.set(change)
  }

  /** How fast it may go now, and what stands in the way of more. */
  get pace(): PaceFigures {
    return this.#walk.pace.figures
  }

  /** Visits of this run that broke by a fault of ours. */
  get broken(): BrokenFigures {
    return this.#walk.broken.figures
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

  /** Puts pages that `isWanted` says back in line: they are visited again. Returns how many. Not while it runs. */
  async requeuePages(isWanted: (page: PageRecord) => boolean): Promise<number> {
    return requeuePages(this.#returnParts(), { page: isWanted, isLost: false })
  }

  /**
   * Puts pages back in line whose copies are lost with their WARC files: `isGone` says which files, `lost` which captures
   * of all agents. Returns how many. Of a crawl that was opened for this (`notesLost`), and is closed next.
   */
  async requeueLost(isGone: (file: string) => boolean, lost: LostCaptures): Promise<number> {
    return requeueLost({ ...this.#returnParts(), ...this.#lostParts() }, isGone, lost)
  }

  /**
   * Forgets contents whose copies are lost, of those that this agent owns: the first half of requeueLost(), for agents that
   * have to wait for each other between the two. Closed next, too.
   */
  async forgetLost(lost: LostCaptures): Promise<void> {
    const { books } = this.#walk
    await noteLost({ ...this.#lostParts(), books }, lost)
    await books.commit()
  }

  #lostParts(): Pick<LostParts, 'lostNotes' | 'originals'> {
    const { files, lost: known } = this.#state
    assert(files.lost !== null, 'a crawl that notes lost captures is opened for it')
    const originals =
      files.originals === null
        ? originalNotesIn(files.pages.path, known)
        : unlessKnown(readJsonLines<OriginalNote>(files.originals.path), known)
    return { lostNotes: files.lost, originals }
  }

  #returnParts(): ReturnParts {
    const { files, past } = this.#state
    const seeds = new Set(past.seeds.map((seed) => seed.url))
    const { books, strategy, trouble } = this.#walk
    const { pages, returns } = files
    const isSeed = (url: CanonicalUrl): boolean => seeds.has(url)
    const indexFolder = join(this.#plan.dir, 'state/returned')
    return { pages, returns, books, strategy, trouble, isSeed, indexFolder }
  }

  /** A consistent copy of everything, taken while the crawl goes on. `to` must not exist. */
  async checkpoint(to: string): Promise<CheckpointFigures> {
    return this.#copy(to, () => this.hold())
  }

  /** Keeps everything on disk still until the function that it gives is called. */
  async hold(): Promise<() => void> {
    const releaseBooks = await this.#walk.books.hold()
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

  /**
   * A copy of the state without the archive, for whoever keeps it beyond this machine. All parts are written down first, so that
   * little has to be told them again. `onHeld` is called while nothing moves.
   */
  async copyState(to: string, onHeld: () => void): Promise<StateCopy> {
    const { books, neighbours } = this.#walk
    const { frontier, heldElsewhere, writeDown } = this.#state
    await writeDown()
    books.noted()
    await books.commit()
    await frontier.written()
    let copied: StateCopy | null = null
    const hold = async (): Promise<() => void> => {
      const release = await this.hold()
      const partsHold = Math.min(heldElsewhere(), neighbours?.settled ?? Infinity)
      copied = { identity: this.identity, states: books.states, partsHold }
      onHeld()
      return release
    }
    await this.#copy(to, hold, { from: this.#plan.dir, to, isOurs: () => false })
    assert(copied !== null, 'a state was copied that was not held')
    return copied
  }

  /** The copy of one agent among several, all of which hold still; its part of the archive goes below `crawlTo`. */
  async copyHeld(to: string, crawlTo: string, release: () => void): Promise<CheckpointFigures> {
    const { share } = this.#plan
    const archive = share === null ? undefined : archivePlaces(share.crawlDir, crawlTo, share.agent, share.agents)
    try {
      return await this.#copy(to, async () => release, archive)
    } finally {
      // Also where it did not come to holding.
      release()
    }
  }

  #copy(to: string, hold: () => Promise<() => void>, archive?: ArchivePlaces): Promise<CheckpointFigures> {
    const { dir, clock } = this.#plan
    return copyCrawl({
      dir,
      to,
      hold,
      states: () => this.#walk.books.states,
      nowMs: () => clock.nowMs(),
      ...(archive === undefined ? {} : { archive }),
    })
  }

  /** A wire to another agent of the crawl, the first one or another one. */
  connect(agent: number, wire: Wire): void {
    this.#walk.neighbours?.exchange.connect(agent, wire)
  }

  /** Everything counted so far, as a batch would say it. */
  get totals(): CrawlTotals {
    const { figures, frontier } = this.#state
    const { runMs: ms, cpuMs } = this.snapshot()
    return figures.totals(frontier.figures().hosts, { ms, cpuMs, peakRssBytes: this.#plan.peakRssBytes() })
  }

  /** What the last batch says of files and parts, by name. */
  get states(): Readonly<Record<string, unknown>> {
    return this.#walk.books.states
  }

  /** More pages may be added. */
  grant(pages: number): void {
    this.#walk.permits.grant(pages)
    this.#walk.pipeline.pump()
  }

  /** Gives up the permits that are not in use, and says how many. */
  surrender(): number {
    return this.#walk.permits.surrender()
  }

  /** What there is to do, told to whoever decides for all agents. */
  standing(): Standing {
    const { pipeline, books, neighbours, permits } = this.#walk
    const { waiting, isSpent, readyMs } = pipeline.idle()
    const exchange = neighbours?.exchange ?? null
    return {
      isQuiet: pipeline.active === 0 && books.isDurable && (exchange === null || exchange.isQuiet),
      moves: exchange?.moves ?? 0,
      waiting,
      isSpent,
      permits: permits.left,
      readyInMs: readyMs === null ? null : Math.max(0, readyMs - this.#plan.clock.nowMs()),
    }
  }

  snapshot(): CrawlSnapshot {
    const { clock, cpuMs } = this.#plan
    const { figures, frontier } = this.#state
    const { pipeline, books } = this.#walk
    // A run that finds nothing to do takes no time off the crawl.
    const runMs = books.wasTouched ? this.#watch.ms : 0
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
      isPaused: pipeline.isPaused,
    }
  }

  /** Writes the last batch if run() has not, finishes files and sorts the index unless that is left to others, then lets go of the directory. */
  async close(): Promise<void> {
    try {
      await this.#walk.books.close()
    } finally {
      await this.#closers.closeAll()
    }
  }
}
