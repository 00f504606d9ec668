import { mkdir, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { diskFault, Fault } from '../base/index.ts'
import { syncDirectory } from './atomic-file.ts'

/**
 * Makes a directory and what it lies in, one by one, durably. Node's own `recursive` tries for ever where the
 * system answers ENOENT for a child of a directory that exists, as /proc does.
 */
export async function makeDirectory(path: string): Promise<void> {
  const missing: string[] = []
  try {
    for (let at = resolve(path); !(await isDirectory(at)); at = dirname(at)) missing.push(at)
    for (const one of missing.reverse()) {
      await mkdir(one).catch(async (cause: unknown) => {
        // Somebody else was quicker; a file of that name is another matter.
        if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
        if (!(await isDirectory(one))) throw new Fault('CONFIG_INVALID', `${one} is a file, not a directory`)
      })
      // Else all that is made durable in it could go with it.
      await syncDirectory(dirname(one))
    }
  } catch (cause) {
    throw diskFault(`making the directory ${path}`, cause)
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    // Below a file: the file itself is found further up, and complained of by its own name.
    if (code === 'ENOENT' || code === 'ENOTDIR') return false
    throw cause
  }
}
