// What was done, written down: verdicts, new links and rests gather in a batch, and every tick the batch is
// committed: first the files it speaks of are synced, then the batch itself.
//
//   visits ──▶ batch (memory) ──tick──▶ files synced ──▶ journal.commit ──▶ durable
//
// Always true: everything put into one call of settle() stands in one batch, and the frontier is told in the same
// moment, so that what waits is at any time what the batches say; what a batch says of files and parts on disk is
// asked in the same moment as the batch is taken, so they speak of the same things. One commit at a time.

import type { Clock, FailureCode, FaultPoints, RefusalReason, SkipReason } from '../base/index.ts'
import type { DiskFrontier, FrontierEntry } from '../frontier/index.ts'
import { emptyBatch, type Journal, type LedgerBatch, type OriginalNote, type RestNote } from '../ledger/index.ts'
import type { FailureRecord, PageRecord } from '../store/index.ts'
import type { CrawlFigures, Spent } from './figures.ts'
import type { Traces } from './traces.ts'
import type { Verdict } from './verdict.ts'

/** A file, group of files or part of the state on disk that a batch speaks of. */
export interface CommittedFile {
  /** What recovery needs to go on; asked when the batch of this number is taken. Undefined says nothing. */
  state(number: number): unknown
  /** Makes everything up to the last state() durable. */
  sync?(): Promise<void>
  /** Told when the journal holds that state. */
  committed?(state: unknown, number: number): Promise<void>
}

/** What the links of a page came to. */
export interface FoundLinks {
  readonly admitted: readonly FrontierEntry[]
  /** Links that other agents own. */
  readonly abroad: readonly FrontierEntry[]
  readonly held: readonly FrontierEntry[]
  readonly refused: readonly RefusalReason[]
}

export const NO_LINKS: FoundLinks = { admitted: [], abroad: [], held: [], refused: [] }

/** Everything that becomes true together with the end of one URL's walk. */
export interface Settled extends FoundLinks {
  readonly entry: FrontierEntry
  readonly verdict: Verdict
  /** The URL was a page before, and counts as one of its host since then. */
  readonly isReturn?: boolean
  readonly page: PageRecord | null
  readonly failure: FailureRecord | null
}

export interface BooksParts {
  readonly clock: Clock
  readonly journal: Journal
  readonly frontier: Pick<DiskFrontier, 'offer' | 'conclude' | 'figures' | 'pressure'>
  readonly figures: CrawlFigures
  readonly files: ReadonlyMap<string, CommittedFile>
  /** States of files this run does not write (an archive that is off): kept as they are. */
  readonly otherFiles: Readonly<Record<string, unknown>>
  /** Returns where the line stands in the file. */
  readonly writePage: (record: PageRecord) => number
  readonly writeFailure: (record: FailureRecord) => void
  readonly writeHeld: (entry: FrontierEntry) => void
  readonly writeSeed: (entry: FrontierEntry) => void
  /** Batches up to this one are in every part on disk: the journal need not keep them. */
  readonly heldElsewhere: () => number
  /** Told before the last batch of a run is taken: parts write out what they have in memory. */
  readonly beforeLast: () => Promise<void>
  /** A batch is durable: what it holds for other agents may set out. */
  readonly onDurable: (number: number, batch: LedgerBatch) => void
  /** Something to wait for when more is found for others than they have taken. */
  readonly pressureAbroad: () => Promise<void> | undefined
  readonly spent: () => Spent
  readonly tickMs: number
  /** A commit that fails is the end of the agent. */
  readonly onFault: (fault: unknown) => void
  /** Left out where nobody follows URLs. */
  readonly traces?: Traces
  readonly faults: FaultPoints
}

/** A batch of this many verdicts is committed before its tick, which bounds memory and what a crash costs. */
const VERDICTS_PER_BATCH_MAX = 5_000
/** From one commit to the next, at least, where an agent has nothing to do: what others send it comes in pieces. */
const HURRY_MS = 10
/** A commit takes milliseconds; one that takes this long may not come to an end. */
const COMMIT_STALLED_MS = 2_000

export class Books {
  readonly #parts: BooksParts
  #batch: LedgerBatch = emptyBatch()
  #verdicts: Verdict[] = []
  /** Verdicts taken back in this batch. */
  #takenBack: Verdict[] = []
  #commit: Promise<void> | null = null
  /** A commit that is to begin with the next turn of the loop. */
  #next: Promise<void> | null = null
  #hold: Promise<void> | null = null
  #states: Readonly<Record<string, unknown>>
  /** Who is to be called when the batch of a number is durable. */
  #waiting: { readonly number: number; readonly callback: () => void }[] = []
  /** The last batch that was taken, and the last that is durable. */
  #taken: number
  #commitSinceMs = 0
  /** How long the last one took. */
  #commitMs = 0
  #durable: number
  #cancelTick: (() => void) | null = null
  #isClosed = false
  #isDirty = false
  #wasTouched = false
  /** What ended it: nothing is committed after a batch that was lost, for it would leave a hole. */
  #fault: unknown = null

  constructor(parts: BooksParts) {
    this.#parts = parts
    this.#states = parts.otherFiles
    this.#taken = parts.journal.lastNumber
    this.#durable = parts.journal.lastNumber
  }

  /** Something could not be written: nothing that was done since is kept. */
  get isBroken(): boolean {
    return this.#fault !== null
  }

  /** Returns where the page's line stands in its file; -1 where there is none. */
  settle(settled: Settled): number {
    if (this.#fault !== null) throw this.#fault
    try {
      return this.#settle(settled)
    } catch (fault) {
      // Half of it may be in the batch.
      throw this.#fail(fault, [], [], 0)
    }
  }

  #settle(settled: Settled): number {
    const { figures, frontier, writePage, writeFailure } = this.#parts
    const { verdict } = settled
    const isPage = verdict.kind === 'page'
    // A page that is returned to is one of its host already.
    const isNewPage = isPage && settled.isReturn !== true
    frontier.conclude(settled.entry, isNewPage)
    if (isNewPage) this.#batch.pages.push(verdict.url)
    else if (isPage) this.#batch.returned.push(verdict.url)
    else this.#batch.ended.push(verdict.url)
    this.#verdicts.push(verdict)
    figures.count(verdict)
    if (this.#parts.traces?.isOn === true) this.#parts.traces.step(verdict.url, describeVerdict(verdict))
    const position = settled.page === null ? -1 : writePage(settled.page)
    if (settled.failure !== null) writeFailure(settled.failure)
    // Mostly there is nothing in them, and an iterator for each would be made for every page.
    if (settled.admitted.length > 0) for (const entry of settled.admitted) this.#admit(entry)
    if (settled.abroad.length > 0) for (const entry of settled.abroad) this.#send(entry)
    if (settled.held.length > 0) for (const entry of settled.held) this.#parts.writeHeld(entry)
    if (settled.refused.length > 0) for (const reason of settled.refused) figures.refuse(reason)
    this.#touched()
    return position
  }

  failed(entry: FrontierEntry, code: FailureCode, detail: string): void {
    this.#giveUp(entry, { url: entry.url, kind: 'failed', code }, code, detail)
  }

  /** `links`: of a page that was fetched and is not kept. */
  skipped(entry: FrontierEntry, reason: SkipReason, detail: string, links = NO_LINKS): void {
    this.#giveUp(entry, { url: entry.url, kind: 'skipped', reason }, reason, detail, links)
  }

  #giveUp(entry: FrontierEntry, verdict: Verdict, reason: string, detail: string, links = NO_LINKS): void {
    const { url, depth, via } = entry
    const at = new Date(this.#parts.clock.wallMs()).toISOString()
    const kind = verdict.kind === 'skipped' ? 'skipped' : 'failed'
    const failure = { url, kind, reason, detail, depth, via, at } as const
    this.settle({ entry, verdict, page: null, failure, ...links })
  }

  admitted(entry: FrontierEntry): void {
    this.#admit(entry)
    this.#touched()
  }

  /** A link that another agent owns: it stays in the journal until that one has it. */
  abroad(entry: FrontierEntry): void {
    this.#send(entry)
    this.#touched()
  }

  #send(entry: FrontierEntry): void {
    this.#batch.abroad.push(entry)
    if (entry.isSeed) this.#parts.writeSeed(entry)
  }

  /** A seed of another agent: it widens our scope as well. */
  seedAbroad(entry: FrontierEntry): void {
    this.#parts.writeSeed(entry)
    this.#touched()
  }

  /** The first page of a content whose digest another agent owns. */
  original(note: OriginalNote): void {
    this.#batch.originals.push(note)
    this.#touched()
  }

  held(entry: FrontierEntry): void {
    this.#parts.writeHeld(entry)
    this.#touched()
  }

  /** Takes back a verdict: the URL waits again. The caller has taken its line out of the file. */
  requeued(entry: FrontierEntry, verdict: Verdict): void {
    this.#parts.figures.uncount(verdict)
    this.#takenBack.push(verdict)
    this.#parts.frontier.offer(entry)
    this.#batch.admitted.push(entry)
    this.#touched()
  }

  #admit(entry: FrontierEntry): void {
    this.#batch.admitted.push(entry)
    this.#parts.frontier.offer(entry)
    if (entry.isSeed) this.#parts.writeSeed(entry)
    this.#parts.figures.admitted++
    if (this.#parts.traces?.isOn === true) {
      this.#parts.traces.step(entry.url, `waits, ${entry.depth} links from a seed, found on ${entry.via ?? 'no page'}`)
    }
  }

  refused(reason: RefusalReason): void {
    this.#parts.figures.refuse(reason)
    this.#touched()
  }

  rest(note: RestNote): void {
    this.#batch.rests.push(note)
    this.#touched()
  }

  /** Something that stands in a file alone was written: it counts with the next batch. */
  noted(): void {
    this.#touched()
  }

  /**
   * Something to wait for when more was done than is written, or more waits than fits memory: both stay bounded. Also when a commit takes
   * very long, because a disk hangs or the engine of a cluster is away: what is asked for now may have to be asked for again.
   */
  pressure(): Promise<void> | undefined {
    if (this.#verdicts.length >= VERDICTS_PER_BATCH_MAX) return this.#commitNext()
    if (this.#commit !== null && this.#parts.clock.nowMs() - this.#commitSinceMs > COMMIT_STALLED_MS)
      return this.commit()
    return this.#parts.frontier.pressure() ?? this.#parts.pressureAbroad()
  }

  /** Resolves when everything written so far is durable. */
  async commit(): Promise<void> {
    for (let busy = this.#busy(); busy !== null; busy = this.#busy()) await busy
    if (this.#fault !== null) throw this.#fault
    if (this.#isDirty) await this.#commitAlone()
  }

  /** Whether everything that was done is durable. */
  get isDurable(): boolean {
    return !this.#isDirty && this.#commit === null
  }

  /** Calls back when all that was done so far is durable; at once where it is. */
  whenDurable(callback: () => void): void {
    const number = this.#isDirty ? this.#taken + 1 : this.#taken
    if (number <= this.#durable) callback()
    else this.#waiting.push({ number, callback })
  }

  /** Commits, then lets no other commit begin until the function that it gives is called: the files stand still meanwhile. */
  async hold(): Promise<() => void> {
    for (let busy = this.#busy(); busy !== null; busy = this.#busy()) await busy
    if (this.#fault !== null) throw this.#fault
    let release = (): void => {}
    this.#hold = new Promise((resolve) => {
      release = () => {
        this.#hold = null
        resolve()
      }
    })
    try {
      if (this.#isDirty) await this.#commitAlone()
    } catch (fault) {
      release()
      throw fault
    }
    return release
  }

  /** The last batch that is durable. */
  get lastBatch(): number {
    return this.#durable
  }

  /** What the last batch says of files and parts, by name. */
  get states(): Readonly<Record<string, unknown>> {
    return this.#states
  }

  /** What a commit or a hold waits for. Whoever finds nothing begins in the same breath: of many that waited one is next. */
  #busy(): Promise<void> | null {
    return this.#commit ?? this.#hold
  }

  /** The last commit of a run, after which opening the crawl again has next to nothing to replay. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#cancelTick?.()
    for (let busy = this.#busy(); busy !== null; busy = this.#busy()) await busy
    if (!this.#wasTouched) return
    let partFault: unknown = null
    await this.#parts.beforeLast().catch((fault: unknown) => {
      partFault = fault
    })
    for (let busy = this.#busy(); busy !== null; busy = this.#busy()) await busy
    if (this.#fault !== null) throw this.#fault
    // What was done counts, also where a part on disk could not be written out: the journal tells it again.
    await this.#commitAlone()
    if (partFault !== null) throw partFault
  }

  /** Whether this run has anything to tell; one that finds nothing to do leaves no trace. */
  get wasTouched(): boolean {
    return this.#wasTouched
  }

  async #commitAlone(): Promise<void> {
    this.#commitSinceMs = this.#parts.clock.nowMs()
    this.#commit = this.#commitBatch().finally(() => {
      this.#commitMs = this.#parts.clock.nowMs() - this.#commitSinceMs
      this.#commit = null
    })
    await this.#commit
  }

  async #commitBatch(): Promise<void> {
    const { journal, files, figures, frontier, spent, heldElsewhere, faults } = this.#parts
    const batch = this.#batch
    const verdicts = this.#verdicts
    const takenBack = this.#takenBack
    const number = journal.lastNumber + 1
    this.#taken = number
    this.#batch = emptyBatch()
    this.#verdicts = []
    this.#takenBack = []
    this.#isDirty = false
    const states: Record<string, unknown> = { ...this.#parts.otherFiles }
    try {
      // First, so that the time it says is the time at which it was taken: states may take a moment.
      batch.totals = figures.totals(frontier.figures().hosts, spent())
      for (const [name, file] of files) states[name] = file.state(number)
      batch.files = states
      await Promise.all([...files.values()].map(async (file) => file.sync?.()))
      faults.hit('books')
      await journal.commit(batch)
    } catch (fault) {
      throw this.#fail(fault, verdicts, takenBack, batch.admitted.length)
    }
    this.#states = states
    this.#durable = number
    const due = this.#waiting.filter((one) => one.number <= number)
    if (due.length > 0) this.#waiting = this.#waiting.filter((one) => one.number > number)
    for (const { callback } of due) callback()
    this.#parts.onDurable(number, batch)
    for (const [name, file] of files) await file.committed?.(states[name], number)
    // The last batch stays: it says how long the files are.
    const upTo = Math.min(number - 1, heldElsewhere())
    if (upTo >= journal.firstNumber) await journal.forget(upTo)
  }

  /** The end. What could not be committed has not happened: the figures say what the next run will find. */
  #fail(fault: unknown, verdicts: readonly Verdict[], takenBack: readonly Verdict[], admitted: number): unknown {
    const { figures } = this.#parts
    this.#fault ??= fault
    for (const verdict of [...verdicts, ...this.#verdicts]) figures.uncount(verdict)
    for (const verdict of [...takenBack, ...this.#takenBack]) figures.count(verdict)
    figures.admitted -= admitted + this.#batch.admitted.length - takenBack.length - this.#takenBack.length
    this.#batch = emptyBatch()
    this.#verdicts = []
    this.#takenBack = []
    return fault
  }

  #touched(): void {
    this.#wasTouched = true
    this.#isDirty = true
    if (this.#isClosed) return
    if (this.#verdicts.length >= VERDICTS_PER_BATCH_MAX && this.#commit === null) {
      if (this.#next === null) this.#commitNext().catch((fault: unknown) => this.#parts.onFault(fault))
    } else if (this.#cancelTick === null) this.#tickAt(this.#parts.clock.nowMs() + this.#parts.tickMs)
  }

  /** Others wait for what was done here, and nothing is under way that could join it: it does not wait for the tick. */
  hurry(): void {
    if (!this.#isDirty || this.#isClosed) return
    this.#cancelTick?.()
    const { clock } = this.#parts
    // A disk is busy half of the time at most.
    this.#tickAt(Math.max(clock.nowMs() + this.#commitMs, this.#commitSinceMs + HURRY_MS))
  }

  #tickAt(ms: number): void {
    this.#cancelTick = this.#parts.clock.callAt(ms as ReturnType<Clock['nowMs']>, () => {
      this.#cancelTick = null
      this.#commitSoon()
    })
  }

  /**
   * Commits in a turn of the loop of its own. Whoever settles a page is in the middle of one, together with others (convoy.ts) whose links
   * and archive records are written and who are not in the books yet: a batch that was taken now would speak of them.
   */
  #commitNext(): Promise<void> {
    this.#next ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      this.#next = null
      return this.commit()
    })
    return this.#next
  }

  #commitSoon(): void {
    this.commit().catch((fault: unknown) => this.#parts.onFault(fault))
  }
}

function describeVerdict(verdict: Verdict): string {
  switch (verdict.kind) {
    case 'page':
      return `is a page, status ${verdict.status}, ${verdict.bytes} bytes`
    case 'failed':
      return `has failed: ${verdict.code}`
    case 'skipped':
      return `is skipped: ${verdict.reason}`
  }
}
