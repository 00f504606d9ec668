// Lent turns in a world in which everything that can happen to machines and messages does, drawn from a seed: an owner with one giant
// host, agents that help it, and a server that looks whether it is ever asked for two things at once, or before its rest is over.
//
//   true time ──▶ events; each node has clocks of its own speed, and its events wait while it is frozen
//   messages      lost, late, there twice
//   mishaps       nodes freeze (their clocks run on), sleep (the monotonic one stands still), helpers die; the owner's agent dies and
//                 begins anew in its place, its node is cut off and the share is taken over, or it moves in order
//
// The owner's own requests and the lease are modelled; what is lent and borrowed is the real thing, or a mutant of it.

import { type Clock, type ClockMs, Random } from '../../src/base/index.ts'
import type { Address } from '../../src/dns/index.ts'
import type { BorrowedTurn, BorrowedTurns } from '../../src/exchange/borrowed-turns.ts'
import type { LendMessage, LentTurns } from '../../src/exchange/lent-turns.ts'
import type { LentAnswer } from '../../src/exchange/peer-message.ts'
import type { CanonicalUrl } from '../../src/url/index.ts'

/** The code that is looked at. */
export interface LendingRooms {
  readonly LentTurns: typeof LentTurns
  readonly BorrowedTurns: typeof BorrowedTurns
  readonly RENEWAL_MS: number
}

/** Ways in which what is modelled here can be wrong. */
export interface ModelMutation {
  /** It is looked whether the turn lasts before a connection is made, and not when the request is written. */
  readonly checksBeforeConnecting?: boolean
  /** An agent that begins anew in its place does not wait for what its former life may have lent. */
  readonly begunAtOnce?: boolean
  /** Turns are lent without regard to the lease. */
  readonly leaseIgnored?: boolean
  /** A share moves while turns are out. */
  readonly movesUnsettled?: boolean
}

export interface LendingWorld {
  readonly seed: string
  readonly helpers: number
  readonly urls: number
  readonly restMs: number
  readonly loss: number
  /** Of messages that come, so many come late: by seconds. */
  readonly late: number
  /** What happens, about how often a minute. */
  readonly mishaps: number
  /** Only helpers are hurt: then servers may be slow also where whoever asked is frozen. */
  readonly ownerIsSafe: boolean
  /** Some answers take longer than anybody waits; nobody is frozen then, for whoever is cannot hang up. */
  readonly hangs: boolean
}

export interface LendingRun {
  readonly violations: readonly string[]
  readonly lent: number
  readonly brought: number
  readonly byOwner: number
  readonly lost: number
  readonly cut: number
  readonly lateWrites: number
  readonly takeovers: number
  readonly restarts: number
  readonly moves: number
  readonly freezes: number
}

const LEASE_MS = 5_000
const LEASE_MARGIN_MS = LEASE_MS / 3
const BEAT_MS = LEASE_MS / 5
/** Clocks differ in speed by a twentieth at most. */
const SPEED_SPREAD = 0.05
const LATENCY_MS = 30
/** A thread that begins anew takes longer than its predecessor's sockets to be gone. */
const RESTART_MS = 100
/** Later than any owner waits. */
const LATE_MS_MAX = 30_000
const CONNECT_MS_MAX = 700
/** In a world in which owners are hurt too: what a server works on while whoever asked is frozen. */
const SERVICE_MS_MAX = 800
const SLOW_SERVICE_MS_MAX = 8_000
const HANG_MS_MAX = 40_000
const REQUEST_MS = 12_000
const CALM_AFTER_MS = 90_000
const END_MS = 2_000_000
const OWNER = 0
const CLOCKS_APART_MS_MAX = 1_000

interface Event {
  readonly atMs: number
  readonly order: number
  readonly node: Node | null
  readonly run: () => void
  isOff: boolean
}

/** A machine: it may freeze, and its clocks go as they like, within bounds. */
class Node {
  readonly speed: number
  readonly offsetMs: number
  readonly number: number
  frozenUntilMs = 0
  /** For how long it has slept in all: its monotonic clock does not know. */
  sleptMs = 0
  /** Of its lease, on its own clocks; and when it was last renewed, in truth. */
  leaseEndMs = 0
  leaseApartMs = 0
  renewedMs = 0
  /** Its beats do not arrive; and where it is mute nothing does. */
  isCutOff = false
  isMute = false
  pending: (() => void)[] = []

  constructor(number: number, random: Random) {
    this.number = number
    this.speed = 1 + (random.fraction() * 2 - 1) * SPEED_SPREAD
    this.offsetMs = random.fraction() * 1e6
  }
}

class ServedRequest {
  readonly by: string
  isOver = false

  constructor(by: string) {
    this.by = by
  }
}

/** One life of an agent: what it holds dies with it. */
class Life {
  readonly node: Node
  readonly lent: LentTurns
  readonly borrowed: BorrowedTurns
  isDead = false
  isStopping = false
  readonly underWay = new Set<() => void>()

  constructor(node: Node, lent: LentTurns, borrowed: BorrowedTurns) {
    this.node = node
    this.lent = lent
    this.borrowed = borrowed
  }
}

export class SimulatedLending {
  readonly #world: LendingWorld
  readonly #rooms: LendingRooms
  readonly #mutation: ModelMutation
  readonly #random: Random
  #nowMs = 0
  #order = 0
  #events: Event[] = []
  readonly #nodes: Node[]
  /** By agent; the first is the owner of the giant host. */
  readonly #lives: Life[] = []
  readonly #violations: string[] = []
  /** What the server works on. */
  #served: ServedRequest | null = null
  #servedEndMs = -Infinity
  /** Since the owner began, so that rests of former lives are not asked of it. */
  #ownerSinceMs = 0
  readonly #waiting: CanonicalUrl[]
  readonly #settled = new Set<CanonicalUrl>()
  #hasMark = false
  #lastId = 0
  readonly #counts = {
    lent: 0,
    brought: 0,
    byOwner: 0,
    lost: 0,
    cut: 0,
    lateWrites: 0,
    takeovers: 0,
    restarts: 0,
    moves: 0,
    freezes: 0,
  }

  constructor(world: LendingWorld, rooms: LendingRooms, mutation: ModelMutation = {}) {
    this.#world = world
    this.#rooms = rooms
    this.#mutation = mutation
    this.#random = new Random(world.seed)
    // One more than there are agents: somebody who can take over.
    this.#nodes = Array.from({ length: world.helpers + 2 }, (_, number) => new Node(number, this.#random))
    this.#waiting = Array.from({ length: world.urls }, (_, i) => `http://giant.test/${i}` as CanonicalUrl)
  }

  async run(): Promise<LendingRun> {
    for (const node of this.#nodes) this.#beat(node)
    for (let agent = 0; agent <= this.#world.helpers; agent++) this.#begin(agent, this.#nodes[agent] as Node)
    this.#mishapLater()
    for (;;) {
      const next = this.#take()
      if (next === null || this.#violations.length > 0) break
      this.#nowMs = Math.max(this.#nowMs, next.atMs)
      if (this.#nowMs > END_MS) break
      const { node } = next
      if (node !== null && node.frozenUntilMs > this.#nowMs) node.pending.push(next.run)
      else next.run()
      await drained()
      if (this.#settled.size === this.#world.urls && this.#served === null) break
    }
    if (this.#violations.length === 0 && this.#settled.size < this.#world.urls) {
      this.#violations.push(`${this.#world.urls - this.#settled.size} URLs were never settled`)
    }
    return { violations: this.#violations, ...this.#counts }
  }

  // Time and events.

  #at(ms: number, node: Node | null, run: () => void): Event {
    const event = { atMs: this.#nowMs + Math.max(0, ms), order: this.#order++, node, run, isOff: false }
    this.#events.push(event)
    return event
  }

  #take(): Event | null {
    let best = -1
    for (const [i, event] of this.#events.entries()) {
      const other = this.#events[best]
      if (other === undefined || event.atMs < other.atMs || (event.atMs === other.atMs && event.order < other.order))
        best = i
    }
    const [event = null] = best === -1 ? [] : this.#events.splice(best, 1)
    return event?.isOff === true ? this.#take() : event
  }

  #chance(share: number): boolean {
    return this.#random.fraction() < share
  }

  #sleep(ms: number, node: Node | null): Promise<void> {
    return new Promise((resolve) => void this.#at(ms, node, resolve))
  }

  #localMs(node: Node): number {
    return node.offsetMs + (this.#nowMs - node.sleptMs) * node.speed
  }

  #wallMs(node: Node): number {
    return node.offsetMs + this.#nowMs * node.speed
  }

  #clockOf(node: Node): Clock {
    return {
      nowMs: () => this.#localMs(node) as ClockMs,
      wallMs: () => this.#wallMs(node),
      callAt: (atMs, callback) => {
        let event: Event
        const arm = (): void => {
          const leftMs = (atMs - this.#localMs(node)) / node.speed
          event = this.#at(leftMs, node, () => (this.#localMs(node) < atMs - 1e-6 ? arm() : callback()))
        }
        arm()
        return () => (event.isOff = true)
      },
    }
  }

  // Leases: beats renew them, while the node is awake and not cut off.

  #beat(node: Node): void {
    if (!node.isCutOff) {
      node.leaseEndMs = this.#localMs(node) + LEASE_MS
      node.leaseApartMs = this.#wallMs(node) - this.#localMs(node)
      node.renewedMs = this.#nowMs
    }
    this.#at(BEAT_MS, node, () => this.#beat(node))
  }

  #leaseLeftMs(node: Node): number {
    const apartMs = this.#wallMs(node) - this.#localMs(node) - node.leaseApartMs
    return Math.abs(apartMs) > CLOCKS_APART_MS_MAX ? 0 : Math.max(0, node.leaseEndMs - this.#localMs(node))
  }

  // Agents and their messages.

  #begin(agent: number, node: Node): void {
    const clock = this.#clockOf(node)
    const lent = new this.#rooms.LentTurns({
      clock,
      self: agent,
      agents: this.#world.helpers + 1,
      requestMs: REQUEST_MS,
      leaseLeftMs: () => (this.#mutation.leaseIgnored === true ? Infinity : this.#leaseLeftMs(node)),
      onFirst: () => (this.#hasMark = true),
    })
    const borrowed = new this.#rooms.BorrowedTurns({ clock, firstId: (this.#lastId += 1_000_000) })
    const life = new Life(node, lent, borrowed)
    this.#lives[agent] = life
    const send = (to: number, message: LendMessage): void => {
      if (!life.isDead && !node.isMute) this.#post(agent, to, message)
    }
    lent.connect(send)
    borrowed.connect(send)
    borrowed.serve({
      mayHelp: () => agent !== OWNER && this.#chance(0.9),
      ask: (turn) => this.#help(agent, life, turn),
    })
    if (agent === OWNER) void this.#own(life, node)
  }

  #post(from: number, to: number, message: LendMessage): void {
    const { loss, late } = this.#world
    const isCalm = this.#nowMs > CALM_AFTER_MS
    if (!isCalm && this.#chance(loss)) return
    const copies = !isCalm && this.#chance(0.05) ? 2 : 1
    for (let i = 0; i < copies; i++) {
      const isLate = !isCalm && this.#chance(late)
      const delayMs = isLate
        ? this.#random.fraction() ** (this.#chance(0.5) ? 1 : 3) * LATE_MS_MAX
        : this.#random.fraction() * 60
      this.#at(delayMs, null, () => {
        const life = this.#lives[to] as Life
        this.#at(0, life.node, () => {
          if (life.isDead || life.node.isMute) return
          if (message.kind === 'lend-offer' || message.kind === 'lend-done') life.lent.hear(from, message)
          else life.borrowed.hear(from, message)
        })
      })
    }
  }

  #kill(life: Life): void {
    life.isDead = true
    for (const close of life.underWay) close()
    life.lent.close()
  }

  // The server: it works on one thing at a time, and looks who comes.

  /** Resolves with true when the answer is there, with false when the connection was closed before. Null: it was not written. */
  #request(by: string, life: Life, mayWrite: () => boolean, signal: AbortSignal | null): Promise<boolean | null> {
    const { node } = life
    const mayWriteBefore = mayWrite()
    return new Promise((resolve) => {
      this.#at(this.#random.fraction() * CONNECT_MS_MAX, node, () => {
        if (life.isDead) return
        const may = this.#mutation.checksBeforeConnecting === true ? mayWriteBefore : mayWrite()
        if (mayWriteBefore && !mayWrite()) this.#counts.lateWrites++
        if (!may || life.isStopping || signal?.aborted === true) return resolve(null)
        const request = new ServedRequest(by)
        let isClosed = false
        // What the other end notices takes its way.
        const close = (): void => {
          if (isClosed) return
          isClosed = true
          life.underWay.delete(close)
          this.#at(LATENCY_MS, null, () => this.#over(request))
          resolve(false)
        }
        life.underWay.add(close)
        signal?.addEventListener('abort', () => {
          if (!isClosed) this.#counts.cut++
          close()
        })
        this.#at(this.#random.fraction() * LATENCY_MS, null, () => this.#arrived(request))
        this.#at(LATENCY_MS + this.#serviceMs(), null, () => {
          this.#over(request)
          this.#at(this.#random.fraction() * LATENCY_MS, node, () => {
            if (isClosed) return
            isClosed = true
            life.underWay.delete(close)
            resolve(true)
          })
        })
      })
    })
  }

  #serviceMs(): number {
    if (!this.#chance(0.05)) return this.#random.fraction() * 100
    if (this.#world.hangs) return this.#random.fraction() * HANG_MS_MAX
    return this.#random.fraction() * (this.#world.ownerIsSafe ? SLOW_SERVICE_MS_MAX : SERVICE_MS_MAX)
  }

  #arrived(request: ServedRequest): void {
    // Closed on its way: as if it had never come.
    if (request.isOver) return
    if (this.#served !== null) {
      this.#violations.push(
        `${request.by} asks at ${Math.round(this.#nowMs)} while ${this.#served.by} is being answered`,
      )
    }
    const rested = (this.#nowMs - this.#servedEndMs) * (1 + SPEED_SPREAD)
    if (this.#servedEndMs > this.#ownerSinceMs && rested < this.#world.restMs) {
      this.#violations.push(`${request.by} asks ${Math.round(rested)} ms after the last answer`)
    }
    this.#served = request
  }

  #over(request: ServedRequest): void {
    request.isOver = true
    if (this.#served !== request) return
    this.#served = null
    this.#servedEndMs = this.#nowMs
  }

  // Who asks.

  async #own(life: Life, node: Node): Promise<void> {
    const mayAsk = (): boolean => !life.isDead && this.#leaseLeftMs(node) > 0
    this.#ownerSinceMs = this.#nowMs
    while (!life.isDead && !life.isStopping && this.#waiting.length > 0) {
      if (!mayAsk()) {
        await this.#sleep(100, node)
        continue
      }
      const count = this.#world.restMs > 0 ? 1 : 1 + this.#random.below(8)
      const urls = this.#waiting.slice(0, count)
      if (life.lent.mayLend() && this.#chance(0.8)) {
        this.#counts.lent++
        const answers = await life.lent.lend({ urls, addresses: [] as Address[] })
        if (life.isDead) return
        if (answers === null) this.#counts.lost++
        for (const answer of answers ?? []) {
          this.#counts.brought++
          if (answer.kind === 'skipped') this.#settle(answer.url)
        }
      } else {
        const [url] = urls
        const came = await this.#request(`the owner on ${node.number}`, life, mayAsk, null)
        if (life.isDead) return
        if (came === true && url !== undefined) {
          this.#counts.byOwner++
          this.#settle(url)
        }
      }
      // Its rest, on its own clock.
      const restMs = this.#world.restMs / node.speed
      await this.#sleep(restMs + this.#random.fraction() * 20, node)
    }
  }

  #settle(url: CanonicalUrl): void {
    const at = this.#waiting.indexOf(url)
    if (at !== -1) this.#waiting.splice(at, 1)
    this.#settled.add(url)
  }

  /** As agent/helping.ts: one after the other. The model knows no documents: all are skipped. */
  async #help(agent: number, life: Life, turn: BorrowedTurn): Promise<readonly LentAnswer[]> {
    const answers: LentAnswer[] = []
    for (const url of turn.urls) {
      const came = await this.#request(`helper ${agent}`, life, turn.mayWrite, turn.signal)
      if (came !== true) break
      answers.push({ kind: 'skipped', url, reason: 'type-filtered', detail: '' })
    }
    return answers
  }

  // What happens.

  #mishapLater(): void {
    const { mishaps } = this.#world
    if (mishaps === 0) return
    this.#at((60_000 / mishaps) * (0.5 + this.#random.fraction()), null, () => {
      if (this.#nowMs > CALM_AFTER_MS) return
      this.#mishap()
      this.#mishapLater()
    })
  }

  #mishap(): void {
    const { helpers, ownerIsSafe, hangs } = this.#world
    const owner = this.#lives[OWNER] as Life
    const kind = hangs ? 2 : this.#random.below(ownerIsSafe ? 3 : 7)
    const helper = this.#lives[1 + this.#random.below(helpers)] as Life
    const ms = 300 + this.#random.fraction() * 9_000
    if (kind === 0) this.#freeze(helper.node, ms, false)
    else if (kind === 1) this.#freeze(helper.node, ms, true)
    else if (kind === 2) this.#restart(this.#lives.indexOf(helper), helper)
    else if (kind === 3) this.#restart(OWNER, owner)
    else if (kind === 4) this.#loseNode(owner, ms * 3, this.#chance(0.5))
    else if (kind === 5) this.#freeze(owner.node, ms / 4, false)
    else void this.#move(owner)
  }

  #freeze(node: Node, ms: number, isSleep: boolean): void {
    if (node.frozenUntilMs > this.#nowMs) return
    this.#counts.freezes++
    node.frozenUntilMs = this.#nowMs + ms
    this.#at(ms, null, () => {
      if (isSleep) node.sleptMs += ms
      // In whatever order: timers and sockets have none between them.
      const pending = shuffled(node.pending, this.#random)
      node.pending = []
      for (const run of pending) this.#at(0, node, run)
    })
  }

  /** Its thread or its process dies and begins anew in the same place, at once. */
  #restart(agent: number, life: Life): void {
    const { node } = life
    if (life.isDead || node.frozenUntilMs > this.#nowMs) return
    this.#counts.restarts++
    this.#kill(life)
    const mustWait = agent === OWNER && this.#hasMark && this.#mutation.begunAtOnce !== true
    this.#at(mustWait ? this.#rooms.RENEWAL_MS / node.speed : RESTART_MS, null, () => {
      // Taken over meanwhile.
      if (this.#lives[agent] === life) this.#begin(agent, node)
    })
  }

  /** The owner's node is cut off, or frozen, for longer than its lease: another takes its share over. */
  #loseNode(owner: Life, ms: number, isFrozen: boolean): void {
    const { node } = owner
    if (node.frozenUntilMs > this.#nowMs || node.isCutOff) return
    node.isCutOff = true
    node.isMute = this.#chance(0.5)
    if (isFrozen) this.#freeze(node, ms, false)
    let former: Life | null = null
    let isBack = false
    this.#at(ms, null, () => {
      // It finds itself in no view, before it beats again: its threads end.
      if (former !== null) this.#kill(former)
      node.isCutOff = false
      node.isMute = false
      isBack = true
    })
    const taker = this.#otherThan(node, 1)
    const look = (): void => {
      const current = this.#lives[OWNER] as Life
      if (current.node !== node || isBack) return
      // On its own clock, since the last beat that it saw.
      const waitedMs = (this.#nowMs - node.renewedMs) * taker.speed
      const leftMs = LEASE_MS + LEASE_MARGIN_MS - waitedMs
      if (leftMs > 0) return void this.#at(1 + leftMs / taker.speed, null, look)
      // Whoever is away itself takes nothing.
      if (taker.isCutOff || taker.frozenUntilMs > this.#nowMs) return void this.#at(BEAT_MS, null, look)
      this.#counts.takeovers++
      // The former owner, frozen or not, knows nothing of it: its lease is all that stops it.
      former = current
      this.#hasMark = false
      this.#begin(OWNER, taker)
    }
    look()
  }

  /** The node that has no agent at first; where it is that one, another. */
  #otherThan(node: Node, other: number): Node {
    const spare = this.#nodes[this.#world.helpers + 1] as Node
    return node === spare ? (this.#nodes[other] as Node) : spare
  }

  /** Stopped, settled, released, begun elsewhere. */
  async #move(owner: Life): Promise<void> {
    if (owner.isDead || owner.node.isCutOff || owner.node.frozenUntilMs > this.#nowMs) return
    const to = this.#otherThan(owner.node, 0)
    if (to.isCutOff || to.frozenUntilMs > this.#nowMs) return
    // What it asks itself is cut.
    owner.isStopping = true
    for (const close of owner.underWay) close()
    await this.#sleep(2 * LATENCY_MS, owner.node)
    if (this.#mutation.movesUnsettled !== true) await owner.lent.settle()
    // Dead or taken over meanwhile.
    if (this.#lives[OWNER] !== owner || owner.isDead) return
    if (to.isCutOff || to.frozenUntilMs > this.#nowMs) return this.#restart(OWNER, owner)
    this.#counts.moves++
    this.#kill(owner)
    this.#hasMark = false
    this.#begin(OWNER, to)
  }
}

/** All that follows at once has followed. */
function drained(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function shuffled<T>(all: readonly T[], random: Random): T[] {
  const left = [...all]
  const out: T[] = []
  while (left.length > 0) out.push(...left.splice(random.below(left.length), 1))
  return out
}
