// Shares on several nodes, their desks and their chairs, while calls are lost, late or come twice, shares move over the head of their
// owners, threads die, and chairs change. The desks and chairs are the real ones; agents, logs and calls are not.
//
//   log of a share (what is durable, and whose it is) ── owners, of whom only the last can commit
//                                                          │ steps, in an order that a seed decides
//   node: desk ◀── calls ── chairs, of whom only the last can grant

import { expect } from 'vitest'
import { ManualClock, type Random, type StopReason } from '../../src/base/index.ts'
import { Permits } from '../../src/agent/permits.ts'
import { Chair } from '../../src/supervise/chair.ts'
import { type DeskAnswer, type DeskQuestion, ShareDesk } from '../../src/supervise/share-desk.ts'
import { Scheduler } from './simulated-world.ts'

export interface ChairsOptions {
  readonly shares: number
  readonly nodes: number
  /** Pages that there are. */
  readonly pages: number
  readonly limit: number | null
  readonly mishaps: number
  readonly mishapEvery: number
  /** How often somebody changes the crawl while it runs: more pages to begin with, a higher limit. */
  readonly changes: number
  /** Which part of all questions and answers is lost. */
  readonly lossRate: number
}

export interface ChairsFigures {
  readonly steps: number
  readonly reason: StopReason
  readonly pages: number
  readonly chairs: number
  readonly moves: number
  readonly restarts: number
  readonly calls: number
  /** Ends that were said, and were none: the crawl had been changed. */
  readonly voidEnds: number
}

/** What everybody can read, in order. */
interface Change {
  readonly works: readonly Work[]
  readonly limit: number | null
}

/** A page that waits for a visit. */
interface Work {
  readonly id: number
  readonly share: number
  readonly links: readonly Work[]
}

/** What outlives an owner. */
interface Log {
  epoch: number
  pages: number
  waiting: Map<number, Work>
  /** Everything that ever waited here. */
  readonly known: Set<number>
  /** Found for others, and not known to be with them. */
  outbox: Map<number, Work>
}

const STEPS_MAX = 30_000

/** One life of a share. */
class Owner {
  readonly share: number
  readonly epoch: number
  readonly thread = {}
  readonly permits: Permits
  isShort = false
  moves = 0
  active = 0
  readonly waiting: Map<number, Work>
  readonly outbox: Map<number, Work>
  /** Done and not committed. */
  pages: Work[] = []
  received: Work[] = []

  constructor(share: number, log: Log, onShort: () => void) {
    this.share = share
    this.epoch = log.epoch
    this.waiting = new Map(log.waiting)
    this.outbox = new Map(log.outbox)
    this.permits = new Permits(0, () => {
      if (!this.isShort) onShort()
      this.isShort = true
    })
  }
}

class Node {
  readonly name: string
  readonly desk: ShareDesk
  readonly owners = new Map<number, Owner>()
  /** The last change that it has heard of. */
  change = 0

  constructor(name: string, scheduler: Scheduler, isLimited: boolean) {
    this.name = name
    const tell = (share: number, order: (owner: Owner) => void): void => {
      const owner = this.owners.get(share)
      if (owner !== undefined) queueMicrotask(() => order(owner))
    }
    this.desk = new ShareDesk({
      probe: async (share) => {
        const owner = this.owners.get(share)
        if (owner === undefined) throw new Error('gone')
        await scheduler.step(scheduler)
        return {
          standing: {
            isQuiet: owner.active + owner.pages.length + owner.received.length + owner.outbox.size === 0,
            moves: owner.moves,
            waiting: owner.waiting.size,
            isSpent: isLimited && owner.permits.isSpent,
            permits: isLimited ? owner.permits.left : Infinity,
            readyInMs: owner.waiting.size === 0 ? null : 0,
          },
          ms: 1,
        }
      },
      grant: (share, pages) =>
        tell(share, (owner) => {
          owner.permits.grant(pages)
          owner.isShort = false
        }),
      recall: (share) => tell(share, (owner) => this.desk.surrendered(share, owner.permits.surrender())),
    })
  }
}

export class SimulatedChairs {
  readonly #options: ChairsOptions
  readonly #random: Random
  readonly #scheduler: Scheduler
  readonly #logs: readonly Log[]
  readonly #nodes: readonly Node[]
  /** By share: which node it is to be on. */
  readonly #places: number[]
  /** Former ones too, until they are stopped. */
  readonly #owners: Owner[] = []
  readonly #chairs: { readonly chair: Chair; readonly node: Node }[] = []
  /** The first is how it was set up. */
  readonly #changes: Change[]
  #total: number
  #voidEnds = 0
  #reason: StopReason | null = null
  #lastChair = 0
  #mishaps = 0
  #moves = 0
  #restarts = 0
  #calls = 0

  constructor(options: ChairsOptions, random: Random) {
    this.#options = options
    this.#random = random
    this.#scheduler = new Scheduler(random)
    this.#logs = Array.from({ length: options.shares }, () => ({
      epoch: 0,
      pages: 0,
      waiting: new Map(),
      known: new Set(),
      outbox: new Map(),
    }))
    this.#nodes = Array.from(
      { length: options.nodes },
      (_, i) => new Node(`n${i}`, this.#scheduler, options.limit !== null),
    )
    this.#places = this.#logs.map(() => random.below(options.nodes))
    this.#total = 0
    this.#changes = [{ works: [], limit: options.limit }]
    for (const first of this.#sow(options.pages)) this.#admit(this.#logs[first.share] as Log, first)
  }

  /** A tree of pages: its first one, where there is one. */
  #sow(pages: number): Work[] {
    const from = this.#total
    const all = Array.from({ length: pages }, (_, place): Work & { links: Work[] } => ({
      id: from + place,
      share: this.#random.below(this.#options.shares),
      links: [],
    }))
    for (const [place, work] of all.entries()) if (place > 0) all[this.#random.below(place)]?.links.push(work)
    this.#total += pages
    return all.slice(0, 1)
  }

  #admit(log: Log, work: Work): boolean {
    if (log.known.has(work.id)) return false
    log.known.add(work.id)
    log.waiting.set(work.id, work)
    return true
  }

  get #change(): number {
    return this.#changes.length - 1
  }

  get #limit(): number | null {
    return (this.#changes.at(-1) as Change).limit
  }

  /** Somebody makes the crawl another one. Nodes hear of it some time later, each for itself. */
  #perhapsChange(): void {
    if (this.#change < this.#options.changes && this.#random.below(1_000) === 0) this.#makeChange()
  }

  #makeChange(): void {
    const limit = this.#limit
    const works = this.#sow(this.#random.below(4))
    this.#changes.push({ works, limit: limit === null ? null : limit + this.#random.below(6) })
    const number = this.#change
    for (const node of this.#nodes) this.#afterAWhile(() => this.#hear(node, number), 200)
  }

  #hear(node: Node, number: number): void {
    if (number <= node.change) return
    node.change = number
    for (const one of this.#chairs) if (one.node === node) one.chair.change(this.#limitsOf(node))
    for (const owner of node.owners.values()) this.#tell(node, owner, number)
  }

  /** An owner takes the seeds in that are its own: durable, and then it says so. */
  #tell(node: Node, owner: Owner, number: number): void {
    this.#scheduler.later(owner.thread, () => {
      const log = this.#logs[owner.share] as Log
      if (log.epoch !== owner.epoch) return
      for (const work of this.#seedsOf(owner.share, number))
        if (this.#admit(log, work)) owner.waiting.set(work.id, work)
      if (node.owners.get(owner.share) === owner) node.desk.took(owner.share, number)
    })
  }

  #seedsOf(share: number, upTo: number): Work[] {
    return this.#changes.slice(0, upTo + 1).flatMap(({ works }) => works.filter((work) => work.share === share))
  }

  #limitsOf({ change }: Node) {
    const { limit } = this.#changes[change] as Change
    return { change, maxPages: limit, maxTimeMs: null, maxWaitMs: 1_000 }
  }

  async run(): Promise<ChairsFigures> {
    for (const share of this.#logs.keys()) this.#begin(share)
    let steps = 0
    for (; this.#reason === null; steps++) {
      expect(steps, 'steps: it does not come to its end').toBeLessThan(STEPS_MAX)
      this.#perhapsMishap()
      this.#perhapsChange()
      for (const owner of this.#owners) this.#work(owner)
      await this.#scheduler.one()
    }
    for (const { chair } of this.#chairs) chair.stop()
    this.#expectEnd(this.#reason)
    return {
      steps,
      reason: this.#reason,
      pages: this.#pages,
      chairs: this.#chairs.length,
      moves: this.#moves,
      restarts: this.#restarts,
      calls: this.#calls,
      voidEnds: this.#voidEnds,
    }
  }

  get #pages(): number {
    return this.#logs.reduce((sum, { pages }) => sum + pages, 0)
  }

  #perhapsMishap(): void {
    const { mishaps, mishapEvery, shares, nodes } = this.#options
    if (this.#mishaps >= mishaps || this.#random.below(mishapEvery) > 0) return
    this.#mishaps++
    const share = this.#random.below(3) === 0 ? 0 : this.#random.below(shares)
    const node = this.#nodeOf(share)
    if (this.#random.below(3) === 0) {
      // A thread dies, and is started again where it was.
      const owner = node.owners.get(share)
      if (owner === undefined || owner.epoch !== this.#logs[share]?.epoch) return
      this.#restarts++
      this.#end(node, owner)
      this.#open(node, share)
      return
    }
    this.#moves++
    const owner = node.owners.get(share)
    // Told of it, or taken over its head: then it goes on until it is told some time.
    if (owner !== undefined && this.#random.below(2) === 0) this.#end(node, owner)
    else if (owner !== undefined) this.#afterAWhile(() => this.#end(node, owner), 800)
    this.#places[share] = this.#random.below(nodes)
    this.#begin(share)
  }

  #nodeOf(share: number): Node {
    return this.#nodes[this.#places[share] as number] as Node
  }

  #afterAWhile(act: () => void, turnsMax = 60): void {
    let left = this.#random.below(turnsMax)
    const again = (): void => {
      if (left-- <= 0) act()
      else this.#scheduler.later(this, again)
    }
    again()
  }

  #end(node: Node, owner: Owner): void {
    this.#scheduler.kill(owner.thread)
    this.#owners.splice(this.#owners.indexOf(owner), this.#owners.includes(owner) ? 1 : 0)
    if (node.owners.get(owner.share) !== owner) return
    node.owners.delete(owner.share)
    node.desk.lost(owner.share)
  }

  /** The log says so; from now on the former owner can commit nothing. */
  #begin(share: number): void {
    const log = this.#logs[share] as Log
    log.epoch++
    const { epoch } = log
    const node = this.#nodeOf(share)
    const former = node.owners.get(share)
    // A node does not hold one share twice.
    if (former !== undefined) this.#end(node, former)
    this.#scheduler.later(this, () => {
      if (log.epoch === epoch) this.#open(node, share)
    })
  }

  #open(node: Node, share: number): void {
    const log = this.#logs[share] as Log
    const { epoch } = log
    // Read after it had begun, and some time before it is opened.
    const chair = (this.#logs[0] as Log).epoch
    const { change } = node
    for (const work of this.#seedsOf(share, change)) this.#admit(log, work)
    const owner = new Owner(share, log, () => {
      if (node.owners.get(share) === owner) node.desk.short(share)
    })
    const { pages } = log
    this.#scheduler.later(owner.thread, () => {
      if (log.epoch !== epoch) return
      node.owners.set(share, owner)
      node.desk.opened(share, { epoch, pages, chair, change })
      this.#owners.push(owner)
      // What was heard of while it was opened.
      if (node.change > change) this.#tell(node, owner, node.change)
      if (share === 0) this.#preside(epoch, node)
    })
  }

  #preside(epoch: number, node: Node): void {
    // A thread that was started again: the chair is the node's, and goes on.
    if (epoch === this.#lastChair) return
    this.#lastChair = epoch
    this.#chairs.push({
      node,
      chair: new Chair({
        shares: this.#options.shares,
        chair: epoch,
        limits: this.#limitsOf(node),
        lastChange: async () => {
          await this.#scheduler.step(this)
          return this.#change
        },
        clock: new SteppingClock(this.#scheduler),
        nodes: () => this.#nodes.map(({ name }) => name),
        askNode: (name, question) => this.#ask(this.#nodes.find((one) => one.name === name) as Node, question),
        epochs: async () => {
          const epochs: number[] = []
          for (const log of this.#logs) {
            await this.#scheduler.step(this)
            epochs.push(log.epoch)
          }
          return epochs
        },
        decided: (reason, change) => {
          // The worst moment: the end is decided and is not there yet.
          if (this.#change < this.#options.changes && this.#random.below(2) === 0) this.#makeChange()
          this.#afterAWhile(() => {
            // It stands in the engine under the number it was decided with: with a later change it is no end.
            if (change === this.#change) this.#reason ??= reason
            else this.#voidEnds++
          })
        },
      }),
    })
  }

  #ask(node: Node, question: DeskQuestion): Promise<DeskAnswer> {
    this.#calls++
    const isLost = (): boolean => this.#random.fraction() < this.#options.lossRate
    return new Promise((resolve, reject) => {
      const arrive = (): void => {
        void node.desk.answer(structuredClone(question)).then((answer) => {
          const plain = JSON.parse(JSON.stringify(answer)) as DeskAnswer
          if (!isLost()) this.#scheduler.later(this, () => resolve(plain))
        })
      }
      if (isLost()) this.#afterAWhile(() => reject(new Error('lost')))
      else this.#scheduler.later(this, arrive)
      // The same question once more, much later.
      if (this.#random.below(10) === 0) this.#afterAWhile(arrive)
      this.#afterAWhile(() => reject(new Error('late')))
    })
  }

  /** One thing that an owner may do. */
  #work(owner: Owner): void {
    const kind = this.#random.below(12)
    if (kind < 4) this.#visit(owner)
    else if (kind === 4) this.#commit(owner)
    else if (kind === 5) this.#send(owner)
  }

  #visit(owner: Owner): void {
    const { waiting, permits } = owner
    const [work] = waiting.values()
    if (work === undefined || owner.active > 2) return
    const isLimited = this.#options.limit !== null
    if (isLimited && !permits.take()) return
    waiting.delete(work.id)
    owner.active++
    this.#scheduler.later(owner.thread, () => {
      owner.active--
      if (this.#random.below(6) === 0) {
        // No page came of it this time.
        if (isLimited) permits.giveBack()
        waiting.set(work.id, work)
        return
      }
      if (isLimited) permits.use()
      owner.pages.push(work)
    })
  }

  #commit(owner: Owner): void {
    const log = this.#logs[owner.share] as Log
    if (log.epoch !== owner.epoch || !this.#owners.includes(owner)) return
    const { pages, received } = owner
    owner.pages = []
    owner.received = []
    log.pages += pages.length
    for (const { id } of pages) log.waiting.delete(id)
    const found = [...received, ...pages.flatMap(({ links }) => links.filter(({ share }) => share === owner.share))]
    for (const work of found) {
      if (log.known.has(work.id)) continue
      log.known.add(work.id)
      log.waiting.set(work.id, work)
      owner.waiting.set(work.id, work)
    }
    for (const work of pages.flatMap(({ links }) => links.filter(({ share }) => share !== owner.share))) {
      log.outbox.set(work.id, work)
      owner.outbox.set(work.id, work)
    }
    const limit = this.#limit
    if (limit !== null) expect(this.#pages, 'pages').toBeLessThanOrEqual(limit)
    // Whoever sent it hears that it is durable, unless that is lost; then it sends it again.
    for (const { id } of received) {
      owner.moves++
      this.#confirm(id)
    }
  }

  #confirm(id: number): void {
    if (this.#random.below(5) === 0) return
    this.#scheduler.later(this, () => {
      for (const other of this.#owners) {
        if (!other.outbox.has(id)) continue
        other.moves++
        other.outbox.delete(id)
        const log = this.#logs[other.share] as Log
        if (log.epoch === other.epoch) log.outbox.delete(id)
      }
    })
  }

  #send(owner: Owner): void {
    const works = [...owner.outbox.values()]
    if (works.length === 0) return
    const work = this.#random.pick(works)
    owner.moves++
    if (this.#random.below(5) === 0) return
    this.#scheduler.later(this, () => {
      // The owner of now, or one that was.
      const receivers = this.#owners.filter(({ share }) => share === work.share)
      if (receivers.length === 0) return
      const receiver = this.#random.pick(receivers)
      receiver.moves++
      if (this.#logs[work.share]?.known.has(work.id) === true) return this.#confirm(work.id)
      if (!receiver.received.some(({ id }) => id === work.id)) receiver.received.push(work)
    })
  }

  #expectEnd(reason: StopReason): void {
    const limit = this.#limit
    const known = this.#logs.reduce((sum, log) => sum + log.known.size, 0)
    if (reason === 'finished') {
      expect(this.#pages).toBe(this.#total)
      expect(known).toBe(this.#total)
      return
    }
    expect(reason).toBe('max-pages')
    expect(this.#pages).toBe(limit)
    expect(this.#pages).toBeLessThan(this.#total)
  }
}

/** Its timers fire when their turn comes. */
class SteppingClock extends ManualClock {
  readonly #scheduler: Scheduler

  constructor(scheduler: Scheduler) {
    super()
    this.#scheduler = scheduler
  }

  override callAt(_: ReturnType<ManualClock['nowMs']>, callback: () => void): () => void {
    return this.#scheduler.later(this, callback)
  }
}
