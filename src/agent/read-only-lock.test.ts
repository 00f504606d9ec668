// On a disk that nobody can write to a crawl can be looked at and copied, and cannot be repaired.

import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { crawl, FAST, temporaryDirectory } from '../../test/crawl/run-crawl.ts'
import { startTestWeb } from '../../testweb/index.ts'
import { systemClock } from '../base/index.ts'
import { copyStoppedCrawl } from './checkpoint.ts'
import { lockUnlessReadOnly } from './read-only-lock.ts'
import { inspectDirectory } from './repair.ts'

/** A disk with what `fill` puts on it, mounted read-only; null where none can be mounted. */
function readOnlyDisk(fill: (disk: string) => void, onCleanup: (fn: () => void) => void): string | null {
  const disk = mkdtempSync(join(tmpdir(), 'portolan-disk-'))
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=32m', 'tmpfs', disk])
  onCleanup(() => {
    if (status === 0) spawnSync('umount', [disk])
    rmSync(disk, { recursive: true })
  })
  if (status !== 0) return null
  fill(disk)
  spawnSync('mount', ['-o', 'remount,ro', disk])
  return disk
}

const cleanups: (() => void)[] = []
const canMount = readOnlyDisk(
  () => undefined,
  (fn) => cleanups.push(fn),
)
for (const fn of cleanups) fn()

describe.skipIf(canMount === null)('on a read-only disk (left out where none can be mounted)', () => {
  test('a crawl is looked at, copied, and the copy goes on', async () => {
    const web = await startTestWeb({ hosts: 2, pages: 20 })
    onTestFinished(() => web.stop())
    const made = temporaryDirectory(onTestFinished)
    await crawl({ seeds: web.seeds(), dir: made, flags: { ...FAST, 'max-pages': '10' } })
    const disk = readOnlyDisk((to) => cpSync(made, to, { recursive: true }), onTestFinished) ?? ''
    expect(() => writeFileSync(join(disk, 'probe'), '')).toThrow('EROFS')
    expect(await inspectDirectory({ dir: disk, clock: systemClock })).toMatchObject({ isSound: true })
    const to = join(temporaryDirectory(onTestFinished), 'copy')
    await copyStoppedCrawl(disk, to, { nowMs: () => systemClock.nowMs() })
    const { pages } = await crawl({ seeds: [], dir: to, flags: FAST })
    expect(pages).toHaveLength(web.truth().pages.size)
  })

  test('a lock whose owner lives is heeded: the directory may be written under another name', async () => {
    const owner = { pid: process.pid, startTicks: null, bootId: null }
    const fill = (disk: string): void => writeFileSync(join(disk, 'lock'), JSON.stringify(owner))
    const disk = readOnlyDisk(fill, onTestFinished) ?? ''
    await expect(lockUnlessReadOnly(disk)).rejects.toMatchObject({ code: 'LEDGER_LOCKED' })
  })
})

test('elsewhere the lock is made, and every other failure is passed on', async () => {
  const dir = temporaryDirectory(onTestFinished)
  const lock = await lockUnlessReadOnly(dir)
  expect(existsSync(join(dir, 'lock'))).toBe(true)
  await expect(lockUnlessReadOnly(dir)).rejects.toMatchObject({ code: 'LEDGER_LOCKED' })
  await lock?.release()
  await expect(lockUnlessReadOnly(join(dir, 'no'))).rejects.toMatchObject({ code: 'DISK_FAILED' })
})
