// An agent whose books, exchange, inbox, outbox and contents are the real ones, and whose disk, frontier and fetches are not. It dies
// by being forgotten; what it had committed is on its disk, and the next one opens with that.

import { expect } from 'vitest'
import { Admission } from '../../src/agent/admission.ts'
import { Books } from '../../src/agent/books.ts'
import { CrawlFigures, type Share, type Standing } from '../../src/agent/index.ts'
import { Neighbours } from '../../src/agent/neighbours.ts'
import { type Clock, ManualClock, NO_FAULTS, type Random } from '../../src/base/index.ts'
import { MemoryContentSeen, type Original } from '../../src/content-seen/index.ts'
import { ContentMarks, type ExchangeState, type Wire } from '../../src/exchange/index.ts'
import type { FrontierEntry } from '../../src/frontier/index.ts'
import { type LedgerBatch, MemoryJournal, type OriginalNote } from '../../src/ledger/index.ts'
import { LINK_KINDS } from '../../src/parse/index.ts'
import { strategyOf } from '../../src/strategy/index.ts'
import { strategyOptions } from '../../src/strategy/options.ts'
import {
  type CanonicalUrl,
  compileCanonicaliser,
  compileScope,
  defaultKey,
  Fingerprinter,
  hostKeyOf,
} from '../../src/url/index.ts'
import { type FingerprintBatch, MemoryUrlSeen, newBatch, type UrlSeen } from '../../src/url-seen/index.ts'
import type { Scheduler, SimulatedPage, SimulatedWeb } from './simulated-world.ts'

/** What outlives an agent. */
export class SimulatedDisk {
  readonly journal = new MemoryJournal({ name: 'simulated', key: '00', startedAtMs: 0 })
  /** All batches ever, as the parts on disk hold them. */
  readonly batches: LedgerBatch[] = []
  notes: OriginalNote[] = []
  /** Another owner has begun: nothing that is committed here counts, and nobody is told that it was. */
  isSealed = false

  /** Seals it; the copy goes on from what is durable. */
  handOver(): SimulatedDisk {
    const heir = new SimulatedDisk()
    for (const batch of this.batches) {
      void heir.journal.commit(batch)
      heir.batches.push(structuredClone(batch))
    }
    void heir.journal.forget(this.journal.firstNumber - 1)
    heir.notes = [...this.notes]
    this.isSealed = true
    return heir
  }

  get last(): Readonly<Record<string, unknown>> {
    return this.batches.at(-1)?.files ?? {}
  }

  /** What it durably holds of another's batches. */
  holds(agent: number): number {
    return (this.last['exchange'] as ExchangeState | undefined)?.holds[agent] ?? 0
  }
}

export interface SimulatedPlan {
  readonly agent: number
  readonly agents: number
  readonly web: SimulatedWeb
  readonly scheduler: Scheduler
  /** What happens to it happens while this lives. */
  readonly thread: object
  readonly disk: SimulatedDisk
  /** Told of every batch the moment it is durable. */
  readonly onCommit: (agent: number, number: number, batch: LedgerBatch) => void
  readonly onForget: (agent: number, upTo: number) => void
  readonly isDurablePage: (url: CanonicalUrl) => boolean
  /** Told of every page that is settled, before its batch is durable: whether it is an original, or a copy of one. */
  readonly onSettle: (url: CanonicalUrl, isOriginal: boolean) => void
  /** A content of another was had without asking its owner. */
  readonly onHadAtOnce: () => void
  readonly outboxBytesMax: number
  /** Marks of contents, which outlive an agent; null where agents have no memory in common. */
  readonly marks: SharedArrayBuffer | null
}

const VISITS_MAX = 3

export class SimulatedAgent {
  readonly neighbours: Neighbours
  readonly #plan: SimulatedPlan
  readonly #random: Random
  readonly #books: Books
  readonly #admission: Admission
  readonly #seen: SlowSeen
  readonly #fingerprinter = new Fingerprinter(defaultKey)
  readonly #waiting: FrontierEntry[] = []
  #active = 0
  #isRunning = false
  #isStopping = false

  static async open(plan: SimulatedPlan): Promise<SimulatedAgent> {
    const agent = new SimulatedAgent(plan)
    await agent.neighbours.restore(plan.disk.journal)
    for (const url of plan.web.seeds) {
      await agent.#admission.admitSeed(url, {
        admitted: (entry) => agent.#books.admitted(entry),
        abroad: (entry) => agent.#books.abroad(entry),
        refused: () => expect.unreachable(),
        held: () => expect.unreachable(),
        linked: () => {},
      })
    }
    await agent.#books.commit()
    return agent
  }

  private constructor(plan: SimulatedPlan) {
    const { agent, agents, scheduler, disk } = plan
    this.#plan = plan
    this.#random = scheduler.random
    this.#seen = new SlowSeen(scheduler, plan.thread)
    for (const url of plan.web.pages.keys()) this.#seen.name(url, this.#fingerprinter)
    const contents = new MemoryContentSeen()
    this.#restore(contents)
    const onFault = (fault: unknown): void => {
      throw fault
    }
    this.neighbours = new Neighbours({
      share: { agent, agents, turns: [], assignment: null, marks: marksOf(plan) } as unknown as Share,
      fingerprinter: this.#fingerprinter,
      books: () => this.#books,
      admission: () => this.#admission,
      contents,
      writeOriginal: (note) => disk.notes.push(note) - 1,
      runErrand: async () => {
        await scheduler.step(this.#plan.thread)
        return { kind: 'failed' }
      },
      onFault,
      wake: () => {},
      state: (disk.last['exchange'] as ExchangeState | undefined) ?? null,
      outboxBytesMax: plan.outboxBytesMax,
    })
    this.#books = this.#booksOf(onFault)
    const scope = compileScope({
      scope: 'any',
      include: [],
      exclude: [],
      maxDepth: null,
      pathDepth: null,
      filter: null,
    })
    this.#admission = new Admission({
      canonicalise: compileCanonicaliser({ urlLength: 2_083, sessionIds: [] }),
      seeds: [],
      scope,
      fingerprinter: this.#fingerprinter,
      seen: this.#seen,
      strategy: strategyOf(strategyOptions.parse({})),
      follow: new Set(LINK_KINDS),
      owners: this.neighbours.owners,
      redirectsMax: 5,
      maxDepth: null,
      obeysNofollow: true,
    })
  }

  #booksOf(onFault: (fault: unknown) => void): Books {
    const { scheduler, disk, agent, onForget } = this.#plan
    const files = new Map([
      ['notes', { state: () => disk.notes.length }],
      // As bold as the law of the set allows: everything that was answered may be in a run.
      ['seen', { state: () => [...this.#seen.answered] }],
      [
        'exchange',
        {
          state: (number: number) => this.neighbours.state(number),
          committed: async (state: unknown) => this.neighbours.committed(state as ExchangeState),
        },
      ],
    ])
    const journal = new ScheduledJournal(this.#plan)
    return new Books({
      clock: new ScheduledClock(scheduler, this.#plan.thread),
      journal,
      frontier: {
        offer: (entry) => void this.#waiting.push(entry),
        conclude: () => {},
        figures: () => ({ waiting: 0, hosts: 0, ready: 0, resting: 0, parked: 0, out: 0 }),
        pressure: () => undefined,
      },
      figures: CrawlFigures.from(null),
      files,
      otherFiles: {},
      writePage: () => 0,
      writeFailure: () => {},
      writeHeld: () => {},
      writeSeed: () => {},
      heldElsewhere: () => {
        const upTo = Math.min(journal.lastNumber, this.neighbours.settled)
        onForget(agent, upTo)
        return upTo
      },
      // Parts on disk are written out, which takes a while.
      beforeLast: async () => {
        for (let i = 0; i < 3; i++) await scheduler.step(this.#plan.thread)
      },
      onDurable: (number, batch) => this.neighbours.exchange.sendOut(number, batch),
      pressureAbroad: () => this.neighbours.pressure(),
      spent: () => ({ ms: 0, cpuMs: 0, peakRssBytes: 0 }),
      tickMs: 1,
      faults: NO_FAULTS,
      onFault,
    })
  }

  /** Everything that was in a batch; what was written behind it is cut off. */
  #restore(contents: MemoryContentSeen): void {
    const { disk, web } = this.#plan
    disk.notes = disk.notes.slice(0, (disk.last['notes'] as number | undefined) ?? 0)
    for (const { digest, ...original } of disk.notes) contents.keep(Buffer.from(digest, 'hex'), original)
    for (const url of (disk.last['seen'] as CanonicalUrl[] | undefined) ?? []) this.#seen.know(url, this.#fingerprinter)
    const done = new Set(disk.batches.flatMap(({ pages }) => pages))
    for (const entry of disk.batches.flatMap(({ admitted }) => admitted)) {
      expect(web.pages.has(entry.url)).toBe(true)
      this.#seen.know(entry.url, this.#fingerprinter)
      if (!done.has(entry.url)) this.#waiting.push(entry)
    }
  }

  connect(agent: number, wire: Wire): void {
    this.neighbours.exchange.connect(agent, wire)
  }

  run(): void {
    this.#isRunning = true
  }

  get canVisit(): boolean {
    return this.#isRunning && !this.#isStopping && this.#active < VISITS_MAX && this.#waiting.length > 0
  }

  get isActive(): boolean {
    return this.#active > 0
  }

  visit(): void {
    const [entry] = this.#waiting.splice(this.#random.below(this.#waiting.length), 1)
    if (entry === undefined) return
    this.#active++
    void this.#walk(entry).then(() => this.#active--)
  }

  async #walk(entry: FrontierEntry): Promise<void> {
    const { scheduler, web, agents, agent } = this.#plan
    const { contents, exchange } = this.neighbours
    const page = web.pages.get(entry.url) as SimulatedPage
    await scheduler.step(this.#plan.thread)
    if (this.#random.below(8) === 0) {
      const other = (agent + 1 + this.#random.below(agents - 1)) % agents
      await exchange.errand(other, page.url)
    }
    const answer = contents.claim(page.digest)
    if (answer === null && this.neighbours.owners.ofDigest(page.digest) !== agent) this.#plan.onHadAtOnce()
    const original = await answer
    if (original !== null) this.#expectDurable(original)
    // Mostly at once; else long enough for others to ask.
    for (let steps = this.#random.below(8) - 4; steps > 0; steps--) await scheduler.step(this.#plan.thread)
    if (this.#random.below(8) === 0) {
      // No page came of it this time.
      if (original === null) contents.release(page.digest)
      this.#waiting.push(entry)
      return
    }
    const { own, abroad } = this.#split(page)
    const met = this.#seen.meet(own.batch)
    if (met !== undefined) await met
    const admitted = own.urls.filter((_, i) => own.batch.isNew[i] === 1).map((url) => entryOf(url, page.url))
    const position = this.#books.settle({
      entry,
      verdict: { url: page.url, kind: 'page', status: 200, bytes: 1, wireBytes: 1 },
      page: null,
      failure: null,
      admitted,
      abroad: abroad.map((url) => entryOf(url, page.url)),
      held: [],
      refused: [],
    })
    this.#plan.onSettle(page.url, original === null)
    if (original === null) {
      contents.keep(page.digest, { url: page.url, fetchedAtMs: position, payloadDigest: null })
    }
    await this.#books.pressure()
  }

  #split(page: SimulatedPage): { own: { urls: CanonicalUrl[]; batch: FingerprintBatch }; abroad: CanonicalUrl[] } {
    const isAbroad = (url: CanonicalUrl): boolean => this.#admission.isAbroad(url)
    const urls = page.links.filter((url) => !isAbroad(url))
    const batch = newBatch(urls.length)
    for (const [i, url] of urls.entries()) {
      this.#fingerprinter.compute(url)
      batch.high[i] = this.#fingerprinter.high
      batch.low[i] = this.#fingerprinter.low
    }
    batch.count = urls.length
    return { own: { urls, batch }, abroad: [...new Set(page.links.filter(isAbroad))] }
  }

  /** No copy is settled before its original is: it is in a batch, or in our own present one. */
  #expectDurable({ url }: Original): void {
    const isOwn = !this.#admission.isAbroad(url)
    expect(isOwn || this.#plan.isDurablePage(url), `a copy of ${url}, which is in no batch`).toBe(true)
  }

  standing(): Standing {
    const { exchange } = this.neighbours
    return {
      isQuiet: this.#active === 0 && this.#books.isDurable && exchange.isQuiet,
      moves: exchange.moves,
      waiting: this.#waiting.length,
      isSpent: false,
      permits: Infinity,
      readyInMs: this.#waiting.length === 0 ? null : 0,
    }
  }

  /** Visits nobody any more. */
  stop(): void {
    this.#isStopping = true
  }

  async close(): Promise<void> {
    await this.neighbours.close()
    await this.#books.close()
  }
}

function marksOf({ marks, agent, agents }: SimulatedPlan): ContentMarks | null {
  return marks === null ? null : new ContentMarks(marks, agent, agents)
}

function entryOf(url: CanonicalUrl, via: CanonicalUrl): FrontierEntry {
  return { url, host: hostKeyOf(url), via, depth: 1, hops: 0, band: 0, isSeed: false, tries: 0, pauses: 0 }
}

/** Commits when its turn comes; it may be killed before and after. */
class ScheduledJournal extends MemoryJournal {
  readonly #plan: SimulatedPlan

  constructor(plan: SimulatedPlan) {
    super(plan.disk.journal.identity)
    this.#plan = plan
  }

  override get lastNumber(): number {
    return this.#plan.disk.journal.lastNumber
  }

  override get firstNumber(): number {
    return this.#plan.disk.journal.firstNumber
  }

  override async commit(batch: LedgerBatch): Promise<number> {
    const { scheduler, thread, disk, agent, onCommit } = this.#plan
    await scheduler.step(thread)
    if (disk.isSealed) return new Promise(() => {})
    const number = await disk.journal.commit(batch)
    disk.batches.push(structuredClone(batch))
    onCommit(agent, number, batch)
    await scheduler.step(thread)
    return number
  }

  override async forget(upTo: number): Promise<void> {
    if (!this.#plan.disk.isSealed) await this.#plan.disk.journal.forget(upTo)
  }
}

/** Its timers fire when their turn comes. */
class ScheduledClock extends ManualClock {
  readonly #scheduler: Scheduler
  readonly #owner: object

  constructor(scheduler: Scheduler, owner: object) {
    super()
    this.#scheduler = scheduler
    this.#owner = owner
  }

  override callAt(_: ReturnType<Clock['nowMs']>, callback: () => void): () => void {
    return this.#scheduler.later(this.#owner, callback)
  }
}

/** Answers later now and then, as a set does that has to look at its disk. */
class SlowSeen implements UrlSeen {
  readonly #set = new MemoryUrlSeen()
  readonly answered = new Set<CanonicalUrl>()
  readonly #scheduler: Scheduler
  readonly #owner: object
  readonly #names = new Map<string, CanonicalUrl>()

  constructor(scheduler: Scheduler, owner: object) {
    this.#scheduler = scheduler
    this.#owner = owner
  }

  has(high: number, low: number): boolean {
    return this.#set.has(high, low)
  }

  meetings(high: number, low: number): number {
    return this.#set.meetings(high, low)
  }

  get size(): number {
    return this.#set.size
  }

  get memoryBytes(): number {
    return this.#set.memoryBytes
  }

  visit(visitor: (high: number, low: number, meetings: number) => void): void {
    this.#set.visit(visitor)
  }

  restore(high: number, low: number, meetings: number): void {
    this.#set.restore(high, low, meetings)
  }

  /** What a fingerprint stands for. */
  name(url: CanonicalUrl, fingerprinter: Fingerprinter): void {
    fingerprinter.compute(url)
    this.#names.set(`${fingerprinter.high} ${fingerprinter.low}`, url)
  }

  know(url: CanonicalUrl, fingerprinter: Fingerprinter): void {
    fingerprinter.compute(url)
    const batch = newBatch(1)
    batch.high[0] = fingerprinter.high
    batch.low[0] = fingerprinter.low
    batch.count = 1
    this.#answer(batch)
  }

  meet(batch: FingerprintBatch): Promise<void> | undefined {
    const steps = Math.max(0, this.#scheduler.random.below(8) - 3)
    return steps === 0 ? this.#answer(batch) : this.#answerAfter(steps, batch)
  }

  async #answerAfter(steps: number, batch: FingerprintBatch): Promise<void> {
    for (let i = 0; i < steps; i++) await this.#scheduler.step(this.#owner)
    this.#answer(batch)
  }

  #answer(batch: FingerprintBatch): undefined {
    this.#set.meet(batch)
    for (let i = 0; i < batch.count; i++) {
      const url = this.#names.get(`${batch.high[i]} ${batch.low[i]}`)
      if (url !== undefined) this.answered.add(url)
    }
    return undefined
  }
}
