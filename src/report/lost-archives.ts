// Where the archive of a crawl is, and which of its files are nowhere: counted while the pages are read.

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  archiveStanding,
  finishedFiles,
  loadShipped,
  type PageRecord,
  readJsonLines,
  type ReturnNote,
} from '../store/index.ts'
import type { ArchiveFigures } from './archive-figures.ts'
import type { CrawlReport } from './crawl-report.ts'

/** More names of lost files than these are not told apart. */
const LOST_FILES_MAX = 100_000

export class LostArchives {
  readonly archive: ArchiveFigures
  readonly #known: ReadonlySet<string>
  readonly #lost = new Set<string>()
  #pages = 0
  #again = 0

  private constructor(archive: ArchiveFigures, known: ReadonlySet<string>) {
    this.archive = archive
    this.#known = known
  }

  static async open(dir: string): Promise<LostArchives> {
    const { finished, open } = await finishedFiles(dir)
    const shipped = await loadShipped(dir)
    const { shipped: there, onlyHere, onlyThere, to } = await archiveStanding(dir)
    const archive = { to, shipped: there, onlyHere, onlyThere, missing: [], trouble: null }
    return new LostArchives(archive, new Set([...finished.keys(), ...open.keys(), ...shipped.keys()]))
  }

  addPage({ warc }: PageRecord): void {
    if (warc == null || this.#known.has(warc.file)) return
    this.#pages++
    if (this.#lost.size < LOST_FILES_MAX) this.#lost.add(warc.file)
  }

  /** Pages that were put back in line because of it. */
  async addReturns(share: string): Promise<void> {
    const path = join(share, 'state/returns.jsonl')
    if (((await stat(path).catch(() => null))?.size ?? 0) === 0) return
    for await (const note of readJsonLines<ReturnNote>(path)) if (note?.lost === true) this.#again++
  }

  get figures(): CrawlReport['lostArchives'] {
    return { files: this.#lost.size, pages: this.#pages, again: this.#again }
  }
}
