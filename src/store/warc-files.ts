// The WARC files of one agent: their names, and how they are put right after a crash.
//
//    archive/portolan-<crawl>-<yyyymmddhhmmss>-<agent>-<serial>.warc.gz.open   being written
//    archive/portolan-<crawl>-<yyyymmddhhmmss>-<agent>-<serial>.warc.gz        finished, never touched again
//    archive/portolan-<crawl>-<yyyymmddhhmmss>-<node>-<agent>-<serial>.warc.gz the same where nodes have names
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
/** Behind the name of the crawl: who wrote it, and the serial. */
const WRITER = /-\d{14}-((?:[A-Za-z0-9._]+-)?\d+)-(\d+)\.warc(?:\.gz|\.zst)?(?:\.open)?$/

/** Whether a name, relative to the crawl's directory, is that of a finished WARC file. */
export function isWarcName(file: string): boolean {
  return /^archive\/[^/]+\.warc(?:\.gz|\.zst)?$/.test(file)
}

/** Where the files of an agent are, and what they are called. */
export interface WarcPlace {
  /** The crawl's. */
  readonly directory: string
  readonly crawlName: string
  readonly agent: number
  /** The name of the node it runs on; null where there is one only. */
  readonly node?: string | null
  /** How long a file is that is kept elsewhere and may be missing here; null where it is not. Asked of files that are missing. */
  readonly elsewhere?: (file: string) => Promise<number | null>
  /** Files may be lost: whoever opens it knows, and sees to it. */
  readonly mayLack?: boolean
}

export class WarcFiles {
  /** The crawl's directory. */
  readonly #directory: string
  readonly #crawl: string
  /** `<agent>`, or `<node>-<agent>`. */
  readonly #writer: string
  readonly #node: string | null
  readonly #mayLack: boolean
  readonly #elsewhere: (file: string) => Promise<number | null>

  constructor({ directory, crawlName, agent, node = null, elsewhere = async () => null, mayLack = false }: WarcPlace) {
    this.#directory = directory
    this.#crawl = nameable(crawlName)
    this.#writer = node === null ? String(agent) : `${nodePart(node)}-${agent}`
    this.#node = node
    this.#mayLack = mayLack
    this.#elsewhere = elsewhere
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
    return `${ARCHIVE_FOLDER}/portolan-${this.#crawl}-${stamp}-${this.#writer}-${String(serial).padStart(5, '0')}.warc${suffix}`
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
      if (size === length || (size === null && (await this.#isElsewhere(file, length)))) return false
      // Finished by a run whose last records were never committed: take it back.
      if (size !== null && size > length) await rename(finalPath, openPath)
    }
    if (size === null || size < length) {
      throw new Fault(
        'LEDGER_CORRUPT',
        `${finalPath} should hold ${length} bytes and ${size === null ? 'is missing' : `holds ${size}`}; restore it from a copy${size === null ? ', or have its pages fetched again: `portolan requeue DIR --lost-archives`' : ''}`,
      )
    }
    if (size > length) await truncate(openPath, length)
    return true
  }

  /** Safe at another place, or written by another node, which has the file and finishes it (finishLeftFile). */
  async #isElsewhere(file: string, length: number): Promise<boolean> {
    if (this.#mayLack || (await this.#elsewhere(file)) === length) return true
    return WRITER.exec(file)?.[1] !== this.#writer && this.#node !== null
  }

  async #own(): Promise<{ entry: string; serial: number }[]> {
    const own: { entry: string; serial: number }[] = []
    const prefix = `portolan-${this.#crawl}-`
    for (const entry of await readdir(join(this.#directory, ARCHIVE_FOLDER))) {
      const match = WRITER.exec(entry.slice(prefix.length - 1))
      if (entry.startsWith(prefix) && match?.[1] === this.#writer) {
        own.push({ entry, serial: Number(match[2]) })
      }
    }
    return own
  }
}

/**
 * Finishes a file whose agent goes on elsewhere: of what it wrote here so much was committed. Says whether the file is here,
 * finished now or before.
 */
export async function finishLeftFile(directory: string, { file, length }: ArchiveFile): Promise<boolean> {
  const path = join(directory, file)
  try {
    const size = await sizeOf(`${path}${OPEN_SUFFIX}`)
    if (size === null) return (await sizeOf(path)) === length
    if (size < length) return false
    if (size > length) await truncate(`${path}${OPEN_SUFFIX}`, length)
  } catch (cause) {
    throw diskFault(`finishing ${path}`, cause)
  }
  await moveDurably(`${path}${OPEN_SUFFIX}`, path)
  return true
}

/** Removes a file whose agent goes on elsewhere: nothing of it was ever committed. */
export async function removeLeftFile(directory: string, file: string): Promise<void> {
  const path = `${join(directory, file)}${OPEN_SUFFIX}`
  try {
    await rm(path, { force: true })
    await syncDirectory(join(directory, ARCHIVE_FOLDER))
  } catch (cause) {
    throw diskFault(`removing ${path}`, cause)
  }
}

/** Which node of a cluster wrote a file, and for which agent; null where its name tells of none. */
export function writerOf(file: string): { readonly node: string; readonly agent: number } | null {
  const [, node, agent] = /^(?:(.+)-)?(\d+)$/.exec(WRITER.exec(file)?.[1] ?? '') ?? []
  return node === undefined ? null : { node: node.replaceAll('.', '-'), agent: Number(agent) }
}

/** The name of a node as a part of a file's name. No two nodes have the same: a name has no dots. */
function nodePart(node: string): string {
  return nameable(node.replaceAll('-', '.'))
}

/** A part of a file's name: what separates parts is not in it. */
function nameable(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9._]+/g, '_')
}

async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw cause
  }
}
