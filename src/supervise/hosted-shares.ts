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
// Always true: an agent runs only with a right to its share (`held`) that its log has confirmed; a share that is not here any more has no thread.

import { Fault } from '../base/index.ts'
import type { ShareHolder, ShareKeeper, ShareStanding } from '../cluster/index.ts'
import type { Engine } from '../engine/index.ts'
import { HeldLog, type HeldShare, ShareLog, type Standing } from '../replica/index.ts'
import { AgentCrew, type CrewPlan } from './agent-crew.ts'
import type { AgentStatus, FromAgent, PlainFault } from './agent-messages.ts'
import type { NodeEvent } from './node.ts'
import { faultOf } from './plain-fault.ts'
import { isLasting } from './restart-budget.ts'
import { type DeskAgents, ShareDesk } from './share-desk.ts'
import { Timers } from './timers.ts'

export interface HostedSharesParts {
  readonly engine: Engine
  /** All but what depends on a share. */
  readonly crew: Omit<CrewPlan, 'clusterOf'>
  readonly ordersOf: (held: HeldShare) => ReturnType<NonNullable<CrewPlan['clusterOf']>>
  readonly isFenced: () => boolean
  /** An agent found that another node has its share. */
  readonly onLost: (share: number) => void
  /** Nothing helps here: a full disk, a thread that cannot be ended, agents that break again and again. */
  readonly onBroken: (fault: unknown) => void
  readonly onEvent: (event: NodeEvent) => void
}

interface Hosted {
  readonly held: HeldShare
  /** The epoch of share 0 when this one had begun. */
  readonly chair: number
  state: 'opening' | 'open' | 'silent' | 'stopping'
  drained: () => void
  ended: () => void
  closed: (fault: PlainFault | null) => void
}

/** How long what is under way may take when a share is given up; then it is cut, and asked for again by whoever has it next. */
const PATIENCE_MS = 10_000
/** After that it is not waited for: what it has committed is what counts. */
const CUT_MS = 20_000
/** An agent that lost the engine before the node did is tried again. */
const AGAIN_MS = 1_000

export class HostedShares implements ShareKeeper, DeskAgents {
  readonly desk = new ShareDesk(this)
  readonly #parts: HostedSharesParts
  readonly #crew: AgentCrew
  readonly #hosted = new Map<number, Hosted>()
  readonly #seen = new Map<number, Standing>()
  /** Who we were when we tried to take a share. */
  readonly #tried = new Map<number, ShareHolder>()
  readonly #probes = new Map<number, { round: number; resolve: (status: AgentStatus) => void; reject: () => void }>()
  readonly #timers = new Timers()
  /** Shares that were here when they were given up for good: at the end of the crawl. */
  readonly #last = new Map<number, AgentStatus | null>()
  #round = 0
  #isOver = false

  constructor(parts: HostedSharesParts) {
    this.#parts = parts
    const { onEvent } = parts
    this.#crew = new AgentCrew(
      { ...parts.crew, clusterOf: (share) => parts.ordersOf((this.#hosted.get(share) as Hosted).held) },
      {
        phase: () => 'running',
        onMessage: (share, message) => this.#hear(share, message),
        onOpened: (share, opened) => {
          const hosted = this.#hosted.get(share)
          if (hosted === undefined) return
          const { held, chair } = hosted
          this.desk.opened(share, { epoch: held.epoch, pages: opened.status.totals.pages, chair })
          for (const what of opened.warnings) onEvent({ kind: 'agent-warning', agent: share, what })
        },
        onLost: (share) => this.#threadEnded(share),
        onAgain: (share, why, ms) => {
          onEvent({ kind: 'agent-restarted', agent: share, why, ms })
          this.#crew.tell(share, { kind: 'run' })
          if (this.#hosted.get(share)?.state === 'stopping')
            this.#crew.tell(share, { kind: 'stop', reason: 'interrupted' })
        },
        onLeft: (share, why, fault) => void this.#left(share, fault ?? new Error(why)),
        onStuck: (share, why, fault) => {
          onEvent({ kind: 'agent-stuck', agent: share, why })
          parts.onBroken(fault)
        },
      },
    )
    this.#crew.watch()
  }

  get restarts(): number {
    return this.#crew.restarts
  }

  /** Shares whose agents are here. */
  get shares(): readonly number[] {
    return [...this.#hosted.keys()].sort((a, b) => a - b)
  }

  /** What is known of the shares here, and of those that were here at the end. */
  get statuses(): readonly AgentStatus[] {
    return [...this.#last.values(), ...this.#crew.statuses].filter((status) => status !== null)
  }

  /** Those that were here when the crawl ended, in order. */
  get lastShares(): readonly number[] {
    return [...this.#last.keys()].sort((a, b) => a - b)
  }

  /** From now on what is given up is given up for good. */
  isEnding(): void {
    this.#isOver = true
  }

  async standing(share: number): Promise<ShareStanding> {
    const log = await ShareLog.open(this.#parts.engine, share)
    const standing = await log.standing()
    this.#seen.set(share, standing)
    const { epoch, holder, released, at } = standing
    return { epoch, holder, released, last: at }
  }

  async take(share: number, seen: ShareStanding, holder: ShareHolder): Promise<{ readonly epoch: number } | null> {
    const standing = this.#seen.get(share)
    if (standing === undefined || standing.at !== seen.last || standing.epoch !== seen.epoch) return null
    const { engine } = this.#parts
    // Its log may name us from here on, whatever becomes of the answer.
    this.#tried.set(share, holder)
    const held = await (await ShareLog.open(engine, share)).begin(holder, standing)
    if (held === null) return null
    const chair = share === 0 ? held.epoch : (await (await ShareLog.open(engine, 0)).standing()).epoch
    this.#hosted.set(share, {
      held,
      chair,
      state: 'opening',
      drained: () => {},
      ended: () => {},
      closed: () => {},
    })
    try {
      await this.#open(share)
    } catch (fault) {
      // Tried again by whoever asked; the share is ours all the same.
      await this.#forget(share)
      this.#parts.onEvent({ kind: 'share-failed', share, why: messageOf(fault) })
      if (isLasting(fault) && !isLost(fault)) this.#parts.onBroken(fault)
      throw fault
    }
    this.#parts.onEvent({ kind: 'share-taken', share, from: standing.holder?.node ?? null })
    return { epoch: held.epoch }
  }

  async giveUp(share: number): Promise<void> {
    const hosted = this.#hosted.get(share)
    if (hosted === undefined) return this.#releaseUnopened(share)
    if (hosted.state === 'open') await this.#stop(share, hosted)
    const status = this.#crew.statusOf(share)
    hosted.state = 'stopping'
    await this.#crew.end(share)
    // Whoever waits for its answer waits no more: the chair may be here.
    this.#threadEnded(share)
    await this.#release(hosted.held)
    this.#hosted.delete(share)
    this.#tried.delete(share)
    if (this.#isOver) this.#last.set(share, status)
    this.#parts.onEvent({ kind: 'share-released', share })
  }

  /** A try to take it failed in the middle: where its log names us, nobody else may begin it before we have released it. */
  async #releaseUnopened(share: number): Promise<void> {
    const holder = this.#tried.get(share)
    if (holder === undefined) return
    const log = await ShareLog.open(this.#parts.engine, share)
    const standing = await log.standing()
    const isOurs = standing.holder?.node === holder.node && standing.holder.incarnation === holder.incarnation
    const held = isOurs ? await log.begin(holder, standing) : null
    if (held !== null) await this.#release(held)
    this.#tried.delete(share)
    if (held !== null) this.#parts.onEvent({ kind: 'share-released', share })
  }

  async #release(held: HeldShare): Promise<void> {
    const { engine } = this.#parts
    // An answer to an earlier try may have been lost.
    const { epoch, released } = await (await ShareLog.open(engine, held.share)).standing()
    if (released && epoch === held.epoch) return
    try {
      const log = await HeldLog.resume(engine, held)
      await log.release()
      log.close()
    } catch (fault) {
      if (!isLost(fault)) throw fault
    }
  }

  /** Every thread is ended, and with it every socket. */
  silence(): void {
    for (const [share, hosted] of this.#hosted) {
      if (hosted.state === 'stopping') continue
      hosted.state = 'silent'
      this.#threadEnded(share)
      void this.#crew.end(share)
    }
  }

  /** The lease runs again: what is still ours goes on. */
  goOn(): void {
    for (const [share, hosted] of this.#hosted) if (hosted.state === 'silent') void this.#openAgain(share)
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
    this.#crew.tell(share, { kind: 'run' })
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
      if (hosted.state === 'opening') hosted.state = 'silent'
      await this.#crew.end(share)
      this.#timers.after(`again ${share}`, AGAIN_MS, () => void this.#openAgain(share))
    }
  }

  async #stop(share: number, hosted: Hosted): Promise<void> {
    hosted.state = 'stopping'
    const drained = new Promise<void>((resolve) => (hosted.drained = resolve))
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
        if (message.fault !== null) this.#broke(share, message.fault)
        return
      case 'ended':
        if (hosted?.state === 'stopping') return hosted.ended()
        if (message.fault !== null) this.#broke(share, message.fault)
        return
      case 'closed':
        return hosted?.closed(message.fault)
    }
  }

  #broke(share: number, plain: PlainFault): void {
    const hosted = this.#hosted.get(share)
    if (hosted === undefined || hosted.state === 'silent') return
    const fault = faultOf(plain)
    if (isLost(fault)) return void this.#lose(share)
    if (fault instanceof Fault && (fault.code === 'ENGINE_UNREACHABLE' || fault.code === 'NODE_FENCED')) {
      hosted.state = 'silent'
      this.#threadEnded(share)
      void this.#crew.end(share)
      this.#timers.after(`again ${share}`, AGAIN_MS, () => void this.#openAgain(share))
      return
    }
    if (isLasting(plain)) return this.#parts.onBroken(fault)
    this.#crew.kill(share, plain.message)
  }

  async #left(share: number, fault: unknown): Promise<void> {
    const hosted = this.#hosted.get(share)
    if (hosted === undefined || hosted.state === 'silent') return
    if (isLost(fault)) return this.#lose(share)
    hosted.drained()
    hosted.ended()
    hosted.closed(null)
    if (hosted.state !== 'stopping') this.#parts.onBroken(fault)
  }

  /** Another node has it. */
  async #lose(share: number): Promise<void> {
    if (!this.#hosted.has(share)) return
    await this.#forget(share)
    this.#parts.onEvent({ kind: 'share-lost', share })
    this.#parts.onLost(share)
  }

  async #forget(share: number): Promise<void> {
    const hosted = this.#hosted.get(share)
    this.#hosted.delete(share)
    this.#threadEnded(share)
    await this.#crew.end(share)
    hosted?.drained()
    hosted?.ended()
    hosted?.closed(null)
  }

  #threadEnded(share: number): void {
    this.desk.lost(share)
    this.#probes.get(share)?.reject()
    this.#probes.delete(share)
  }
}

function isLost(fault: unknown): boolean {
  return (fault as { readonly code?: string | null }).code === 'SHARE_LOST'
}

function messageOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault)
}
