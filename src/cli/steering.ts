// A crawl of this process while it is steered: what it is meant to be now, and what is to become of it.
//
//   open ──▶ run ──▶ ended ──▶ a change waits? ──▶ close, open with it ──▶ run …
//              ▲                     │ no
//              └ pause, speed, seeds └──▶ close, the end
//
// One change at a time. What a change is, is on disk before it takes effect: in changes.jsonl that it was made, in settings.json what holds
// from then on, in steering.json what holds for this run (src/control/kept-steering.ts). Where the crawl cannot be opened with it, it goes
// on as it was, and settings.json says so.

import { type AdmittedSeeds, type Speed, TRACES_MAX } from '../agent/index.ts'
import { Fault, type StopReason, systemClock } from '../base/index.ts'
import { type CrawlConfig, isRunLimit, picked, withoutSecrets } from '../config/index.ts'
import {
  ChangeLog,
  dropPendingSeeds,
  type EventLog,
  keepPendingSeeds,
  type KeptSteering,
  type Moment,
  type OtherOptions,
  type SteeredCrawl,
  type SteeredNode,
  storeSteering,
} from '../control/index.ts'
import { printable } from '../report/index.ts'
import { CrawlNode } from '../supervise/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import type { CrawlJob, CrawlRequest } from './crawl-job.ts'
import type { LeftRun } from './left-steering.ts'
import { mergeSaid, type Said, storeSettings } from './stored-settings.ts'

/** A change that is to be opened with. */
export interface PendingChange {
  readonly request: CrawlRequest
  readonly before: CrawlRequest
  /** What was changed before this. */
  readonly changed: KeptSteering['changed']
  readonly opened: PromiseWithResolvers<void>
}

const MOMENTS_MS = 10_000

export class Steering implements SteeredCrawl {
  readonly dir: string
  readonly place: SteeredCrawl['place']
  readonly events: EventLog
  readonly #stop: () => void
  #changes: Promise<ChangeLog> | null = null
  #request: CrawlRequest
  #job: CrawlJob | null = null
  #isOver = false
  #pending: PendingChange | null = null
  /** One at a time; never rejects. */
  #turn: Promise<unknown> = Promise.resolve()
  /** As it is steered now, but for `limits`, which are those of the request. */
  #kept: KeptSteering
  /** As it stands on the disk. */
  #written: string
  /** One write at a time, each of what holds by then; never rejects. */
  #keeping: Promise<unknown> = Promise.resolve()
  readonly #moments: Moment[] = []
  /** URLs that are followed, for the crawl that is opened anew. */
  readonly #traced = new Set<string>()

  constructor({ request, kept, found }: LeftRun, events: EventLog, stop: () => void) {
    this.#kept = kept
    this.#written = JSON.stringify(found)
    this.dir = request.dir
    this.place = request.cluster?.place ?? null
    this.events = events
    this.#request = request
    this.#stop = stop
  }

  get request(): CrawlRequest {
    return this.#request
  }

  get job(): CrawlJob | null {
    return this.#job
  }

  get node(): SteeredNode | null {
    return this.#node
  }

  get #node(): CrawlNode | null {
    return this.#job instanceof CrawlNode ? this.#job : null
  }

  get config(): CrawlConfig {
    return this.#request.cluster?.configNow?.() ?? this.#request.config
  }

  get said(): Said {
    return mergeSaid(this.#request.stored, this.#request.said)
  }

  get isPaused(): boolean {
    return this.#kept.isPaused
  }

  get isReopening(): boolean {
    return !this.#isOver && (this.#pending !== null || this.#job === null)
  }

  get isStopping(): boolean {
    return this.#isOver || (!this.isReopening && this.#job?.snapshot().isStopping === true)
  }

  get moments(): readonly Moment[] {
    return this.#moments
  }

  // ── Changes ─────────────────────────────────────────────────────────────────────────────────

  async record(who: string, what: string, detail: Record<string, unknown>): Promise<void> {
    // Opened once, by whoever comes first; one that could not be opened is tried again.
    const opening = (this.#changes ??= ChangeLog.open(this.dir, systemClock))
    opening.catch(() => {
      if (this.#changes === opening) this.#changes = null
    })
    await (await opening).record(who, what, detail)
  }

  async pause(): Promise<void> {
    if (this.isPaused) return void (await this.#keeping)
    if (!this.isReopening) this.#steerable('paused')
    await this.#keep({ isPaused: true })
    this.#node?.pause()
    this.events.add('crawl', 'Paused: nobody is asked from now on.')
  }

  async resume(): Promise<void> {
    if (!this.isPaused) return void (await this.#keeping)
    await this.#keep({ isPaused: false })
    this.#node?.resume()
    this.events.add('crawl', 'Goes on after a pause.')
  }

  /** Durable when it resolves; before that it may hold already, as it does when a process is killed a moment later. */
  async #keep(change: Partial<KeptSteering>): Promise<void> {
    const before = this.#kept
    this.#kept = { ...before, ...change }
    try {
      await this.keep()
    } catch (fault) {
      const undone = Object.keys(change).map((name) => [name, before[name as keyof KeptSteering]] as const)
      this.#kept = { ...this.#kept, ...Object.fromEntries(undone) }
      throw fault
    }
  }

  /** Writes down how it is steered. */
  keep(): Promise<void> {
    if (this.place !== null) return Promise.resolve()
    const write = this.#keeping.then(async () => {
      const kept = { ...this.#kept, limits: picked(this.said, isRunLimit)['agent'] ?? {} }
      const text = JSON.stringify(kept)
      if (text === this.#written) return
      await storeSteering(this.dir, kept)
      this.#written = text
    })
    this.#keeping = write.catch(() => {})
    return write
  }

  stop(): void {
    this.#stop()
  }

  addSeeds(seeds: readonly CanonicalUrl[]): Promise<readonly AdmittedSeeds[]> {
    return this.#inTurn(async () => {
      const node = this.#steerable('given seeds')
      await keepPendingSeeds(this.dir, seeds)
      const answers = await node.addSeeds(seeds)
      await dropPendingSeeds(this.dir)
      return answers
    })
  }

  async trace(url: string): Promise<void> {
    const node = this.#steerable('followed')
    this.#traced.add(url)
    for (const first of this.#traced) {
      if (this.#traced.size <= TRACES_MAX) break
      this.#traced.delete(first)
    }
    await node.trace(url)
  }

  async setAgentSpeed(agent: number, change: Partial<Speed>): Promise<void> {
    const node = this.isReopening ? this.#node : this.#steerable('set to another speed')
    const { speeds } = this.#kept
    await this.#keep({ speeds: { ...speeds, [agent]: { ...speeds[agent], ...change } } })
    node?.setSpeed(change, agent)
  }

  change(make: (said: Said) => OtherOptions): Promise<void> {
    return this.#inTurn(async () => {
      const node = this.#steerable('changed')
      const before = this.#request
      const { options, said, config, speed } = make(this.said)
      const request: CrawlRequest = { ...before, seeds: [], said: {}, stored: said, config }
      const { changed, speeds } = this.#kept
      // What is set for all holds for each.
      const own = Object.entries(speeds).map(([agent, one]) => [agent, without(one, speed ?? {})] as const)
      // First for the next process of this run: killed in between, it has all of the change, and a run started by hand nothing of it.
      await this.#keep({ changed: mergeSaid(changed, withoutSecrets(options)), speeds: Object.fromEntries(own) })
      try {
        await storeSettings(this.dir, said)
      } catch (fault) {
        await this.#keep({ changed, speeds })
        throw fault
      }
      // It ended meanwhile: the change holds for the next run, and nobody opens it anew.
      if (this.#isOver) return
      if (speed !== null) {
        this.#request = request
        node.setSpeed(speed)
        return
      }
      const pending: PendingChange = { request, before, changed, opened: Promise.withResolvers() }
      this.#pending = pending
      this.events.add('crawl', 'Is opened anew, with other options.')
      node.stop('interrupted')
      await pending.opened.promise
    })
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work)
    this.#turn = done.catch(() => {})
    return done
  }

  /** Where it runs, on this machine alone. */
  #steerable(what: string): CrawlNode {
    const node = this.#node
    if (this.place !== null) {
      throw new Fault('CONTROL_REFUSED', `a crawl of a cluster cannot be ${what} by one of its nodes`)
    }
    if (node === null || this.#isOver) throw new Fault('CONTROL_REFUSED', `the crawl is ending and cannot be ${what}`)
    return node
  }

  // ── The run ─────────────────────────────────────────────────────────────────────────────────

  /** It is open, for the first time or anew, and is run next. */
  begin(job: CrawlJob): void {
    this.#job = job
    this.#pending = null
    const node = this.#node
    if (node === null) return
    if (this.isPaused) node.pause()
    for (const url of this.#traced) node.trace(url).catch(() => {})
    for (const [agent, speed] of Object.entries(this.#kept.speeds)) {
      if (Number(agent) < node.agents && Object.keys(speed).length > 0) node.setSpeed(speed, Number(agent))
    }
  }

  /** A few times a second: what rates are made from. */
  note(moment: Moment): void {
    this.#moments.push(moment)
    while ((this.#moments[0] as Moment).atMs < moment.atMs - MOMENTS_MS) this.#moments.shift()
  }

  /** Its run has ended: the change that it is to be opened anew with, or null where this is the end. */
  ended(reason: StopReason, fault: unknown, isInterrupted: boolean): PendingChange | null {
    const pending = this.#pending
    const isOver = pending === null || fault !== null || isInterrupted || reason === 'disk-full' || reason === 'error'
    if (!isOver) return pending
    this.#pending = null
    this.#isOver = true
    pending?.opened.resolve()
    return null
  }

  /** Closed, to be opened anew. */
  closed(): void {
    this.#job = null
  }

  /** Opens it with the change, or as it was before where that fails. */
  async reopen(
    { request, before, changed, opened }: PendingChange,
    open: (request: CrawlRequest) => Promise<CrawlJob>,
  ): Promise<CrawlJob> {
    try {
      const job = await open(request)
      this.#request = request
      this.begin(job)
      await this.#keepLimits()
      this.events.add('crawl', 'Goes on with the other options.')
      opened.resolve()
      return job
    } catch (fault) {
      const why = fault instanceof Error ? fault.message : String(fault)
      opened.reject(fault)
      // Nobody may wait for it any more.
      opened.promise.catch(() => {})
      this.events.add('fault', `The change could not be made, and the crawl goes on as it was: ${printable(why)}`)
      const former = { ...before, seeds: [], said: {}, stored: mergeSaid(before.stored, before.said) }
      this.#request = former
      await this.#keep({ changed })
      await storeSettings(this.dir, former.stored)
      const job = await open(former)
      this.begin(job)
      return job
    }
  }

  /** What it is held to now: only what is proposed for the next run, so that nothing ends because it cannot be written. */
  async #keepLimits(): Promise<void> {
    await this.keep().catch(() => undefined)
  }

  async close(): Promise<void> {
    this.#isOver = true
    // Where the run broke before it could be opened anew: the change holds for the next one.
    this.#pending?.opened.resolve()
    await this.#turn
    await this.#keeping
    await (await this.#changes?.catch(() => null))?.close()
  }
}

/** What is left of a speed when another says these. */
function without(speed: Partial<Speed>, less: Partial<Speed>): Partial<Speed> {
  return Object.fromEntries(Object.entries(speed).filter(([name]) => !(name in less)))
}
