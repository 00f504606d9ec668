// A node's membership, run over an engine with real time: hears records and beats, does what the machine says, tells its owner
// what must be told at once. Everything that is decided is decided in membership.ts.

import { type Clock, type ClockMs, Fault } from '../base/index.ts'
import type { Engine, EngineRecord, Stop } from '../engine/index.ts'
import { changeRecord, type Changes } from './changes.ts'
import type { Lease } from './lease.ts'
import { type Effect, Membership, type MembershipSettings, type MemberPhase } from './membership.ts'
import { encodeRecord, RECORD_KINDS, decodeRecord, type View } from './records.ts'
import type { ShareReport, ShareStanding } from './share-desk.ts'
import type { LostNode, SpeedWish } from './wishes.ts'

/** What becomes of shares; their logs and agents are other rooms'. */
export interface ShareKeeper {
  /** What the log of the share says now. */
  standing(share: number): Promise<ShareStanding>
  /**
   * Begins the share at what was seen, makes its state here and has its agent run. Null: somebody was quicker. A failure is tried
   * again later; the share may then be begun already, in our name, without being held.
   */
  take(share: number, seen: ShareStanding, holder: ShareHolder): Promise<{ readonly epoch: number } | null>
  /** Its agent has stopped for good, everything is in the log, and the share released; or it is not ours any more. May take minutes. */
  giveUp(share: number): Promise<void>
}

export interface ShareHolder {
  readonly node: string
  readonly incarnation: string
}

/** Told at once, and expected to act at once. */
export interface MemberOwner {
  /** The lease is over: destroy the sockets. The state of the shares stays as it is. */
  fenced(): void
  /** The lease runs again: go on. */
  resumed(): void
  /** From now on the node is another incarnation; it holds nothing. */
  reborn(incarnation: string): void
  viewed(view: View): void
  /** Operators have asked for something. */
  wished?(): void
  /** The crawl is meant otherwise from now on. */
  changed?(): void
  /** The last word: refused (a fault), or gone in order. */
  out(how: WayOut): void
}

export type WayOut =
  | { readonly kind: 'left' | 'removed' }
  | { readonly kind: 'ended'; readonly reason: string }
  | { readonly kind: 'refused'; readonly fault: Fault }

export interface MemberOptions extends MembershipSettings {
  readonly engine: Engine
  readonly clock: Clock
  readonly lease: Lease
  readonly keeper: ShareKeeper
  readonly owner: MemberOwner
  /** Answers what is asked of this node by name, but for `membership`, which is answered here. */
  readonly answer: (question: Uint8Array) => Promise<Uint8Array>
  /** The engine does not answer one who begins: told once, and asked before each further try. True: it is waited for. */
  readonly waitsForEngine: () => boolean
}

export interface MemberReport {
  readonly node: string
  readonly incarnation: string
  readonly phase: MemberPhase
  readonly view: number
  readonly isFenced: boolean
  readonly leaseLeftMs: number
  readonly shares: readonly ShareReport[]
}

/** Between two tries of one who begins while the engine does not answer. */
const BEGIN_AGAIN_MS = 1_000

/** Subject of the messages that say: a share was released. Only a hint; whoever misses it looks a second later. */
const RELEASED = 'cluster.released'
export const NODE_SERVICE = 'node'
export const MEMBERSHIP_QUESTION = '{"ask":"membership"}'

export class ClusterMember {
  readonly #options: MemberOptions
  readonly #membership: Membership
  readonly #stops: Stop[] = []
  #cancelWake: () => void = () => undefined
  /** It hears everything: what it has not heard has not been said. */
  #hasBegun = false
  #isPumping = false
  #isOver = false
  #isServing = false
  #viewTold = 0
  #wishTold = 0
  #changeTold = 0

  /** Hears what is there already, then begins to take part. */
  static async start(options: MemberOptions): Promise<ClusterMember> {
    const member = new ClusterMember(options)
    try {
      await member.#listen()
    } catch (fault) {
      member.close()
      throw fault
    }
    member.#begin()
    return member
  }

  private constructor(options: MemberOptions) {
    this.#options = options
    this.#membership = new Membership(options, options.clock, options.lease)
  }

  get incarnation(): string {
    return this.#membership.incarnation
  }

  get view(): View {
    return this.#membership.view
  }

  /** Which run of the crawl this is: a wish to go on after an end begins the next. */
  get run(): number {
    return this.#membership.wishes.run
  }

  /** The crawl has ended or is to stop: what is given up now is given up for good. */
  get isOver(): boolean {
    return this.#membership.endReason() !== null || this.#membership.wishes.isStopping
  }

  /** What is other of the crawl than when it was set up, as far as we have heard. */
  get changes(): Changes {
    return this.#membership.changes
  }

  /** Nobody is to be asked for anything, as far as we have heard. */
  get isPaused(): boolean {
    return this.#membership.wishes.isPaused
  }

  /** Nodes that never come back, as far as we have heard. */
  get lostNodes(): readonly LostNode[] {
    return this.#membership.wishes.lost
  }

  /** How fast shares may go, as far as that was changed. */
  get speedWishes(): readonly SpeedWish[] {
    return this.#membership.wishes.speeds
  }

  /** Which node each share should be with. */
  targets(): readonly (string | null)[] {
    return this.#membership.targets()
  }

  report(): MemberReport {
    const { incarnation, phase, isFenced, shares, view } = this.#membership
    return {
      node: this.#options.node,
      incarnation,
      phase,
      view: view.number,
      isFenced,
      leaseLeftMs: Math.round(this.#options.lease.leftMs()),
      shares: shares.report(),
    }
  }

  /** Goes in order; `out` is told when it is done. */
  leave(): void {
    this.#membership.leave()
    this.#pump()
  }

  /** The crawl is at its end, for all, as it was meant by this change. */
  end(reason: string, change?: number): void {
    this.#membership.end(reason, change)
    this.#pump()
  }

  /** The number of the last change there is, read now; whatever was not heard of yet is heard of. */
  async lastChange(): Promise<number> {
    for (;;) {
      const { upTo } = this.#membership.changes
      const name = changeRecord(upTo + 1)
      const value = await this.#options.engine.records.get(name)
      if (value === null || this.#isOver) return upTo
      this.#guarded(() => this.#hear({ name, value }))
    }
  }

  /** An agent found that its share was begun by somebody else; it has stopped. */
  lost(share: number): void {
    this.#membership.shares.lost(share)
    this.#pump()
  }

  /** Ends it where it stands, as a crash would: nothing is given up. */
  close(): void {
    this.#isOver = true
    this.#options.lease.revoke()
    this.#cancelWake()
    for (const stop of this.#stops.splice(0)) stop()
  }

  async #listen(): Promise<void> {
    const { engine } = this.#options
    // Records before beats: whose beat it is must be known.
    for (const kind of RECORD_KINDS) {
      for (const record of await this.#patiently(() => engine.records.list(kind))) this.#hear(record)
    }
    for (const kind of RECORD_KINDS) {
      const watch = (): Promise<Stop> => engine.records.watch(kind, (record) => this.#guarded(() => this.#hear(record)))
      this.#stops.push(await this.#patiently(watch))
    }
    const hearBeats = (): Promise<Stop> =>
      engine.watchBeats((name, value, isPast) =>
        this.#guarded(() => {
          const [, incarnation = ''] = name.split('.')
          this.#membership.hearBeat(incarnation, beatNumber(value), isPast)
        }),
      )
    this.#stops.push(
      engine.onConnection((isConnected) => this.#guarded(() => this.#membership.hearConnection(isConnected))),
      engine.subscribe(RELEASED, (bytes) => this.#guarded(() => this.#membership.shares.hint(Number(textOf(bytes))))),
      await this.#patiently(hearBeats),
    )
  }

  /** Of one who has nothing yet, nobody waits for anything: an engine that is away for a while is no reason to give up. */
  async #patiently<T>(ask: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await ask()
      } catch (fault) {
        const isAway = fault instanceof Fault && fault.code === 'ENGINE_UNREACHABLE'
        if (!isAway || !this.#options.waitsForEngine()) throw fault
        const { clock } = this.#options
        await new Promise<void>((resolve) => {
          clock.callAt((clock.nowMs() + BEGIN_AGAIN_MS) as ClockMs, resolve)
        })
      }
    }
  }

  /** Hearing may have taken long: nobody is silent for longer than from now on. */
  #begin(): void {
    this.#hasBegun = true
    this.#membership.countAnew()
    this.#pump()
  }

  #hear(record: EngineRecord): void {
    const heard = decodeRecord(record)
    if (heard !== null) this.#membership.hear(heard)
  }

  /** What is heard changes the machine; then it says what to do. What cannot be read ends our part. */
  #guarded(change: () => void): void {
    if (this.#isOver) return
    try {
      change()
    } catch (error) {
      this.#fail(error)
      return
    }
    this.#pump()
  }

  #pump(): void {
    if (!this.#hasBegun || this.#isPumping || this.#isOver) return
    this.#isPumping = true
    try {
      let effects = this.#membership.step()
      while (effects.length > 0 && !this.#isOver) {
        for (const effect of effects) this.#do(effect)
        effects = this.#membership.step()
      }
    } catch (error) {
      // A name for the next life that cannot be written down: the disk is full.
      this.#fail(error)
    }
    this.#isPumping = false
    if (this.#isOver) return
    this.#tell()
    this.#cancelWake()
    this.#cancelWake = this.#options.clock.callAt(this.#membership.wakeMs(), () => this.#pump())
  }

  #tell(): void {
    const { view, phase, wishes, changes } = this.#membership
    if (changes.upTo !== this.#changeTold) {
      this.#changeTold = changes.upTo
      this.#options.owner.changed?.()
    }
    if (wishes.upTo !== this.#wishTold) {
      this.#wishTold = wishes.upTo
      this.#options.owner.wished?.()
    }
    if (view.number !== this.#viewTold) {
      this.#viewTold = view.number
      this.#options.owner.viewed(view)
    }
    if (phase === 'member' && !this.#isServing) {
      this.#isServing = true
      this.#serve().catch(() => {
        // The engine is away; tried again when something happens.
        this.#isServing = false
      })
    }
  }

  async #serve(): Promise<void> {
    const { engine, node, version, answer } = this.#options
    const stop = await engine.serve({ kind: NODE_SERVICE, name: node, version }, async (question) =>
      textOf(question) === MEMBERSHIP_QUESTION ? encodeRecord(this.report()) : answer(question),
    )
    if (this.#isOver) stop()
    else this.#stops.push(stop)
  }

  #do(effect: Effect): void {
    const { owner, keeper, node } = this.#options
    const machine = this.#membership
    switch (effect.kind) {
      case 'renew':
        return this.#ask(this.#renew(effect, machine.incarnation), () => machine.renewalFailed())
      case 'ask':
        return this.#ask(this.#askAbout(effect), () => machine.askFailed(effect.incarnation))
      case 'create':
        return this.#ask(this.#create(effect.name, effect.value), () => machine.createFailed(effect.name))
      case 'look':
        return this.#run(
          keeper.standing(effect.share).then((standing) => () => machine.shares.looked(effect.share, standing)),
          () => machine.shares.lookFailed(effect.share, this.#options.clock.nowMs()),
        )
      case 'inspect':
        return this.#run(
          keeper.standing(effect.share).then((standing) => () => machine.inspected(standing)),
          () => machine.inspectionFailed(),
        )
      case 'take': {
        const holder = { node, incarnation: machine.incarnation }
        return this.#run(
          keeper.take(effect.share, effect.seen, holder).then((taken) => () => {
            if (taken === null) machine.shares.lost(effect.share)
            else machine.shares.taken(effect.share, taken.epoch)
          }),
          () => machine.shares.takeFailed(effect.share, this.#options.clock.nowMs()),
        )
      }
      case 'give-up':
        return this.#run(
          keeper.giveUp(effect.share).then(() => () => {
            machine.shares.givenUp(effect.share)
            this.#options.engine.publish(RELEASED, new TextEncoder().encode(String(effect.share)))
          }),
          () => machine.shares.giveUpFailed(effect.share, this.#options.clock.nowMs()),
        )
      case 'fenced':
        return owner.fenced()
      case 'resumed':
        return owner.resumed()
      case 'reborn':
        return owner.reborn(effect.incarnation)
      case 'refused':
        return this.#goOut({ kind: 'refused', fault: new Fault('CLUSTER_REFUSED', effect.why) })
      case 'out':
        return this.#goOut(
          effect.because === 'ended' ? { kind: 'ended', reason: effect.reason ?? '' } : { kind: effect.because },
        )
    }
  }

  /** Something that takes time: then what it comes to is told to the machine. A failure is tried again later. */
  #run(work: Promise<() => void>, failed: () => void): void {
    work.then(
      (done) => this.#guarded(done),
      () => this.#guarded(failed),
    )
  }

  /** The same with the engine; but what is there and cannot be read ends our part. */
  #ask(work: Promise<() => void>, failed: () => void): void {
    work.then(
      (done) => this.#guarded(done),
      (error: unknown) => {
        if (error instanceof Fault && error.code === 'ENGINE_UNREACHABLE') this.#guarded(failed)
        else this.#fail(error)
      },
    )
  }

  /** A beat; and when it is stored, whether there is a newer view. In this order: rule 1 of membership.ts. */
  async #renew(effect: Effect & { kind: 'renew' }, incarnation: string): Promise<() => void> {
    const { engine, leaseMs, node } = this.#options
    const facts = `${effect.number} ${this.#membership.view.number} ${Math.round(effect.sent.wallMs)}`
    await engine.beat(`${node}.${incarnation}`, new TextEncoder().encode(facts), leaseMs / 3)
    await this.#readViews()
    return () => this.#membership.renewed(effect.sent, incarnation)
  }

  async #askAbout(effect: Effect & { kind: 'ask' }): Promise<() => void> {
    const { node, incarnation, askedMs } = effect
    const value = await this.#options.engine.lastBeat(`${node}.${incarnation}`)
    return () => this.#membership.answered(incarnation, value === null ? 0 : beatNumber(value), askedMs)
  }

  async #readViews(): Promise<void> {
    for (;;) {
      const name = `view.${this.#membership.view.number + 1}`
      const value = await this.#options.engine.records.get(name)
      if (value === null || this.#isOver) break
      this.#hear({ name, value })
    }
    // The watch of wishes may lag behind.
    while (this.#membership.wishesMissing && !this.#isOver) {
      const name = `wish.${this.#membership.wishes.upTo + 1}`
      const value = await this.#options.engine.records.get(name)
      if (value === null) return
      this.#hear({ name, value })
    }
  }

  /** Whoever created it: it is there now, and heard of before anything else is done. */
  async #create(name: string, value: Uint8Array): Promise<() => void> {
    const { records } = this.#options.engine
    const found = (await records.create(name, value)) === 'created' ? value : await records.get(name)
    return () => {
      if (found !== null) this.#hear({ name, value: found })
      this.#membership.created(name)
    }
  }

  #fail(error: unknown): void {
    const fault = error instanceof Fault ? error : new Fault('ASSERTION', 'the membership of this node broke', error)
    this.#goOut({ kind: 'refused', fault })
  }

  #goOut(how: WayOut): void {
    if (this.#isOver) return
    this.close()
    this.#options.owner.out(how)
  }
}

/** A beat says: its number, the view its sender knows, the sender's wall clock. */
function beatNumber(value: Uint8Array): number {
  return Number.parseInt(textOf(value), 10)
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}
