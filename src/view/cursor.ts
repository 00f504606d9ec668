// How much of each source a merged file holds, at the length the file has then. Written after the merged file is synced,
// so what it says is there. It is a memory of work done, not of facts: where it is lost or odd the work is done again.

import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { diskFault } from '../base/index.ts'
import { writeAtomically } from '../disk/index.ts'

const count = z.int().nonnegative()

const cursorShape = z.object({
  format: z.literal(1),
  /** Of the merged file. */
  length: count,
  /** By the names of the sources. */
  sources: z.record(
    z.string(),
    z.object({
      edition: count,
      length: count,
      /** A checksum of the bytes before `length`: a source that was cut and has grown again is another one. */
      tail: count,
    }),
  ),
})

export type Cursor = z.infer<typeof cursorShape>
/** What a merged file holds of a source. */
export type Reached = Cursor['sources'][string]

/** Null where there is none, or none that can be read. */
export async function loadCursor(path: string): Promise<Cursor | null> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw diskFault(`reading ${path}`, cause)
  }
  try {
    return cursorShape.safeParse(JSON.parse(text)).data ?? null
  } catch {
    return null
  }
}

export function saveCursor(path: string, cursor: Omit<Cursor, 'format'>): Promise<void> {
  return writeAtomically(path, `${JSON.stringify({ format: 1, ...cursor })}\n`)
}
