// A NATS server that forgets what it had acknowledged, as after a power cut: an acknowledgement precedes the fsync. While it is down, the
// last bytes of its streams' files are cut off; when it starts again it rebuilds its index from what is left.

import { readdirSync, rmSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'

/** Enough for several entries of a share's log. */
const BYTES_FORGOTTEN = 20_000
/** A stream keeps its first messages: that it was begun is long on disk. */
const BYTES_KEPT_LEAST = 4_000

/** Of every log of a share, and of nothing else: records and beats are as they were. Says how many were cut. */
export async function forgetTail(folder: string): Promise<void> {
  let cut = 0
  for (const stream of foldersNamed(folder, /share/i)) {
    const messages = join(stream, 'msgs')
    const blocks = readdirSync(messages).filter((name) => name.endsWith('.blk'))
    const last = blocks.toSorted((a, b) => Number.parseInt(a) - Number.parseInt(b)).at(-1)
    if (last === undefined) continue
    const { size } = statSync(join(messages, last))
    const kept = Math.max(BYTES_KEPT_LEAST, size - BYTES_FORGOTTEN)
    if (kept >= size) continue
    truncateSync(join(messages, last), kept)
    for (const name of readdirSync(messages))
      if (!name.endsWith('.blk')) rmSync(join(messages, name), { recursive: true })
    cut++
  }
  if (cut === 0) throw new Error(`no log of a share was found under ${folder}`)
}

/** Folders of streams whose names match. */
function foldersNamed(folder: string, name: RegExp): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.parentPath.endsWith('/streams') && name.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
}
