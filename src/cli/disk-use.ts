// How much room each part of a crawl takes on disk. Files may come and go while it looks.

import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { diskFault } from '../base/index.ts'

export interface PartUse {
  readonly files: number
  readonly bytes: number
}

export const DISK_PARTS = ['pages', 'failures', 'archive', 'journal', 'seen', 'frontier', 'contents', 'other'] as const
export type DiskUse = Readonly<Record<(typeof DISK_PARTS)[number], PartUse>>

const PART_OF: readonly (readonly [RegExp, keyof DiskUse])[] = [
  [/^pages\.jsonl$/, 'pages'],
  [/^(?:failures|state\/failures-\d+)\.jsonl$/, 'failures'],
  [/^archive\//, 'archive'],
  [/^state\/journal\//, 'journal'],
  [/^state\/seen\//, 'seen'],
  [/^state\/frontier\//, 'frontier'],
  [/^state\/contents\//, 'contents'],
]

/** Checkpoints are crawls of their own, and share most of their bytes with this one. */
const LEFT_OUT = /^checkpoints\//

/** `shares` are the directories inside `dir` in which agents keep files of these names too. */
export async function measureDisk(dir: string, shares: readonly string[] = []): Promise<DiskUse> {
  const use = Object.fromEntries(DISK_PARTS.map((part) => [part, { files: 0, bytes: 0 }])) as Record<
    keyof DiskUse,
    { files: number; bytes: number }
  >
  for await (const name of filesUnder(dir, '')) {
    if (LEFT_OUT.test(name)) continue
    const size = await sizeOf(join(dir, name))
    if (size === null) continue
    const share = shares.find((one) => name.startsWith(`${one}/`))
    const file = share === undefined ? name : name.slice(share.length + 1)
    const part = use[PART_OF.find(([pattern]) => pattern.test(file))?.[1] ?? 'other']
    part.files++
    part.bytes += size
  }
  return use
}

async function* filesUnder(dir: string, under: string): AsyncGenerator<string> {
  let entries: Dirent[]
  try {
    entries = await readdir(join(dir, under), { withFileTypes: true })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return
    throw diskFault(`reading ${join(dir, under)}`, cause)
  }
  for (const entry of entries) {
    const name = under + entry.name
    if (entry.isDirectory()) yield* filesUnder(dir, `${name}/`)
    else if (entry.isFile()) yield name
  }
}

async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw diskFault(`reading ${path}`, cause)
  }
}
