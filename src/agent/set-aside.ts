// What a repair cuts off is kept: the ends of files behind the last good batch, and archives begun after it.

import { type FileHandle, open, readdir, rename, stat, unlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { diskFault, Fault } from '../base/index.ts'
import { syncDirectory } from '../disk/index.ts'
import { type ArchiveState, readPlacedLines } from '../store/index.ts'
import { archiveNameIn } from './archive-owner.ts'
import { committedFiles } from './crawl-files.ts'
import { editionOf } from './failures-file.ts'
import { sizeIfThere } from './file-check.ts'
import type { SharePlace } from './share-place.ts'

const COPY_BYTES = 2 ** 20

/** Copies the bytes of each file that do not count by these states, so that opening the crawl may cut them off. */
export async function setTailsAside(
  { dir, crawlDir, agent }: Pick<SharePlace, 'dir' | 'crawlDir' | 'agent'>,
  states: Readonly<Record<string, unknown>>,
  aside: string,
): Promise<void> {
  try {
    for (const { path, length } of [...committedFiles(states), editionOf(dir, states['failures'])]) {
      await setTailAside(join(dir, path), length, aside)
    }
    const archive = (states['archive'] as ArchiveState | null | undefined) ?? null
    if (archive !== null) await setArchivesAside(crawlDir, agent, archive, aside)
    await syncDirectory(aside)
  } catch (cause) {
    throw diskFault(`moving what is cut off to ${aside}`, cause)
  }
}

/** Where the last whole line of a file ends, at or behind a length that counts. */
export async function endOfLines(dir: string, name: string, length: number): Promise<number> {
  const path = committedFiles({ [name]: length })[0]?.path
  if (path === undefined || (await sizeIfThere(join(dir, path))) === null) return length
  let last = length
  try {
    for await (const { end } of readPlacedLines(join(dir, path), length)) last = end
  } catch (fault) {
    // Behind what was committed may lie anything; lines before it are lines.
    if (!(fault instanceof Fault) || fault.code !== 'LEDGER_CORRUPT') throw fault
  }
  return last
}

/** Those of this agent: others write there too. */
async function setArchivesAside(crawlDir: string, agent: number, archive: ArchiveState, aside: string): Promise<void> {
  const folder = join(crawlDir, 'archive')
  const counted = [...archive.full, ...(archive.open === null ? [] : [archive.open])]
  for (const entry of await readdir(folder)) {
    const name = archiveNameIn(entry)
    if (name !== null && name.agent === agent && name.serial >= archive.serial) {
      await rename(join(folder, entry), join(aside, entry))
    }
  }
  for (const { file, length } of counted) {
    await setTailAside(join(crawlDir, `${file}.open`), length, aside)
    await takeBack(join(crawlDir, file), length, aside)
  }
  await syncDirectory(folder)
}

/** A finished file of which less counts becomes an open one again; a copy, because checkpoints may share the finished one. */
async function takeBack(path: string, length: number, aside: string): Promise<void> {
  const found = await stat(path).catch(() => null)
  if (found === null || found.size <= length) return
  await setTailAside(path, length, aside)
  await copyRange(path, 0, length, `${path}.open`)
  await unlink(path)
}

async function setTailAside(path: string, length: number, aside: string): Promise<void> {
  const size = await sizeIfThere(path)
  if (size !== null && size > length)
    await copyRange(path, length, size, join(aside, `${basename(path)}.from-${length}`))
}

async function copyRange(from: string, start: number, end: number, to: string): Promise<void> {
  let source: FileHandle | null = null
  const target = await open(to, 'w')
  try {
    source = await open(from, 'r')
    const buffer = Buffer.allocUnsafe(COPY_BYTES)
    for (let at = start; at < end;) {
      const { bytesRead } = await source.read(buffer, 0, Math.min(COPY_BYTES, end - at), at)
      if (bytesRead === 0) break
      await target.writeFile(buffer.subarray(0, bytesRead))
      at += bytesRead
    }
    await target.sync()
  } finally {
    await source?.close()
    await target.close()
  }
}
