// The files of a share that is made from what others had (new-share.ts), and the batch that says how long they are.

import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { diskFault, Fault } from '../base/index.ts'
import { AppendFile, makeDirectory } from '../disk/index.ts'
import type { FrontierEntry } from '../frontier/index.ts'
import { emptyBatch, type OriginalNote, SegmentedJournal } from '../ledger/index.ts'
import { LINK_LOG_HEAD_BYTES } from '../processors/index.ts'
import type { SavedRobotsEntry } from '../robots/index.ts'
import { type FailureRecord, JsonLines, type PageRecord, type ReturnNote } from '../store/index.ts'
import type { RememberedOptions } from './changed-options.ts'
import { Closers } from './closers.ts'
import { FILES, type Seed } from './crawl-files.ts'
import type { CrawlPlan } from './crawl-plan.ts'
import { CrawlFigures } from './figures.ts'
import type { MannersNote } from './learnt-rests.ts'
import { HISTORY, type OldShare } from './old-share.ts'
import type { GivenUpNote } from './trouble.ts'
import { failureVerdict, pageVerdict } from './verdict.ts'

const COPY_BYTES = 2 ** 20

interface Lines {
  readonly pages: JsonLines<PageRecord>
  readonly failures: JsonLines<FailureRecord>
  readonly seeds: JsonLines<Seed>
  readonly held: JsonLines<FrontierEntry>
  readonly robots: JsonLines<SavedRobotsEntry>
  readonly givenUp: JsonLines<GivenUpNote>
  readonly manners: JsonLines<MannersNote>
  readonly originals: JsonLines<OriginalNote>
  readonly returns: JsonLines<ReturnNote>
}

export class NewShareFiles {
  readonly #plan: CrawlPlan
  readonly #closers: Closers
  readonly #lines: Lines
  readonly #history = new Map<string, AppendFile>()
  /** Of the URLs that are done with. */
  readonly #figures = new CrawlFigures()

  private constructor(plan: CrawlPlan, closers: Closers, lines: Lines) {
    this.#plan = plan
    this.#closers = closers
    this.#lines = lines
  }

  /** In a directory that is not there. */
  static async create(plan: CrawlPlan): Promise<NewShareFiles> {
    const closers = new Closers()
    const openLines = async <T>(path: string): Promise<JsonLines<T>> => {
      const lines = await JsonLines.open<T>(join(plan.dir, path), { committedLength: 0 })
      closers.add(() => lines.close())
      return lines
    }
    try {
      await makeDirectory(join(plan.dir, 'state'))
      return new NewShareFiles(plan, closers, {
        pages: await openLines<PageRecord>(FILES.pages),
        failures: await openLines<FailureRecord>('failures.jsonl'),
        seeds: await openLines<Seed>(FILES.seeds),
        held: await openLines<FrontierEntry>(FILES.held),
        robots: await openLines<SavedRobotsEntry>(FILES.robots),
        givenUp: await openLines<GivenUpNote>(FILES.givenUp),
        manners: await openLines<MannersNote>(FILES.manners),
        originals: await openLines<OriginalNote>(FILES.originals),
        returns: await openLines<ReturnNote>(FILES.returns),
      })
    } catch (fault) {
      await closers.closeAll().catch(() => {})
      throw fault
    }
  }

  /** Adds a line; something to wait for when the disk is behind. */
  add<K extends keyof Lines>(
    name: K,
    record: Lines[K] extends JsonLines<infer T> ? T : never,
  ): Promise<void> | undefined {
    const lines = this.#lines[name] as JsonLines<unknown>
    lines.append(record)
    if (name === 'pages') this.#figures.count(pageVerdict(record as PageRecord))
    if (name === 'failures') this.#figures.count(failureVerdict(record as FailureRecord))
    // Its page has a line that counts no more.
    if (name === 'returns') this.#figures.uncount(pageVerdict(record as ReturnNote))
    return lines.needsDrain ? lines.drained() : undefined
  }

  /** The logs of all, one share after the other. */
  async addHistory(shares: readonly OldShare[]): Promise<void> {
    for (const name of HISTORY) {
      const sources = shares.flatMap((share) => share.history(name) ?? [])
      if (sources.length === 0) continue
      const file = await AppendFile.open(join(this.#plan.dir, FILES[name]), { committedLength: 0 })
      this.#closers.add(() => file.close())
      this.#history.set(name, file)
      for (const { path, length } of sources) {
        // A link log goes on with the frames of another: a writer that begins names every host itself.
        await copyRange(path, name === 'links' && file.length > 0 ? LINK_LOG_HEAD_BYTES : 0, length, file)
      }
    }
  }

  /** Writes the first batch, which says how long the files are, and closes everything. */
  async commit(options: RememberedOptions | null): Promise<void> {
    const { dir, random, newIdentity } = this.#plan
    try {
      const states: Record<string, unknown> = options === null ? {} : { options }
      for (const [name, file] of [...Object.entries(this.#lines), ...this.#history]) {
        await file.sync()
        states[name] = name === 'failures' ? { length: file.length, edition: 0 } : file.length
      }
      const journal = await SegmentedJournal.open({
        directory: join(dir, 'state/journal'),
        random,
        create: newIdentity,
      })
      this.#closers.add(() => journal.close())
      const totals = this.#figures.totals(0, { ms: 0, cpuMs: 0, peakRssBytes: 0 })
      await journal.commit({ ...emptyBatch(), files: states, totals })
    } finally {
      await this.close()
    }
  }

  /** Harmless twice. */
  close(): Promise<void> {
    return this.#closers.closeAll()
  }
}

async function copyRange(from: string, start: number, end: number, to: AppendFile): Promise<void> {
  let source: FileHandle | null = null
  try {
    source = await open(from, 'r')
    const buffer = Buffer.allocUnsafe(COPY_BYTES)
    for (let at = start; at < end;) {
      const { bytesRead } = await source.read(buffer, 0, Math.min(COPY_BYTES, end - at), at)
      if (bytesRead === 0) throw new Fault('LEDGER_CORRUPT', `${from} ends at byte ${at}, but ${end} were committed`)
      to.append(buffer.subarray(0, bytesRead))
      at += bytesRead
      if (to.needsDrain) await to.drained()
    }
  } catch (cause) {
    throw diskFault(`copying ${from}`, cause)
  } finally {
    await source?.close()
  }
}
