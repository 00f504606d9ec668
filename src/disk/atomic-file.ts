import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { diskFault } from '../base/index.ts'

/** Makes creations, renames and removals in a directory durable. */
export function syncDirectory(path: string): Promise<void> {
  return syncFile(path)
}

/** Makes the bytes of a file durable that nobody has open any more. */
export async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Replaces a file whole: whoever looks, before or after a crash, sees the old bytes or the new. */
export async function writeAtomically(path: string, data: Uint8Array | string): Promise<void> {
  const temporary = `${path}.new`
  try {
    const handle = await open(temporary, 'w')
    try {
      await handle.writeFile(data)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await moveDurably(temporary, path)
  } catch (cause) {
    await rm(temporary, { force: true })
    throw diskFault(`writing ${path}`, cause)
  }
}

/** Renames a file whose bytes are synced, and makes the new name durable. */
export async function moveDurably(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
    await syncDirectory(dirname(to))
  } catch (cause) {
    throw diskFault(`renaming ${from} to ${to}`, cause)
  }
}
