import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { lockDirectory, whoHolds } from './directory-lock.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portolan-disk-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** The id of a process that has lived and is gone. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', ''])
  await new Promise((resolve) => child.once('exit', resolve))
  return child.pid!
}

test('a locked directory names its process in `pid`, and is clean after release', async () => {
  const lock = await lockDirectory(folder)
  expect(await readFile(join(folder, 'pid'), 'utf8')).toBe(`${process.pid}\n`)
  await lock.release()
  await lock.release()
  expect(await readdir(folder)).toEqual([])
})

test('a directory in use is refused, naming the process', async () => {
  const lock = await lockDirectory(folder)
  await expect(lockDirectory(folder)).rejects.toMatchObject({
    code: 'LEDGER_LOCKED',
    message: expect.stringContaining(String(process.pid)) as string,
  })
  await lock.release()
  await (await lockDirectory(folder)).release()
})

test('a lock in the hands of another live process is refused', async () => {
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'])
  await writeFile(join(folder, 'lock'), JSON.stringify({ pid: child.pid, startTicks: null, bootId: null }))
  await expect(lockDirectory(folder)).rejects.toMatchObject({ code: 'LEDGER_LOCKED' })
  child.stdin.end()
  await new Promise((resolve) => child.once('exit', resolve))
  await (await lockDirectory(folder)).release()
})

test('a lock whose process is gone is taken over', async () => {
  await writeFile(join(folder, 'lock'), JSON.stringify({ pid: await deadPid(), startTicks: '1', bootId: 'x' }))
  await (await lockDirectory(folder)).release()
})

test('a lock whose id now belongs to a younger process, or to another boot, is taken over', async () => {
  const real = await lockDirectory(folder)
  const owner = JSON.parse(await readFile(join(folder, 'lock'), 'utf8')) as Record<string, unknown>
  await real.release()
  // Without /proc there is nothing to tell a process from its namesake by.
  if (owner['startTicks'] === null) return
  for (const other of [{ startTicks: '1' }, { bootId: 'another boot' }]) {
    await writeFile(join(folder, 'lock'), JSON.stringify({ ...owner, ...other }))
    await (await lockDirectory(folder)).release()
  }
})

test('an unreadable lock is taken over', async () => {
  await writeFile(join(folder, 'lock'), 'rubbish')
  await (await lockDirectory(folder)).release()
})

test('of many that find a stale lock at once one gets the directory', async () => {
  const pid = await deadPid()
  for (let round = 0; round < 30; round++) {
    await writeFile(join(folder, 'lock'), JSON.stringify({ pid, startTicks: '1', bootId: 'x', round }))
    const tries = await Promise.allSettled(Array.from({ length: 8 }, () => lockDirectory(folder)))
    const held = tries.filter((result) => result.status === 'fulfilled')
    expect(held).toHaveLength(1)
    for (const result of tries) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'LEDGER_LOCKED' })
    }
    await held[0]!.value.release()
    expect(await readdir(folder)).toEqual([])
  }
})

test('a process that died while it took a stale lock over does not leave the directory locked', async () => {
  const stale = JSON.stringify({ pid: await deadPid(), startTicks: '1', bootId: 'x' })
  await writeFile(join(folder, 'lock'), stale)
  await writeFile(join(folder, `lock.over-${createHash('sha1').update(`lock ${stale}`).digest('hex')}`), stale)
  await (await lockDirectory(folder)).release()
  expect(await readdir(folder)).toEqual([])
})

test('a directory that is not there is a fault', async () => {
  await expect(lockDirectory(join(folder, 'no'))).rejects.toMatchObject({ code: 'DISK_FAILED' })
})

test('who holds a directory can be asked without touching it; a lock left behind is nobody', async () => {
  expect(await whoHolds(join(folder, 'no'))).toBe(null)
  expect(await whoHolds(folder)).toBe(null)
  const lock = await lockDirectory(folder)
  expect(await whoHolds(folder)).toEqual({ pid: process.pid })
  await lock.release()
  expect(await whoHolds(folder)).toBe(null)
  for (const left of [JSON.stringify({ pid: await deadPid(), startTicks: '1', bootId: 'x' }), 'rubbish']) {
    await writeFile(join(folder, 'lock'), left)
    expect(await whoHolds(folder)).toBe(null)
    expect(await readdir(folder)).toEqual(['lock'])
  }
})
