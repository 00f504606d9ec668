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
  CrawlFigures,
  type CrawlSettings,
  type CrawlSnapshot,
  sumTotals,
} from '../agent/index.ts'
import { type Clock, Fault, type StopReason } from '../base/index.ts'
import { type DirectoryLock, lockDirectory, makeDirectory } from '../disk/index.ts'
import { SharedIpGate } from '../frontier/index.ts'
import type { CrawlIdentity } from '../ledger/index.ts'
import { sortCdxj } from '../store/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import { CrawlView, lookAtCommits, type ShareCommit } from '../view/index.ts'
import { AgentHandle } from './agent-handle.ts'
import type { AgentOrders, AgentStatus, FromAgent, PlainFault } from './agent-messages.ts'
import { Checkpointing } from './checkpointing.ts'
import { EndWatch } from './end-watch.ts'
import { ipGateSettings } from './ip-gate-settings.ts'
import { PermitOffice } from './permit-office.ts'
import { faultOf } from './plain-fault.ts'
import { RestartBudget } from './restart-budget.ts'
import { settleShares } from './shares.ts'
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
  /** Told of what an operator wants to know: an agent that broke and was started again. */
  readonly onEvent: (event: NodeEvent) => void
}

export interface NodeEvent {
  readonly kind: 'agent-restarted'
  readonly agent: number
  readonly why: string
  /** From its death until it goes on. */
  readonly ms: number
}

type Opened = Extract<FromAgent, { kind: 'opened' }>

const ROUND_MS = 200
/** Where all looked quiet the next round comes sooner: a crawl of a few pages should not wait for its end. */
const QUIET_ROUND_MS = 20
const LOOK_MS = 1_000
const VIEW_MS = 1_000
const RESTARTS_MAX = 5
const RESTARTS_WITHIN_MS = 60_000
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
  readonly #budget = new RestartBudget(RESTARTS_MAX, RESTARTS_WITHIN_MS)
  #view: CrawlView | null = null
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
  #restarts = 0
  #startMs: number
  #viewing: Promise<void> | null = null
  /** When agents that broke had done so. */
  readonly #diedMs = new Map<number, { readonly ms: number; readonly why: string }>()
  #before: { ms: number; cpuMs: number; peakRssBytes: number } = { ms: 0, cpuMs: 0, peakRssBytes: 0 }
  #startCpuMs: number

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
    this.#startMs = plan.clock.nowMs()
    this.#startCpuMs = processCpuMs()
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
    const all = this.#shares.map((_, agent) => this.#start(agent))
    const opened = await Promise.all(all)
    for (const { agent, message } of opened) this.#isOpen(agent, message)
    const totals = sumTotals(opened.map(({ message }) => message.status.totals))
    this.#before = { ms: totals.ms, cpuMs: totals.cpuMs, peakRssBytes: totals.peakRssBytes }
    for (let one = 0; one < all.length; one++) for (let two = 0; two < one; two++) this.#connect(one, two)
    if (this.#names !== null) {
      this.#view = await CrawlView.open(this.#plan.dir)
      await this.#advanceView()
    }
  }

  /** A thread for an agent; resolves when it is open. */
  #start(agent: number): Promise<{ readonly agent: number; readonly message: Opened }> {
    return new Promise((resolve, reject) => {
      const { dir, seeds, settings, software, environment } = this.#plan
      const orders: AgentOrders = {
        dir: this.#shares[agent] as string,
        crawlDir: dir,
        agent,
        agents: this.#shares.length,
        seeds,
        settings,
        identity: this.#identity,
        software,
        environment,
        addresses: this.#addresses,
        heartbeats: this.#heartbeats,
      }
      let isSettled = false
      this.#agents[agent] = new AgentHandle(orders, {
        onMessage: (_, message) => {
          if (message.kind === 'opened') {
            isSettled = true
            resolve({ agent, message })
          } else if (message.kind === 'broken') {
            isSettled = true
            reject(faultOf(message.fault))
          } else this.#hear(agent, message)
        },
        onDeath: (_, why) => {
          if (isSettled) this.#died(agent, why)
          else reject(new Error(`agent ${agent} could not be started: ${why}`))
        },
      })
    })
  }

  #isOpen(agent: number, message: Opened): void {
    this.#opened[agent] = message
    this.#permits.opened(agent, message.status.totals.pages)
    this.#watchdog.begun(agent)
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

  get fault(): unknown {
    return this.#fault
  }

  get figures(): CrawlFigures {
    const figures = CrawlFigures.from(sumTotals(this.#statuses().map(({ totals }) => totals)))
    figures.earlierMs = this.#before.ms
    figures.earlierCpuMs = this.#before.cpuMs
    figures.earlierPeakRssBytes = this.#before.peakRssBytes
    return figures
  }

  snapshot(): CrawlSnapshot {
    const statuses = this.#statuses()
    const wasTouched = statuses.some((status) => status.wasTouched)
    const runMs = wasTouched ? this.#plan.clock.nowMs() - this.#startMs : 0
    const sum = (of: (status: AgentStatus) => number): number => statuses.reduce((total, one) => total + of(one), 0)
    const active = sum((one) => one.active)
    const waits = statuses.flatMap(({ waitMs }) => (waitMs === null ? [] : [waitMs]))
    return {
      figures: this.figures,
      frontier: {
        waiting: sum(({ frontier }) => frontier.waiting),
        hosts: sum(({ frontier }) => frontier.hosts),
        ready: sum(({ frontier }) => frontier.ready),
        resting: sum(({ frontier }) => frontier.resting),
        parked: sum(({ frontier }) => frontier.parked),
        out: sum(({ frontier }) => frontier.out),
      },
      active,
      totalMs: this.#before.ms + runMs,
      runMs,
      cpuMs: wasTouched ? processCpuMs() - this.#startCpuMs : 0,
      waitMs: active > 0 || waits.length === 0 ? null : Math.min(...waits),
      isStopping: this.#stop !== null,
    }
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
    this.#timers.every(LOOK_MS, () => {
      for (const agent of this.#watchdog.look()) {
        this.#watchdog.begun(agent)
        this.#kill(agent, 'it does not move any more')
      }
    })
    if (this.#names !== null) {
      this.#timers.every(VIEW_MS, () => this.#advanceViewSoon())
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
    await this.#viewing
    return this.#stop ?? 'error'
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
    switch (message.kind) {
      case 'status':
        if (message.round === this.#round) this.#roundAnswered(agent)
        return
      case 'short':
        return this.#grant(agent)
      case 'surrendered':
        this.#permits.surrendered(agent, message.pages)
        for (const short of this.#permits.short) this.#grant(short)
        return
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

  #grant(agent: number): void {
    const pages = this.#permits.want(agent)
    if (pages > 0) this.#agents[agent]?.tell({ kind: 'grant', pages })
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
    if (fault.code === null || !LASTING.has(fault.code)) return this.#kill(agent, fault.message)
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
    if (fault !== null) this.#fault ??= faultOf(fault)
    // An agent that does it all decides for itself.
    this.#stop ??= reason
    if (fault !== null && this.#stop !== 'disk-full') this.#stop = reason
    this.#ended.add(agent)
    if (this.#ended.size === this.#agents.length) this.#resolveEnd()
  }

  /** Ends the thread of an agent, which is then started again from its last commit. */
  restartAgent(agent: number): void {
    this.#kill(agent, 'asked to')
  }

  #kill(agent: number, why: string): void {
    this.#diedMs.set(agent, { ms: this.#plan.clock.nowMs(), why })
    void this.#agents[agent]?.kill()
  }

  /** The thread of an agent is gone. What it had committed is there; what it held is free. */
  #died(agent: number, why: string): void {
    const noted = this.#diedMs.get(agent)
    const death = noted ?? { ms: this.#plan.clock.nowMs(), why }
    this.#diedMs.delete(agent)
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
      this.#isGone(agent)
      return
    }
    if (!this.#budget.spend(this.#plan.clock.nowMs())) {
      this.#fault ??= new Error(
        `agent ${agent} broke ${RESTARTS_MAX + 1} times in ${RESTARTS_WITHIN_MS / 1_000} s and is not started again: ${death.why}`,
      )
      this.stop('error')
      this.#isGone(agent)
      return
    }
    void this.#startAgain(agent, death).catch((fault: unknown) => {
      this.#fault ??= fault
      this.stop('error')
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

  async #startAgain(agent: number, death: { readonly ms: number; readonly why: string }): Promise<void> {
    const { message } = await this.#start(agent)
    this.#isOpen(agent, message)
    for (const other of this.#agents.keys()) if (other !== agent) this.#connect(agent, other)
    this.#agents[agent]?.tell({ kind: 'run' })
    if (this.#stop !== null) this.#agents[agent]?.tell({ kind: 'stop', reason: this.#stop })
    this.#restarts++
    // The round it was to answer is lost with it.
    if (this.#names !== null && this.#stop === null) this.#nextRound(ROUND_MS)
    this.#plan.onEvent({ kind: 'agent-restarted', agent, why: death.why, ms: this.#plan.clock.nowMs() - death.ms })
  }

  #advanceViewSoon(): void {
    this.#viewing ??= this.#advanceView()
      .catch((fault: unknown) => {
        this.#fault ??= fault
        this.stop(fault instanceof Fault && fault.code === 'DISK_FULL' ? 'disk-full' : 'error')
      })
      .finally(() => {
        this.#viewing = null
      })
  }

  /** Brings the crawl's own files to what the agents have committed. */
  async #advanceView(): Promise<void> {
    const commits: Record<string, ShareCommit> = {}
    for (const [agent, name] of (this.#names ?? []).entries()) {
      const status = this.#agents[agent]?.status ?? null
      if (status === null) return
      commits[name] = { pages: status.pagesLength, failures: status.failures }
    }
    await this.#view?.advance(commits)
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
      if (this.#names !== null) await this.#finishView()
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
            if (this.#dead.has(place)) resolve()
            else agent.tell({ kind: 'close' })
          }),
      ),
    )
    if (fault !== null) throw faultOf(fault)
  }

  async #finishView(): Promise<void> {
    await this.#viewing
    await this.#view?.advance(await lookAtCommits(this.#plan.dir))
    const indexes = this.#shares.map((share) => join(share, 'state/index.cdxj'))
    if (this.#plan.settings.store.warc !== 'off') await sortCdxj(indexes, join(this.#plan.dir, 'archive/index.cdxj'))
  }

  async #letGo(): Promise<void> {
    this.#timers.clear()
    await this.#view?.close()
    this.#view = null
    await Promise.all(this.#agents.map((agent) => agent.letGo()))
    for (const agent of this.#agents.keys()) this.#checkpoints.lost(agent)
  }
}

function processCpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
