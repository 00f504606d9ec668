// The catalogue of a crawl, in the thread that has it to itself: kept up with the crawl's files in slices, asked in between.
//
//   pages.jsonl ───┐  lines(), in slices      held in memory      state/catalogue.sqlite
//   failures.jsonl ┴────────────────▶ Intake ───────────────▶ segments, counts, position ◀── Finder, host list: what is committed
//
// It is derived data. Whatever does not fit (another crawl or format, a file that was cut, lines that count no more, a checksum) throws
// it away and begins it anew; a question meanwhile is answered from as much as there is, with `readShare` below 1.

import { accessSync, constants, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { type Clock, diskFault, Fault } from '../base/index.ts'
import { type FailureRecord, isFailure, isPage, type PageRecord, ReturnedPages } from '../store/index.ts'
import type {
  BrokenLink,
  BrokenQuery,
  Catalogued,
  CataloguedFailure,
  CataloguedHost,
  CataloguedPage,
  FailuresQuery,
  HostFacts,
  HostsQuery,
  Listed,
  PagesQuery,
  Statistics,
} from './answers.ts'
import { type Standing, StandingWatch } from './crawl-standing.ts'
import { Damaged } from './damaged.ts'
import {
  type Collection,
  type Connections,
  createDatabase,
  FAILURES,
  openDatabase,
  PAGES,
  releaseMemory,
  removeDatabase,
} from './database.ts'
import { Finder, type FinderLimits } from './finder.ts'
import { hostFacts, listHosts } from './host-list.ts'
import { Intake, LINES_HELD_MAX, Overtaken } from './intake.ts'
import { LineFile } from './line-file.ts'
import { emptyState, readMeta, writeMeta } from './meta.ts'
import type { Steps } from './segments.ts'
import { Tallies } from './tallies.ts'

const NAME = 'state/catalogue.sqlite'
/** Few lines are not written at once: each write makes a segment. */
const WRITE_EVERY_MS = 2_000
/** The crawl's files are looked at so often at most. */
const LOOK_EVERY_MS = 500
/** Of one that is open. A disk on which it does not last is no place for it. */
const REBUILDS_MAX = 20

export interface CatalogueOptions {
  readonly dir: string
  readonly clock: Clock
  /** For tests: what a question may cost, */
  readonly limits?: FinderLimits
  /** and how many lines are held in memory before they are written. */
  readonly linesHeldMax?: number
}

interface Opened {
  readonly connections: Connections
  readonly intake: Intake
}

export class Catalogue {
  readonly #dir: string
  readonly #clock: Clock
  readonly #limits: FinderLimits | undefined
  readonly #linesHeldMax: number
  readonly #files: Readonly<Record<Collection, LineFile>>
  #path: string
  /** Where the directory of the crawl cannot be written. */
  #elsewhere: string | null = null
  #connections: Connections
  #intake: Intake
  #finder: Finder
  #watch: StandingWatch
  #standing: Standing
  #lookedMs = -Infinity
  #wroteMs = -Infinity
  /** A write that is under way: a transaction is open. */
  #write: Steps | null = null
  /** A merge that is under way: none is open between its steps, so that it may wait. */
  #merge: Steps | null = null
  #isMergeDue = true
  /** Notes of pages that were returned to, while lines are read; a crawl that never returns has none. */
  #returned: readonly ReturnedPages[] | null = null
  #rebuilds = 0
  /** Committed: what questions see. */
  #seen = { pages: 0, failures: 0 }

  private constructor(
    { dir, clock, limits, linesHeldMax = LINES_HELD_MAX }: CatalogueOptions,
    watch: StandingWatch,
    standing: Standing,
  ) {
    this.#dir = dir
    this.#clock = clock
    this.#limits = limits
    this.#linesHeldMax = linesHeldMax
    this.#watch = watch
    this.#standing = standing
    this.#files = {
      [PAGES]: new LineFile(join(dir, 'pages.jsonl')),
      [FAILURES]: new LineFile(join(dir, 'failures.jsonl')),
    }
    this.#path = join(dir, NAME)
    const { connections, intake } = this.#openStored() ?? this.#create()
    this.#connections = connections
    this.#intake = intake
    this.#finder = new Finder(connections.reader, this.#files, clock, limits)
  }

  static async open(options: CatalogueOptions): Promise<Catalogue> {
    const watch = new StandingWatch(options.dir)
    const catalogue = new Catalogue(options, watch, await watch.look())
    catalogue.#noteSeen()
    return catalogue
  }

  /** How often it was begun anew since it was opened. */
  get rebuilds(): number {
    return this.#rebuilds
  }

  /** Lines in memory that are not written yet. */
  get heldLines(): number {
    return this.#intake.heldLines
  }

  /** How much of what is committed in the crawl's files questions see. */
  get readShare(): number {
    const all = this.#standing.pages + this.#standing.failures
    return all === 0 ? 1 : Math.min(1, (this.#seen.pages + this.#seen.failures) / all)
  }

  /** Bytes that are still to be read. */
  get behindBytes(): number {
    return Math.max(0, this.#standing.pages + this.#standing.failures - this.#seen.pages - this.#seen.failures)
  }

  /**
   * Reads on for about so long, and at least a step. True when there is nothing left to do now. `isAwaited`: somebody waits for what is not
   * read yet, and does not wait for segments to be merged.
   */
  async advance(ms: number, isAwaited = false): Promise<boolean> {
    const untilMs = this.#clock.nowMs() + ms
    try {
      do {
        if (await this.#step(isAwaited)) return true
      } while (this.#clock.nowMs() < untilMs)
      return false
    } catch (cause) {
      this.#recover(cause)
      return false
    }
  }

  pages(query: PagesQuery): Catalogued<CataloguedPage> {
    return this.#find(() => this.#finder.pages(query))
  }

  failures(query: FailuresQuery): Catalogued<CataloguedFailure> {
    return this.#find(() => this.#finder.failures(query))
  }

  broken(query: BrokenQuery): Catalogued<BrokenLink> {
    return this.#find(() => this.#finder.broken(query))
  }

  hosts(query: HostsQuery): Catalogued<CataloguedHost> {
    return this.#find((reader) => listHosts(reader, query))
  }

  host(name: string): HostFacts | null {
    return this.#ask((reader) => hostFacts(reader, this.#finder, name))
  }

  statistics(): Statistics {
    return this.#ask((reader) => ({ ...Tallies.load(reader).statistics(), readShare: this.readShare }))
  }

  close(): void {
    this.#letGo()
    for (const file of Object.values(this.#files)) file.close()
    if (this.#elsewhere !== null) rmSync(this.#elsewhere, { recursive: true, force: true })
  }

  #find<T>(question: (reader: DatabaseSync) => Listed<T>): Catalogued<T> {
    return this.#ask((reader) => ({ ...question(reader), readShare: this.readShare }))
  }

  /** Everything a question reads is of one moment; where it finds damage it is asked again of what is made anew. */
  #ask<T>(question: (reader: DatabaseSync) => T): T {
    for (let attempt = 0; ; attempt++) {
      const { reader } = this.#connections
      try {
        reader.exec('BEGIN')
        try {
          return question(reader)
        } finally {
          if (reader.isTransaction) reader.exec('COMMIT')
        }
      } catch (cause) {
        if (attempt > 0) throw cause
        this.#recover(cause)
      }
    }
  }

  /** True when there is nothing to do now. */
  async #step(isAwaited: boolean): Promise<boolean> {
    const isLookDue = this.#clock.nowMs() - this.#lookedMs >= LOOK_EVERY_MS
    if (this.#write !== null) {
      if (this.#write.next().done === true) {
        this.#write = null
        this.#isMergeDue = true
        releaseMemory(this.#connections.writer)
        this.#noteSeen()
      }
      return false
    }
    if (this.#intake.isFull) return this.#startWriting()
    // Before more is read: behind a crawl that is faster there would be ever more segments.
    if (!isAwaited && this.#stepMerge()) return false
    if (isLookDue || (isAwaited && !this.#isBehind())) await this.#look()
    for (const collection of [PAGES, FAILURES] as const) if (await this.#readOn(collection)) return false
    const { heldLines } = this.#intake
    const isOld = this.#clock.nowMs() - this.#wroteMs >= WRITE_EVERY_MS
    if (this.#hasUnwritten() && (isAwaited || isOld || heldLines === 0)) return this.#startWriting()
    return true
  }

  /** Whether there was something. */
  #stepMerge(): boolean {
    if (this.#merge === null) {
      if (!this.#isMergeDue) return false
      this.#merge = this.#intake.merge()
    }
    if (this.#merge.next().done === true) {
      this.#merge = null
      releaseMemory(this.#connections.writer)
      // A run at a time: there may be another.
      this.#isMergeDue = this.#intake.isMergeDue
    }
    return true
  }

  #startWriting(): boolean {
    this.#write = this.#intake.write()
    this.#wroteMs = this.#clock.nowMs()
    return false
  }

  #isBehind(): boolean {
    const { pages, failures } = this.#intake.state
    return pages.position < this.#standing.pages || failures.position < this.#standing.failures
  }

  #hasUnwritten(): boolean {
    const { pages, failures } = this.#intake.state
    return pages.position !== this.#seen.pages || failures.position !== this.#seen.failures
  }

  async #look(): Promise<void> {
    this.#standing = await this.#watch.look()
    this.#lookedMs = this.#clock.nowMs()
    const { of, pages, failures } = this.#intake.state
    if (of !== this.#standing.of) throw new Damaged('lines that were read may not count any more')
    for (const [collection, { position, tail }] of [
      [PAGES, pages],
      [FAILURES, failures],
    ] as const) {
      const file = this.#files[collection]
      if (file.isReplaced()) file.close()
      const isFit = position === 0 || (file.size() >= position && file.tailBefore(position) === tail)
      if (!isFit) throw new Damaged('a file of the crawl was cut or replaced')
    }
  }

  /** Whether there was something. */
  async #readOn(collection: Collection): Promise<boolean> {
    const { position } = this.#intake.state[collection === PAGES ? 'pages' : 'failures']
    const end = this.#standing[collection === PAGES ? 'pages' : 'failures']
    if (position >= end) return false
    const file = this.#files[collection]
    if (collection === PAGES) this.#returned ??= await this.#openReturned()
    const returned = this.#returned ?? []
    const reached = file.lines(position, end, (text, place) => {
      const record = recordIn(text)
      if (collection === FAILURES) {
        const failure = record as FailureRecord
        if (isFailure(failure) && isStorable(failure.url)) this.#intake.addFailure(failure, place)
      } else if (isPage(record as PageRecord)) {
        const page = record as PageRecord
        if (isStorable(page.url) && !returned.some((notes) => notes.isTakenBack(page)))
          this.#intake.addPage(page, place)
      }
    })
    // A last line that is not whole, of files that no journal speaks of.
    if (reached === position) {
      this.#standing = { ...this.#standing, [collection === PAGES ? 'pages' : 'failures']: position }
      return false
    }
    this.#intake.reached(collection, { position: reached, tail: file.tailBefore(reached) })
    return true
  }

  async #openReturned(): Promise<readonly ReturnedPages[]> {
    const open: ReturnedPages[] = []
    for (const [i, { path, length }] of this.#standing.returns.entries()) {
      if (length === 0) continue
      const returned = await ReturnedPages.open(path, `${this.#path}-returns/${i}`, length)
      if (returned !== null) open.push(returned)
    }
    return open
  }

  #noteSeen(): void {
    const { pages, failures } = readMeta(this.#connections.writer)
    this.#seen = { pages: pages.position, failures: failures.position }
  }

  /** Null where there is none that fits. */
  #openStored(): Opened | null {
    const size = statSync(this.#path, { throwIfNoEntry: false })?.size
    if (size === undefined || !this.#mayWrite()) return null
    let connections: Connections | null = null
    try {
      connections = openDatabase(this.#path, size)
      const state = readMeta(connections.writer)
      if (state.of === this.#standing.of) {
        return { connections, intake: new Intake(connections.writer, state, this.#linesHeldMax) }
      }
    } catch {
      // Whatever it is, it is not ours to mend.
    }
    connections?.writer.close()
    connections?.reader.close()
    return null
  }

  /** Whoever may only read a crawl makes a catalogue elsewhere; in this one SQLite would fail at its first write. */
  #mayWrite(): boolean {
    try {
      accessSync(dirname(this.#path), constants.W_OK)
      return true
    } catch {
      return false
    }
  }

  #create(): Opened {
    try {
      return this.#createAt(this.#path)
    } catch (cause) {
      if (this.#elsewhere !== null) throw cause
      // A crawl on a medium that cannot be written is looked at all the same.
      this.#elsewhere = mkdtempSync(join(tmpdir(), 'portolan-catalogue-'))
      this.#path = join(this.#elsewhere, 'catalogue.sqlite')
      return this.#createAt(this.#path)
    }
  }

  #createAt(path: string): Opened {
    if (this.#elsewhere === null) mkdirSync(join(this.#dir, 'state'), { recursive: true })
    const connections = createDatabase(path)
    const state = emptyState(this.#standing.of)
    writeMeta(connections.writer, state)
    return { connections, intake: new Intake(connections.writer, state, this.#linesHeldMax) }
  }

  #letGo(): void {
    for (const job of [this.#write, this.#merge]) job?.return()
    this.#write = null
    this.#merge = null
    for (const returned of this.#returned ?? []) returned.close()
    this.#returned = null
    rmSync(`${this.#path}-returns`, { recursive: true, force: true })
    for (const connection of [this.#connections.reader, this.#connections.writer]) {
      try {
        connection.close()
      } catch {
        // Damaged so much that it does not even close.
      }
    }
  }

  #faultOf(cause: unknown, trouble: Trouble | null): unknown {
    if (trouble === 'full') return diskFault(`writing ${this.#path}`, { code: 'ENOSPC' })
    return trouble === null ? cause : diskFault(`keeping ${this.#path}`, cause)
  }

  /** After damage: anew. What is nobody's damage goes to whoever asked. */
  #recover(cause: unknown): void {
    if (cause instanceof Fault) throw cause
    const trouble = sqliteTrouble(cause)
    const wasOvertaken = cause instanceof Overtaken || trouble === 'busy'
    if (!wasOvertaken && !(cause instanceof Damaged) && trouble !== 'damaged') throw this.#faultOf(cause, trouble)
    if (this.#rebuilds >= REBUILDS_MAX) throw this.#faultOf(cause, 'disk')
    this.#letGo()
    if (!wasOvertaken) {
      this.#rebuilds++
      removeDatabase(this.#path)
    }
    const { connections, intake } = (wasOvertaken ? this.#openStored() : null) ?? this.#create()
    this.#connections = connections
    this.#intake = intake
    this.#finder = new Finder(connections.reader, this.#files, this.#clock, this.#limits)
    // Who was quicker merges too.
    this.#isMergeDue = !wasOvertaken
    this.#noteSeen()
  }
}

function recordIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** What SQLite cannot hand back as it was given. */
function isStorable(url: string): boolean {
  return url.isWellFormed() && !url.includes('\0')
}

type Trouble = 'busy' | 'full' | 'disk' | 'damaged'

/** By the primary codes of SQLite. Null: it is not SQLite's. */
function sqliteTrouble(cause: unknown): Trouble | null {
  const { code, errcode = 0 } = (cause ?? {}) as { code?: string; errcode?: number }
  if (code !== 'ERR_SQLITE_ERROR') return null
  const primary = errcode & 0xff
  if (primary === 5 || primary === 6) return 'busy'
  if (primary === 13) return 'full'
  // No memory, read-only, failed to read or write, cannot be opened.
  return [7, 8, 10, 14].includes(primary) ? 'disk' : 'damaged'
}
