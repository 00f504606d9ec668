// Several simulated agents crawl a small web while messages dawdle, commits take their time, wires break and agents die. What must
// hold is checked all along; when the watch says that all is done, all must be done.
//
// They talk over wires of the simulation, or over an engine that loses some of what is said; then shares also change their owner over
// the head of the former one, who goes on for a while and talks. Agents on wires may also have marks of contents in common.

import { expect } from 'vitest'
import { assert, ManualClock, Random } from '../../src/base/index.ts'
import { type MemoryClient, MemoryEngine } from '../../src/engine/index.ts'
import { EngineWires } from '../../src/exchange/engine-wires.ts'
import { ContentMarks, type ExchangeState, type Wire } from '../../src/exchange/index.ts'
import type { LedgerBatch } from '../../src/ledger/index.ts'
import { EndWatch } from '../../src/supervise/end-watch.ts'
import type { CanonicalUrl } from '../../src/url/index.ts'
import { SimulatedAgent, SimulatedDisk, type SimulatedPlan } from './simulated-agent.ts'
import { Scheduler, SimulatedWeb } from './simulated-world.ts'

type Message = Parameters<Wire['send']>[0]
type Standing = ReturnType<SimulatedAgent['standing']>

export interface SimulationOptions {
  readonly seed: string
  readonly agents: number
  readonly pages: number
  /** Deaths, stops and broken wires, altogether. */
  readonly mishaps: number
  /** Steps from one to the next, about. */
  readonly mishapEvery: number
  readonly outboxBytesMax: number
  /** Which part of all messages the engine loses; null where there is none. */
  readonly lossRate?: number | null
  /** Contents have digests that look like one of so many; left out where none looks like another. */
  readonly looks?: number | undefined
  /** For marks of contents; null where agents have no memory in common, as those have none who talk over an engine. */
  readonly marksBytes?: number | null
}

export interface SimulationFigures {
  readonly steps: number
  readonly deaths: number
  readonly stops: number
  readonly breaks: number
  readonly copies: number
  /** Contents of others that were had by a mark, without a question. */
  readonly hadAtOnce: number
  /** Contents that have more than one original: none where marks are roomy. */
  readonly contested: number
  /** Owners over whose head a share was taken, and messages that were lost. */
  readonly formerOwners: number
  readonly lost: number
}

/** An agent with its place at the engine. */
interface Talker {
  readonly agent: SimulatedAgent
  readonly thread: object
  readonly client: MemoryClient
  readonly wires: EngineWires
}

/** An agent as its node sees it. */
interface Seat {
  /** Null while it is dead, or being opened. */
  agent: SimulatedAgent | null
  /** What is told to the present thread, in order; it dies with it. */
  thread: object
  status: Standing | null
  talker: Talker | null
  epoch: number
}

/** From here on no content of a simulated web finds its bucket full. */
export const ROOMY_MARKS_BYTES = 2 ** 16
/** A crawl of a hundred pages takes some two thousand. */
const STEPS_MAX = 20_000
/** The longest that passes between two steps, where there is an engine. */
const STEP_MS_MAX = 80
const DELAY_MS_MAX = 160
/** How long an engine that is away may stay so. */
const AWAY_MS_MAX = 3_000

export class SimulatedCrawl {
  readonly #options: SimulationOptions
  readonly #random: Random
  readonly #scheduler: Scheduler
  readonly #web: SimulatedWeb
  readonly #disks: SimulatedDisk[]
  readonly #seats: readonly Seat[]
  /** Where each URL was admitted, and each page settled. */
  readonly #admitted = new Map<CanonicalUrl, number>()
  readonly #pages = new Map<CanonicalUrl, number>()
  /** Pages that were settled as the first of their content. */
  readonly #originals = new Set<CanonicalUrl>()
  /** Live as long as the process, whichever of its agents die. */
  #marks: SharedArrayBuffer | null
  readonly #ends = new EndWatch(0)
  readonly #answered = new Set<number>()
  #round = 0
  #isProbing = false
  #isOver = false
  #deaths = 0
  #stops = 0
  #breaks = 0
  #hadAtOnce = 0
  readonly #time = new ManualClock()
  readonly #engine: MemoryEngine | null
  readonly #formerOwners: Talker[] = []
  #fault: unknown = null
  readonly #broke = (fault: unknown): void => {
    this.#fault ??= fault
  }

  constructor(options: SimulationOptions) {
    this.#options = options
    this.#random = new Random(options.seed)
    this.#scheduler = new Scheduler(this.#random)
    this.#web = new SimulatedWeb(
      this.#random,
      3 * options.agents,
      options.pages,
      Math.ceil(options.pages / 3),
      options.looks,
    )
    this.#disks = Array.from({ length: options.agents }, () => new SimulatedDisk())
    this.#seats = this.#disks.map(() => ({ agent: null, thread: {}, status: null, talker: null, epoch: 0 }))
    this.#engine = this.#engineOf(options.lossRate ?? null)
    this.#marks = this.#newMarks()
    assert(this.#marks === null || this.#engine === null, 'who talks over an engine is in another process')
  }

  #newMarks(): SharedArrayBuffer | null {
    const { agents, marksBytes = null } = this.#options
    return marksBytes === null ? null : ContentMarks.allocate(agents, marksBytes)
  }

  #engineOf(lossRate: number | null): MemoryEngine | null {
    if (lossRate === null) return null
    const engine = MemoryEngine.create({ clock: this.#time, random: this.#random })
    engine.weather.lossRate = lossRate
    engine.weather.delayMs = [0, DELAY_MS_MAX]
    return engine
  }

  async run(): Promise<SimulationFigures> {
    for (const agent of this.#seats.keys()) this.#start(agent)
    let steps = 0
    for (; !this.#isOver; steps++) {
      expect(this.#fault, 'an agent that could not be opened').toBeNull()
      expect(steps, 'steps: it does not come to its end').toBeLessThan(STEPS_MAX)
      await this.#one()
    }
    this.#expectDone()
    const { size } = this.#pages
    const originals = new Set(this.#disks.flatMap(({ notes }) => notes.map(({ url }) => url)))
    return {
      steps,
      deaths: this.#deaths,
      stops: this.#stops,
      breaks: this.#breaks,
      copies: size - originals.size,
      hadAtOnce: this.#hadAtOnce,
      contested: this.#contested(),
      formerOwners: this.#formerOwners.length,
      lost: this.#engine?.messagesLost ?? 0,
    }
  }

  async #one(): Promise<void> {
    const { mishaps, mishapEvery } = this.#options
    const mishapsLeft = mishaps - this.#deaths - this.#stops - this.#breaks
    if (mishapsLeft > 0 && this.#random.below(mishapEvery) === 0) this.#mishap()
    else if (!this.#isProbing && this.#random.below(10) === 0) this.#probe()
    const ready = this.#seats.filter(({ agent }) => agent?.canVisit === true)
    if (ready.length > 0 && this.#random.below(4) === 0) this.#random.pick(ready).agent?.visit()
    const former = this.#formerOwners.filter(({ agent }) => agent.canVisit)
    if (former.length > 0 && this.#random.below(20) === 0) this.#random.pick(former).agent.visit()
    if (this.#engine !== null) this.#time.advance(this.#random.below(STEP_MS_MAX))
    // What is said over an engine crosses without a step.
    if (this.#engine !== null || this.#scheduler.hasSteps) await this.#scheduler.one()
  }

  #mishap(): void {
    const agent = this.#random.below(this.#seats.length)
    if (this.#marks !== null && this.#random.below(8) === 0) return this.#killAll()
    const kind = this.#random.below(5)
    if (kind === 0) this.#breakWire(agent)
    else if (kind === 1 && this.#engine !== null) this.#takeOver(agent)
    else if (kind < 3) this.#stopWell(agent)
    else this.#kill(agent)
  }

  #kill(agent: number): void {
    this.#deaths++
    this.#letGo(agent)
    this.#start(agent)
  }

  /** The process dies, and with it what its agents had in common. */
  #killAll(): void {
    this.#deaths++
    for (const agent of this.#seats.keys()) this.#letGo(agent)
    this.#marks = this.#newMarks()
    for (const agent of this.#seats.keys()) this.#start(agent)
  }

  #letGo(agent: number): void {
    const seat = this.#seats[agent] as Seat
    this.#scheduler.kill(seat.thread)
    seat.talker?.wires.close()
    void seat.talker?.client.close()
    this.#vacate(seat)
  }

  /** The share begins elsewhere; whoever had it goes on, and hears nothing of it but that nobody listens. */
  #takeOver(agent: number): void {
    const seat = this.#seats[agent] as Seat
    if (seat.talker === null) return this.#kill(agent)
    this.#deaths++
    this.#formerOwners.push(seat.talker)
    this.#disks[agent] = (this.#disks[agent] as SimulatedDisk).handOver()
    this.#vacate(seat)
    this.#start(agent)
  }

  #vacate(seat: Seat): void {
    seat.agent = null
    seat.status = null
    seat.talker = null
    seat.thread = {}
    this.#ends.forget()
    // The round it was to answer is lost with it.
    this.#isProbing = false
  }

  /** One that is told to stop ends its visits, files what it was sent, and commits; then another goes on. */
  #stopWell(agent: number): void {
    const seat = this.#seats[agent] as Seat
    const { agent: one, thread } = seat
    if (one === null) return
    this.#stops++
    one.stop()
    const end = (): void => {
      if (one.isActive) return void this.#scheduler.later(thread, end)
      void one.close().then(() => {
        if (seat.thread !== thread) return
        this.#letGo(agent)
        this.#start(agent)
      })
    }
    this.#scheduler.later(thread, end)
  }

  #start(agent: number): void {
    const seat = this.#seats[agent] as Seat
    const { thread } = seat
    this.#scheduler.later(thread, () => {
      void SimulatedAgent.open(this.#planOf(agent)).then((opened) => {
        seat.agent = opened
        seat.status = opened.standing()
        if (this.#engine !== null) this.#talk(agent, opened, this.#engine)
        else for (const other of this.#seats.keys()) if (other !== agent) this.#connect(agent, other)
        this.#tell(agent, (one) => one.run())
      }, this.#broke)
    })
  }

  #talk(agent: number, opened: SimulatedAgent, engine: MemoryEngine): void {
    const seat = this.#seats[agent] as Seat
    const client = engine.client()
    const wires = new EngineWires({
      engine: client,
      crawl: 'simulated',
      share: agent,
      shares: this.#seats.length,
      epoch: ++seat.epoch,
      clock: this.#time,
      life: 1 + this.#random.below(1_000),
      onWire: (other, wire) => opened.connect(other, wire),
    })
    seat.talker = { agent: opened, thread: seat.thread, client, wires }
  }

  #planOf(agent: number): SimulatedPlan {
    const disk = this.#disks[agent] as SimulatedDisk
    // What one that dies has settled and not committed is settled anew by the next one, maybe otherwise.
    const originals = new Set<CanonicalUrl>()
    return {
      agent,
      agents: this.#seats.length,
      web: this.#web,
      scheduler: this.#scheduler,
      thread: (this.#seats[agent] as Seat).thread,
      disk,
      onCommit: (who, number, batch) => {
        this.#committed(who, number, batch)
        for (const url of batch.pages) if (originals.has(url)) this.#originals.add(url)
      },
      onForget: (who, upTo) => {
        if (!disk.isSealed) this.#expectConfirmed(who, upTo)
      },
      isDurablePage: (url) => this.#pages.has(url),
      onSettle: (url, isOriginal) => void (isOriginal && originals.add(url)),
      onHadAtOnce: () => this.#hadAtOnce++,
      outboxBytesMax: this.#options.outboxBytesMax,
      marks: this.#marks,
    }
  }

  /** What a node tells an agent arrives some time, in order. */
  #tell(agent: number, order: (one: SimulatedAgent) => void): void {
    const { agent: one, thread } = this.#seats[agent] as Seat
    if (one === null) return
    const orders = this.#orders.get(thread) ?? []
    this.#orders.set(thread, orders)
    orders.push(() => order(one))
    this.#scheduler.later(thread, () => orders.shift()?.())
  }

  readonly #orders = new WeakMap<object, (() => void)[]>()

  #connect(one: number, two: number): void {
    const [first, second] = [this.#seats[one] as Seat, this.#seats[two] as Seat]
    if (first.agent === null || second.agent === null) return
    const end = new SimulatedWire(this.#scheduler, first.thread)
    const otherEnd = new SimulatedWire(this.#scheduler, second.thread)
    end.other = otherEnd
    otherEnd.other = end
    this.#tell(one, (agent) => agent.connect(two, end))
    this.#tell(two, (agent) => agent.connect(one, otherEnd))
  }

  #breakWire(agent: number): void {
    this.#breaks++
    const { talker } = this.#seats[agent] as Seat
    if (this.#engine !== null) return this.#cut(talker)
    this.#connect(agent, (agent + 1) % this.#seats.length)
  }

  /** The engine is away for one of them, which may notice it or not. */
  #cut(talker: Talker | null): void {
    talker?.client.cut({ isNoticed: this.#random.below(2) === 0 })
    const untilMs = this.#time.nowMs() + this.#random.below(AWAY_MS_MAX)
    const restore = (): void => {
      if (talker === null || this.#time.nowMs() < untilMs) return void this.#scheduler.later(this, restore)
      talker.client.restore()
    }
    if (talker !== null) restore()
  }

  /** As the node does it: all are asked, and the last answer of each counts. */
  #probe(): void {
    if (this.#seats.some(({ agent }) => agent === null)) return
    this.#isProbing = true
    this.#answered.clear()
    const round = ++this.#round
    for (const [agent, seat] of this.#seats.entries()) {
      this.#tell(agent, (one) => {
        const standing = one.standing()
        this.#scheduler.later(seat.thread, () => this.#answer(agent, round, standing))
      })
    }
  }

  #answer(agent: number, round: number, standing: Standing): void {
    const seat = this.#seats[agent] as Seat
    seat.status = standing
    if (round !== this.#round) return
    this.#answered.add(agent)
    if (this.#answered.size < this.#seats.length) return
    this.#isProbing = false
    const standings = this.#seats.flatMap(({ status }) => (status === null ? [] : [status]))
    const reason = this.#ends.round(standings, Infinity)
    if (reason === null) return
    expect(reason).toBe('finished')
    this.#isOver = true
  }

  #committed(agent: number, number: number, { admitted, pages, files }: LedgerBatch): void {
    const { holds } = files['exchange'] as ExchangeState
    const before = (this.#disks[agent] as SimulatedDisk).batches.at(-2)?.files['exchange'] as ExchangeState | undefined
    for (const [other, held] of holds.entries()) {
      expect(held, 'what is held of another').toBeGreaterThanOrEqual(before?.holds[other] ?? 0)
    }
    for (const { url } of admitted) {
      expect(this.#admitted.has(url), `${url} is admitted a second time, in batch ${number} of ${agent}`).toBe(false)
      this.#admitted.set(url, agent)
    }
    for (const url of pages) {
      expect(this.#pages.has(url), `${url} is settled a second time, in batch ${number} of ${agent}`).toBe(false)
      expect(this.#admitted.get(url), `${url} is settled by whoever admitted it`).toBe(agent)
      this.#pages.set(url, agent)
    }
  }

  /** Of what a journal forgets nothing is needed: whoever it was for has it in a batch. */
  #expectConfirmed(agent: number, upTo: number): void {
    const { batches, journal } = this.#disks[agent] as SimulatedDisk
    for (let number = journal.firstNumber; number <= upTo; number++) {
      const { abroad, originals } = batches[number - 1] as LedgerBatch
      const owners = this.#seats[agent]?.agent?.neighbours.owners
      for (const { url } of abroad) {
        expect(this.#admitted.has(url), `${url} is in batch ${number} of ${agent} alone, which is forgotten`).toBe(true)
      }
      for (const { digest } of originals) {
        const owner = owners?.ofDigest(Buffer.from(digest, 'hex'))
        const { notes, last } = this.#disks[owner ?? 0] as SimulatedDisk
        const held = notes.slice(0, (last['notes'] as number | undefined) ?? 0)
        expect(owner === undefined || held.some((note) => note.digest === digest), `${digest} is forgotten`).toBe(true)
      }
    }
  }

  #expectDone(): void {
    const reachable = [...this.#web.reachable()].toSorted()
    expect([...this.#admitted.keys()].toSorted()).toEqual(reachable)
    expect([...this.#pages.keys()].toSorted()).toEqual(reachable)
    for (const [agent, { agent: one }] of this.#seats.entries()) {
      expect(one?.neighbours.exchange.isQuiet, `agent ${agent} waits for others`).toBe(true)
      expect(one?.standing().waiting).toBe(0)
    }
    for (const url of reachable) {
      const { digest } = this.#web.pages.get(url) ?? {}
      const hex = digest?.toString('hex')
      expect(this.#disks.filter(({ notes }) => notes.some((note) => note.digest === hex))).toHaveLength(1)
    }
    const originals = this.#originalsByContent()
    for (const url of reachable) expect(originals.has(this.#contentOf(url)), `${url} has an original`).toBe(true)
    if ((this.#options.marksBytes ?? 0) < ROOMY_MARKS_BYTES) return
    for (const [content, urls] of originals) expect(urls, `originals of ${content}`).toHaveLength(1)
  }

  #contentOf(url: CanonicalUrl): string {
    return this.#web.pages.get(url)?.digest.toString('hex') ?? ''
  }

  #originalsByContent(): Map<string, CanonicalUrl[]> {
    return Map.groupBy(this.#originals, (url) => this.#contentOf(url))
  }

  #contested(): number {
    return [...this.#originalsByContent().values()].filter(({ length }) => length > 1).length
  }
}

/** One of two ends; messages arrive whole, in order, some time, unless the end is closed or its agent is dead. */
class SimulatedWire implements Wire {
  other: SimulatedWire | null = null
  readonly #scheduler: Scheduler
  readonly #queue: Message[] = []
  #hear: ((message: Message) => void) | null = null
  readonly #thread: object
  #isClosed = false
  #isCrossing = false

  constructor(scheduler: Scheduler, thread: object) {
    this.#scheduler = scheduler
    this.#thread = thread
  }

  send(message: Message): void {
    if (this.#isClosed) return
    this.other?.arrive(structuredClone(message))
  }

  arrive(message: Message): void {
    this.#queue.push(message)
    this.#cross()
  }

  /** Some of what is under way arrives together, as messages of one turn of the event loop do. */
  #cross(): void {
    if (this.#isCrossing || this.#hear === null || this.#queue.length === 0) return
    this.#isCrossing = true
    this.#scheduler.later(this.#thread, () => {
      this.#isCrossing = false
      const count = 1 + this.#scheduler.random.below(this.#queue.length)
      for (const message of this.#queue.splice(0, count)) if (!this.#isClosed) this.#hear?.(message)
      this.#cross()
    })
  }

  listen(hear: (message: Message) => void): void {
    this.#hear = hear
    this.#cross()
  }

  close(): void {
    this.#isClosed = true
  }
}
