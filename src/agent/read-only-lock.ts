// The lock for those who only read. On a file system that is mounted read-only no lock can be made, and none is needed: nobody
// crawls there. Where the same directory is mounted to be written elsewhere on this machine, the lock that is there tells.

import { Fault } from '../base/index.ts'
import { type DirectoryLock, lockDirectory, whoHolds } from '../disk/index.ts'

/** Null where nobody can write. */
export async function lockUnlessReadOnly(directory: string): Promise<DirectoryLock | null> {
  try {
    return await lockDirectory(directory)
  } catch (fault) {
    if (!(fault instanceof Fault) || (fault.cause as NodeJS.ErrnoException | undefined)?.code !== 'EROFS') throw fault
    const holder = await whoHolds(directory)
    if (holder === null) return null
    throw new Fault('LEDGER_LOCKED', `${directory} is in use by process ${holder.pid}`, fault)
  }
}
