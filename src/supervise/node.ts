// One process that crawls: starts its agents, each in a thread, connects them, keeps count for all, and starts an agent
// again that has broken.
//
//                    node (main thread)
//        status, permits │ run, grant, stop       restart within a budget
//             ┌──────────┴──────────┐
//          agent 0 ◀── wires ──▶ agent 1          each with its share of hosts, its journal, its files
//
// To its owner a node is a crawl like that of one agent: run, stop, figures, checkpoint, close.

import { join } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import {
  type CheckpointFigures,
  type CrawlFigures,
  type CrawlSettings,
  type CrawlSnapshot,
  type PaceFigures,
  type Speed,
} from '../agent/index.ts'
import {
  type Clock,
  Fault,
  type FaultPlan,
  FaultTally,
  NO_FAULTS,
  SeededFaults,
  type StopReason,
} from '../base/index.ts'
import { type DirectoryLock, lockDirectory, makeDirectory } from '../disk/index.ts'
import { SharedIpGate } from '../frontier/index.ts'
import type { CrawlIdentity } from '../ledger/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import { AgentHandle } from './agent-handle.ts'
import type { AgentOrders, AgentStatus, Earlier, FromAgent, PlainFault } from './agent-messages.ts'
import { Checkpointing } from './checkpointing.ts'
import { EndWatch } from './end-watch.ts'
import { ipGateSettings } from './ip-gate-settings.ts'
import { figuresOf, joinEarlier, snapshotOf } from './node-figures.ts'
import { NodeView } from './node-view.ts'
import { PermitOffice } from './permit-office.ts'
import { faultOf, plainFault } from './plain-fault.ts'
import { processCpuMs } from './process-cpu.ts'
import { RestartBudget } from './restart-budget.ts'
import { settleShares, type SharingEvent } from './shares.ts'
import { Speeds } from './speeds.ts'
import { Timers } from './timers.ts'
import { Watchdog } from './watchdog.ts'

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
  /** How agents are looked after; as usual where nothing is said. */
  readonly care?: NodeCare
  /** An experiment: what is to break on purpose. */
  readonly faults?: FaultPlan | null
}

export interface NodeCare {
  /** Restarts of all agents together, before starting again counts as a loop. */
  readonly restartsMax: number
  readonly restartsWithinMs: number
  /** How often agents are looked at; one that does not move for LOOKS_MAX looks is hung. */
  readonly lookMs: number
}

export const USUAL_CARE: NodeCare = { restartsMax: 5, restartsWithinMs: 60_000, lookMs: 1_000 }

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
  | SharingEvent

interface Death {
  readonly ms: number
  readonly why: string
  /** Somebody wanted it: it says nothing about whether starting again is a cure. */
  readonly isAsked: boolean
}

type Opened = Extract<FromAgent, { kind: 'opened' }>

const ROUND_MS = 200
/** Where all looked quiet the next round comes sooner: a crawl of a few pages should not wait for its end. */
const QUIET_ROUND_MS = 20
const VIEW_MS = 1_000
/** How long agents may take to stop once they were told; after that they are left behind. */
const DRAIN_MS = 15_000
/** Faults that would come again at once: starting again is no cure. */
const LASTING = new Set([
  'CONFIG_INVALID',
  'DISK_FULL',
  'DISK_READ_ONLY',
  'DISK_FAILED',
  'LEDGER_CORRUPT',
  'LEDGER_VERSION',
  'LEDGER_LOCKED',
])

export class CrawlNode {
  readonly #plan: NodePlan
  /** As planned, with as many connections as the system allows. */
  readonly #settings: CrawlSettings
  readonly #lock: DirectoryLock
  /** Directories of the shares, by agent; names them inside the crawl's directory where there are several. */
  readonly #shares: readonly string[]
  readonly #names: readonly string[] | null
  readonly #identity: CrawlIdentity
  readonly #addresses: SharedArrayBuffer | null
  readonly #heartbeats: SharedArrayBuffer
  readonly #agents: AgentHandle[] = []
  readonly #opened: (Opened | null)[]
  readonly #permits: PermitOffice
  readonly #ends: EndWatch
  readonly #watchdog: Watchdog
  readonly #care: NodeCare
  readonly #budget: RestartBudget
  /** Looks at the agents, from the first thread to the last. */
  readonly #watch = new Timers()
  /** How often each was started. */
  readonly #lives: number[]
  /** Agents that are being opened: how to say that nothing comes of it. */
  readonly #opening = new Map<number, (fault: Error) => void>()
  /** Threads that could not be ended. */
  readonly #stuck = new Set<number>()
  readonly #tally: FaultTally | null
  readonly #speeds: Speeds
  /** Agents that are known to have broken on a visit, in the life of their present thread. */
  readonly #broken = new Set<number>()
  /** Null where one agent writes all of it. */
  #view: NodeView | null = null
  /** What goes on while it runs. */
  readonly #timers = new Timers()
  #round = 0
  readonly #answered = new Set<number>()
  readonly #drained = new Set<number>()
  /** Agents whose threads are gone and are not started again. */
  readonly #dead = new Set<number>()
  readonly #closing = new Map<number, (fault: PlainFault | null) => void>()
  readonly #ended = new Set<number>()
  readonly #checkpoints: Checkpointing
  #isRunning = false
  #stop: StopReason | null = null
  #fault: unknown = null
  #resolveEnd: () => void = () => {}
  #isFinishing = false
  #isLettingGo = false
  #restarts = 0
  readonly #startMs: number
  /** The same for threads, which have clocks of their own. */
  readonly #since: AgentOrders['since']
  /** When agents that broke had done so. */
  readonly #diedMs = new Map<number, Death>()
  #before: Earlier = { ms: 0, cpuMs: 0, peakRssBytes: 0 }

  private constructor(plan: NodePlan, lock: DirectoryLock, names: readonly string[] | null, identity: CrawlIdentity) {
    this.#plan = plan
    this.#lock = lock
    this.#names = names
    this.#shares = names === null ? [plan.dir] : names.map((name) => join(plan.dir, name))
    this.#identity = identity
    const count = this.#shares.length
    this.#addresses = names === null ? null : SharedIpGate.allocate(count)
    this.#heartbeats = new SharedArrayBuffer(count * Int32Array.BYTES_PER_ELEMENT)
    this.#opened = this.#shares.map(() => null)
    this.#speeds = new Speeds(count)
    this.#settings = this.#speeds.affordable(plan.settings, (what) => plan.onEvent({ kind: 'fewer-connections', what }))
    const { maxPages, maxWait } = plan.settings.agent
    this.#permits = new PermitOffice(maxPages, count)
    this.#ends = new EndWatch(maxWait)
    this.#watchdog = new Watchdog(this.#heartbeats)
    this.#checkpoints = new Checkpointing({
      dir: plan.dir,
      names,
      clock: plan.clock,
      tell: (agent, message) => this.#agents[agent]?.tell(message),
      isDead: (agent) => this.#dead.has(agent),
    })
    this.#care = plan.care ?? USUAL_CARE
    this.#budget = new RestartBudget(this.#care.restartsMax, this.#care.restartsWithinMs)
    this.#lives = this.#shares.map(() => 0)
    this.#tally = plan.faults == null ? null : new FaultTally(count)
    this.#startMs = plan.clock.nowMs()
    this.#since = { commonMs: performance.timeOrigin + this.#startMs, cpuMs: processCpuMs() }
  }

  /** Takes the directory, starts the agents, and goes on from what earlier runs left. */
  static async open(plan: NodePlan): Promise<CrawlNode> {
    const folder = join(plan.dir, 'state')
    await makeDirectory(folder)
    const lock = await lockDirectory(folder)
    let node: CrawlNode | null = null
    try {
      const { names, identity } = await settleShares(plan)
      node = new CrawlNode(plan, lock, names, identity)
      await node.#openAll()
      return node
    } catch (fault) {
      // The first fault is the one to tell.
      if (node !== null) await node.#letGo().catch(() => {})
      await lock.release()
      throw fault
    }
  }

  async #openAll(): Promise<void> {
    const nodeFaults =
      this.#plan.faults == null || this.#tally === null
        ? NO_FAULTS
        : new SeededFaults(this.#plan.faults, this.#tally, 0, -1, this.#plan.clock)
    this.#watch.every(this.#care.lookMs, () => {
      nodeFaults.hit('node')
      this.#look()
    })
    const opened = await Promise.all(this.#shares.map((_, agent) => this.#startUntilOpen(agent)))
    for (const [agent, message] of opened.entries()) this.#isOpen(agent, message)
    this.#before = joinEarlier(opened.map(({ earlier }) => earlier))
    for (let one = 0; one < opened.length; one++) for (let two = 0; two < one; two++) this.#connect(one, two)
    if (this.#names !== null) {
      this.#view = await NodeView.open(this.#plan.dir, this.#names)
      await this.#view.advance(this.#lastSaid())
    }
  }

  /** A thread for an agent; resolves when it is open. */
  #start(agent: number, seeds = this.#plan.seeds): Promise<Opened> {
    return new Promise((resolve, reject) => {
      const { dir, software, environment, faults } = this.#plan
      const orders: AgentOrders = {
        dir: this.#shares[agent] as string,
        crawlDir: dir,
        agent,
        agents: this.#shares.length,
        seeds,
        settings: this.#settings,
        identity: this.#identity,
        software,
        environment,
        since: this.#lives[agent] === 0 ? this.#since : null,
        addresses: this.#addresses,
        heartbeats: this.#heartbeats,
        life: this.#lives[agent] as number,
        faults: faults == null || this.#tally === null ? null : { plan: faults, tally: this.#tally.buffer },
      }
      this.#lives[agent] = (this.#lives[agent] as number) + 1
      let isOpen = false
      let broken: PlainFault | null = null
      this.#opening.set(agent, reject)
      this.#watchdog.begun(agent)
      const handle = new AgentHandle(orders, this.#agents[agent]?.status ?? null, {
        onMessage: (_, message) => {
          if (message.kind === 'opened') {
            isOpen = true
            this.#opening.delete(agent)
            resolve(message)
          } else if (message.kind === 'broken') {
            // Told when its thread is gone: what it had open is free then.
            broken = message.fault
            handle.kill()
          } else this.#hear(agent, message)
        },
        onDeath: (_, why) => {
          if (this.#stuck.delete(agent)) return
          if (isOpen) this.#died(agent, why)
          else reject(broken === null ? new Error(`agent ${agent} could not be started: ${why}`) : faultOf(broken))
        },
      })
      this.#agents[agent] = handle
    })
  }

  #isOpen(agent: number, message: Opened): void {
    this.#opened[agent] = message
    for (const what of message.warnings) this.#plan.onEvent({ kind: 'agent-warning', agent, what })
    this.#permits.opened(agent, message.status.totals.pages)
    // What one that died had and did not use is free: others may have waited for it.
    this.#grantShort()
    this.#watchdog.begun(agent)
    this.#diedMs.delete(agent)
    this.#broken.delete(agent)
  }

  #connect(one: number, two: number): void {
    const { port1, port2 } = new MessageChannel()
    this.#agents[one]?.tell({ kind: 'connect', agent: two, port: port1 })
    this.#agents[two]?.tell({ kind: 'connect', agent: one, port: port2 })
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

  get seeds(): readonly CanonicalUrl[] {
    return [...new Set(this.#opened.flatMap((one) => one?.seeds ?? []))]
  }

  isKnownSeed(url: string): boolean {
    return this.#opened.some((one) => one?.knownSeeds.includes(url as CanonicalUrl))
  }

  get agents(): number {
    return this.#shares.length
  }

  /** How often an agent was started again in this run. */
  get restarts(): number {
    return this.#restarts
  }

  /** What became of faults on purpose; null without an experiment. */
  get tally(): FaultTally | null {
    return this.#tally
  }

  get fault(): unknown {
    return this.#fault
  }

  get figures(): CrawlFigures {
    return figuresOf(this.#statuses(), this.#before)
  }

  snapshot(): CrawlSnapshot {
    return snapshotOf(this.#statuses(), this.#before, this.#stop !== null)
  }

  #statuses(): AgentStatus[] {
    return this.#agents.flatMap((agent) => (agent.status === null ? [] : [agent.status]))
  }

  /** Runs until there is nothing left, a limit is reached, or stop() is called. */
  async run(): Promise<StopReason> {
    const { clock, settings } = this.#plan
    const end = new Promise<void>((resolve) => {
      this.#resolveEnd = resolve
    })
    this.#isRunning = true
    for (const agent of this.#agents) agent.tell({ kind: 'run' })
    if (this.#names !== null) {
      this.#timers.every(VIEW_MS, () => this.#advanceView())
      this.#nextRound(QUIET_ROUND_MS)
      const { maxTime } = settings.agent
      if (maxTime !== null) {
        const leftMs = maxTime - this.#before.ms - (clock.nowMs() - this.#startMs)
        this.#timers.after('max-time', Math.max(0, leftMs), () => this.stop('max-time'))
      }
    }
    if (this.#stop !== null) this.#tellStop(this.#stop)
    await end
    this.#timers.clear()
    await this.#view?.idle()
    return this.#stop ?? 'error'
  }

  /**
   * Other limits from now on, what is not named stays as it is: of the crawl, which its agents share; or of one agent,
   * to whom they belong whole. Throws a Fault where a limit is none.
   */
  setSpeed(change: Partial<Speed>, agent: number | null = null): void {
    for (const [one, own] of this.#speeds.change(change, agent)) {
      this.#agents[one]?.tell({ kind: 'set-speed', change: own })
    }
  }

  /** How fast each agent may go, as it said last. */
  get paces(): readonly PaceFigures[] {
    return this.#statuses().map(({ pace }) => pace)
  }

  /** Visits that broke by a fault of ours, since the threads of the agents were started. */
  get brokenVisits(): number {
    return this.#statuses().reduce((sum, { broken }) => sum + broken.count, 0)
  }

  stop(reason: StopReason): void {
    if (this.#stop === null) this.#stop = reason
    else if (reason !== 'interrupted') return
    if (this.#isRunning) this.#tellStop(reason)
  }

  #tellStop(reason: StopReason): void {
    for (const agent of this.#agents) agent.tell({ kind: 'stop', reason })
    this.#timers.after('drain', DRAIN_MS, () => this.#finish())
  }

  #hear(agent: number, message: FromAgent): void {
    if ('status' in message) this.#noteBroken(agent, message.status)
    switch (message.kind) {
      case 'status':
        if (message.round === this.#round) this.#roundAnswered(agent)
        return
      case 'short':
        return this.#grant(agent)
      case 'surrendered':
        this.#permits.surrendered(agent, message.pages)
        return this.#grantShort()
      case 'drained':
        return this.#isDrained(agent, message.fault)
      case 'ended':
        return this.#hasEnded(agent, message)
      case 'closed':
        return this.#closing.get(agent)?.(message.fault)
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
    if (pages > 0) this.#agents[agent]?.tell({ kind: 'grant', pages })
  }

  #grantShort(): void {
    for (const short of this.#permits.short) this.#grant(short)
  }

  #nextRound(ms: number): void {
    this.#timers.after('round', ms, () => {
      if (this.#stop !== null) return
      this.#round++
      this.#answered.clear()
      for (const agent of this.#agents) agent.tell({ kind: 'probe', round: this.#round })
    })
  }

  #roundAnswered(agent: number): void {
    this.#answered.add(agent)
    if (this.#answered.size < this.#agents.length || this.#stop !== null) return
    const standings = this.#statuses().map(({ standing }) => standing)
    const reason = this.#ends.round(standings, this.#permits.left)
    if (reason !== null) return this.stop(reason)
    if (this.#permits.short.length > 0 && this.#permits.left <= 0) {
      for (const [one, { permits }] of standings.entries()) {
        if (permits > 0) this.#agents[one]?.tell({ kind: 'recall' })
      }
    }
    this.#nextRound(standings.every(({ isQuiet }) => isQuiet) ? QUIET_ROUND_MS : ROUND_MS)
  }

  /** An agent asks nobody any more: because it was told to stop, or because it has broken. */
  #isDrained(agent: number, fault: PlainFault | null): void {
    if (fault !== null && this.#stop === null) return this.#broke(agent, fault)
    this.#drained.add(agent)
    if (this.#drained.size === this.#agents.length) this.#finish()
  }

  #broke(agent: number, fault: PlainFault): void {
    if (!isLasting(fault)) return this.#kill(agent, fault.message)
    this.#fault ??= faultOf(fault)
    this.#drained.add(agent)
    this.stop(fault.code === 'DISK_FULL' ? 'disk-full' : 'error')
  }

  /** Nobody needs an answer of another any more. */
  #finish(): void {
    if (this.#isFinishing) return
    this.#isFinishing = true
    for (const agent of this.#agents) agent.tell({ kind: 'finish' })
  }

  #hasEnded(agent: number, { reason, fault }: Extract<FromAgent, { kind: 'ended' }>): void {
    // Of several that has been decided when it had stopped asking.
    if (fault !== null && this.#names === null && this.#stop === null && !isLasting(fault)) {
      return this.#kill(agent, fault.message)
    }
    if (fault !== null) this.#fault ??= faultOf(fault)
    // An agent that does it all decides for itself.
    this.#stop ??= reason
    if (fault !== null && this.#stop !== 'disk-full') this.#stop = reason
    this.#ended.add(agent)
    if (this.#ended.size === this.#agents.length) this.#resolveEnd()
  }

  /** Ends the thread of an agent, which is then started again from its last commit, however often this is asked for. */
  restartAgent(agent: number): void {
    this.#kill(agent, 'asked to', true)
  }

  #kill(agent: number, why: string, isAsked = false): void {
    if (!this.#diedMs.has(agent)) this.#diedMs.set(agent, { ms: this.#plan.clock.nowMs(), why, isAsked })
    this.#agents[agent]?.kill()
  }

  /** Agents that hang are ended; a thread that cannot be ended is given up, and with it the process. */
  #look(): void {
    for (const agent of this.#watchdog.look()) {
      this.#watchdog.begun(agent)
      if (!this.#dead.has(agent)) this.#kill(agent, 'it does not move any more')
    }
    for (const [agent, handle] of this.#agents.entries()) if (handle.isStuck()) this.#isStuck(agent)
  }

  /** Its share is open in a thread that nobody can end: only another process can go on with it. */
  #isStuck(agent: number): void {
    const why = this.#diedMs.get(agent)?.why ?? 'it was told to end'
    this.#stuck.add(agent)
    this.#plan.onEvent({ kind: 'agent-stuck', agent, why })
    const fault = new Error(`agent ${agent} is held by a call into the system and cannot be ended (${why})`)
    this.#fault ??= fault
    this.stop('error')
    this.#isGone(agent)
    this.#opening.get(agent)?.(fault)
  }

  /** The thread of an agent is gone. What it had committed is there; what it held is free. */
  #died(agent: number, why: string): void {
    const death = this.#diedMs.get(agent) ?? { ms: this.#plan.clock.nowMs(), why, isAsked: false }
    this.#diedMs.delete(agent)
    this.#permits.died(agent)
    // What it said in this round counts no more.
    this.#answered.delete(agent)
    if (this.#addresses !== null) {
      SharedIpGate.freeAgent(
        this.#addresses,
        agent,
        ipGateSettings(this.#plan.settings),
        performance.timeOrigin + this.#plan.clock.nowMs(),
      )
    }
    this.#ends.forget()
    this.#checkpoints.lost(agent)
    if (this.#stop !== null || !this.#isRunning) {
      this.#plan.onEvent({ kind: 'agent-left', agent, why: death.why })
      this.#isGone(agent)
      return
    }
    void this.#startAgain(agent, death).catch((fault: unknown) => {
      if (this.#stop === null || isLasting(fault)) this.#fault ??= fault
      if (this.#stop === null) this.stop('error')
      else this.#plan.onEvent({ kind: 'agent-left', agent, why: messageOf(fault) })
      this.#isGone(agent)
    })
  }

  /** It does nothing any more, and nobody waits for it. */
  #isGone(agent: number): void {
    this.#dead.add(agent)
    this.#checkpoints.lost(agent)
    this.#closing.get(agent)?.(null)
    this.#drained.add(agent)
    this.#ended.add(agent)
    if (this.#drained.size === this.#agents.length) this.#finish()
    if (this.#ended.size === this.#agents.length) this.#resolveEnd()
  }

  async #startAgain(agent: number, death: Death): Promise<void> {
    if (!death.isAsked) this.#spend(agent, death.why)
    const message = await this.#startUntilOpen(agent)
    this.#isOpen(agent, message)
    for (const other of this.#agents.keys()) if (other !== agent) this.#connect(agent, other)
    this.#agents[agent]?.tell({ kind: 'set-speed', change: this.#speeds.of(agent) })
    this.#agents[agent]?.tell({ kind: 'run' })
    if (this.#stop !== null) this.#agents[agent]?.tell({ kind: 'stop', reason: this.#stop })
    this.#restarts++
    // The round it was to answer is lost with it.
    if (this.#names !== null && this.#stop === null) this.#nextRound(ROUND_MS)
    this.#plan.onEvent({ kind: 'agent-restarted', agent, why: death.why, ms: this.#plan.clock.nowMs() - death.ms })
  }

  /** Starts threads for an agent until one opens, as long as that is a cure. */
  async #startUntilOpen(agent: number): Promise<Opened> {
    for (;;) {
      try {
        return await this.#start(agent)
      } catch (fault) {
        if (isLasting(fault) || this.#stop !== null || this.#isLettingGo) throw fault
        this.#spend(agent, messageOf(fault))
      }
    }
  }

  /** Takes a restart off the budget; throws where it is spent. */
  #spend(agent: number, why: string): void {
    if (this.#budget.spend(this.#plan.clock.nowMs())) return
    const { restartsMax, restartsWithinMs } = this.#care
    throw new Error(
      `agents broke more than ${restartsMax} times in ${restartsWithinMs / 1_000} s; the last, agent ${agent}, is not started again: ${why}`,
    )
  }

  #advanceView(): void {
    this.#view?.advanceSoon(this.#lastSaid(), (fault) => {
      this.#fault ??= fault
      this.stop(fault instanceof Fault && fault.code === 'DISK_FULL' ? 'disk-full' : 'error')
    })
  }

  /** By agent. */
  #lastSaid(): (AgentStatus | null)[] {
    return this.#agents.map((agent) => agent.status)
  }

  /** A consistent copy of everything, taken while the crawl goes on: all agents hold still at once. */
  checkpoint(to: string): Promise<CheckpointFigures> {
    return this.#checkpoints.make(to)
  }

  /** Has every agent finish its files, then merges what is merged at the end, and lets go of the directory. */
  async close(): Promise<void> {
    try {
      // A copy that was begun is finished first.
      await this.#checkpoints.idle()
      await this.#closeAgents()
      await this.#view?.finish(this.#plan.settings.store.warc !== 'off')
    } finally {
      await this.#letGo()
      await this.#lock.release()
    }
  }

  async #closeAgents(): Promise<void> {
    let fault: PlainFault | null = null
    await Promise.all(
      this.#agents.map(
        (agent, place) =>
          new Promise<void>((resolve) => {
            this.#closing.set(place, (said) => {
              fault ??= said
              resolve()
            })
            if (this.#dead.has(place))
              this.#openToClose(place).catch((cause: unknown) => {
                // What had broken before is the fault to tell.
                if (this.#fault === null) fault ??= plainFault(cause)
                resolve()
              })
            else agent.tell({ kind: 'close' })
          }),
      ),
    )
    if (fault !== null) throw faultOf(fault)
  }

  /** An agent that died while all were stopping is opened once more, so that its files are finished and its figures right. */
  async #openToClose(agent: number): Promise<void> {
    await this.#start(agent, [])
    this.#agents[agent]?.tell({ kind: 'close' })
  }

  async #letGo(): Promise<void> {
    this.#isLettingGo = true
    this.#timers.clear()
    this.#watch.clear()
    await this.#view?.close()
    this.#view = null
    await Promise.all(this.#agents.map((agent) => agent.letGo()))
    for (const agent of this.#agents.keys()) this.#checkpoints.lost(agent)
  }
}

/** A fault that would come again at once: starting again is no cure. */
function isLasting(fault: unknown): boolean {
  const { code } = fault as { readonly code?: string | null }
  return code != null && LASTING.has(code)
}

function messageOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault)
}
