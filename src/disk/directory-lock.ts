// One live process per directory.
//
// The lock is a file made complete under a private name and then given its public one with link(),
// which fails where one exists: nobody ever sees half a lock. It names its owner by process id,
// start time and boot, because ids come again: a lock whose owner is gone, or whose id belongs to a
// younger process, is stale and is taken over. Beside it stands `pid`, the bare number, for people
// and scripts. Not for directories shared by machines over a network: ids mean nothing there.

import { randomUUID } from 'node:crypto'
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
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
  const candidate = `${path}.${randomUUID()}`
  const text = JSON.stringify(await describe(process.pid))
  try {
    await writeFile(candidate, `${text}\n`)
    try {
      await takeName(candidate, path, directory)
    } finally {
      await rm(candidate, { force: true })
    }
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

async function takeName(candidate: string, path: string, directory: string): Promise<void> {
  // Each round either takes the name, finds a live owner, or removes one stale lock.
  for (let round = 0; round < 16; round++) {
    try {
      await link(candidate, path)
      return
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
    }
    const text = await readIfThere(path)
    if (text === null) continue
    const owner = parseOwner(text)
    if (owner !== null && (await isAlive(owner))) throw locked(directory, owner.pid)
    await removeStale(path, text, directory)
  }
  throw new Fault('LEDGER_LOCKED', `${directory} is being fought over by several processes; start one of them again`)
}

/**
 * Takes a stale lock away. Two may judge the same lock stale, and the slower one then moves away the
 * fresh lock of the faster: it sees that by the text, puts the lock back and gives way.
 */
async function removeStale(path: string, staleText: string, directory: string): Promise<void> {
  const aside = `${path}.${randomUUID()}`
  try {
    await rename(path, aside)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return
    throw cause
  }
  const text = await readIfThere(aside)
  if (text !== null && text !== staleText) {
    await rename(aside, path)
    throw locked(directory, parseOwner(text)?.pid ?? 0)
  }
  await rm(aside, { force: true })
}

function locked(directory: string, pid: number): Fault {
  const who = pid === process.pid ? `this very process (${pid})` : `process ${pid}`
  return new Fault('LEDGER_LOCKED', `${directory} is in use by ${who}; wait for it, stop it, or choose another --dir`)
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
    if (code === 'ENOENT' || code === 'ESRCH') return null
    throw cause
  }
}
