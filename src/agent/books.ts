// What was done, written down: verdicts, new links, rests and rules gather in a batch, and every tick
// the batch is committed: first the files it speaks of are synced, then the batch itself.
//
//   visits ──▶ batch (memory) ──tick──▶ files synced ──▶ ledger.commit ──▶ durable
//
// Always true: everything put into one call of settle() stands in one batch, and the frontier is told in the same
// moment, so that what waits is at any time what the batches say; lengths of files are
// read in the same moment as the batch is taken, so they speak of the same things. One commit at a time.

import type { Clock, FailureCode, RefusalReason, SkipReason } from '../base/index.ts'
import type { Frontier, FrontierEntry } from '../frontier/index.ts'
import {
  type ContentNote,
  emptyBatch,
  isEmpty,
  type Ledger,
  type LedgerBatch,
  type RestNote,
  type Verdict,
} from '../ledger/index.ts'
import type { SavedRobotsEntry } from '../robots/index.ts'
import type { FailureRecord, PageRecord } from '../store/index.ts'
import type { CrawlFigures } from './figures.ts'

/** A file, or group of files, that a batch speaks of. */
export interface CommittedFile {
  /** What recovery needs to cut it back and go on; read when the batch is taken. */
  state(): unknown
  /** Makes everything up to the last state() durable. */
  sync(): Promise<void>
  /** Told when the ledger holds that state. */
  committed?(state: unknown): Promise<void>
}

/** Everything that becomes true together with the end of one URL's walk. */
export interface Settled {
  readonly entry: FrontierEntry
  readonly verdict: Verdict
  readonly page: PageRecord | null
  readonly failure: FailureRecord | null
  readonly content: ContentNote | null
  readonly admitted: readonly FrontierEntry[]
  readonly held: readonly FrontierEntry[]
  readonly refused: readonly RefusalReason[]
}

export type Spent = Pick<LedgerBatch, 'runStartedAtMs' | 'ranMs' | 'cpuMs' | 'peakRssBytes'>

export interface BooksParts {
  readonly clock: Clock
  readonly ledger: Ledger
  readonly frontier: Pick<Frontier, 'offer' | 'conclude'>
  readonly figures: CrawlFigures
  readonly files: ReadonlyMap<string, CommittedFile>
  /** States of files this run does not write (an archive that is off): kept as they are. */
  readonly otherFiles: Readonly<Record<string, unknown>>
  readonly writePage: (record: PageRecord) => void
  readonly writeFailure: (record: FailureRecord) => void
  /** What this run has taken so far, and which one it is. */
  readonly spent: () => Spent
  readonly tickMs: number
  /** A commit that fails is the end of the agent. */
  readonly onFault: (fault: unknown) => void
}

/** A batch of this many verdicts is committed before its tick, which bounds memory and what a crash costs. */
const VERDICTS_PER_BATCH_MAX = 5_000

export class Books {
  readonly #parts: BooksParts
  #batch: LedgerBatch = emptyBatch()
  #commit: Promise<void> | null = null
  #cancelTick: (() => void) | null = null
  #isClosed = false
  #wasTouched = false

  constructor(parts: BooksParts) {
    this.#parts = parts
  }

  settle(settled: Settled): void {
    const { figures, frontier, writePage, writeFailure } = this.#parts
    frontier.conclude(settled.entry, settled.verdict.kind === 'page')
    this.#batch.verdicts.push(settled.verdict)
    figures.count(settled.verdict)
    if (settled.page !== null) writePage(settled.page)
    if (settled.failure !== null) writeFailure(settled.failure)
    if (settled.content !== null) this.#batch.contents.push(settled.content)
    for (const entry of settled.admitted) this.#admit(entry)
    for (const entry of settled.held) this.#batch.held.push(entry)
    for (const reason of settled.refused) this.refused(reason)
    this.#touched()
  }

  failed(entry: FrontierEntry, code: FailureCode, detail: string): void {
    this.#giveUp(entry, { url: entry.url, kind: 'failed', code }, code, detail)
  }

  skipped(entry: FrontierEntry, reason: SkipReason, detail: string): void {
    this.#giveUp(entry, { url: entry.url, kind: 'skipped', reason }, reason, detail)
  }

  #giveUp(entry: FrontierEntry, verdict: Verdict, reason: string, detail: string): void {
    const { url, depth, via } = entry
    const at = new Date(this.#parts.clock.wallMs()).toISOString()
    const kind = verdict.kind === 'skipped' ? 'skipped' : 'failed'
    const failure = { url, kind, reason, detail, depth, via, at } as const
    this.settle({ entry, verdict, page: null, failure, content: null, admitted: [], held: [], refused: [] })
  }

  admitted(entry: FrontierEntry): void {
    this.#admit(entry)
    this.#touched()
  }

  held(entry: FrontierEntry): void {
    this.#batch.held.push(entry)
    this.#touched()
  }

  /** Takes back a verdict of an earlier run: the URL waits again. */
  requeued(entry: FrontierEntry, verdict: Verdict): void {
    this.#parts.figures.uncount(verdict)
    this.#parts.frontier.offer(entry)
    this.#batch.requeued.push(entry.url)
    this.#touched()
  }

  #admit(entry: FrontierEntry): void {
    this.#batch.admitted.push(entry)
    this.#parts.frontier.offer(entry)
    this.#parts.figures.admit(entry)
  }

  refused(reason: RefusalReason): void {
    this.#parts.figures.refuse(reason)
    this.#batch.refused[reason] = (this.#batch.refused[reason] ?? 0) + 1
    this.#touched()
  }

  robots(note: SavedRobotsEntry): void {
    this.#batch.robots.push(note)
    this.#touched()
  }

  rest(note: RestNote): void {
    this.#batch.rests.push(note)
    this.#touched()
  }

  /** Something to wait for when more was done than is written: what is not committed stays bounded. */
  pressure(): Promise<void> | undefined {
    return this.#batch.verdicts.length >= VERDICTS_PER_BATCH_MAX ? this.commit() : undefined
  }

  /** Resolves when everything written so far is durable. */
  async commit(): Promise<void> {
    while (this.#commit !== null) await this.#commit
    if (isEmpty(this.#batch)) return
    this.#commit = this.#commitBatch().finally(() => {
      this.#commit = null
    })
    await this.#commit
  }

  /** The last commit of a run: also tells how long it lasted, if anything was done in it. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelTick?.()
    while (this.#commit !== null) await this.#commit
    if (this.#wasTouched) await this.#commitBatch()
  }

  /** Whether this run has anything to tell; one that finds nothing to do leaves no trace. */
  get wasTouched(): boolean {
    return this.#wasTouched
  }

  async #commitBatch(): Promise<void> {
    const { ledger, files, spent } = this.#parts
    const batch = this.#batch
    this.#batch = emptyBatch()
    const states: Record<string, unknown> = { ...this.#parts.otherFiles }
    for (const [name, file] of files) states[name] = file.state()
    batch.files = states
    Object.assign(batch, spent())
    try {
      await Promise.all([...files.values()].map((file) => file.sync()))
      await ledger.commit(batch)
    } catch (fault) {
      this.#forget(batch)
      throw fault
    }
    for (const [name, file] of files) await file.committed?.(states[name])
  }

  /** What could not be committed has not happened: the figures say what the next run will find. */
  #forget(batch: LedgerBatch): void {
    const { figures } = this.#parts
    for (const lost of [batch, this.#batch]) {
      for (const verdict of lost.verdicts) figures.uncount(verdict)
      figures.admitted -= lost.admitted.length
    }
    this.#batch = emptyBatch()
  }

  #touched(): void {
    this.#wasTouched = true
    if (this.#isClosed) return
    if (this.#batch.verdicts.length >= VERDICTS_PER_BATCH_MAX && this.#commit === null) this.#commitSoon()
    else if (this.#cancelTick === null) {
      const { clock, tickMs } = this.#parts
      this.#cancelTick = clock.callAt((clock.nowMs() + tickMs) as ReturnType<Clock['nowMs']>, () => {
        this.#cancelTick = null
        this.#commitSoon()
      })
    }
  }

  #commitSoon(): void {
    this.commit().catch((fault: unknown) => this.#parts.onFault(fault))
  }
}
