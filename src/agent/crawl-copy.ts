// The files of one agent's state, linked or opened while it stands still, copied while it goes on; checkpoint.ts says why.

import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ContentState } from '../content-seen/index.ts'
import { Fault } from '../base/index.ts'
import { syncDirectory } from '../disk/index.ts'
import { type LevelFiles, readLevelFiles } from '../frontier/index.ts'
import { type ArchiveState, SHIPPED_FILE } from '../store/index.ts'
import type { SeenState } from '../url-seen/index.ts'
import { committedLength } from './crawl-files.ts'
import { sizeIfThere } from './file-check.ts'

/** Where an agent's archive is: beside its state, or, of several agents, where all of them write. */
export interface ArchivePlaces extends Place {
  /** Whether it is for this agent to copy a file of the archive. */
  readonly isOurs: (name: string) => boolean
}

export interface CopyFigures {
  readonly linkedFiles: number
  readonly copiedFiles: number
  readonly copiedBytes: number
}

interface Place {
  readonly from: string
  readonly to: string
}

/** What is to be copied once commits go on. */
interface Growing {
  readonly path: string
  /** Null: as long as it is when it is copied. */
  readonly length: number | null
  readonly handle: FileHandle
}

const COPY_BYTES = 2 ** 20

/** Files of a crawl beside those of its parts. Whatever else lies in the directory is not ours, or made anew by every run. */
const OWN_FILES =
  /^(?:(?:pages|failures)\.jsonl|crawl\.json|state\/(?:[a-z-]+\.jsonl|failures-\d+\.jsonl|links\.log|index\.cdxj|(?:settings|pending-seeds)\.json)|state\/journal\/batches-\d+\.log)$/
/** Of a crawl of several agents: what belongs to none of them. */
const COMMON_FILES =
  /^(?:crawl\.json|state\/(?:timeline\.jsonl|(?:events|changes)(?:-before)?\.jsonl|shipped\.jsonl|(?:settings|pending-seeds)\.json|layout\.json))$/
const WARC_FILE = /^archive\/.+\.warc(?:\.gz|\.zst)?(\.open)?$/
const LINK_REFUSED = new Set(['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'ENOSYS'])

export class CrawlCopy {
  readonly #state: Place
  readonly #archive: ArchivePlaces
  readonly #link: (from: string, to: string) => Promise<void>
  #growing: Growing[] = []
  #linkedFiles = 0
  #copiedFiles = 0
  #copiedBytes = 0

  constructor(
    dir: string,
    to: string,
    archive: ArchivePlaces | undefined,
    doLink: (from: string, to: string) => Promise<void>,
  ) {
    this.#state = { from: dir, to }
    this.#archive = archive ?? { from: dir, to, isOurs: () => true }
    this.#link = doLink
  }

  get figures(): CopyFigures {
    return { linkedFiles: this.#linkedFiles, copiedFiles: this.#copiedFiles, copiedBytes: this.#copiedBytes }
  }

  /** Links and opens everything that belongs to the state that `states` tells of; the directory stands still meanwhile. */
  async take(states: Readonly<Record<string, unknown>>): Promise<void> {
    for (const folder of ['', 'state', 'state/journal']) {
      for (const name of await namesIn(this.#state.from, folder)) {
        if (OWN_FILES.test(name)) await this.#open(this.#state, name, committedLength(states, name))
      }
    }
    for (const name of await namesIn(this.#archive.from, 'archive')) {
      if (WARC_FILE.test(name) && this.#archive.isOurs(name)) await this.#takeArchive(name, states)
    }
    for (const name of namedRuns(states)) await this.#share(this.#state, name)
    await this.#takeFrontier()
  }

  /** What belongs to no agent of a crawl of several. */
  async takeCommon(): Promise<void> {
    for (const folder of ['', 'state']) {
      for (const name of await namesIn(this.#state.from, folder)) {
        if (COMMON_FILES.test(name)) await this.#open(this.#state, name, null)
      }
    }
  }

  async finish(): Promise<void> {
    for (const { path, length: known, handle } of this.#growing) {
      const length = known ?? (await handle.stat()).size
      await copyPart(handle, path, length)
      await handle.close()
      this.#copiedFiles++
      this.#copiedBytes += length
    }
    this.#growing = []
    await syncTree(this.#state.to)
  }

  async close(): Promise<void> {
    for (const { handle } of this.#growing) await handle.close().catch(() => {})
  }

  /** A finished file that is longer than counts will be taken back and cut by whoever opens the crawl: not to be shared. */
  async #takeArchive(name: string, states: Readonly<Record<string, unknown>>): Promise<void> {
    const isOpen = name.endsWith('.open')
    const final = isOpen ? name.slice(0, -'.open'.length) : name
    const archive = states['archive'] as ArchiveState | null | undefined
    const counted = [archive?.open, ...(archive?.full ?? [])].find((file) => file?.file === final)?.length ?? null
    // One that was begun after the batch: nothing in it counts.
    if (isOpen && counted === null) return
    const size = await sizeIfThere(join(this.#archive.from, name))
    // It is safe elsewhere, and was removed since the folder was read.
    if (size === null) return
    if (!isOpen && (counted === null || counted === size)) await this.#share(this.#archive, name)
    else await this.#open(this.#archive, name, counted)
  }

  async #takeFrontier(): Promise<void> {
    const folder = 'state/frontier'
    const directory = join(this.#state.from, folder)
    const names = await namesIn(this.#state.from, folder)
    if (!names.includes(`${folder}/CURRENT`)) {
      if (names.includes(`${folder}/made`)) throw notWhole(directory, 'CURRENT')
      return
    }
    for (;;) {
      const before = await readLevelFiles(directory)
      const opened = this.#growing.length
      const linked: string[] = []
      const missing = new Set(before.tables.keys())
      let gone = ''
      try {
        for (const name of await namesIn(this.#state.from, folder)) {
          const file = name.slice(folder.length + 1)
          const kind = kindOf(file, before)
          gone = file
          if (kind === 'table') {
            linked.push(await this.#share(this.#state, name))
            missing.delete(Number.parseInt(file, 10))
          }
          if (kind === 'manifest') await this.#open(this.#state, name, before.manifestBytes)
          if (kind === 'other') await this.#open(this.#state, name, null)
          gone = ''
        }
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause
      }
      const after = await readLevelFiles(directory)
      if (after.manifest === before.manifest && after.manifestBytes === before.manifestBytes) {
        // Nobody has merged anything: what is not there is lost.
        const [table] = missing
        if (table === undefined && gone === '') return
        throw notWhole(directory, gone === '' ? `table ${table}` : gone)
      }
      // LevelDB has merged tables meanwhile: once more, from the beginning.
      for (const { handle } of this.#growing.splice(opened)) await handle.close()
      for (const name of linked) await rm(join(this.#state.to, name), { force: true })
      this.#linkedFiles -= linked.filter((name) => name !== '').length
    }
  }

  /** Gives a file that never changes again a second name; where that cannot be, it is copied later. Returns what was linked. */
  async #share({ from, to }: Place, name: string): Promise<string> {
    const target = join(to, name)
    await mkdir(dirname(target), { recursive: true })
    try {
      await this.#link(join(from, name), target)
      this.#linkedFiles++
      return name
    } catch (cause) {
      if (!LINK_REFUSED.has((cause as NodeJS.ErrnoException).code ?? '')) throw cause
      await this.#open({ from, to }, name, null)
      return ''
    }
  }

  /** Has the first bytes of a file copied later, all of it for null. It may be renamed or unlinked meanwhile. */
  async #open({ from, to }: Place, name: string, length: number | null): Promise<void> {
    const path = join(to, name)
    await mkdir(dirname(path), { recursive: true })
    const handle = await open(join(from, name), constants.O_RDONLY)
    const { size } = await handle.stat()
    // What was shipped and removed here while the copy is made must stand in it.
    const isToTheLast = name === SHIPPED_FILE
    this.#growing.push({ path, length: isToTheLast ? null : Math.min(size, length ?? size), handle })
  }
}

async function namesIn(dir: string, folder: string): Promise<string[]> {
  try {
    const entries = await readdir(join(dir, folder), { withFileTypes: true })
    return entries.filter((entry) => entry.isFile()).map(({ name }) => (folder === '' ? name : `${folder}/${name}`))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw cause
  }
}

function notWhole(directory: string, what: string): Fault {
  return new Fault('LEDGER_CORRUPT', `${what} of ${directory} is missing; see what \`portolan repair\` can save`)
}

/** Runs of the seen set and of the contents that the last batch counts on. */
function namedRuns(states: Readonly<Record<string, unknown>>): string[] {
  const seen = (states['seen'] as SeenState | null | undefined)?.runs ?? []
  const contents = (states['contents'] as ContentState | null | undefined)?.runs ?? []
  return [
    ...seen.map(({ name }) => `state/seen/${name}`),
    ...contents.map(({ number }) => `state/contents/content-${number}.run`),
  ]
}

function kindOf(file: string, { manifest, tables, firstLog }: LevelFiles): 'table' | 'manifest' | 'other' | 'none' {
  if (file === manifest) return 'manifest'
  const [, number, ending] = /^(\d+)\.(ldb|sst|log)$/.exec(file) ?? []
  if (ending === 'log') return Number(number) >= firstLog ? 'other' : 'none'
  if (ending !== undefined) return tables.has(Number(number)) ? 'table' : 'none'
  return file === 'CURRENT' || file === 'made' ? 'other' : 'none'
}

async function copyPart(from: FileHandle, path: string, length: number): Promise<void> {
  const target = await open(path, 'wx')
  try {
    const buffer = Buffer.allocUnsafe(Math.min(COPY_BYTES, Math.max(1, length)))
    for (let at = 0; at < length;) {
      const { bytesRead } = await from.read(buffer, 0, Math.min(buffer.length, length - at), at)
      if (bytesRead === 0) throw new Error(`${path} ends at byte ${at}, not ${length}`)
      for (let done = 0; done < bytesRead;) {
        // A disk that is nearly full takes less than it is given, and complains only about the rest.
        const { bytesWritten } = await target.write(buffer, done, bytesRead - done, at + done)
        if (bytesWritten === 0) throw new Error(`${path}: the disk took no bytes`)
        done += bytesWritten
      }
      at += bytesRead
    }
    await target.datasync()
  } finally {
    await target.close()
  }
}

/** Directories last: a name counts once its directory is synced. */
export async function syncTree(root: string): Promise<void> {
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) await syncDirectory(join(entry.parentPath, entry.name))
  }
  await syncDirectory(root)
}
