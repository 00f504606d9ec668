// Where the files of an archive are: here, elsewhere, or both. Reads a directory and state/shipped.jsonl, takes no lock.

import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { diskFault } from '../base/index.ts'
import { loadShipped } from './shipped-files.ts'
import { isWarcName } from './warc-files.ts'

export interface FileCount {
  readonly files: number
  readonly bytes: number
}

/** Finished WARC files; those that are being written are counted apart. */
export interface ArchiveStanding {
  /** Put on the shelf and checked there. */
  readonly shipped: FileCount
  /** Nowhere but here. */
  readonly onlyHere: FileCount
  /** Of those shipped: not here any more. */
  readonly onlyThere: FileCount
  readonly open: FileCount
  /** Where the last one was shipped to; null where none was. */
  readonly to: string | null
}

export async function archiveStanding(dir: string): Promise<ArchiveStanding> {
  const here = await finishedFiles(dir)
  const shipped = [...(await loadShipped(dir)).values()].filter(({ file }) => isWarcName(file))
  const isShipped = new Map(shipped.map(({ file, bytes }) => [file, bytes]))
  return {
    shipped: countOf(shipped.map(({ bytes }) => bytes)),
    onlyHere: countOf([...here.finished].flatMap(([file, bytes]) => (isShipped.get(file) === bytes ? [] : [bytes]))),
    onlyThere: countOf(shipped.flatMap(({ file, bytes }) => (here.finished.has(file) ? [] : [bytes]))),
    open: countOf([...here.open.values()]),
    to: shipped.at(-1)?.to ?? null,
  }
}

/** Names relative to the crawl's directory, with sizes. Files may come and go while it looks. */
export async function finishedFiles(
  dir: string,
): Promise<{ readonly finished: ReadonlyMap<string, number>; readonly open: ReadonlyMap<string, number> }> {
  const finished = new Map<string, number>()
  const open = new Map<string, number>()
  let names: string[] = []
  try {
    names = await readdir(join(dir, 'archive'))
  } catch (cause) {
    if (!isMissing(cause)) throw diskFault(`reading ${join(dir, 'archive')}`, cause)
  }
  for (const name of names) {
    const file = `archive/${name}`
    const isOpen = name.endsWith('.open')
    if (!isWarcName(isOpen ? file.slice(0, -'.open'.length) : file)) continue
    try {
      const { size } = await stat(join(dir, file))
      if (isOpen) open.set(file.slice(0, -'.open'.length), size)
      else finished.set(file, size)
    } catch (cause) {
      if (!isMissing(cause)) throw diskFault(`reading ${join(dir, file)}`, cause)
    }
  }
  return { finished, open }
}

function countOf(sizes: readonly number[]): FileCount {
  return { files: sizes.length, bytes: sizes.reduce((sum, bytes) => sum + bytes, 0) }
}

function isMissing(cause: unknown): boolean {
  return (cause as NodeJS.ErrnoException).code === 'ENOENT'
}
