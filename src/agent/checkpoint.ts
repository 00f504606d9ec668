// A consistent copy of a crawl, taken while it goes on.
//
//   what never changes again   finished WARC files, sorted runs, tables of the frontier, sealed journal segments:
//                              hard links where the file system allows it, so they cost nothing
//   what grows                 pages.jsonl, the open WARC, the current segment …: copied as far as the last batch counts them
//
// Commits are held while links are made and growing files are opened, so that all of it is the state after one batch; the
// copying itself goes on beside the crawl. The copy bears its name only when it is whole and synced.

import { constants } from 'node:fs'
import { copyFile, type FileHandle, link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { diskFault, Fault } from '../base/index.ts'
import { makeDirectory, syncDirectory } from '../disk/index.ts'

export interface CheckpointFigures {
  readonly to: string
  readonly linkedFiles: number
  readonly copiedFiles: number
  readonly copiedBytes: number
  /** How long commits were held. */
  readonly heldMs: number
}

/** A file that grows: what of it counts. */
interface Growing {
  readonly path: string
  readonly length: number
  readonly handle: FileHandle
}

const COPY_BYTES = 2 ** 20

/** Of the process that runs, made anew by the one that will. */
const LEFT_OUT = /^(?:state\/(?:lock.*|pid|spool|checkpoint-.*)|checkpoints|report\.html|archive\/index\.cdxj)(?:\/|$)/

/** Files that nobody changes once they have this name. */
const UNCHANGING =
  /^(?:archive\/.+\.warc(?:\.gz|\.zst)?|state\/(?:seen|contents)\/.+|state\/frontier\/.+\.(?:ldb|sst))$/

/**
 * Copies the crawl in `dir` to `to`, which must not exist. `hold` keeps the directory still (no commit, no store of the
 * frontier being written) and gives it free again; `lengthOf` says how much of a growing file counts, null for all of it.
 */
export async function copyCrawl(
  dir: string,
  to: string,
  hold: () => Promise<() => void>,
  lengthOf: (name: string) => number | null,
  nowMs: () => number,
): Promise<CheckpointFigures> {
  if ((await stat(to).catch(() => null)) !== null) {
    throw new Fault('CONFIG_INVALID', `${to} exists already; a checkpoint is written to a new directory`)
  }
  const partial = `${to}.partial`
  const growing: Growing[] = []
  try {
    await rm(partial, { recursive: true, force: true })
    await makeDirectory(partial)
    const release = await hold()
    const heldFromMs = nowMs()
    let linkedFiles = 0
    let heldMs: number
    try {
      for (const name of await filesIn(dir, to)) {
        const target = join(partial, name)
        await mkdir(dirname(target), { recursive: true })
        if (UNCHANGING.test(name)) {
          await linkOrCopy(join(dir, name), target)
          linkedFiles++
        } else {
          const handle = await open(join(dir, name), 'r')
          const { size } = await handle.stat()
          growing.push({ path: target, length: Math.min(size, lengthOf(name) ?? size), handle })
        }
      }
    } finally {
      heldMs = nowMs() - heldFromMs
      release()
    }
    let copiedBytes = 0
    for (const file of growing) {
      await copyPart(file)
      copiedBytes += file.length
    }
    await syncTree(partial)
    await rename(partial, to)
    await syncDirectory(dirname(to))
    return { to, linkedFiles, copiedFiles: growing.length, copiedBytes, heldMs }
  } catch (cause) {
    await rm(partial, { recursive: true, force: true }).catch(() => {})
    throw diskFault(`copying ${dir} to ${to}`, cause)
  } finally {
    for (const { handle } of growing) await handle.close().catch(() => {})
  }
}

/** Every file that belongs to the crawl, by its name under `dir`. The copy may stand under `dir` too. */
async function filesIn(dir: string, to: string): Promise<string[]> {
  const names: string[] = []
  const inside = relative(dir, to)
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const name = relative(dir, join(entry.parentPath, entry.name))
    if (LEFT_OUT.test(name) || name.startsWith(`${inside}/`) || name.startsWith(`${inside}.partial/`)) continue
    names.push(name)
  }
  return names
}

async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    // Another file system, or one without hard links.
    if (code !== 'EXDEV' && code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'EMLINK') throw cause
    await copyFile(from, to, constants.COPYFILE_FICLONE)
  }
}

async function copyPart({ path, length, handle }: Growing): Promise<void> {
  const target = await open(path, 'wx')
  try {
    const buffer = Buffer.allocUnsafe(Math.min(COPY_BYTES, Math.max(1, length)))
    for (let at = 0; at < length;) {
      const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, length - at), at)
      if (bytesRead === 0) throw new Error(`${path} ends at byte ${at}, not ${length}`)
      await target.write(buffer, 0, bytesRead, at)
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
