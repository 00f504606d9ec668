// A disk that is full soon, for tests of what happens then.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A disk of its own for the test, in memory; null where we may not mount one. */
export function mountSmallDisk(size: string): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-disk-'))
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder])
  if (status === 0) return folder
  rmSync(folder, { recursive: true })
  return null
}

export function unmount(folder: string): void {
  spawnSync('umount', [folder])
  rmSync(folder, { recursive: true, force: true })
}

/** Whether we may mount one at all. */
export function canMountSmallDisk(): boolean {
  const probe = mountSmallDisk('64k')
  if (probe !== null) unmount(probe)
  return probe !== null
}
