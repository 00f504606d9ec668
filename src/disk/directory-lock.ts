// One live process per directory.
//
// The lock is a file made complete under a private name and then given its public one with link(),
// which fails where one exists: nobody ever sees half a lock. It names its owner by process id,
// start time and boot, because ids come again: a lock whose owner is gone, or whose id belongs to a
// younger process, is stale. Whoever wants to replace a stale file must first hold a guard named
// after that file and its very text, and then look again: so of many that found it stale one replaces
// it, once. A guard is taken like the lock itself, and may be found stale like it.
//
// Beside the lock stands `pid`, the bare number, for people and scripts. Not for directories shared by
// machines over a network: ids mean nothing there.

import { hash, randomUUID } from 'node:crypto'
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { diskFault, Fault } from '../base/index.ts'

export interface DirectoryLock {
  /** Gives the directory free. Harmless twice. */
  release(): Promise<void>
}

interface Owner {
  readonly pid: number
  /** Clock ticks since boot at which the process started; null where there is no /proc. */
  readonly startTicks: string | null
  readonly bootId: string | null
}

/** Takes the directory, or throws LEDGER_LOCKED naming the process that has it. */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const path = join(directory, 'lock')
  const owner = await describe(process.pid)
  try {
    await take(path, directory, owner)
    await writeFile(join(directory, 'pid'), `${process.pid}\n`)
  } catch (cause) {
    throw diskFault(`locking ${directory}`, cause)
  }
  let isHeld = true
  return {
    async release() {
      if (!isHeld) return
      isHeld = false
      await rm(join(directory, 'pid'), { force: true })
      await rm(path, { force: true })
    },
  }
}

/** The process that has the directory, without touching anything; null when nobody has: a lock left behind counts for nothing. */
export async function whoHolds(directory: string): Promise<{ readonly pid: number } | null> {
  const text = await readIfThere(join(directory, 'lock')).catch((cause: unknown) => {
    throw diskFault(`reading the lock of ${directory}`, cause)
  })
  const holder = text === null ? null : parseOwner(text)
  return holder !== null && (await isAlive(holder)) ? { pid: holder.pid } : null
}

/** Makes the file at `path` ours: the lock, or a guard. */
async function take(path: string, directory: string, owner: Owner): Promise<void> {
  const token = randomUUID()
  const candidate = join(directory, `lock.${token}`)
  try {
    // The token makes every text unique, and so the guard named after it.
    await writeFile(candidate, `${JSON.stringify({ ...owner, token })}\n`)
    // Ends: each round takes the file, finds a live owner, or sees that the file has changed.
    for (;;) {
      if (await linked(candidate, path)) return
      const text = await readIfThere(path)
      if (text === null) continue
      const holder = parseOwner(text)
      if (holder !== null && (await isAlive(holder))) throw locked(directory, holder.pid)
      const guard = join(directory, `lock.over-${hash('sha1', `${basename(path)} ${text}`)}`)
      await take(guard, directory, owner)
      try {
        if ((await readIfThere(path)) !== text) continue
        await rename(candidate, path)
        return
      } finally {
        await rm(guard, { force: true })
      }
    }
  } finally {
    await rm(candidate, { force: true })
  }
}

/** Whether the name was free. */
async function linked(candidate: string, path: string): Promise<boolean> {
  try {
    await link(candidate, path)
    return true
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw cause
  }
}

function locked(directory: string, pid: number): Fault {
  const who = pid === process.pid ? `this very process (${pid})` : `process ${pid}`
  return new Fault('LEDGER_LOCKED', `${directory} is in use by ${who}; wait for it, stop it, or use another directory`)
}

function parseOwner(text: string): Owner | null {
  try {
    const owner = JSON.parse(text) as Owner
    return Number.isSafeInteger(owner.pid) && owner.pid > 0 ? owner : null
  } catch {
    // Not ours, or older than the rule that a lock is born whole: nobody can be asked about it.
    return null
  }
}

async function isAlive(owner: Owner): Promise<boolean> {
  try {
    process.kill(owner.pid, 0)
  } catch (cause) {
    // EPERM: it lives, and belongs to another user.
    if ((cause as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  const now = await describe(owner.pid)
  return isSame(owner.bootId, now.bootId) && isSame(owner.startTicks, now.startTicks)
}

/** Whether two readings agree, as far as there are two. */
function isSame(then: string | null, today: string | null): boolean {
  return then === null || today === null || then === today
}

async function describe(pid: number): Promise<Owner> {
  const stat = await readIfThere(`/proc/${pid}/stat`)
  // The name in brackets may hold spaces and brackets; the start time is the 20th field after it.
  const startTicks = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
  const bootId = (await readIfThere('/proc/sys/kernel/random/boot_id'))?.trim() ?? null
  return { pid, startTicks, bootId }
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ESRCH') return null
    throw cause
  }
}
