// The WARC files of one agent: their names, and how they are put right after a crash.
//
//    archive/portolan-<crawl>-<yyyymmddhhmmss>-<agent>-<serial>.warc.gz.open   being written
//    archive/portolan-<crawl>-<yyyymmddhhmmss>-<agent>-<serial>.warc.gz        finished, never touched again
//
// Records name the final file from the start, so that nothing has to be rewritten when it is renamed.

import { readdir, rename, rm, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { diskFault, Fault } from '../base/index.ts'
import { makeDirectory, moveDurably, syncDirectory } from '../disk/index.ts'
import type { ArchiveFile, ArchiveState } from './archive.ts'

/** Where in the crawl's directory the archive stands. */
const ARCHIVE_FOLDER = 'archive'
const OPEN_SUFFIX = '.open'

export class WarcFiles {
  /** The crawl's directory. */
  readonly #directory: string
  readonly #crawl: string
  readonly #agent: number

  constructor(directory: string, crawlName: string, agent: number) {
    this.#directory = directory
    this.#crawl = crawlName.replaceAll(/[^A-Za-z0-9._]+/g, '_')
    this.#agent = agent
  }

  /** Path of the file with this name relative to the crawl's directory, while it is written. */
  openPath(file: string): string {
    return `${this.finalPath(file)}${OPEN_SUFFIX}`
  }

  finalPath(file: string): string {
    return join(this.#directory, file)
  }

  name(serial: number, wallMs: number, suffix: string): string {
    const stamp = new Date(wallMs).toISOString().replaceAll(/[-:T]/g, '').slice(0, 14)
    return `${ARCHIVE_FOLDER}/portolan-${this.#crawl}-${stamp}-${this.#agent}-${String(serial).padStart(5, '0')}.warc${suffix}`
  }

  async finish(file: string): Promise<void> {
    await moveDurably(this.openPath(file), this.finalPath(file))
  }

  /** The serial a new writer begins with: behind all files that are there already. */
  async begin(): Promise<number> {
    try {
      await makeDirectory(join(this.#directory, ARCHIVE_FOLDER))
      let serial = 0
      for (const own of await this.#own()) serial = Math.max(serial, own.serial + 1)
      return serial
    } catch (cause) {
      throw diskFault(`opening ${join(this.#directory, ARCHIVE_FOLDER)}`, cause)
    }
  }

  /**
   * Brings the files to a committed state: full ones finished, later ones removed, the open one cut
   * back. Returns the file to go on in, or null when a new one is due.
   */
  async recover(state: ArchiveState): Promise<ArchiveFile | null> {
    const folder = join(this.#directory, ARCHIVE_FOLDER)
    try {
      for (const own of await this.#own()) {
        // Begun after the state was taken, so nothing in it was ever committed.
        if (own.serial >= state.serial) await rm(join(folder, own.entry))
      }
      for (const full of state.full) {
        if (await this.#cutBack(full)) await this.finish(full.file)
      }
      const isUnfinished = state.open !== null && (await this.#cutBack(state.open))
      await syncDirectory(folder)
      return isUnfinished ? state.open : null
    } catch (cause) {
      throw diskFault(`recovering ${folder}`, cause)
    }
  }

  /** Whether the file bears `.open` and has its committed length. A finished file of that length stays finished. */
  async #cutBack({ file, length }: ArchiveFile): Promise<boolean> {
    const openPath = this.openPath(file)
    const finalPath = this.finalPath(file)
    let size = await sizeOf(openPath)
    if (size === null) {
      size = await sizeOf(finalPath)
      if (size === length) return false
      // Finished by a run whose last records were never committed: take it back.
      if (size !== null && size > length) await rename(finalPath, openPath)
    }
    if (size === null || size < length) {
      throw new Fault(
        'LEDGER_CORRUPT',
        `${finalPath} should hold ${length} bytes and ${size === null ? 'is missing' : `holds ${size}`}; restore it from a copy`,
      )
    }
    if (size > length) await truncate(openPath, length)
    return true
  }

  async #own(): Promise<{ entry: string; serial: number }[]> {
    const own: { entry: string; serial: number }[] = []
    const prefix = `portolan-${this.#crawl}-`
    for (const entry of await readdir(join(this.#directory, ARCHIVE_FOLDER))) {
      const match = /^(\d{14})-(\d+)-(\d+)\.warc(\.gz|\.zst)?(\.open)?$/.exec(entry.slice(prefix.length))
      if (entry.startsWith(prefix) && match !== null && Number(match[2]) === this.#agent) {
        own.push({ entry, serial: Number(match[3]) })
      }
    }
    return own
  }
}

async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw cause
  }
}
