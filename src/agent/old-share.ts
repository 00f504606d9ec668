// The share of an agent, read out whole, for others that take its place. Opened as the agent itself would: what a crash left
// is put right, an archive that was being written is finished. Nothing of it changes but that.

import { join } from 'node:path'
import type { ExchangeState } from '../exchange/index.ts'
import type { FrontierEntry, HandedHost } from '../frontier/index.ts'
import { type CrawlIdentity, lookAtLastBatch, type NumberedBatch, type OriginalNote } from '../ledger/index.ts'
import type { SavedRobotsEntry } from '../robots/index.ts'
import {
  type ArchiveState,
  type FailureRecord,
  type PageRecord,
  readJsonLines,
  type ReturnNote,
} from '../store/index.ts'
import type { Fingerprinter } from '../url/index.ts'
import type { RememberedOptions } from './changed-options.ts'
import { Closers } from './closers.ts'
import { committedFiles, type Seed } from './crawl-files.ts'
import type { CrawlPlan } from './crawl-plan.ts'
import { type CrawlState, openCrawlState } from './crawl-state.ts'
import type { CrawlTotals } from './figures.ts'
import type { MannersNote } from './learnt-rests.ts'
import type { LostCaptures } from './lost-captures.ts'
import { originalNotesIn } from './page-originals.ts'
import type { GivenUpNote } from './trouble.ts'

/** Files that nobody looks into while it crawls: they go on as they are. */
export const HISTORY = ['links', 'index'] as const

export class OldShare {
  readonly #plan: CrawlPlan
  readonly #state: CrawlState
  readonly #closers: Closers

  private constructor(plan: CrawlPlan, state: CrawlState, closers: Closers) {
    this.#plan = plan
    this.#state = state
    this.#closers = closers
  }

  static async open(plan: CrawlPlan): Promise<OldShare> {
    const last = await lookAtLastBatch(join(plan.dir, 'state/journal'))
    const archive = (last?.batch.files['archive'] as ArchiveState | null | undefined) ?? null
    const isUnfinished = archive !== null && (archive.open !== null || archive.full.length > 0)
    const store = { ...plan.settings.store, warc: isUnfinished ? 'none' : 'off' } as const
    const closers = new Closers()
    try {
      const settings = { ...plan.settings, store }
      return new OldShare(plan, await openCrawlState({ ...plan, settings }, closers, { ring: () => {} }), closers)
    } catch (fault) {
      await closers.closeAll().catch(() => {})
      throw fault
    }
  }

  get identity(): CrawlIdentity {
    return this.#state.journal.identity
  }

  get fingerprinter(): Fingerprinter {
    return this.#state.fingerprinter
  }

  /** What all its runs have come to. */
  get totals(): CrawlTotals {
    const { figures, frontier } = this.#state
    return figures.totals(frontier.figures().hosts, { ms: 0, cpuMs: 0, peakRssBytes: 0 })
  }

  /** Null where it was never run. */
  get options(): RememberedOptions | null {
    return (this.#state.past.states['options'] as RememberedOptions | undefined) ?? null
  }

  get seeds(): readonly Seed[] {
    return this.#state.past.seeds
  }

  /** By agent of its time: the last of its batches that is in this share. */
  get holds(): readonly number[] {
    return this.#exchange?.holds ?? []
  }

  /** Where a file of history is, and how much of it counts. */
  history(name: (typeof HISTORY)[number]): { readonly path: string; readonly length: number } | null {
    const file = committedFiles(this.#state.past.states).find((one) => one.name === name)
    return file === undefined ? null : { path: join(this.#plan.dir, file.path), length: file.length }
  }

  pages(): AsyncIterable<PageRecord> {
    return readJsonLines<PageRecord>(this.#state.files.pages.path)
  }

  failures(): AsyncIterable<FailureRecord> {
    return readJsonLines<FailureRecord>(join(this.#plan.dir, 'failures.jsonl'))
  }

  held(): AsyncIterable<FrontierEntry> {
    return readJsonLines<FrontierEntry>(this.#state.files.held.path)
  }

  robots(): AsyncIterable<SavedRobotsEntry> {
    return readJsonLines<SavedRobotsEntry>(this.#state.files.robots.path)
  }

  givenUp(): AsyncIterable<GivenUpNote> {
    return readJsonLines<GivenUpNote>(this.#state.files.givenUp.path)
  }

  returns(): AsyncIterable<ReturnNote> {
    return readJsonLines<ReturnNote>(this.#state.files.returns.path)
  }

  manners(): AsyncIterable<MannersNote> {
    return readJsonLines<MannersNote>(this.#state.files.manners.path)
  }

  /** First pages of the contents it owns. */
  originals(): AsyncIterable<OriginalNote> {
    const { originals, pages } = this.#state.files
    const { lost } = this.#state
    if (originals === null) return originalNotesIn(pages.path, lost)
    const notes = readJsonLines<OriginalNote>(originals.path)
    return lost === null ? notes : without(notes, lost)
  }

  hosts(): AsyncIterable<HandedHost> {
    return this.#state.frontier.handOver()
  }

  /** Every URL met, giving control away now and then. */
  seen(visitor: (high: number, low: number, meetings: number) => void): Generator<void> {
    return this.#state.seen.visitInSteps(visitor)
  }

  /** Batches that may have something for others which these do not hold. */
  async *unconfirmed(): AsyncIterable<NumberedBatch> {
    const { journal } = this.#state
    if (journal.lastNumber > 0) yield* journal.history(this.#exchange?.settled ?? journal.lastNumber)
  }

  close(): Promise<void> {
    return this.#closers.closeAll()
  }

  get #exchange(): ExchangeState | null {
    return (this.#state.past.states['exchange'] as ExchangeState | undefined) ?? null
  }
}

async function* without(notes: AsyncIterable<OriginalNote>, lost: LostCaptures): AsyncGenerator<OriginalNote> {
  for await (const note of notes) if (!lost.has(note)) yield note
}
