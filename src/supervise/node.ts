// One process that crawls: has a crew of agents, each in a thread, keeps count for all, and says when they are done.
//
//                    node (main thread)
//        status, permits │ run, grant, stop
//                      crew                       starts threads, watches them, starts them again (agent-crew.ts)
//             ┌──────────┴──────────┐
//          agent 0 ◀── wires ──▶ agent 1          each with its share of hosts, its journal, its files
//
// To its owner a node is a crawl like that of one agent: run, stop, figures, checkpoint, close.

import { join } from 'node:path'
import {
  type AdmittedSeeds,
  type CheckpointFigures,
  type CrawlFigures,
  type CrawlSettings,
  type CrawlSnapshot,
  type PaceFigures,
  type Speed,
  Stopwatch,
  TRACES_MAX,
} from '../agent/index.ts'
import { type Clock, Fault, type FaultPlan, type FaultTally, type StopReason } from '../base/index.ts'
import type { LostSum } from '../cluster/index.ts'
import { type DirectoryLock, lockDirectory, makeDirectory } from '../disk/index.ts'
import type { CrawlIdentity } from '../ledger/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import { AgentCrew, type CrewCare, USUAL_CARE } from './agent-crew.ts'
import type { AgentStatus, Earlier, FromAgent, Opened, PlainFault, TurnFigures } from './agent-messages.ts'
import type { AgentQuestion, AnswerTo } from './agent-questions.ts'
import { Checkpointing } from './checkpointing.ts'
import { EndWatch } from './end-watch.ts'
import { indexOrderOf, sortIndex } from './index-order.ts'
import { figuresOf, joinEarlier, snapshotOf } from './node-figures.ts'
import { NodeView } from './node-view.ts'
import { PermitOffice } from './permit-office.ts'
import { faultOf, plainFault } from './plain-fault.ts'
import { processCpuMs } from './process-cpu.ts'
import { Questions } from './questions.ts'
import { isLasting } from './restart-budget.ts'
import { NEAR_ROUND_MS, ROUND_MS, Rounds } from './rounds.ts'
import { settleShares, type SharingEvent } from './shares.ts'
import { Speeds } from './speeds.ts'
import { Timers } from './timers.ts'

export interface NodePlan {
  readonly dir: string
  readonly seeds: readonly CanonicalUrl[]
  readonly settings: CrawlSettings
  readonly clock: Clock
  readonly newIdentity: () => CrawlIdentity
  readonly software: string
  /** Where passwords named by variable are found. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Agents where nobody says how many. */
  readonly agentsUsual: number
  /** Told of what an operator wants to know. */
  readonly onEvent: (event: NodeEvent) => void
  /** Whoever opens it holds the directory already, and keeps it when it is closed. */
  readonly isLocked?: boolean
  /** How agents are looked after; as usual where nothing is said. */
  readonly care?: CrewCare
  /** An experiment: what is to break on purpose. */
  readonly faults?: FaultPlan | null
}

export type NodeEvent =
  /** `ms`: from its death, as far as that is known here, until it goes on. */
  | { readonly kind: 'agent-restarted'; readonly agent: number; readonly why: string; readonly ms: number }
  /** It broke while the crawl was stopping, and is not started again. */
  | { readonly kind: 'agent-left'; readonly agent: number; readonly why: string }
  /** Its thread cannot be ended: the process must. */
  | { readonly kind: 'agent-stuck'; readonly agent: number; readonly why: string }
  /** The first visit of an agent's run that broke by a fault of ours; the agent goes on. */
  | { readonly kind: 'visit-broken'; readonly agent: number; readonly url: string; readonly why: string }
  /** What an agent says of how it was opened. */
  | { readonly kind: 'agent-warning'; readonly agent: number; readonly what: string }
  /** The system allows fewer connections than were asked for. */
  | { readonly kind: 'fewer-connections'; readonly what: string }
  /** What happened to a URL that is followed. */
  | { readonly kind: 'trace'; readonly agent: number; readonly url: string; readonly step: string }
  | SharingEvent
  | ClusterEvent

/** What happens to a node of a cluster. */
export type ClusterEvent =
  | { readonly kind: 'view'; readonly number: number; readonly nodes: readonly string[]; readonly because: string }
  /** `from`: who had it before and did not release it. */
  | { readonly kind: 'share-taken'; readonly share: number; readonly from: string | null }
  | { readonly kind: 'share-released'; readonly share: number }
  | ({ readonly kind: 'turns-lent'; readonly share: number } & TurnFigures)
  /** Whoever had them is dead, frozen or cut off. */
  | { readonly kind: 'turns-missing'; readonly share: number; readonly turns: number }
  /** Another node has begun it over our head. */
  | { readonly kind: 'share-lost'; readonly share: number }
  | { readonly kind: 'share-failed'; readonly share: number; readonly why: string }
  /** The lease is over, for the engine does not answer: nobody is asked for anything. */
  | { readonly kind: 'node-silent' }
  | { readonly kind: 'node-resumed' }
  /** It has not begun to take part: the engine does not answer. */
  | { readonly kind: 'engine-awaited' }
  /** An operator wants that nobody is asked for anything, on no node; and that it goes on. */
  | { readonly kind: 'crawl-paused' }
  | { readonly kind: 'crawl-unpaused' }
  /** An operator has changed the crawl, and all shares here have taken it in; or it cannot be read here, and they go on as before. */
  | { readonly kind: 'change-holds'; readonly change: number }
  | { readonly kind: 'change-unread'; readonly change: number; readonly why: string }
  /** It was taken for dead, and takes part again as somebody new. */
  | { readonly kind: 'node-reborn'; readonly incarnation: string }
  /** All that went with a node that never comes back waits again, or is safe. */
  | ({ readonly kind: 'lost-settled'; readonly node: string } & LostSum)

/** Answers to it are heard by nobody. */
const UNASKED = 0
const VIEW_MS = 1_000
/** Whose thread sorts the index when all are closed. */
const SORTER = 0
/** How long agents may take to stop once they were told; after that they are left behind. */
const DRAIN_MS = 15_000

const nothing = async (): Promise<void> => {}

export class CrawlNode {
  readonly #plan: NodePlan
  /** Null where its owner holds the directory. */
  readonly #lock: DirectoryLock | null
  /** Names of the shares inside the crawl's directory; null where there is one, which is the directory itself. */
  readonly #names: readonly string[] | null
  readonly #identity: CrawlIdentity
  readonly #crew: AgentCrew
  readonly #opened: (Opened | null)[]
  readonly #permits: PermitOffice
  readonly #ends: EndWatch
  readonly #rounds: Rounds
  readonly #speeds: Speeds
  /** Agents that are known to have broken on a visit, in the life of their present thread. */
  readonly #broken = new Set<number>()
  /** Null where one agent writes all of it. */
  #view: NodeView | null = null
  /** What goes on while it runs. */
  readonly #timers = new Timers()
  readonly #drained = new Set<number>()
  readonly #closing = new Map<number, (fault: PlainFault | null) => void>()
  readonly #ended = new Set<number>()
  readonly #checkpoints: Checkpointing
  readonly #questions: Questions
  /** Of the crawl's time, in which pauses do not count. */
  readonly #watch: Stopwatch
  #isPaused = false
  readonly #seedsAdded: CanonicalUrl[] = []
  /** URLs that are followed, for agents that are started again. */
  readonly #traced = new Set<string>()
  #isRunning = false
  #stop: StopReason | null = null
  #fault: unknown = null
  #resolveEnd: () => void = () => {}
  #isFinishing = false
  #indexSorted: ((said: PlainFault | null | 'lost') => void) | null = null
  readonly #startMs: number
  #before: Earlier = { ms: 0, cpuMs: 0, peakRssBytes: 0 }

  private constructor(
    plan: NodePlan,
    lock: DirectoryLock | null,
    names: readonly string[] | null,
    identity: CrawlIdentity,
  ) {
    this.#plan = plan
    this.#lock = lock
    this.#names = names
    this.#identity = identity
    this.#startMs = plan.clock.nowMs()
    this.#watch = new Stopwatch(plan.clock, this.#startMs)
    const shares = names === null ? [plan.dir] : names.map((name) => join(plan.dir, name))
    const { maxPages, maxWait } = plan.settings.agent
    this.#opened = shares.map(() => null)
    this.#speeds = new Speeds(shares.length)
    this.#permits = new PermitOffice(maxPages, shares.length)
    this.#ends = new EndWatch(maxWait)
    this.#rounds = new Rounds(plan.clock, (round) => this.#crew.tellAll({ kind: 'probe', round }))
    this.#crew = this.#gather(shares)
    this.#questions = new Questions(shares.length, (agent, number, question) =>
      this.#crew.tell(agent, { kind: 'ask', number, question }),
    )
    this.#checkpoints = new Checkpointing({
      dir: plan.dir,
      names,
      clock: plan.clock,
      tell: (agent, message) => this.#crew.tell(agent, message),
      isDead: (agent) => this.#crew.isDead(agent),
    })
  }

  #gather(shares: readonly string[]): AgentCrew {
    const { dir, seeds, settings, software, environment, clock, care, faults, onEvent } = this.#plan
    const common = {
      crawlDir: dir,
      seeds,
      // With as many connections as the system allows.
      settings: this.#speeds.affordable(settings, (what) => onEvent({ kind: 'fewer-connections', what })),
      identity: this.#identity,
      software,
      environment,
      // For threads, which have clocks of their own.
      since: { commonMs: performance.timeOrigin + this.#startMs, cpuMs: processCpuMs() },
    }
    return new AgentCrew(
      {
        agents: shares.length,
        dirOf: (agent) => shares[agent] as string,
        isShared: this.#names !== null,
        clusterOf: null,
        common,
        clock,
        care: care ?? USUAL_CARE,
        faults: faults ?? null,
      },
      {
        phase: () => (this.#stop !== null ? 'stopping' : this.#isRunning ? 'running' : 'opening'),
        onMessage: (agent, message) => this.#hear(agent, message),
        onOpened: (agent, opened) => this.#isOpen(agent, opened),
        onLost: (agent) => this.#isLost(agent),
        onAgain: (agent, why, ms) => this.#goesOn(agent, why, ms),
        onLeft: (agent, why, fault) => this.#isLeft(agent, why, fault),
        onStuck: (agent, why, fault) => this.#isStuck(agent, why, fault),
      },
    )
  }

  /** Takes the directory, starts the agents, and goes on from what earlier runs left. */
  static async open(plan: NodePlan): Promise<CrawlNode> {
    const folder = join(plan.dir, 'state')
    await makeDirectory(folder)
    const lock = plan.isLocked === true ? null : await lockDirectory(folder)
    let node: CrawlNode | null = null
    try {
      const { names, identity } = await settleShares(plan)
      node = new CrawlNode(plan, lock, names, identity)
      await node.#openAll()
      return node
    } catch (fault) {
      // The first fault is the one to tell.
      if (node !== null) await node.#letGo().catch(() => {})
      await lock?.release()
      throw fault
    }
  }

  async #openAll(): Promise<void> {
    const opened = await this.#crew.openAll()
    this.#before = joinEarlier(opened.map(({ earlier }) => earlier))
    if (this.#names !== null) {
      this.#view = await NodeView.open(this.#plan.dir, this.#names)
      await this.#view.advance(this.#crew.lastSaid)
    }
  }

  #isOpen(agent: number, message: Opened): void {
    this.#opened[agent] = message
    for (const what of message.warnings) this.#plan.onEvent({ kind: 'agent-warning', agent, what })
    this.#permits.opened(agent, message.status.totals.pages)
    // What one that died had and did not use is free: others may have waited for it.
    this.#grantShort()
    this.#broken.delete(agent)
  }

  get identity(): CrawlIdentity {
    return this.#opened[0]?.identity ?? this.#identity
  }

  get isNew(): boolean {
    return this.#opened.every((one) => one?.isNew === true)
  }

  get isScopeChanged(): boolean {
    return this.#opened.some((one) => one?.isScopeChanged === true)
  }

  /** In the order in which they were given now; those of earlier runs after them. */
  get seeds(): readonly CanonicalUrl[] {
    const all = new Set(this.#opened.flatMap((one) => one?.seeds ?? []))
    return [...new Set([...this.#plan.seeds.filter((seed) => all.has(seed)), ...all, ...this.#seedsAdded])]
  }

  isKnownSeed(url: string): boolean {
    return this.#opened.some((one) => one?.knownSeeds.includes(url as CanonicalUrl))
  }

  get agents(): number {
    return this.#crew.size
  }

  /** How often an agent was started again in this run. */
  get restarts(): number {
    return this.#crew.restarts
  }

  /** What became of faults on purpose; null without an experiment. */
  get tally(): FaultTally | null {
    return this.#crew.tally
  }

  get fault(): unknown {
    return this.#fault
  }

  get figures(): CrawlFigures {
    return figuresOf(this.#crew.statuses, this.#before)
  }

  snapshot(): CrawlSnapshot {
    return snapshotOf(this.#crew.statuses, this.#before, this.#stop !== null, this.#isPaused)
  }

  /** Runs until there is nothing left, a limit is reached, or stop() is called. */
  async run(): Promise<StopReason> {
    const end = new Promise<void>((resolve) => {
      this.#resolveEnd = resolve
    })
    this.#isRunning = true
    this.#crew.tellAll({ kind: 'run' })
    if (this.#names !== null) {
      this.#timers.every(VIEW_MS, () => this.#advanceView())
      this.#rounds.begin(NEAR_ROUND_MS)
      this.#countDown()
    }
    if (this.#stop !== null) this.#tellStop(this.#stop)
    await end
    this.#questions.end()
    this.#timers.clear()
    this.#rounds.end()
    await this.#view?.idle()
    return this.#stop ?? 'error'
  }

  /** Of several agents; one that does it all knows for itself. */
  #countDown(): void {
    const { maxTime } = this.#plan.settings.agent
    if (maxTime === null || this.#names === null || this.#isPaused) return
    const leftMs = maxTime - this.#before.ms - this.#watch.ms
    this.#timers.after('max-time', Math.max(0, leftMs), () => this.stop('max-time'))
  }

  /**
   * Nobody is asked from now on; what is under way ends, and is written down. Nothing ends the crawl meanwhile but stop() and faults,
   * and the time does not count. Before run() it begins paused.
   */
  pause(): void {
    if (this.#isPaused) return
    this.#isPaused = true
    this.#watch.pause()
    this.#timers.cancel('max-time')
    this.#crew.tellAll({ kind: 'pause' })
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#watch.resume()
    // What was quiet meanwhile says nothing of what comes.
    this.#ends.forget()
    this.#crew.tellAll({ kind: 'resume' })
    if (this.#isRunning) this.#countDown()
  }

  /** More seeds while it runs: what each agent says of them. Durable when it resolves. */
  async addSeeds(seeds: readonly CanonicalUrl[]): Promise<readonly AdmittedSeeds[]> {
    const answers = await this.ask({ ask: 'seeds', seeds })
    this.#seedsAdded.push(...answers.flatMap(({ added }) => added))
    return answers
  }

  /** Follows a URL from now on: what happens to it is told as events, by whichever agent it meets. */
  async trace(url: string): Promise<void> {
    this.#traced.add(url)
    for (const first of this.#traced) {
      if (this.#traced.size <= TRACES_MAX) break
      this.#traced.delete(first)
    }
    await this.ask({ ask: 'trace', url })
  }

  /** Asks every agent while it runs; one answer of each, by agent. */
  ask<Q extends AgentQuestion>(question: Q): Promise<readonly AnswerTo<Q>[]> {
    return this.#questions.ask(question)
  }

  /**
   * Other limits from now on, what is not named stays as it is: of the crawl, which its agents share; or of one agent,
   * to whom they belong whole. Throws a Fault where a limit is none.
   */
  setSpeed(change: Partial<Speed>, agent: number | null = null): void {
    for (const [one, own] of this.#speeds.change(change, agent)) {
      this.#crew.tell(one, { kind: 'set-speed', change: own })
    }
  }

  /** How fast each agent may go, as it said last. */
  get paces(): readonly PaceFigures[] {
    return this.#crew.statuses.map(({ pace }) => pace)
  }

  /** What each agent said last, by agent; null where it has said nothing yet. */
  get standings(): readonly (AgentStatus | null)[] {
    return this.#crew.lastSaid
  }

  /** Visits that broke by a fault of ours, since the threads of the agents were started. */
  get brokenVisits(): number {
    return this.#crew.statuses.reduce((sum, { broken }) => sum + broken.count, 0)
  }

  stop(reason: StopReason): void {
    this.#rounds.end()
    if (this.#stop === null) this.#stop = reason
    else if (reason !== 'interrupted') return
    if (this.#isRunning) this.#tellStop(reason)
  }

  #tellStop(reason: StopReason): void {
    this.#crew.tellAll({ kind: 'stop', reason })
    this.#timers.after('drain', DRAIN_MS, () => this.#finish())
  }

  #hear(agent: number, message: FromAgent): void {
    if ('status' in message) this.#noteBroken(agent, message.status)
    switch (message.kind) {
      case 'status':
        if (this.#rounds.hear(agent, message.round, this.#crew.size)) this.#roundEnded()
        return
      case 'short':
        return this.#grant(agent)
      case 'idle':
        return this.#rounds.hurry()
      case 'surrendered':
        this.#permits.surrendered(agent, message.pages)
        return this.#grantShort()
      case 'drained':
        return this.#isDrained(agent, message.fault)
      case 'ended':
        return this.#hasEnded(agent, message)
      case 'closed':
        return this.#closing.get(agent)?.(message.fault)
      case 'index-sorted':
        return this.#indexSorted?.(message.fault)
      case 'answer':
        return this.#questions.hear(agent, message)
      case 'trace':
        return this.#plan.onEvent({ kind: 'trace', agent, url: message.url, step: message.step })
      case 'held':
      case 'copied':
        return this.#checkpoints.hear(agent, message)
    }
  }

  #noteBroken(agent: number, { broken: { first } }: AgentStatus): void {
    if (first === null || this.#broken.has(agent)) return
    this.#broken.add(agent)
    this.#plan.onEvent({ kind: 'visit-broken', agent, url: first.url, why: first.why })
  }

  #grant(agent: number): void {
    const pages = this.#permits.want(agent)
    if (pages > 0) this.#crew.tell(agent, { kind: 'grant', pages })
  }

  #grantShort(): void {
    for (const short of this.#permits.short) this.#grant(short)
  }

  /** All have said how they stand. */
  #roundEnded(): void {
    const standings = this.#crew.statuses.map(({ standing }) => standing)
    const reason = this.#isPaused ? null : this.#ends.round(standings, this.#permits.left)
    if (reason !== null) return this.stop(reason)
    if (this.#permits.short.length > 0 && this.#permits.left <= 0) {
      for (const [one, { permits }] of standings.entries()) {
        if (permits > 0) this.#crew.tell(one, { kind: 'recall' })
      }
    }
    if (this.#isPaused) this.#rounds.begin(ROUND_MS)
    else this.#rounds.goOn(standings, this.#permits.left)
  }

  /** An agent asks nobody any more: because it was told to stop, or because it has broken. */
  #isDrained(agent: number, fault: PlainFault | null): void {
    if (fault !== null && this.#stop === null) return this.#broke(agent, fault)
    this.#drained.add(agent)
    if (this.#drained.size === this.#crew.size) this.#finish()
  }

  #broke(agent: number, fault: PlainFault): void {
    if (!isLasting(fault)) return this.#crew.kill(agent, fault.message)
    this.#fault ??= faultOf(fault)
    this.#drained.add(agent)
    this.stop(fault.code === 'DISK_FULL' ? 'disk-full' : 'error')
  }

  /** Nobody needs an answer of another any more. */
  #finish(): void {
    if (this.#isFinishing) return
    this.#isFinishing = true
    this.#crew.tellAll({ kind: 'finish' })
  }

  #hasEnded(agent: number, { reason, fault }: Extract<FromAgent, { kind: 'ended' }>): void {
    // Of several that has been decided when it had stopped asking.
    if (fault !== null && this.#names === null && this.#stop === null && !isLasting(fault)) {
      return this.#crew.kill(agent, fault.message)
    }
    if (fault !== null) this.#fault ??= faultOf(fault)
    // An agent that does it all decides for itself.
    this.#stop ??= reason
    if (fault !== null && this.#stop !== 'disk-full') this.#stop = reason
    this.#ended.add(agent)
    if (this.#ended.size === this.#crew.size) this.#resolveEnd()
  }

  /** Ends the thread of an agent, which is then started again from its last commit, however often this is asked for. */
  restartAgent(agent: number): void {
    this.#crew.kill(agent, 'asked to', true)
  }

  #isStuck(agent: number, why: string, fault: Error): void {
    this.#plan.onEvent({ kind: 'agent-stuck', agent, why })
    this.#fault ??= fault
    this.stop('error')
    this.#isGone(agent)
    // What it has begun to write it may still write.
    if (agent === SORTER) this.#indexSorted?.(plainFault(fault))
  }

  /** Its thread is gone, and with it what it was about to do. */
  #isLost(agent: number): void {
    this.#permits.died(agent)
    // What it said in this round counts no more.
    this.#rounds.forget(agent)
    this.#ends.forget()
    this.#checkpoints.lost(agent)
  }

  /** It is not started again. */
  #isLeft(agent: number, why: string, fault: unknown): void {
    if (fault !== null && (this.#stop === null || isLasting(fault))) this.#fault ??= fault
    if (fault !== null && this.#stop === null) this.stop('error')
    else this.#plan.onEvent({ kind: 'agent-left', agent, why })
    this.#isGone(agent)
    if (agent === SORTER) this.#indexSorted?.('lost')
  }

  /** It does nothing any more, and nobody waits for it. */
  #isGone(agent: number): void {
    this.#checkpoints.lost(agent)
    // Its answers will not come.
    this.#questions.end()
    this.#closing.get(agent)?.(null)
    this.#drained.add(agent)
    this.#ended.add(agent)
    if (this.#drained.size === this.#crew.size) this.#finish()
    if (this.#ended.size === this.#crew.size) this.#resolveEnd()
  }

  /** An agent that had died is back. */
  #goesOn(agent: number, why: string, ms: number): void {
    this.#crew.tell(agent, { kind: 'set-speed', change: this.#speeds.of(agent) })
    // First, so that it asks nobody in between.
    if (this.#isPaused) this.#crew.tell(agent, { kind: 'pause' })
    this.#crew.tell(agent, { kind: 'run' })
    this.#questions.isBack(agent)
    for (const url of this.#traced)
      this.#crew.tell(agent, { kind: 'ask', number: UNASKED, question: { ask: 'trace', url } })
    if (this.#stop !== null) this.#crew.tell(agent, { kind: 'stop', reason: this.#stop })
    // The round it was to answer is lost with it.
    if (this.#names !== null && this.#stop === null) this.#rounds.begin(ROUND_MS)
    this.#plan.onEvent({ kind: 'agent-restarted', agent, why, ms })
  }

  #advanceView(): void {
    this.#view?.advanceSoon(this.#crew.lastSaid, (fault) => {
      this.#fault ??= fault
      this.stop(fault instanceof Fault && fault.code === 'DISK_FULL' ? 'disk-full' : 'error')
    })
  }

  /** A consistent copy of everything, taken while the crawl goes on: all agents hold still at once. */
  checkpoint(to: string): Promise<CheckpointFigures> {
    return this.#checkpoints.make(to)
  }

  /**
   * Has every agent finish its files, then merges what is merged at the end, and lets go of the directory. `last` is done
   * before that: all files are as they stay, and nobody else has the directory. `meanwhile`, while the index of the archive is sorted:
   * all other files are as they stay.
   */
  async close(last: () => Promise<void> = nothing, meanwhile: () => Promise<void> = nothing): Promise<void> {
    try {
      // A copy that was begun is finished first.
      await this.#checkpoints.idle()
      try {
        await this.#closeAgents()
        await this.#view?.finish()
      } catch (fault) {
        // What is in the archive is to be found all the same, as far as that can be done.
        await this.#sortIndex().catch(() => {})
        throw fault
      }
      const done = await Promise.allSettled([this.#sortIndex(), meanwhile()])
      for (const one of done) if (one.status === 'rejected') throw one.reason
      await last()
    } finally {
      await this.#letGo()
      await this.#lock?.release()
    }
  }

  /** In the thread of an agent, which has nothing to do any more; here where that has died. */
  async #sortIndex(): Promise<void> {
    const { dir, settings } = this.#plan
    if (settings.store.warc === 'off') return
    const order = await indexOrderOf(dir, this.#names)
    const said = await new Promise<PlainFault | null | 'lost'>((resolve) => {
      this.#indexSorted = resolve
      if (this.#crew.isDead(SORTER)) resolve('lost')
      else this.#crew.tell(SORTER, { kind: 'sort-index', order })
    })
    if (said === 'lost') await sortIndex(order)
    else if (said !== null) throw faultOf(said)
  }

  async #closeAgents(): Promise<void> {
    let fault: PlainFault | null = null
    await Promise.all(
      this.#opened.map(
        (_, agent) =>
          new Promise<void>((resolve) => {
            this.#closing.set(agent, (said) => {
              fault ??= said
              resolve()
            })
            this.#crew.close(agent).catch((cause: unknown) => {
              // What had broken before is the fault to tell.
              if (this.#fault === null) fault ??= plainFault(cause)
              resolve()
            })
          }),
      ),
    )
    if (fault !== null) throw faultOf(fault)
  }

  async #letGo(): Promise<void> {
    this.#timers.clear()
    this.#rounds.end()
    this.#questions.end()
    await this.#view?.close()
    this.#view = null
    await this.#crew.letGo()
    for (const agent of this.#opened.keys()) this.#checkpoints.lost(agent)
  }
}
