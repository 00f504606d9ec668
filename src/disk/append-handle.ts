// The open file below an append-only one.

import { type FileHandle, open } from 'node:fs/promises'

/** What of a file handle is used, so that a test can play a disk that writes short or fails. */
export type AppendHandle = Pick<FileHandle, 'write' | 'datasync' | 'truncate' | 'stat' | 'close'>

export async function openForAppending(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r+')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause
    // 'wx+': what another process created in between must not be emptied.
    return await open(path, 'wx+')
  }
}
