// One process that crawls as a node of a cluster: takes shares over and gives them up as the membership says, and falls silent when its
// lease is over.
//
//        the engine ◀── records, beats ──▶ member (src/cluster)      who takes part; which shares should be here
//             ▲                              │ take, give up, fenced, resumed
//             │                            node ── chair, where share 0 is here: the end, permits
//     logs, wires, snapshots                 │
//             ╰──────────────────────────▶ shares here, each an agent in a thread (hosted-shares.ts, clustered-agent.ts)
//
// To its owner it is a crawl like any other: run, stop, figures, close. What it counts is what its shares have come to, wherever they
// were before.

import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { CheckpointFigures, CrawlFigures, CrawlSettings, CrawlSnapshot } from '../agent/index.ts'
import { type Clock, Fault, type StopReason, STOPS } from '../base/index.ts'
import { ClusterMember, Lease, type LostNode, type View, type WayOut } from '../cluster/index.ts'
import { type DirectoryLock, lockDirectory, makeDirectory } from '../disk/index.ts'
import { connectEngine, type Engine, type EngineSettings } from '../engine/index.ts'
import type { CrawlIdentity } from '../ledger/index.ts'
import { placeShares } from '../placement/index.ts'
import { ShareLog } from '../replica/index.ts'
import type { ShelfOptions } from '../shelf/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import { markDirectory, writeLayout } from '../view/index.ts'
import { USUAL_CARE } from './agent-crew.ts'
import { Chair, type ChairLimits } from './chair.ts'
import {
  askNode,
  type ControlAnswer,
  type ControlQuestion,
  decodeJson,
  doneRecord,
  encodeJson,
  type NodeFigures,
  type NodeQuestion,
  shareFigures,
  type SharePreview,
  TRACE_SUBJECT,
  type TraceMessage,
} from './cluster-questions.ts'
import { HostedShares } from './hosted-shares.ts'
import { LeftFiles } from './left-files.ts'
import { LostNodes } from './lost-nodes.ts'
import { ChangingCrawl } from './meant-crawl.ts'
import { figuresOf, joinEarlier, snapshotOf } from './node-figures.ts'
import { formerIncarnations, newIncarnation } from './node-incarnations.ts'
import type { NodeEvent } from './node.ts'
import { indexOrderOf, sortIndex } from './index-order.ts'
import { NodeView } from './node-view.ts'
import { processCpuMs } from './process-cpu.ts'
import type { DeskAnswer, DeskQuestion } from './share-desk.ts'
import { speedOfShare } from './share-speeds.ts'
import { Speeds } from './speeds.ts'
import { Timers } from './timers.ts'

export interface ClusterNodePlan {
  readonly dir: string
  /** What it is called in the cluster. */
  readonly node: string
  /** Its capacity in relation to the others'. */
  readonly weight: number
  /** For how many shares its memory and connections are planned. */
  readonly here: number
  readonly engine: EngineSettings
  readonly shares: number
  readonly assignment: string
  readonly leaseMs: number
  readonly marginMs: number
  /** As the crawl is meant by this change (0: as it was set up). */
  readonly change: number
  readonly seeds: readonly CanonicalUrl[]
  readonly settings: CrawlSettings
  /** Other options that were said for all nodes, as they hold on this one. Throws a Fault where they do not. */
  readonly readSettings: (said: unknown) => CrawlSettings
  /** Where finished files of all nodes go. */
  readonly shelf: ShelfOptions
  readonly identity: CrawlIdentity
  readonly clock: Clock
  readonly software: string
  /** Where passwords named by variable are found. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Of this machine, for people. */
  readonly host: string
  /** Answers what the control API asks of this node's part; left out where nothing does. */
  readonly control?: (question: ControlQuestion) => Promise<ControlAnswer>
  /** Told of what an operator wants to know. */
  readonly onEvent: (event: NodeEvent) => void
}

/** Shares that are taken at once: each may read a snapshot. */
const TAKES_AT_ONCE = 4
/** Shares that are given up at once while the crawl goes on: each pauses meanwhile. */
const GIVES_AT_ONCE = 2
const DESK_MS = 2_000
/** An agent takes some seconds of its thread for it (decision 0047), which may be busy. */
const PREVIEW_MS = 25_000
/** How often it is looked for files that were left here, and what can be done about nodes that are lost. */
const LOOK_MS = 2_000

export class ClusterNode {
  readonly #plan: ClusterNodePlan
  readonly #lock: DirectoryLock
  readonly #engine: Engine
  readonly #lease: Lease
  readonly #meant: ChangingCrawl
  readonly #hosted: HostedShares
  readonly #left: LeftFiles
  readonly #lost: LostNodes
  readonly #timers = new Timers()
  #member: ClusterMember | null = null
  #chair: Chair | null = null
  #chairEpoch = 0
  #wasMember = false
  /** What agents were told last. */
  #wasPaused = false
  /** The last change that was told to hold on all shares here; and the last that could not be read. */
  #changeTold: number
  #unreadTold = 0
  #resolveEnd: (reason: StopReason) => void = () => {}
  #stop: StopReason | null = null
  /** It was told that the engine is waited for. */
  #isAwaiting = false
  /** It took part to the end of the crawl. */
  #isEnded = false
  #fault: unknown = null

  private constructor(plan: ClusterNodePlan, lock: DirectoryLock, engine: Engine) {
    this.#plan = plan
    this.#lock = lock
    this.#engine = engine
    const cell = Lease.allocate()
    this.#lease = new Lease(cell, plan.clock, performance.timeOrigin)
    const { dir, seeds, settings, identity, software, environment, clock, shares, here, assignment } = plan
    const affordable = (wanted: CrawlSettings): CrawlSettings =>
      new Speeds(here).affordable(wanted, (what) => plan.onEvent({ kind: 'fewer-connections', what }))
    this.#meant = new ChangingCrawl({ seeds, settings: affordable(settings) }, plan.change, (said) =>
      affordable(plan.readSettings(said)),
    )
    this.#changeTold = plan.change
    this.#hosted = new HostedShares({
      engine,
      crew: {
        agents: shares,
        dirOf: (share) => join(dir, shareName(share)),
        // Turns are had of the agents that own them, here as elsewhere (shared-turns.ts).
        isShared: false,
        common: {
          crawlDir: dir,
          ...this.#meant.orders(),
          identity,
          software,
          environment,
          // A share that comes later has not been here since then.
          since: null,
        },
        clock,
        care: USUAL_CARE,
        faults: null,
      },
      ordersOf: (held) => {
        const { shelf } = plan
        return { engine: plan.engine, held, lease: cell, here, assignment, lost: this.#lostNodes, shelf }
      },
      planned: here,
      speedOf: (share, held) =>
        speedOfShare(share, this.#member?.speedWishes ?? [], { node: plan.node, shares, here: held }),
      meant: this.#meant,
      onUnopenable: (change, fault) => {
        if (!this.#meant.retreat(change)) return
        plan.onEvent({ kind: 'change-unread', change, why: fault.message })
        this.#chair?.change(this.#limits())
      },
      isPaused: () => this.#isPaused,
      isFenced: () => !this.#lease.isValid(),
      isOver: () => this.#member?.isOver === true,
      onLost: (share) => {
        if (share === 0) this.#leaveChair()
        this.#member?.lost(share)
      },
      onBroken: (fault) => this.#broke(fault),
      onEvent: (event) => {
        plan.onEvent(event)
        if (event.kind === 'trace') this.#tellTrace(event)
      },
    })
    this.#left = new LeftFiles({
      dir,
      node: plan.node,
      engine,
      withoutAgent: (share, work) => this.#hosted.withoutAgent(share, work),
      onShort: (agent, file) => {
        const what = `${file} was left here and has lost bytes that were committed; restore it from a copy`
        plan.onEvent({ kind: 'agent-warning', agent, what })
      },
    })
    this.#lost = new LostNodes({
      engine,
      shares,
      clock,
      hosted: () => this.#hosted.shares,
      renew: (share) => this.#hosted.renew(share),
      onSettled: ({ node }, sum) => plan.onEvent({ kind: 'lost-settled', node, ...sum }),
    })
  }

  /** To whoever looks at the whole crawl. */
  #tellTrace({ agent, url, step }: Extract<NodeEvent, { kind: 'trace' }>): void {
    const at = new Date(this.#plan.clock.wallMs()).toISOString()
    const message: TraceMessage = { node: this.#plan.node, share: agent, url, step, at }
    this.#engine.publish(TRACE_SUBJECT, encodeJson(message))
  }

  get #isPaused(): boolean {
    return this.#member?.isPaused === true
  }

  get #lostNodes(): readonly LostNode[] {
    return this.#member?.lostNodes ?? []
  }

  /** Takes the directory and finds the engine; nothing is joined yet. */
  static async open(plan: ClusterNodePlan): Promise<ClusterNode> {
    const folder = join(plan.dir, 'state')
    await makeDirectory(folder)
    const lock = await lockDirectory(folder)
    try {
      const { name: crawl, key } = plan.identity
      await markDirectory(plan.dir, { crawl, key, node: plan.node })
      return new ClusterNode(plan, lock, await connectEngine(plan.engine))
    } catch (fault) {
      await lock.release()
      throw fault
    }
  }

  get identity(): CrawlIdentity {
    return this.#plan.identity
  }

  get isNew(): boolean {
    return this.#hosted.statuses.every(({ totals }) => totals.pages === 0)
  }

  readonly isScopeChanged = false

  get seeds(): readonly CanonicalUrl[] {
    return this.#meant.orders().seeds
  }

  /** Options as they hold here now. */
  get settings(): CrawlSettings {
    return this.#meant.orders().settings
  }

  isKnownSeed(url: string): boolean {
    return this.seeds.includes(url as CanonicalUrl)
  }

  /** Agents that are here now. */
  get agents(): number {
    return Math.max(this.#hosted.shares.length, this.#hosted.lastShares.length)
  }

  /** Where the shares are that are here now: each is like the directory of a crawl. */
  get shareDirs(): readonly string[] {
    return this.#hosted.shares.map((share) => join(this.#plan.dir, shareName(share)))
  }

  get restarts(): number {
    return this.#hosted.restarts
  }

  /** It has share 0, and decides what is decided once for all. */
  get isChair(): boolean {
    return this.#chair !== null
  }

  get fault(): unknown {
    return this.#fault
  }

  get figures(): CrawlFigures {
    return figuresOf(this.#hosted.statuses, joinEarlier([]))
  }

  snapshot(): CrawlSnapshot {
    const { statuses, done } = this.#hosted
    return { ...snapshotOf(statuses, joinEarlier([]), this.#stop !== null, this.#isPaused), done }
  }

  /** Takes part until the crawl ends, this node is removed, or stop() is called. */
  async run(): Promise<StopReason> {
    const { dir, node, weight, shares, assignment, leaseMs, marginMs, clock, software, host } = this.#plan
    const end = new Promise<StopReason>((resolve) => {
      this.#resolveEnd = resolve
    })
    const knownDead = await formerIncarnations(dir)
    const member = await ClusterMember.start({
      node,
      weight,
      version: software,
      host,
      shares,
      leaseMs,
      marginMs,
      place: (count, nodes) => placeShares(count, nodes, assignment),
      newIncarnation: () => newIncarnation(dir),
      knownDead,
      takesAtOnceMax: TAKES_AT_ONCE,
      givesAtOnceMax: GIVES_AT_ONCE,
      engine: this.#engine,
      clock,
      lease: this.#lease,
      keeper: {
        standing: (share) => this.#hosted.standing(share),
        take: async (share, seen, holder) => {
          const taken = await this.#hosted.take(share, seen, holder)
          if (share === 0 && taken !== null) this.#takeChair(taken.epoch)
          return taken
        },
        giveUp: (share) => {
          if (share === 0) this.#leaveChair()
          return this.#hosted.giveUp(share)
        },
      },
      owner: {
        fenced: () => {
          // The chair stays, if it is ours: it decides nothing without the engine, and there is one for each epoch of share 0.
          this.#hosted.silence()
          if (this.#stop === null && this.#member?.isOver !== true) this.#plan.onEvent({ kind: 'node-silent' })
        },
        resumed: () => {
          this.#plan.onEvent({ kind: 'node-resumed' })
          this.#hosted.goOn()
        },
        reborn: (incarnation) => this.#plan.onEvent({ kind: 'node-reborn', incarnation }),
        viewed: (view) => this.#viewed(view),
        wished: () => this.#wished(),
        changed: () => this.#changed(),
        out: (how) => this.#out(how),
      },
      answer: (question) => this.#answer(question),
      waitsForEngine: () => this.#waitsForEngine(),
    }).catch((fault: unknown) => {
      if (this.#stop === null || (fault as Partial<Fault>).code !== 'ENGINE_UNREACHABLE') throw fault
      return null
    })
    // It was to stop while it waited for the engine, and has begun nothing.
    if (member === null) return this.#stop ?? 'interrupted'
    this.#member = member
    // What was said before we came.
    this.#changed()
    this.#wished()
    if (this.#stop !== null) this.#member.leave()
    this.#timers.every(LOOK_MS, () => {
      this.#hosted.steering.catchUp()
      this.#tellChange()
      void this.#left.look().catch((fault: unknown) => this.#broke(fault))
      void this.#lost.look(this.#lostNodes).catch((fault: unknown) => this.#broke(fault))
    })
    const reason = await end
    this.#leaveChair()
    return reason
  }

  /** The engine was there when this node came, and does not answer now: it takes part when it is back, unless it is to stop. */
  #waitsForEngine(): boolean {
    if (this.#stop !== null) return false
    if (!this.#isAwaiting) this.#plan.onEvent({ kind: 'engine-awaited' })
    this.#isAwaiting = true
    return true
  }

  /**
   * Leaves the cluster in order: its shares go on elsewhere. Interrupted once more, what is under way is cut; and where the engine is
   * away, so that nothing can be given up, it goes as it stands: others wait its lease out.
   */
  stop(reason: StopReason): void {
    const isAgain = this.#stop !== null && reason === 'interrupted'
    this.#stop ??= reason
    this.#member?.leave()
    if (!isAgain) return
    this.#hosted.cut()
    if (!this.#lease.isValid()) this.#resolveEnd(this.#stop)
  }

  /** The crawl of a cluster has no copy of one node. */
  async checkpoint(): Promise<CheckpointFigures> {
    throw new Fault('CONFIG_INVALID', 'a node of a cluster is not copied: its shares are kept by the engine')
  }

  /** Merges the lines of the shares that were here at the end, and lets go of everything; `last` is done while the directory is ours. */
  async close(last: () => Promise<void> = async () => {}): Promise<void> {
    this.#timers.clear()
    this.#member?.close()
    this.#leaveChair()
    try {
      await this.#hosted.letGo()
      await this.#leaveFigures()
      await this.#left.look()
      await this.#mergeOutputs()
      await last()
    } finally {
      await this.#engine.close().catch(() => {})
      await this.#lock.release()
    }
  }

  async #mergeOutputs(): Promise<void> {
    const { dir, settings } = this.#plan
    const shown = await this.#shownShares()
    const names = shown.map(shareName)
    // What an earlier run has left is of shares that are elsewhere now; where this one took no part that is not known.
    const isElsewhere = this.#wasMember && this.#member?.isOver === true && this.#hosted.shares.length === 0
    if (names.length === 0 && !isElsewhere) return
    // Made anew: what a share had written here before it was elsewhere is among its lines.
    for (const name of ['pages.jsonl', 'failures.jsonl', 'state/pages.cursor', 'state/failures.cursor']) {
      await rm(join(dir, name), { force: true })
    }
    if (names.length === 0) return
    await writeLayout(dir, names)
    const view = await NodeView.open(dir, names)
    try {
      const gone = await this.#lost.goneFiles(this.#lostNodes, shown).catch(() => new Set<string>())
      await view.finish()
      if (settings.store.warc !== 'off') await sortIndex(await indexOrderOf(dir, names, gone))
    } finally {
      await view.close()
    }
  }

  /**
   * Shares whose lines are for this node to show: where the crawl has ended, or nobody is left, those that it was the last to have. A
   * share that moved when the end came may have been released here and begun by nobody: its log knows. A node of this name in another
   * directory may have released it too: then there is nothing of it here.
   */
  async #shownShares(): Promise<readonly number[]> {
    const { dir, shares, node } = this.#plan
    const last = this.#hosted.lastShares
    const isAlone = this.#member?.view.members.every((member) => member.node === node) === true
    if (!this.#isEnded && !(this.#wasMember && isAlone)) return last
    try {
      const isOurs = await Promise.all(
        Array.from({ length: shares }, async (_, share) => {
          if (last.includes(share)) return true
          if (!existsSync(join(dir, shareName(share)))) return false
          const tail = await (await ShareLog.open(this.#engine, share)).tail()
          return tail?.head.kind === 'release' && tail.head.node === node
        }),
      )
      return [...isOurs.keys()].filter((share) => isOurs[share])
    } catch {
      // The engine is away: what is known here is shown.
      return last
    }
  }

  #viewed(view: View): void {
    this.#wasMember ||= view.members.some(({ incarnation }) => incarnation === this.#member?.incarnation)
    this.#plan.onEvent({
      kind: 'view',
      number: view.number,
      nodes: view.members.map(({ node }) => node),
      because: view.because,
    })
  }

  #wished(): void {
    this.#hosted.steering.tellSpeeds()
    if (this.#isPaused === this.#wasPaused) return
    this.#wasPaused = this.#isPaused
    this.#hosted.steering.tellPause()
    this.#plan.onEvent({ kind: this.#isPaused ? 'crawl-paused' : 'crawl-unpaused' })
  }

  /** What is meant by the last change holds for whatever is opened from now on; what runs is brought to it. */
  #changed(): void {
    if (this.#member === null) return
    const { changes } = this.#member
    const fault = this.#meant.hear(changes)
    if (fault !== null && this.#unreadTold < changes.upTo) {
      this.#unreadTold = changes.upTo
      this.#plan.onEvent({ kind: 'change-unread', change: changes.upTo, why: fault.message })
    }
    if (!this.#member.isOver) this.#hosted.goesOn()
    this.#chair?.change(this.#limits())
    this.#hosted.steering.catchUp()
  }

  /** Told once all shares that are open here have it. */
  #tellChange(): void {
    const change = this.#meant.change()
    const { shares, desk } = this.#hosted
    if (change <= this.#changeTold || shares.some((share) => (desk.changeOf(share) ?? 0) < change)) return
    this.#changeTold = change
    this.#plan.onEvent({ kind: 'change-holds', change })
  }

  /** By what is meant now; under its own number, also where the last change could not be read. */
  #limits(): ChairLimits {
    const { maxPages, maxTime, maxWait } = this.#meant.orders().settings.agent
    return { change: this.#meant.change(), maxPages, maxTimeMs: maxTime, maxWaitMs: maxWait }
  }

  #takeChair(epoch: number): void {
    if (this.#chair !== null && this.#chairEpoch === epoch) return
    this.#chairEpoch = epoch
    const { shares, clock } = this.#plan
    this.#leaveChair()
    this.#chair = new Chair({
      shares,
      chair: epoch,
      limits: this.#limits(),
      clock,
      nodes: () => this.#member?.view.members.map(({ node }) => node) ?? [],
      askNode: (node, question) => this.#askNode(node, question),
      epochs: () => this.#epochs(),
      lastChange: async () => (await this.#member?.lastChange()) ?? 0,
      expectsWork: () => !this.#lost.isSettled(this.#lostNodes),
      isPaused: () => this.#isPaused,
      decided: (reason, change) => this.#member?.end(reason, change),
    })
  }

  #leaveChair(): void {
    this.#chair?.stop()
    this.#chair = null
  }

  async #askNode(node: string, question: DeskQuestion): Promise<DeskAnswer> {
    // Itself without the way over the engine.
    if (node === this.#plan.node) return this.#hosted.desk.answer(question)
    return (await askNode(this.#engine, node, { ask: 'shares', question }, DESK_MS)) as DeskAnswer
  }

  async #epochs(): Promise<readonly number[]> {
    const shares = Array.from({ length: this.#plan.shares }, (_, share) => share)
    return Promise.all(shares.map(async (share) => (await (await ShareLog.open(this.#engine, share)).standing()).epoch))
  }

  async #answer(bytes: Uint8Array): Promise<Uint8Array> {
    const asked = decodeJson(bytes) as NodeQuestion
    switch (asked.ask) {
      case 'shares':
        return encodeJson(await this.#hosted.desk.answer(asked.question))
      case 'figures':
        return encodeJson(this.#ownFigures())
      case 'preview':
        return encodeJson(await this.#preview(asked.said))
      case 'trace':
        this.#hosted.steering.follow(asked.url)
        return encodeJson(null)
      case 'control':
        return encodeJson((await this.#plan.control?.(asked)) ?? NO_CONTROL)
    }
  }

  /** Of those that answer in time. */
  async #preview(said: unknown): Promise<SharePreview[]> {
    const { url } = this.#plan.readSettings(said)
    const answers = await Promise.all(
      this.#hosted.shares.map(async (share) =>
        this.#hosted.steering.ask(share, { ask: 'preview', url }, PREVIEW_MS).then(
          (preview) => ({ share, ...preview }),
          () => null,
        ),
      ),
    )
    return answers.filter((answer) => answer !== null)
  }

  /** What `portolan cluster status` shows of a node. */
  #ownFigures(): NodeFigures {
    const { figures, frontier, active } = this.snapshot()
    const { done } = this.#hosted
    return {
      shares: this.#hosted.shares,
      pages: figures.pages,
      failed: figures.failed,
      bytes: figures.bytes,
      waiting: frontier.waiting,
      hosts: frontier.hosts,
      active,
      restarts: this.restarts,
      rssBytes: process.memoryUsage.rss(),
      peakRssBytes: process.resourceUsage().maxRSS * 1_024,
      cpuSeconds: processCpuMs() / 1_000,
      donePages: done.pages,
      doneBytes: done.bytes,
      leastChange: this.#hosted.steering.leastChange,
      ...shareFigures(this.#hosted.standings, (share) => this.#hosted.desk.changeOf(share)),
    }
  }

  /** For whoever looks at the crawl when nobody works on it any more. Nothing depends on it. */
  async #leaveFigures(): Promise<void> {
    if (!this.#isEnded || this.#member === null) return
    const figures: NodeFigures = { ...this.#ownFigures(), shares: this.#hosted.lastShares }
    await this.#engine.records
      .create(doneRecord(this.#member.run, this.#member.changes.upTo, this.#plan.node), encodeJson(figures))
      .catch(() => {})
  }

  /** Nothing helps here: others go on with its shares. */
  #broke(fault: unknown): void {
    this.#fault ??= fault
    this.stop(fault instanceof Fault && fault.code === 'DISK_FULL' ? 'disk-full' : 'error')
  }

  #out(how: WayOut): void {
    if (how.kind === 'refused') {
      this.#fault ??= how.fault
      return this.#resolveEnd('error')
    }
    if (how.kind === 'ended') {
      this.#isEnded = true
      return this.#resolveEnd(stopReasonOf(how.reason))
    }
    this.#resolveEnd(this.#stop ?? 'interrupted')
  }
}

const NO_CONTROL: ControlAnswer = {
  fault: { code: 'CLUSTER_REFUSED', message: 'this node does not answer such questions' },
}

/** Where a share is, inside the node's directory. */
function shareName(share: number): string {
  return `state/shares/${share}`
}

function stopReasonOf(reason: string): StopReason {
  return reason in STOPS ? (reason as StopReason) : 'interrupted'
}
