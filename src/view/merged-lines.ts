// The lines of several files in one, each exactly once: pages.jsonl of a crawl of several agents.
//
//   share 0   ################|+++++ ·      |  what the cursor has
//   share 1   ##########|+++ ·              +  committed since: advance() appends it
//                                           ·  not committed: stays out
//   merged    ##########################|+++++ +++
//   cursor    length, and how far in each share
//
// advance() copies, syncs the merged file, then writes the cursor: that is its commit. Opening cuts the merged file back
// to the cursor. Lines of one source stand in their order; how those of several mix is chance.
//
// Always true:
//   - up to the cursor's length the merged file has the committed lines of all sources, each once, none torn;
//   - it can be made again from the sources alone, and is where the two do not fit: it was cut or removed, a source was cut
//     back, a source has a new edition. The new one is written beside and takes the name when it is whole (as much room on
//     the disk again, until then), so that whoever reads it never finds less than there was;
//   - a fault leaves the commit before it: the next advance() opens anew and does it again.
//
// hot: 0.4 µs of CPU per line of a page, and a millisecond per advance (bench/view.ts): once a second is often enough for
// readers, and cheap; ten times a second the advances cost more than the lines.

import { rm, stat } from 'node:fs/promises'
import { assert, diskFault, Fault } from '../base/index.ts'
import { moveDurably } from '../disk/index.ts'
import { type Cursor, CursorFile, loadCursor, type Reached, removeCursor } from './cursor.ts'
import { type Committed, type LineSource, misfit, SourceReader } from './line-source.ts'
import { MergedFile } from './merged-file.ts'

export interface MergedLinesOptions {
  readonly path: string
  /** In a directory that is there. */
  readonly cursorPath: string
  readonly sources: readonly LineSource[]
}

/** Long enough that calls cost little per line, short enough that others get their turn. 1 MiB was cheapest. */
const STRETCH_BYTES = 2 ** 20

/** What is committed of every source, by its name; a plain length where there are no editions. */
export type CommittedLengths = Readonly<Record<string, number | Committed>>

/** The merged file as the last cursor has it, open for more. */
interface Opened {
  readonly file: MergedFile
  readonly cursor: CursorFile
  readonly reached: Readonly<Record<string, Reached>>
}

export class MergedLines {
  readonly #path: string
  readonly #cursorPath: string
  readonly #sources: readonly LineSource[]
  /** Null when it must be looked at again: after a fault. */
  #opened: Opened | 'to be made anew' | null = null
  readonly #readers = new Map<string, SourceReader>()
  readonly #buffer = Buffer.allocUnsafeSlow(STRETCH_BYTES)
  #told: ReadonlyMap<string, Committed> = new Map()
  #running: Promise<void> | null = null
  #waiting: Promise<void> | null = null
  /** Sources that did not fit the edition we were told of, which happens once when they have moved on to the next. */
  readonly #misfits = new Map<string, number>()

  private constructor({ path, cursorPath, sources }: MergedLinesOptions) {
    assert(
      sources.every((source) => source.path !== path),
      `${path} cannot be merged into itself`,
    )
    this.#path = path
    this.#cursorPath = cursorPath
    this.#sources = sources
  }

  /** Cuts the merged file back to its cursor. Where that cannot be it stays as it is until the first advance(). */
  static async open(options: MergedLinesOptions): Promise<MergedLines> {
    const merged = new MergedLines(options)
    try {
      merged.#opened = await merged.#open()
      return merged
    } catch (fault) {
      await merged.#letGo()
      throw fault
    }
  }

  /**
   * Brings the merged file to what is committed of every source. One call works at a time; those that come meanwhile wait
   * together for one more, which goes by what the last of them said. After a fault it may be called again.
   */
  advance(lengths: CommittedLengths): Promise<void> {
    this.#told = new Map(this.#sources.map(({ name }) => [name, committedIn(lengths, name)]))
    if (this.#running === null) return this.#start()
    this.#waiting ??= this.#running
      .catch(() => {})
      .then(() => {
        this.#waiting = null
        return this.#start()
      })
    return this.#waiting
  }

  async close(): Promise<void> {
    await this.#waiting?.catch(() => {})
    await this.#running?.catch(() => {})
    await this.#letGo()
  }

  #start(): Promise<void> {
    this.#running = this.#advance(this.#told).finally(() => {
      this.#running = null
    })
    return this.#running
  }

  async #advance(told: ReadonlyMap<string, Committed>): Promise<void> {
    try {
      this.#opened ??= await this.#open()
      if (this.#opened === 'to be made anew' || this.#isOutdated(this.#opened, told)) await this.#rebuild(told)
      else await this.#append(this.#opened, told)
    } catch (cause) {
      await this.#letGo().catch(() => {})
      if (!(cause instanceof Superseded)) throw diskFault(`writing ${this.#path}`, cause)
    }
  }

  async #open(): Promise<Opened | 'to be made anew'> {
    try {
      await rm(this.#temporary, { force: true })
      const last = await loadCursor(this.#cursorPath)
      if (last === null || !(await this.#isUsable(last))) return 'to be made anew'
      return await this.#openAt(last.length, last, last.sources)
    } catch (cause) {
      throw diskFault(`opening ${this.#path}`, cause)
    }
  }

  async #openAt(length: number, last: Cursor | null, reached: Readonly<Record<string, Reached>>): Promise<Opened> {
    const file = await MergedFile.openAt(this.#path, length)
    try {
      return { file, cursor: await CursorFile.open(this.#cursorPath, last), reached }
    } catch (fault) {
      await file.close()
      throw fault
    }
  }

  /** Whether the merged file and all sources still have what the cursor speaks of. */
  async #isUsable({ length, sources }: Cursor): Promise<boolean> {
    const size = await stat(this.#path).then(
      (found) => found.size,
      (cause: unknown) => {
        if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return -1
        throw cause
      },
    )
    if (size < length) return false
    for (const [name, reached] of Object.entries(sources)) {
      const source = this.#sources.find((one) => one.name === name)
      if (source === undefined) return false
      if (reached.length === 0) continue
      const reader = await this.#readerOf(source, reached.edition)
      if ((await reader?.tailBefore(reached.length)) !== reached.tail) return false
    }
    return true
  }

  /** Whether lines that the merged file has were taken back. */
  #isOutdated({ reached }: Opened, told: ReadonlyMap<string, Committed>): boolean {
    return [...told].some(([name, { length, edition }]) => {
      const held = reached[name]
      return held !== undefined && held.length > 0 && (held.edition !== edition || held.length > length)
    })
  }

  async #append({ file, cursor, reached }: Opened, told: ReadonlyMap<string, Committed>): Promise<void> {
    const isThere = [...told].every(([name, { length }]) => length === (reached[name]?.length ?? 0))
    if (isThere) return
    const now = await this.#copy(file, reached, told)
    await file.sync()
    await cursor.save({ length: file.length, sources: now })
    this.#opened = { file, cursor, reached: now }
  }

  async #rebuild(told: ReadonlyMap<string, Committed>): Promise<void> {
    const beside = await MergedFile.create(this.#temporary)
    let now: Record<string, Reached>
    try {
      try {
        now = await this.#copy(beside, {}, told)
        await beside.sync()
      } finally {
        await beside.close()
      }
    } catch (fault) {
      // It may be what has filled the disk.
      await rm(this.#temporary, { force: true }).catch(() => {})
      throw fault
    }
    await this.#letGo()
    // First, and durably: of the new file it is not true, even where the two could be taken for each other.
    await removeCursor(this.#cursorPath)
    await moveDurably(this.#temporary, this.#path)
    // From here on letGo() closes it.
    this.#opened = await this.#openAt(beside.length, null, now)
    await this.#opened.cursor.save({ length: beside.length, sources: now })
  }

  async #copy(
    into: MergedFile,
    reached: Readonly<Record<string, Reached>>,
    told: ReadonlyMap<string, Committed>,
  ): Promise<Record<string, Reached>> {
    const now: Record<string, Reached> = { ...reached }
    for (const source of this.#sources) {
      const { length, edition } = told.get(source.name) ?? { length: 0, edition: 0 }
      const from = reached[source.name]?.length ?? 0
      if (length > from)
        now[source.name] = { edition, length, tail: await this.#copyOne(source, edition, from, length, into) }
      else now[source.name] ??= { edition, length: 0, tail: 0 }
    }
    return now
  }

  /** Returns the checksum for the cursor. */
  async #copyOne(source: LineSource, edition: number, from: number, to: number, into: MergedFile): Promise<number> {
    try {
      const reader = await this.#readerOf(source, edition)
      if (reader === null) throw misfit(source, `it is missing, but ${to} bytes were committed`)
      const tail = await reader.copy(from, to, into, this.#buffer)
      this.#misfits.delete(source.name)
      return tail
    } catch (fault) {
      if (source.editionPath === undefined || !(fault instanceof Fault) || fault.code !== 'LEDGER_CORRUPT') throw fault
      // Probably its name belongs to the next edition by now, of which we will be told. Else it happens again.
      if (this.#misfits.get(source.name) === edition) throw fault
      this.#misfits.set(source.name, edition)
      throw new Superseded(fault.message)
    }
  }

  /** Stays open: an edition that is being read may lose its name meanwhile. */
  async #readerOf(source: LineSource, edition: number): Promise<SourceReader | null> {
    const known = this.#readers.get(source.name)
    if (known?.edition === edition) return known
    this.#readers.delete(source.name)
    await known?.close()
    const reader = await SourceReader.open(source, edition)
    if (reader !== null) this.#readers.set(source.name, reader)
    return reader
  }

  /** Closes everything. What was done since the last cursor does not count. */
  async #letGo(): Promise<void> {
    const opened = this.#opened
    this.#opened = null
    const readers = [...this.#readers.values()]
    this.#readers.clear()
    for (const reader of readers) await reader.close()
    if (opened === null || opened === 'to be made anew') return
    await opened.cursor.close()
    await opened.file.close()
  }

  get #temporary(): string {
    return `${this.#path}.new`
  }
}

/** An edition is gone before it was read: nothing is wrong, there is only nothing to be had of it. */
class Superseded extends Error {}

function committedIn(lengths: CommittedLengths, name: string): Committed {
  const committed = lengths[name]
  assert(committed !== undefined, `nothing was said of ${name}, which is to be merged`)
  return typeof committed === 'number' ? { length: committed, edition: 0 } : committed
}
