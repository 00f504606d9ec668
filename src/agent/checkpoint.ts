// A consistent copy of a crawl, taken while it goes on.
//
//   what never changes again   finished WARC files, runs and tables that the last batch counts on: hard links where the file
//                              system allows it, so they cost nothing
//   what grows                 pages.jsonl, the open WARC, the journal …: copied as far as the last batch counts them
//
// Commits are held while links are made and the other files are opened, so that all of it is the state after one batch; the
// copying itself goes on beside the crawl. The copy bears its name only when it is whole and synced.
//
// Always true: what is linked is not being written. Runs are those the last batch names, tables those the manifest names (a
// half-written one is named by neither), WARC files those that bear their final name and have the length that counts. And
// what is named is there: runs are unlinked by commits, tables after an edit of the manifest, which is looked at before and after.

import { constants } from 'node:fs'
import { type FileHandle, link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ContentState } from '../content-seen/index.ts'
import { diskFault, Fault } from '../base/index.ts'
import { makeDirectory, syncDirectory } from '../disk/index.ts'
import { inspectJournal, lookAtLastBatch } from '../ledger/index.ts'
import type { ArchiveState } from '../store/index.ts'
import type { SeenState } from '../url-seen/index.ts'
import { committedLength } from './crawl-files.ts'
import { type LevelFiles, readLevelFiles } from './level-tables.ts'
import { lockUnlessReadOnly } from './read-only-lock.ts'

export interface CheckpointFigures {
  readonly to: string
  readonly linkedFiles: number
  readonly copiedFiles: number
  readonly copiedBytes: number
  /** How long commits were held. */
  readonly heldMs: number
}

export interface CopyPlan {
  readonly dir: string
  /** Must not exist. */
  readonly to: string
  /** Keeps the directory still (no commit, no store of the frontier being written) and gives it free again. */
  readonly hold: () => Promise<() => void>
  /** What the last batch says of files and parts, by name; asked while the directory is held. */
  readonly states: () => Readonly<Record<string, unknown>>
  readonly nowMs: () => number
  /** As the system does it; tests play another file system. */
  readonly link?: (from: string, to: string) => Promise<void>
}

/** What is to be copied once commits go on. */
interface Growing {
  readonly name: string
  readonly length: number
  readonly handle: FileHandle
}

const COPY_BYTES = 2 ** 20

/** Files of a crawl beside those of its parts. Whatever else lies in the directory is not ours, or made anew by every run. */
const OWN_FILES =
  /^(?:(?:pages|failures)\.jsonl|crawl\.json|state\/(?:[a-z-]+\.jsonl|failures-\d+\.jsonl|links\.log|index\.cdxj|settings\.json)|state\/journal\/batches-\d+\.log)$/
const WARC_FILE = /^archive\/.+\.warc(?:\.gz|\.zst)?(\.open)?$/
const LINK_REFUSED = new Set(['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'ENOSYS'])

export async function copyCrawl(plan: CopyPlan): Promise<CheckpointFigures> {
  const { dir, to, hold, nowMs } = plan
  if ((await stat(to).catch(() => null)) !== null) {
    throw new Fault('CONFIG_INVALID', `${to} exists already; a checkpoint is written to a new directory`)
  }
  const partial = `${to}.partial`
  const copy = new Copy(dir, partial, plan.link ?? link)
  try {
    await rm(partial, { recursive: true, force: true })
    await makeDirectory(partial)
    const release = await hold()
    const heldFromMs = nowMs()
    let heldMs: number
    try {
      await copy.take(plan.states())
    } finally {
      heldMs = nowMs() - heldFromMs
      release()
    }
    await copy.finish()
    await rename(partial, to)
    await syncDirectory(dirname(to))
    return { to, ...copy.figures, heldMs }
  } catch (cause) {
    await rm(partial, { recursive: true, force: true }).catch(() => {})
    throw diskFault(`copying ${dir} to ${to}`, cause)
  } finally {
    await copy.close()
  }
}

/** The same for a crawl that nobody runs: it is locked meanwhile. */
export async function copyStoppedCrawl(
  dir: string,
  to: string,
  parts: Pick<CopyPlan, 'nowMs' | 'link'>,
): Promise<CheckpointFigures> {
  const lock = await lockUnlessReadOnly(join(dir, 'state'))
  try {
    const journal = join(dir, 'state/journal')
    const { isSound } = await inspectJournal(journal)
    if (!isSound) {
      const what = `the journal of ${dir} is damaged, and a copy of it would be too`
      throw new Fault('LEDGER_CORRUPT', `${what}; \`portolan repair ${dir}\` says what can be saved`)
    }
    const states = (await lookAtLastBatch(journal))?.batch.files ?? {}
    return await copyCrawl({ ...parts, dir, to, hold: async () => () => {}, states: () => states })
  } finally {
    await lock?.release()
  }
}

class Copy {
  readonly #dir: string
  readonly #to: string
  readonly #link: (from: string, to: string) => Promise<void>
  #growing: Growing[] = []
  #linkedFiles = 0
  #copiedFiles = 0
  #copiedBytes = 0

  constructor(dir: string, to: string, doLink: (from: string, to: string) => Promise<void>) {
    this.#dir = dir
    this.#to = to
    this.#link = doLink
  }

  get figures(): Pick<CheckpointFigures, 'linkedFiles' | 'copiedFiles' | 'copiedBytes'> {
    return { linkedFiles: this.#linkedFiles, copiedFiles: this.#copiedFiles, copiedBytes: this.#copiedBytes }
  }

  /** Links and opens everything that belongs to the state that `states` tells of; the directory stands still meanwhile. */
  async take(states: Readonly<Record<string, unknown>>): Promise<void> {
    for (const folder of ['', 'archive', 'state', 'state/journal']) {
      for (const name of await this.#namesIn(folder)) {
        if (OWN_FILES.test(name)) await this.#open(name, committedLength(states, name))
        else if (WARC_FILE.test(name)) await this.#takeArchive(name, states)
      }
    }
    for (const name of namedRuns(states)) await this.#share(name)
    await this.#takeFrontier()
  }

  async finish(): Promise<void> {
    for (const { name, length, handle } of this.#growing) {
      await copyPart(handle, join(this.#to, name), length)
      await handle.close()
      this.#copiedFiles++
      this.#copiedBytes += length
    }
    this.#growing = []
    await syncTree(this.#to)
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
    const { size } = await stat(join(this.#dir, name))
    if (!isOpen && (counted === null || counted === size)) await this.#share(name)
    else await this.#open(name, counted)
  }

  async #takeFrontier(): Promise<void> {
    const folder = 'state/frontier'
    const directory = join(this.#dir, folder)
    const names = await this.#namesIn(folder)
    if (!names.includes(`${folder}/CURRENT`)) {
      if (names.includes(`${folder}/made`)) throw notWhole(directory, 'CURRENT')
      return
    }
    for (;;) {
      const before = await readLevelFiles(directory)
      const opened = this.#growing.length
      const linked: string[] = []
      const missing = new Set(before.tables)
      let gone = ''
      try {
        for (const name of await this.#namesIn(folder)) {
          const file = name.slice(folder.length + 1)
          const kind = kindOf(file, before)
          gone = file
          if (kind === 'table') {
            linked.push(await this.#share(name))
            missing.delete(Number.parseInt(file, 10))
          }
          if (kind === 'manifest') await this.#open(name, before.manifestBytes)
          if (kind === 'other') await this.#open(name, null)
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
      for (const name of linked) await rm(join(this.#to, name), { force: true })
      this.#linkedFiles -= linked.filter((name) => name !== '').length
    }
  }

  async #namesIn(folder: string): Promise<string[]> {
    try {
      const entries = await readdir(join(this.#dir, folder), { withFileTypes: true })
      return entries.filter((entry) => entry.isFile()).map(({ name }) => (folder === '' ? name : `${folder}/${name}`))
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return []
      throw cause
    }
  }

  /** Gives a file that never changes again a second name; where that cannot be, it is copied later. Returns what was linked. */
  async #share(name: string): Promise<string> {
    const target = join(this.#to, name)
    await mkdir(dirname(target), { recursive: true })
    try {
      await this.#link(join(this.#dir, name), target)
      this.#linkedFiles++
      return name
    } catch (cause) {
      if (!LINK_REFUSED.has((cause as NodeJS.ErrnoException).code ?? '')) throw cause
      await this.#open(name, null)
      return ''
    }
  }

  /** Has the first bytes of a file copied later, all of it for null. It may be renamed or unlinked meanwhile. */
  async #open(name: string, length: number | null): Promise<void> {
    await mkdir(dirname(join(this.#to, name)), { recursive: true })
    const handle = await open(join(this.#dir, name), constants.O_RDONLY)
    const { size } = await handle.stat()
    this.#growing.push({ name, length: Math.min(size, length ?? size), handle })
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
async function syncTree(root: string): Promise<void> {
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) await syncDirectory(join(entry.parentPath, entry.name))
  }
  await syncDirectory(root)
}
