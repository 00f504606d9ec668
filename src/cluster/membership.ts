// One node's part in a cluster, as a machine: what it hears goes in, what it should do comes out. No timers, no engine, no threads.
//
//   checking ──▶ joining ──▶ member ──▶ out
//      ▲   ╲                   │
//      │    ▶ refused          │ a view without us: we were taken for dead
//      ╰────────── lapsed ◀────╯ (nothing may be done any more; what we hold is given up, then we join as another incarnation)
//
// Why two nodes never act on one share at once, whatever is slow, lost, asleep or wrong about the time:
//
//   1. A node acts only while its lease is valid. A lease runs from the *sending* of a beat which was stored, and after whose
//      storing there was no view yet that is newer than the last one known, of which the node is a member. So every lease that
//      runs was renewed by a beat sent before any view without the node existed: it ends at most `lease` after that view was made.
//   2. A share is begun over the head of its holder only when the holder is in no view any more, and either
//        a. `lease + margin` have passed on our clock since we learnt of the view without it; or
//        b. we have asked the engine, after we learnt of that view, for the holder's last beat, and `lease + margin` have passed on
//           our clock since we first saw that beat.
//      Otherwise it is waited for: until it has released the share, or until it is in no view.
//   3. The margin covers clocks of different speed. (Where even that is wrong, the log of the share still has one owner only.)
//
// A takeover after a crash takes lease + margin and a little: rule b. Rule a is for holders of whose beats nothing is known.

import type { Clock, ClockMs } from '../base/index.ts'
import { Changes } from './changes.ts'
import type { Lease } from './lease.ts'
import { encodeRecord, type End, type Heard, type Join, runName, type View } from './records.ts'
import { MEMBERS_MAX, Roster } from './roster.ts'
import { ShareDesk, type ShareEffect, type ShareStanding } from './share-desk.ts'
import { Sightings } from './sightings.ts'
import { Wishes } from './wishes.ts'

/** Which node should have each share; null: nobody. Must depend on nothing but what it is given. */
export type PlaceShares = (
  shares: number,
  nodes: readonly { readonly name: string; readonly weight: number }[],
) => readonly (string | null)[]

export interface MembershipSettings {
  readonly node: string
  readonly weight: number
  readonly version: string
  /** Where it runs, for people. */
  readonly host: string
  readonly shares: number
  readonly leaseMs: number
  readonly marginMs: number
  readonly place: PlaceShares
  /** A name that no incarnation ever had. */
  readonly newIncarnation: () => string
  /** Incarnations of this node that surely run no more, because we hold the lock of their directory. */
  readonly knownDead: readonly string[]
  readonly takesAtOnceMax: number
  readonly givesAtOnceMax: number
}

export type Effect =
  | ShareEffect
  /** Send a beat with these facts; when it is stored, read the views that follow the last one; then call renewed(). */
  | { readonly kind: 'renew'; readonly number: number; readonly sent: Sent }
  /** Ask for the last beat of this one; then call answered(). */
  | { readonly kind: 'ask'; readonly node: string; readonly incarnation: string; readonly askedMs: ClockMs }
  | { readonly kind: 'create'; readonly name: string; readonly value: Uint8Array }
  /** Look at a share that we do not want, to know whether all are at rest. */
  | { readonly kind: 'inspect'; readonly share: number }
  /** The lease is over: nothing may be asked of any site until `resumed`. */
  | { readonly kind: 'fenced' }
  | { readonly kind: 'resumed' }
  /** We are another incarnation from now on. */
  | { readonly kind: 'reborn'; readonly incarnation: string }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'out'; readonly because: WayOut; readonly reason: string | null }

export interface Sent {
  readonly ms: ClockMs
  readonly wallMs: number
}

export type MemberPhase = 'checking' | 'joining' | 'member' | 'lapsed' | 'refused' | 'out'

type WayOut = 'left' | 'removed' | 'ended'

/** Beats in a lease. Four may be lost. */
const BEATS_A_LEASE = 5
/** While none is acknowledged they go twice as often: an engine that comes back is noticed early. */
const BEATS_A_LEASE_IN_TROUBLE = 10
export const RENEWALS_IN_FLIGHT_MAX = 4
/** Own incarnations of this process that are over. */
const FORMER_MAX = 1_024

export class Membership {
  readonly #settings: MembershipSettings
  readonly #clock: Clock
  readonly #lease: Lease
  readonly #roster = new Roster()
  readonly #wishes = new Wishes()
  readonly #changes = new Changes()
  readonly #sightings: Sightings
  readonly #desk: ShareDesk
  /** Those that may still be the end. */
  #ends: readonly End[] = []
  readonly #former: Set<string>
  #effects: Effect[] = []
  #phase: MemberPhase = 'checking'
  #incarnation: string
  #isConnected = true
  #isFenced = true
  /** Asked to go, by our own process or by an operator. Stays, also over a rebirth. */
  #wayOut: 'left' | 'removed' | null = null
  #isFirstLife = true
  /** We came after a stop: the crawl is meant to go on. */
  #goesOn = false
  /** A beat is worth sending before its time: we have just begun, or were just admitted. */
  #isBeatUrgent = true
  #renewalsInFlight = 0
  #lastRenewalMs = -Infinity
  #isTroubled = false
  readonly #creating = new Set<string>()
  #mayCreateAtMs = 0
  #proposal: { view: number; because: string; sinceMs: number } | null = null
  #targets: { view: number; owners: readonly (string | null)[] } = { view: -1, owners: [] }
  #rival = { incarnation: '', beats: 0 }
  #beats = 0
  /** A beat of this life was stored: others can see that we live. */
  #isSeen = false
  /** Of whom we have to know whether they were silent, and until when that must be proven. */
  readonly #doubts = new Map<string, { node: string; neededMs: number }>()
  /** Questions under way, one for each. */
  readonly #asked = new Set<string>()
  #mayAskAtMs = 0
  /** Holders that are in no view we know of, and since when we know of them. */
  readonly #strangers = new Map<number, { incarnation: string; sinceMs: number }>()
  /** Of which run we have to say that it ended, and why, until it is said. */
  #verdict: { readonly run: number; readonly change: number; readonly reason: string } | null = null
  #inspection = { share: 0, isUnderWay: false, atMs: 0 }

  constructor(settings: MembershipSettings, clock: Clock, lease: Lease) {
    this.#settings = settings
    this.#clock = clock
    this.#lease = lease
    this.#incarnation = settings.newIncarnation()
    this.#former = new Set(settings.knownDead)
    this.#sightings = new Sightings(clock.nowMs())
    this.#desk = new ShareDesk({
      shares: settings.shares,
      pollMs: settings.leaseMs / 15,
      backOffMsMax: settings.leaseMs,
      takesAtOnceMax: settings.takesAtOnceMax,
      givesAtOnceMax: settings.givesAtOnceMax,
    })
  }

  get phase(): MemberPhase {
    return this.#phase
  }

  get incarnation(): string {
    return this.#incarnation
  }

  get view(): View {
    return this.#roster.view
  }

  get wishes(): Wishes {
    return this.#wishes
  }

  get changes(): Changes {
    return this.#changes
  }

  /** The last view was made by somebody who knew more wishes than we do. */
  get wishesMissing(): boolean {
    return this.#wishes.upTo < this.#roster.view.wishesUpTo
  }

  get isFenced(): boolean {
    return this.#isFenced
  }

  get shares(): ShareDesk {
    return this.#desk
  }

  /** Which node each share should be with, by the last view. */
  targets(): readonly (string | null)[] {
    const { view } = this.#roster
    if (this.#targets.view !== view.number) {
      const nodes = view.members.map(({ node, weight, isDraining, isLeaving }) => ({
        name: node,
        weight: isDraining || isLeaving ? 0 : weight,
      }))
      this.#targets = { view: view.number, owners: this.#settings.place(this.#settings.shares, nodes) }
    }
    return this.#targets.owners
  }

  /** Why the present run ended, as it is meant now; null while it has not. */
  endReason(): string | null {
    return this.#ends.find((end) => this.#isOfNow(end))?.reason ?? null
  }

  #isOfNow({ run, change }: Pick<End, 'run' | 'change'>): boolean {
    return run === this.#wishes.run && change === this.#changes.upTo
  }

  // What is heard.

  hear(heard: Heard): void {
    switch (heard.kind) {
      case 'join':
        return this.#roster.hearJoin(heard.join)
      case 'leave':
        return this.#roster.hearLeave(heard.incarnation)
      case 'wish':
        return void this.#wishes.add(heard.number, heard.wish)
      case 'view':
        return this.#hearView(heard.view)
      case 'change':
        return void this.#changes.add(heard.number, heard.change)
      case 'end':
        this.#ends = [...this.#ends, heard.end].filter(
          ({ run, change }) => run >= this.#wishes.run && change >= this.#changes.upTo,
        )
    }
  }

  #hearView(view: View): void {
    const nowMs = this.#clock.nowMs()
    if (!this.#roster.hearView(view, nowMs)) return
    for (const { incarnation } of view.members) this.#sightings.expect(incarnation, nowMs)
    this.#proposal = null
    this.#desk.hintAll()
    const isMember = this.#roster.member(this.#incarnation) !== null
    if (this.#phase === 'joining' && isMember) {
      this.#phase = 'member'
      this.#isBeatUrgent = true
    } else if (this.#phase === 'member' && !isMember) {
      // At once: whoever made this view, or learns of it, counts from its making.
      this.#lease.revoke()
      this.#phase = 'lapsed'
    }
  }

  hearBeat(incarnation: string, number: number, isPast: boolean): void {
    const nowMs = this.#clock.nowMs()
    if (incarnation === this.#incarnation) return
    this.#sightings.hear(incarnation, number, isPast, nowMs)
    if (isPast || this.#former.has(incarnation)) return
    if (this.#phase !== 'checking' && this.#phase !== 'joining') return
    // Is somebody alive who has our name?
    const isRival =
      this.#roster.ofNode(this.#settings.node)?.incarnation === incarnation ||
      (this.#phase === 'checking' && this.#roster.pendingOf(this.#settings.node)[0]?.incarnation === incarnation)
    if (!isRival) return
    // One beat may be what we missed while we were cut off; the second is sent by somebody who lives.
    if (this.#rival.incarnation !== incarnation) this.#rival = { incarnation, beats: 0 }
    if (++this.#rival.beats < 2) return
    const join = this.#roster.join(incarnation)
    const where = join === null ? '' : `, since ${join.at} on ${join.host}`
    this.#refuse(
      `a node named ${this.#settings.node} takes part already (incarnation ${incarnation}${where}); give this one another name`,
    )
  }

  hearConnection(isConnected: boolean): void {
    this.#isConnected = isConnected
    if (isConnected) this.countAnew()
  }

  /** The silence of others counts from here. */
  countAnew(): void {
    this.#sightings.reconnected(this.#clock.nowMs())
  }

  /** The beat was stored, and *then* no view was there of which hear() was not told. */
  renewed(sent: Sent, incarnation: string): void {
    this.#renewalsInFlight--
    this.#isTroubled = false
    if (incarnation === this.#incarnation) this.#isSeen = true
    if (this.#phase !== 'member' || incarnation !== this.#incarnation) return
    this.#lease.renew(sent.ms, sent.wallMs, this.#settings.leaseMs)
  }

  renewalFailed(): void {
    this.#renewalsInFlight--
    this.#isTroubled = true
  }

  /** The number of the last beat that the engine has of it; 0: it has none. */
  answered(incarnation: string, number: number, askedMs: ClockMs): void {
    this.#asked.delete(incarnation)
    this.#sightings.answered(incarnation, number, askedMs, this.#clock.nowMs())
    this.#desk.hintAll()
  }

  askFailed(incarnation: string): void {
    this.#asked.delete(incarnation)
    this.#mayAskAtMs = this.#clock.nowMs() + this.#settings.leaseMs / 30
  }

  /** A record is there, ours or somebody else's; whoever asked has told us of it by hear(). */
  created(name: string): void {
    this.#creating.delete(name)
  }

  createFailed(name: string): void {
    this.#creating.delete(name)
    this.#mayCreateAtMs = this.#clock.nowMs() + this.#settings.leaseMs / 30
  }

  inspected(standing: ShareStanding): void {
    const { holder, released } = standing
    const isAtRest = holder === null || released || this.#roster.member(holder.incarnation) === null
    const share = isAtRest ? this.#inspection.share + 1 : this.#inspection.share
    const isComplete = share === this.#settings.shares
    const laterMs = this.#clock.nowMs() + this.#settings.leaseMs / 15
    this.#inspection = { share: isComplete ? 0 : share, isUnderWay: false, atMs: isAtRest && !isComplete ? 0 : laterMs }
    if (isComplete && this.#wishes.isStopping) this.end('stop')
  }

  inspectionFailed(): void {
    this.#inspection = { share: 0, isUnderWay: false, atMs: this.#clock.nowMs() + this.#settings.leaseMs / 15 }
  }

  // What is asked for from inside.

  /** To go in order: everything is given up, then we are in no view. */
  leave(): void {
    if (this.#phase === 'checking' || this.#phase === 'refused') return this.#goOut('left')
    this.#wayOut ??= 'left'
  }

  /** The crawl has come to its end under a change; the chair says so, once: it is said to the others until it is heard. */
  end(reason: string, change = this.#changes.upTo): void {
    if (this.endReason() === null) this.#verdict = { run: this.#wishes.run, change, reason }
  }

  #sayEnd(): void {
    if (this.#verdict === null) return
    const { run, change, reason } = this.#verdict
    // Whoever was taken for dead has no say any more.
    const isVoid = !this.#isOfNow(this.#verdict) || this.endReason() !== null
    if (this.#phase !== 'member' || isVoid) this.#verdict = null
    else if (!this.#isFenced) this.#create(`end.${runName(run, change)}`, { reason, ...this.#signature() })
  }

  // What follows from it.

  /** Brings everything up to the present moment. What comes back is to be done, in this order. */
  step(): Effect[] {
    if (this.#phase !== 'refused' && this.#phase !== 'out') {
      this.#fence()
      if (this.#phase === 'checking') this.#check()
      if (this.#phase === 'joining') this.#join()
      if (this.#phase === 'lapsed') this.#beReborn()
      this.#propose()
      this.#sayEnd()
      this.#moveShares()
      this.#finish()
      this.#askAbout()
      this.#renew()
    }
    const effects = this.#effects
    this.#effects = []
    return effects
  }

  /** When step() has to be called again though nothing is heard. */
  wakeMs(): ClockMs {
    const nowMs = this.#clock.nowMs()
    let atMs = nowMs + this.#settings.leaseMs / 30
    const leftMs = this.#lease.leftMs()
    if (leftMs > 0) atMs = Math.min(atMs, nowMs + leftMs)
    if (this.#proposal !== null) atMs = Math.min(atMs, Math.max(nowMs + 1, this.#proposalDueMs(this.#proposal.sinceMs)))
    return atMs as ClockMs
  }

  #fence(): void {
    const isFenced = !this.#lease.isValid()
    if (isFenced === this.#isFenced) return
    this.#isFenced = isFenced
    this.#effects.push({ kind: isFenced ? 'fenced' : 'resumed' })
  }

  /** Is our name free? */
  #check(): void {
    const { node } = this.#settings
    const rivals = [this.#roster.ofNode(node), ...this.#roster.pendingOf(node)]
      .filter((rival) => rival !== null)
      .map(({ incarnation }) => incarnation)
      .filter((incarnation) => !this.#former.has(incarnation))
    if (!this.#isSeen) return
    // Those who wait have nothing yet, and are seen to be alive if they are. Whoever is in the view is waited out.
    const isFree = rivals.every((rival) =>
      this.#roster.isWaiting(rival) ? !this.#isAlive(rival) : this.#isDead(rival),
    )
    if (!isFree) return
    if (this.#roster.view.members.length >= MEMBERS_MAX && this.#roster.ofNode(node) === null) {
      return this.#refuse(`the cluster has ${MEMBERS_MAX} nodes already; remove one first`)
    }
    this.#goesOn = this.#isFirstLife && this.#wishes.isStopping
    this.#phase = 'joining'
  }

  #join(): void {
    const { node, weight, version, host } = this.#settings
    const rival = this.#roster.ofNode(node)
    if (!this.#roster.isWaiting(this.#incarnation)) {
      const replaces = [...this.#former].filter(
        (former) => former === rival?.incarnation || this.#roster.isWaiting(former),
      )
      if (rival !== null && !this.#former.has(rival.incarnation)) replaces.push(rival.incarnation)
      const join: Omit<Join, 'node' | 'incarnation'> = {
        weight,
        version,
        host,
        at: this.#at(),
        replaces,
        wishesUpTo: this.#wishes.upTo,
      }
      return this.#create(`join.${node}.${this.#incarnation}`, join)
    }
    const { replaces = [] } = this.#roster.join(this.#incarnation) ?? {}
    // Somebody with our name was admitted before us. Its sign of life refuses us; its silence lets us begin again.
    if (rival !== null && !replaces.includes(rival.incarnation) && this.#isDead(rival.incarnation)) this.#beReborn()
    else if (this.#goesOn && this.#wishes.isStopping) this.#wishToGoOn()
  }

  #wishToGoOn(): void {
    const wish = { kind: 'go', node: null, by: this.#settings.node, at: this.#at() }
    this.#create(`wish.${this.#wishes.upTo + 1}`, wish)
  }

  /** Everything we had is given up: we may come back as another one. */
  #beReborn(): void {
    if (!this.#desk.isEmpty) return
    if (this.endReason() !== null) return this.#goOut('ended')
    if (this.#wayOut !== null) return this.#goOut(this.#wayOut)
    this.#isFirstLife = false
    this.#isBeatUrgent = true
    this.#isSeen = false
    this.#former.add(this.#incarnation)
    const [oldest] = this.#former
    if (this.#former.size > FORMER_MAX && oldest !== undefined) this.#former.delete(oldest)
    this.#incarnation = this.#settings.newIncarnation()
    this.#phase = 'checking'
    this.#effects.push({ kind: 'reborn', incarnation: this.#incarnation })
  }

  /** Creates the next view where the last one is not right any more. */
  #propose(): void {
    const isActive = this.#phase === 'member' ? !this.#isFenced : this.#phase === 'joining'
    if (!isActive || !this.#isConnected || !this.#isSeen) return
    // Whoever made the last view knew of wishes that we have not heard of yet: we would undo them.
    if (this.wishesMissing) return
    const leaver = this.#isDone() ? this.#incarnation : null
    const next = this.#roster.next(
      this.#wishes,
      { isDead: (incarnation) => this.#isDead(incarnation), isAlive: (incarnation) => this.#isAlive(incarnation) },
      leaver,
    )
    if (next === null) {
      this.#proposal = null
      return
    }
    const nowMs = this.#clock.nowMs()
    const number = this.#roster.view.number + 1
    if (this.#proposal?.view !== number) this.#proposal = { view: number, because: next.because, sinceMs: nowMs }
    if (leaver === null && nowMs < this.#proposalDueMs(this.#proposal.sinceMs)) return
    this.#create(`view.${number}`, { ...next, wishesUpTo: this.#wishes.upTo, ...this.#signature() })
  }

  /** The first who lives proposes at once, the others give it time: one view is made, not as many as there are members. */
  #proposalDueMs(sinceMs: number): number {
    const { members } = this.#roster.view
    const alive = members.filter(({ incarnation }) => incarnation === this.#incarnation || !this.#isDead(incarnation))
    const found = alive.findIndex(({ incarnation }) => incarnation === this.#incarnation)
    const place = found === -1 ? alive.length : found
    return sinceMs + Math.min((place * this.#settings.leaseMs) / 60, this.#settings.leaseMs / BEATS_A_LEASE)
  }

  #moveShares(): void {
    const isOver = this.#wishes.isStopping || this.endReason() !== null
    const isLapsed = this.#phase === 'lapsed'
    // Fenced, nothing is moved: the engine does not answer, and when it does we may go on with what we have.
    if (this.#isFenced && !isLapsed) return
    const targets = this.targets()
    const isWanted = (share: number): boolean => !isOver && !isLapsed && targets[share] === this.#settings.node
    const me = this.#roster.member(this.#incarnation)
    const isHurried = isOver || isLapsed || me === null || me.isLeaving
    this.#effects.push(
      ...this.#desk.step(isWanted, (standing, share) => this.#mayTake(standing, share), this.#clock.nowMs(), isHurried),
    )
  }

  /** Rule 2. */
  #mayTake(standing: ShareStanding, share: number): true | string {
    const { holder } = standing
    if (holder === null || standing.released) return true
    const { incarnation, node } = holder
    if (incarnation === this.#incarnation || this.#former.has(incarnation)) return true
    if (this.#roster.member(incarnation) !== null) return `${node} has not released it yet`
    const absentMs = this.#roster.departedMs(incarnation) ?? this.#strangerMs(share, incarnation)
    const nowMs = this.#clock.nowMs()
    const waitMs = this.#settings.leaseMs + this.#settings.marginMs
    if (nowMs >= absentMs + waitMs) return true
    const neededMs = Math.max(absentMs, this.#sightings.lastSeenMs(incarnation) + waitMs)
    if (this.#sightings.provenMs(incarnation) >= neededMs) return true
    this.#doubt(node, incarnation, neededMs)
    return `${node} is dead or cut off, and may act for some time yet`
  }

  /** The holder is in no view that we know: it is in one that we have yet to hear of, or was forgotten. */
  #strangerMs(share: number, incarnation: string): number {
    const known = this.#strangers.get(share)
    if (known?.incarnation === incarnation) return known.sinceMs
    const sinceMs = this.#clock.nowMs()
    this.#strangers.set(share, { incarnation, sinceMs })
    return sinceMs
  }

  /** We are done here: nothing held, and no reason to stay. */
  #isDone(): boolean {
    return this.#phase === 'member' && this.#desk.isEmpty && (this.#isLeaving() || this.endReason() !== null)
  }

  #isLeaving(): boolean {
    return this.#roster.member(this.#incarnation)?.isLeaving === true
  }

  #finish(): void {
    if (this.#phase === 'member' && this.#isLeaving()) this.#wayOut ??= 'removed'
    if (this.#phase === 'joining') {
      if (this.#wayOut !== null) return this.#goOut(this.#wayOut)
      // Removed before it was admitted.
      const join = this.#roster.join(this.#incarnation)
      if (join !== null && this.#wishes.of(join.node).removedBy > join.wishesUpTo) return this.#goOut('removed')
      if (this.endReason() !== null && !this.#wishes.isStopping) return this.#goOut('ended')
    }
    if (this.#phase !== 'member') return
    if (this.#wayOut !== null && !this.#isLeaving() && !this.#roster.hasLeft(this.#incarnation)) {
      this.#create(`leave.${this.#settings.node}.${this.#incarnation}`, this.#signature())
    }
    if (this.#wishes.isStopping && this.endReason() === null) this.#inspect()
  }

  /** After a wish to stop: the first member looks whether every share is at rest, and says so. */
  #inspect(): void {
    const isFirst = this.#roster.view.members[0]?.incarnation === this.#incarnation
    if (!isFirst || this.#isFenced || !this.#desk.isEmpty) return
    if (this.#inspection.isUnderWay || this.#clock.nowMs() < this.#inspection.atMs) return
    this.#inspection.isUnderWay = true
    this.#effects.push({ kind: 'inspect', share: this.#inspection.share })
  }

  #renew(): void {
    const nowMs = this.#clock.nowMs()
    const { leaseMs } = this.#settings
    // Nothing is to be heard any more of a life that is over.
    if (this.#phase === 'lapsed') return
    if (!this.#isConnected || this.#renewalsInFlight >= RENEWALS_IN_FLIGHT_MAX) return
    const everyMs = leaseMs / (this.#isTroubled ? BEATS_A_LEASE_IN_TROUBLE : BEATS_A_LEASE)
    const isDue = nowMs >= this.#lastRenewalMs + everyMs
    const isImpatient = this.#phase === 'member' && this.#isFenced && nowMs >= this.#lastRenewalMs + leaseMs / 30
    if (!isDue && !isImpatient && !this.#isBeatUrgent) return
    this.#isBeatUrgent = false
    this.#lastRenewalMs = nowMs
    this.#renewalsInFlight++
    this.#effects.push({
      kind: 'renew',
      number: ++this.#beats,
      sent: { ms: nowMs, wallMs: this.#clock.wallMs() },
    })
  }

  /** Whoever is silent for long enough is asked about. */
  #askAbout(): void {
    const nowMs = this.#clock.nowMs()
    const waitMs = this.#settings.leaseMs + this.#settings.marginMs
    for (const { node, incarnation } of this.#roster.view.members) {
      if (incarnation === this.#incarnation) continue
      const neededMs = this.#sightings.lastSeenMs(incarnation) + waitMs
      if (nowMs >= neededMs && this.#sightings.provenMs(incarnation) < neededMs)
        this.#doubt(node, incarnation, neededMs)
    }
    for (const [incarnation, { node, neededMs }] of this.#doubts) {
      if (nowMs < neededMs) continue
      this.#doubts.delete(incarnation)
      if (!this.#isConnected || this.#asked.has(incarnation) || nowMs < this.#mayAskAtMs) continue
      this.#asked.add(incarnation)
      this.#effects.push({ kind: 'ask', node, incarnation, askedMs: nowMs })
    }
  }

  /** At most one for each member and for the holder of each share: who is no longer in doubt is not asked about again. */
  #doubt(node: string, incarnation: string, neededMs: number): void {
    this.#doubts.set(incarnation, { node, neededMs })
  }

  /** Nothing was heard of it for lease and margin, and we are sure that we missed nothing. */
  #isDead(incarnation: string): boolean {
    if (incarnation === this.#incarnation) return false
    const waitMs = this.#settings.leaseMs + this.#settings.marginMs
    return this.#sightings.provenMs(incarnation) >= this.#sightings.lastSeenMs(incarnation) + waitMs
  }

  #isAlive(incarnation: string): boolean {
    if (incarnation === this.#incarnation) return true
    const waitMs = this.#settings.leaseMs + this.#settings.marginMs
    return (
      this.#sightings.isFresh(incarnation) && this.#clock.nowMs() < this.#sightings.lastSeenMs(incarnation) + waitMs
    )
  }

  #create(name: string, value: object): void {
    if (this.#creating.has(name) || this.#clock.nowMs() < this.#mayCreateAtMs) return
    this.#creating.add(name)
    this.#effects.push({ kind: 'create', name, value: encodeRecord(value) })
  }

  #refuse(why: string): void {
    this.#phase = 'refused'
    this.#lease.revoke()
    this.#effects.push({ kind: 'refused', why })
  }

  #goOut(because: WayOut): void {
    this.#phase = 'out'
    this.#lease.revoke()
    this.#effects.push({ kind: 'out', because, reason: this.endReason() })
  }

  #signature(): { by: string; at: string } {
    return { by: `${this.#settings.node}.${this.#incarnation}`, at: this.#at() }
  }

  #at(): string {
    return new Date(this.#clock.wallMs()).toISOString()
  }
}
