// The shares that a node of a cluster has at present, each with an agent in a thread: taken, stopped and released as the membership says.
//
//            take                           fenced                    resumed
//   (none) ─────────▶ opening ──▶ open ─────────────────▶ silent ─────────────────▶ opening …
//      ▲                 │          │ give up                │ give up
//      │                 ▼ fails    ▼                        ▼
//      ╰───────────── (tried again) stopping ──▶ released, or found to be another's
//
// Silent: its thread is gone, and with it every socket; what it has committed stays on disk and in the log, from which it goes on.
//
// Always true: an agent runs only with a right to its share (`held`) that its log has confirmed; a share that is not here any more has no thread,
// or one that was told to end, for which the next one waits; what may be begun in our name and is not here is released when it is given up.

import { Fault } from '../base/index.ts'
import type { ShareHolder, ShareKeeper, ShareStanding } from '../cluster/index.ts'
import type { Engine } from '../engine/index.ts'
import { HeldLog, type HeldShare, ShareLog, type Standing } from '../replica/index.ts'
import { AgentCrew, type CrewEvents, type CrewPlan } from './agent-crew.ts'
import type { AgentStatus, FromAgent, PlainFault } from './agent-messages.ts'
import { DoneHere } from './done-here.ts'
import type { NodeEvent } from './node.ts'
import { lentAreBack } from './lent-mark.ts'
import { faultOf } from './plain-fault.ts'
import { isLasting, isWaitedOut } from './restart-budget.ts'
import { type DeskAgents, ShareDesk } from './share-desk.ts'
import { ShareSteering, type SteeredShares, type SteeringParts } from './share-steering.ts'
import { Timers } from './timers.ts'

export interface HostedSharesParts extends SteeringParts {
  readonly engine: Engine
  /** All but what depends on a share. */
  readonly crew: Omit<CrewPlan, 'clusterOf'>
  readonly ordersOf: (held: HeldShare) => ReturnType<NonNullable<CrewPlan['clusterOf']>>
  /** For how many shares the memory of this node is. */
  readonly planned: number
  /** A share cannot be opened as it is meant by this change. */
  readonly onUnopenable?: (change: number, fault: Fault) => void
  readonly isFenced: () => boolean
  /** The crawl has ended or is to stop: what is given up is given up for good. */
  readonly isOver: () => boolean
  /** An agent found that another node has its share. */
  readonly onLost: (share: number) => void
  /** Nothing helps here: a full disk, a thread that cannot be ended, agents that break again and again. */
  readonly onBroken: (fault: unknown) => void
  readonly onEvent: (event: NodeEvent) => void
  /** Who has the threads; left out but in tests. */
  readonly crewOf?: (plan: CrewPlan, events: CrewEvents) => Crew
}

/** What is asked of those who have the threads. */
export type Crew = Pick<AgentCrew, 'restarts' | 'watch' | 'open' | 'end' | 'kill' | 'tell' | 'statusOf' | 'letGo'>

interface Hosted {
  readonly held: HeldShare
  /** The epoch of share 0 when this one had begun. */
  readonly chair: number
  state: 'opening' | 'open' | 'silent' | 'stopping'
  /** What its last thread said last. */
  status: AgentStatus | null
  /** Its thread asks nobody any more and waits to be told to finish: it broke. */
  isDrained: boolean
  /** How often it could not be opened again. */
  failures: number
  /** Turns that its thread had lent and that did not come back, as was told. */
  missing: number
  drained: () => void
  ended: () => void
  closed: (fault: PlainFault | null) => void
  /** While its agent is opened anew. */
  renewing: Promise<void> | null
}

/** How long what is under way may take when a share is given up; then it is cut, and asked for again by whoever has it next. */
const PATIENCE_MS = 10_000
/** After that it is not waited for: what it has committed is what counts. */
const CUT_MS = 20_000
/** An agent that lost the engine before the node did is tried again; where it is not the engine, ever more seldom. */
const AGAIN_MS = 1_000
const AGAIN_MS_MAX = 15_000
/** Of this machine: shares can be had elsewhere. */
const OF_DISK = new Set(['DISK_FULL', 'DISK_READ_ONLY', 'DISK_FAILED'])

export class HostedShares implements ShareKeeper, DeskAgents, SteeredShares {
  readonly desk = new ShareDesk(this)
  readonly steering: ShareSteering
  readonly #parts: HostedSharesParts
  readonly #crew: Crew
  readonly #hosted = new Map<number, Hosted>()
  readonly #seen = new Map<number, Standing>()
  /** Shares whose logs may name us though they are not here: where and as whom they were to be begun. */
  readonly #tried = new Map<number, { readonly holder: ShareHolder; readonly at: number }>()
  readonly #probes = new Map<number, { round: number; resolve: (status: AgentStatus) => void; reject: () => void }>()
  readonly #timers = new Timers()
  readonly #done = new DoneHere()
  /** Shares that were here when they were given up for good: at the end of the crawl. */
  readonly #last = new Map<number, AgentStatus | null>()
  /** Shares on their way here or away: their threads may write to files. */
  readonly #moving = new Map<number, number>()
  /** Shares whose files somebody else works on; they are not opened meanwhile. */
  readonly #still = new Map<number, Promise<unknown>>()
  #round = 0
  #isTooManyTold = false

  constructor(parts: HostedSharesParts) {
    this.#parts = parts
    const { onEvent } = parts
    const { crewOf = (plan, events) => new AgentCrew(plan, events) } = parts
    this.steering = new ShareSteering(parts, this, (share, message) => this.#crew.tell(share, message))
    const { meantOf } = this.steering
    this.#crew = crewOf(
      {
        ...parts.crew,
        clusterOf: (share) => parts.ordersOf((this.#hosted.get(share) as Hosted).held),
        ...(meantOf === null ? {} : { meantOf }),
      },
      {
        phase: () => 'running',
        onMessage: (share, message) => this.#hear(share, message),
        onOpened: (share, opened) => {
          const hosted = this.#hosted.get(share)
          if (hosted === undefined) return
          hosted.isDrained = false
          this.#done.began(share, opened.status.totals)
          const { held, chair } = hosted
          const change = this.steering.startedWith(share)
          this.desk.opened(share, { epoch: held.epoch, pages: opened.status.totals.pages, chair, change })
          for (const what of opened.warnings) onEvent({ kind: 'agent-warning', agent: share, what })
        },
        onLost: (share) => this.#threadEnded(share),
        onAgain: (share, why, ms) => {
          onEvent({ kind: 'agent-restarted', agent: share, why, ms })
          this.steering.begin(share)
          if (this.#hosted.get(share)?.state === 'stopping')
            this.#crew.tell(share, { kind: 'stop', reason: 'interrupted' })
        },
        onLeft: (share, why, fault) => this.#left(share, fault ?? new Error(why)),
        onStuck: (share, why, fault) => {
          onEvent({ kind: 'agent-stuck', agent: share, why })
          parts.onBroken(fault)
        },
      },
    )
    this.#crew.watch()
  }

  /** Its agent runs. */
  isOpen(share: number): boolean {
    return this.#hosted.get(share)?.state === 'open'
  }

  get restarts(): number {
    return this.#crew.restarts
  }

  /** Shares whose agents are here. */
  get shares(): readonly number[] {
    return [...this.#hosted.keys()].sort((a, b) => a - b)
  }

  /** What is known of the shares here, and of those that were here at the end. */
  get standings(): readonly (readonly [share: number, status: AgentStatus])[] {
    const here = [...this.#hosted].map(([share, { status }]) => [share, this.#crew.statusOf(share) ?? status] as const)
    return [...this.#last, ...here].flatMap(([share, status]) => (status === null ? [] : [[share, status] as const]))
  }

  get statuses(): readonly AgentStatus[] {
    return this.standings.map(([, status]) => status)
  }

  /** What was done by this process, whatever its shares had done before. */
  get done(): { readonly pages: number; readonly bytes: number } {
    for (const share of this.#hosted.keys()) {
      const status = this.#crew.statusOf(share)
      if (status !== null) this.#done.stands(share, status.totals)
    }
    return this.#done.work
  }

  /** What was given up for good is not, after all: the crawl has not ended. */
  goesOn(): void {
    this.#last.clear()
  }

  /** Those that were here when the crawl ended, in order. */
  get lastShares(): readonly number[] {
    return [...this.#last.keys()].sort((a, b) => a - b)
  }

  async standing(share: number): Promise<ShareStanding> {
    const log = await ShareLog.open(this.#parts.engine, share)
    const standing = await log.standing()
    this.#seen.set(share, standing)
    const { epoch, holder, released, at } = standing
    return { epoch, holder, released, last: at }
  }

  take(share: number, seen: ShareStanding, holder: ShareHolder): Promise<{ readonly epoch: number } | null> {
    return this.#moves(share, async () => {
      await this.#still.get(share)
      return this.#take(share, seen, holder)
    })
  }

  /** Does something to files of a share while no agent of it is here, nor on its way. False: one is. */
  async withoutAgent(share: number, work: () => Promise<void>): Promise<boolean> {
    if (this.#hosted.has(share) || this.#moving.has(share) || this.#still.has(share)) return false
    const done = work()
    this.#still.set(
      share,
      done.catch(() => {}),
    )
    try {
      await done
      return true
    } finally {
      this.#still.delete(share)
    }
  }

  async #moves<T>(share: number, move: () => Promise<T>): Promise<T> {
    this.#moving.set(share, (this.#moving.get(share) ?? 0) + 1)
    try {
      return await move()
    } finally {
      const left = (this.#moving.get(share) ?? 1) - 1
      if (left === 0) this.#moving.delete(share)
      else this.#moving.set(share, left)
    }
  }

  async #take(share: number, seen: ShareStanding, holder: ShareHolder): Promise<{ readonly epoch: number } | null> {
    const standing = this.#seen.get(share)
    if (standing === undefined || standing.at !== seen.last || standing.epoch !== seen.epoch) return null
    const { engine } = this.#parts
    // From here on the log may name us, also where we are not told.
    this.#tried.set(share, { holder, at: standing.at })
    const held = await (await ShareLog.open(engine, share)).begin(holder, standing)
    if (held === null) {
      this.#tried.delete(share)
      return null
    }
    const chair = share === 0 ? held.epoch : (await (await ShareLog.open(engine, 0)).standing()).epoch
    const hosted: Hosted = {
      held,
      chair,
      state: 'opening',
      status: null,
      isDrained: false,
      failures: 0,
      missing: 0,
      drained: () => {},
      ended: () => {},
      closed: () => {},
      renewing: null,
    }
    this.#last.delete(share)
    this.#hosted.set(share, hosted)
    try {
      await this.#open(share)
    } catch (fault) {
      this.#noteUnopenable(share, fault)
      // Tried again by whoever asked; the share is ours all the same.
      const isCutShort = hosted.state !== 'opening'
      await this.#forget(share)
      if (!isCutShort) this.#parts.onEvent({ kind: 'share-failed', share, why: messageOf(fault) })
      // A share that is broken wherever it is must not drive one node after the other away.
      if (isOfDisk(fault)) this.#parts.onBroken(fault)
      throw fault
    }
    this.#tried.delete(share)
    this.#warnOfTooMany(share)
    this.#parts.onEvent({ kind: 'share-taken', share, from: standing.holder?.node ?? null })
    return { epoch: held.epoch }
  }

  #warnOfTooMany(share: number): void {
    const { planned, onEvent } = this.#parts
    if (this.#isTooManyTold || this.#hosted.size <= planned) return
    this.#isTooManyTold = true
    const what = `this node has ${this.#hosted.size} shares and memory for ${planned}; give it more (--memory), or have others join`
    onEvent({ kind: 'agent-warning', agent: share, what })
  }

  async giveUp(share: number): Promise<void> {
    await this.#hosted.get(share)?.renewing
    const hosted = this.#hosted.get(share)
    if (hosted === undefined) return this.#releaseTried(share)
    if (hosted.state === 'open') await this.#stop(share, hosted)
    hosted.state = 'stopping'
    await this.#endThread(share, hosted)
    await lentAreBack(this.#parts.crew.dirOf(share))
    await this.#release(hosted.held)
    this.#hosted.delete(share)
    this.steering.tellSpeeds()
    if (this.#parts.isOver()) this.#last.set(share, hosted.status)
    const lending = hosted.status?.lending
    if (lending !== undefined) this.#parts.onEvent({ kind: 'turns-lent', share, ...lending })
    this.#parts.onEvent({ kind: 'share-released', share })
  }

  async #release(held: HeldShare): Promise<void> {
    const { engine } = this.#parts
    const { epoch, released } = await (await ShareLog.open(engine, held.share)).standing()
    // An earlier try whose answer was lost.
    if (epoch === held.epoch && released) return
    try {
      const log = await HeldLog.resume(engine, held)
      try {
        await log.release()
      } finally {
        log.close()
      }
    } catch (fault) {
      if (!isLost(fault)) throw fault
    }
  }

  /** A share that is not here, but may be begun in our name: others would wait for us to release it, for ever. */
  async #releaseTried(share: number): Promise<void> {
    const tried = this.#tried.get(share)
    if (tried === undefined) return
    await lentAreBack(this.#parts.crew.dirOf(share))
    const log = await ShareLog.open(this.#parts.engine, share)
    for (;;) {
      const standing = await log.standing()
      const { node, incarnation } = tried.holder
      const isOurs = standing.holder?.node === node && standing.holder.incarnation === incarnation
      // Something else stands where we wanted to begin: nothing of ours can come any more.
      if (!isOurs && standing.at !== tried.at) break
      const held = await log.begin(tried.holder, standing)
      if (held === null) continue
      await this.#release(held)
      break
    }
    this.#tried.delete(share)
  }

  /** Stops an agent in order and opens it anew, with the orders of now. False: not in this moment. */
  async renew(share: number): Promise<boolean> {
    const hosted = this.#hosted.get(share)
    if (hosted?.state !== 'open' || this.#parts.isFenced()) return false
    hosted.renewing = this.#renew(share, hosted).finally(() => (hosted.renewing = null))
    await hosted.renewing
    return true
  }

  async #renew(share: number, hosted: Hosted): Promise<void> {
    await this.#stop(share, hosted)
    await this.#endThread(share, hosted)
    if (this.#hosted.get(share) !== hosted) return
    hosted.state = 'silent'
    await this.#openAgain(share)
  }

  /** Every thread is ended, and with it every socket. */
  silence(): void {
    for (const [share, hosted] of this.#hosted) {
      // What is being given up has no more time to ask either; then its release is tried until the engine answers.
      if (hosted.state !== 'stopping') hosted.state = 'silent'
      void this.#endThread(share, hosted)
    }
  }

  /** The lease runs again: what is still ours goes on. */
  goOn(): void {
    for (const [share, hosted] of this.#hosted) if (hosted.state === 'silent') void this.#openAgain(share)
  }

  /** What is under way where shares are given up is cut. */
  cut(): void {
    for (const [share, { state }] of this.#hosted) {
      if (state === 'stopping') this.#crew.tell(share, { kind: 'stop', reason: 'interrupted' })
    }
  }

  async probe(share: number): Promise<{ standing: AgentStatus['standing']; ms: number }> {
    const round = ++this.#round
    const { standing, totals } = await new Promise<AgentStatus>((resolve, reject) => {
      this.#probes.get(share)?.reject()
      this.#probes.set(share, { round, resolve, reject: () => reject(new Error(`share ${share} does not answer`)) })
      this.#crew.tell(share, { kind: 'probe', round })
    })
    return { standing, ms: totals.ms }
  }

  grant(share: number, pages: number): void {
    this.#crew.tell(share, { kind: 'grant', pages })
  }

  recall(share: number): void {
    this.#crew.tell(share, { kind: 'recall' })
  }

  /** Ends everything where it stands. */
  async letGo(): Promise<void> {
    this.#timers.clear()
    await this.#crew.letGo()
  }

  async #open(share: number): Promise<void> {
    await this.#crew.open(share)
    const hosted = this.#hosted.get(share)
    if (hosted === undefined || hosted.state !== 'opening') throw new Error(`share ${share} is not wanted any more`)
    hosted.state = 'open'
    hosted.failures = 0
    this.steering.begin(share)
  }

  async #openAgain(share: number): Promise<void> {
    const hosted = this.#hosted.get(share)
    if (hosted?.state !== 'silent' || this.#parts.isFenced()) return
    hosted.state = 'opening'
    try {
      await this.#open(share)
    } catch (fault) {
      if (this.#hosted.get(share) !== hosted) return
      if (isLost(fault)) return this.#lose(share)
      this.#noteUnopenable(share, fault)
      // It is being given up, or is silent for another reason, which ends by itself.
      if (hosted.state !== 'opening') return
      if (!isWaitedOut(fault)) {
        hosted.failures++
        this.#parts.onEvent({ kind: 'share-failed', share, why: messageOf(fault) })
      }
      this.#fallSilent(share, hosted)
      if (isOfDisk(fault)) this.#parts.onBroken(fault)
    }
  }

  /** It is tried again in any case: then with what is meant then. */
  #noteUnopenable(share: number, fault: unknown): void {
    if (!(fault instanceof Fault) || fault.code !== 'CONFIG_INVALID') return
    this.#parts.onUnopenable?.(this.steering.startedWith(share), fault)
  }

  async #stop(share: number, hosted: Hosted): Promise<void> {
    hosted.state = 'stopping'
    const drained = new Promise<void>((resolve) => {
      hosted.drained = resolve
      if (hosted.isDrained) resolve()
    })
    const ended = new Promise<void>((resolve) => (hosted.ended = resolve))
    const closed = new Promise<void>((resolve) => {
      hosted.closed = (fault) => {
        if (fault !== null) this.#parts.onEvent({ kind: 'share-failed', share, why: fault.message })
        resolve()
      }
    })
    const giveIn = new Promise<void>((resolve) => this.#timers.after(`give in ${share}`, CUT_MS, resolve))
    this.#timers.after(`cut ${share}`, PATIENCE_MS, () =>
      this.#crew.tell(share, { kind: 'stop', reason: 'interrupted' }),
    )
    this.#crew.tell(share, { kind: 'stop', reason: 'interrupted' })
    await Promise.race([drained, giveIn])
    this.#crew.tell(share, { kind: 'finish' })
    await Promise.race([ended, giveIn])
    this.#timers.cancel(`cut ${share}`)
    this.#crew.tell(share, { kind: 'close' })
    await Promise.race([closed, giveIn])
    this.#timers.cancel(`give in ${share}`)
  }

  #hear(share: number, message: Exclude<FromAgent, { kind: 'opened' }>): void {
    const hosted = this.#hosted.get(share)
    switch (message.kind) {
      case 'status': {
        if (hosted !== undefined) this.#tellMissing(share, hosted, message.status.lending?.lost ?? 0)
        const probe = this.#probes.get(share)
        if (probe === undefined || message.round !== probe.round) return
        this.#probes.delete(share)
        return probe.resolve(message.status)
      }
      case 'short':
        return this.desk.short(share)
      case 'surrendered':
        return this.desk.surrendered(share, message.pages)
      case 'drained':
        if (hosted?.state === 'stopping') return hosted.drained()
        if (message.fault === null || hosted === undefined) return
        hosted.isDrained = true
        return this.#broke(share, message.fault)
      case 'ended':
        if (hosted?.state === 'stopping') return hosted.ended()
        if (message.fault !== null) this.#broke(share, message.fault)
        return
      case 'closed':
        return hosted?.closed(message.fault)
      case 'answer':
        return this.steering.answered(message)
      // Rounds of a cluster are the chair's, wherever that is.
      case 'idle':
        return
      case 'trace':
        return this.#parts.onEvent({ kind: 'trace', agent: share, url: message.url, step: message.step })
    }
  }

  /** `lost` is of the present thread: a new one counts from nought. */
  #tellMissing(share: number, hosted: Hosted, lost: number): void {
    if (lost > hosted.missing) this.#parts.onEvent({ kind: 'turns-missing', share, turns: lost - hosted.missing })
    hosted.missing = lost
  }

  #broke(share: number, plain: PlainFault): void {
    const hosted = this.#hosted.get(share)
    if (hosted === undefined || hosted.state === 'silent') return
    const fault = faultOf(plain)
    if (isLost(fault)) return this.#lose(share)
    if (isWaitedOut(fault)) return this.#fallSilent(share, hosted)
    if (isLasting(plain)) return this.#parts.onBroken(fault)
    this.#crew.kill(share, plain.message)
  }

  /** Its thread is gone and is not started again. */
  #left(share: number, fault: unknown): void {
    const hosted = this.#hosted.get(share)
    if (hosted === undefined || hosted.state === 'silent') return
    if (isLost(fault)) return this.#lose(share)
    if (hosted.state === 'stopping') return waitNoMore(hosted)
    this.#fallSilent(share, hosted)
    if (!isWaitedOut(fault)) this.#parts.onBroken(fault)
  }

  /** Another node has it. Told at once: until its thread is gone it may be wanted here again. */
  #lose(share: number): void {
    if (!this.#hosted.has(share)) return
    void this.#forget(share)
    this.#parts.onEvent({ kind: 'share-lost', share })
    this.#parts.onLost(share)
  }

  async #forget(share: number): Promise<void> {
    const hosted = this.#hosted.get(share)
    this.#hosted.delete(share)
    if (hosted !== undefined) await this.#endThread(share, hosted)
  }

  /** It is tried again in a moment, unless the node falls silent before. */
  #fallSilent(share: number, hosted: Hosted): void {
    hosted.state = 'silent'
    void this.#endThread(share, hosted)
    const inMs = Math.min(AGAIN_MS * 2 ** hosted.failures, AGAIN_MS_MAX)
    this.#timers.after(`again ${share}`, inMs, () => void this.#openAgain(share))
  }

  /** Resolves when it is gone; whoever waits for something of it waits no more. */
  async #endThread(share: number, hosted: Hosted): Promise<void> {
    hosted.status = this.#crew.statusOf(share) ?? hosted.status
    if (hosted.status !== null) this.#done.stands(share, hosted.status.totals)
    this.#done.gone(share)
    this.#threadEnded(share)
    waitNoMore(hosted)
    await this.#moves(share, () => this.#crew.end(share))
  }

  #threadEnded(share: number): void {
    this.desk.lost(share)
    this.steering.ended(share)
    this.#probes.get(share)?.reject()
    this.#probes.delete(share)
  }
}

function waitNoMore({ drained, ended, closed }: Hosted): void {
  drained()
  ended()
  closed(null)
}

function isOfDisk(fault: unknown): boolean {
  return OF_DISK.has((fault as { readonly code?: string | null }).code ?? '')
}

function isLost(fault: unknown): boolean {
  return (fault as { readonly code?: string | null }).code === 'SHARE_LOST'
}

function messageOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault)
}
