// What a disk holds after the power went: a pure function of what was asked of it, the moment, and chance.
//
//   file       durable is what a sync of the file covered: it began after the write had ended, and ended before the cut.
//              Every other write is kept, lost, torn into sectors, or leaves zeros where its bytes should be, each for
//              itself: a later one may be kept where an earlier one is lost.
//   name       durable is what a sync of its directory covered. Every other creation, renaming and removal is kept or lost,
//              in order (as a journal would) or each for itself. A sync of a file does not make its name durable.
//
// This is harsher than any one file system: whatever stands it needs no luck with the one it runs on.

import { dirname } from 'node:path'
import type { Random } from '../../src/base/index.ts'

interface Timed {
  /** When it had ended, on the disk's own count; Infinity as long as it has not, and when it failed. */
  endedAt: number
}

interface Bytes extends Timed {
  readonly kind: 'write'
  readonly file: number
  readonly offset: number
  bytes: Buffer
}

interface Cut extends Timed {
  readonly kind: 'truncate'
  readonly file: number
  readonly length: number
}

/** A change of names, atomic. `from` goes and `to` is there, either of which may be null. Directories have negative numbers. */
interface Naming extends Timed {
  readonly kind: 'name'
  readonly from: string | null
  readonly to: string | null
  readonly file: number
  /** It did nothing. */
  hasFailed: boolean
}

interface Sync {
  readonly kind: 'sync' | 'sync-directory'
  readonly file: number
  /** On the same count. */
  readonly beganAt: number
}

export type DiskEvent = Bytes | Cut | Naming | Sync

/** Everything in a directory, by path within it: a file's number and bytes. */
export interface DiskContent {
  readonly names: Map<string, number>
  readonly directories: Map<string, number>
  readonly bytes: Map<number, Buffer>
}

/** What becomes of what was not synced: all of it, or as chance decides. */
export type Fates = 'kept' | 'lost' | Random

const SECTOR_BYTES = 512

/** The content after the power went when `at` events had begun. `before` is what there was, durably, when events began. */
export function afterPowerCut(
  before: DiskContent,
  events: readonly DiskEvent[],
  at: number,
  fates: Fates,
): DiskContent {
  const happened = events.slice(0, at)
  const bytes = new Map(before.bytes)
  for (const event of happened) {
    if (event.kind !== 'write' && event.kind !== 'truncate') continue
    const old = bytes.get(event.file) ?? Buffer.alloc(0)
    const isDurable = isCovered(event, happened, 'sync', event.file)
    bytes.set(
      event.file,
      event.kind === 'write' ? written(old, event, isDurable, fates) : cut(old, event, isDurable, fates),
    )
  }
  const names = new Map(before.names)
  const directories = new Map(before.directories)
  for (const event of survivingNames(before, happened, fates)) {
    const map = event.file < 0 ? directories : names
    if (event.from !== null) map.delete(event.from)
    if (event.to !== null) map.set(event.to, event.file)
  }
  dropOrphans(names, directories)
  return { names, directories, bytes }
}

function isCovered(event: Timed, happened: readonly DiskEvent[], kind: Sync['kind'], file: number): boolean {
  return happened.some((sync) => sync.kind === kind && sync.file === file && event.endedAt < sync.beganAt)
}

function survivingNames(before: DiskContent, happened: readonly DiskEvent[], fates: Fates): Naming[] {
  // Which number a directory had is asked by path: a directory that was renamed is not simulated.
  const numbers = new Map(before.directories)
  const isInOrder = typeof fates === 'string' || fates.below(2) === 0
  let isLosing = false
  const surviving: Naming[] = []
  for (const event of happened) {
    if (event.kind !== 'name' || event.hasFailed) continue
    if (event.file < 0 && event.to !== null) numbers.set(event.to, event.file)
    const isDurable = [event.from, event.to].every(
      (path) => path === null || isCovered(event, happened, 'sync-directory', numbers.get(dirname(path)) ?? 0),
    )
    const isKept = fates === 'kept' || (fates !== 'lost' && fates.below(2) === 0)
    if (!isDurable && !isKept) isLosing = true
    if (isDurable || (isInOrder ? !isLosing : isKept)) surviving.push(event)
  }
  return surviving
}

/** What lies in a directory that was lost is lost with it. */
function dropOrphans(names: Map<string, number>, directories: Map<string, number>): void {
  for (const map of [directories, names]) {
    // Shorter paths first: a directory before what lies in it.
    for (const path of [...map.keys()].toSorted((a, b) => a.length - b.length)) {
      if (path !== '.' && !directories.has(dirname(path))) map.delete(path)
    }
  }
}

function cut(old: Buffer, { length }: Cut, isDurable: boolean, fates: Fates): Buffer {
  const isKept = isDurable || fates === 'kept' || (fates !== 'lost' && fates.below(2) === 0)
  if (!isKept) return old
  return length <= old.length ? old.subarray(0, length) : Buffer.concat([old, Buffer.alloc(length - old.length)])
}

function written(old: Buffer, event: Bytes, isDurable: boolean, fates: Fates): Buffer {
  if (isDurable || fates === 'kept') return patched(old, event.offset, event.bytes)
  if (fates === 'lost') return old
  const fate = fates.pick(['kept', 'lost', 'cut', 'torn', 'zeros'] as const)
  if (fate === 'lost') return old
  if (fate === 'cut') return patched(old, event.offset, event.bytes.subarray(0, fates.below(event.bytes.length + 1)))
  if (fate === 'kept') return patched(old, event.offset, event.bytes)
  // The file has its length, but only some sectors their bytes.
  const end = event.offset + event.bytes.length
  const result = Buffer.alloc(Math.max(old.length, end))
  old.copy(result)
  for (let from = event.offset; from < end;) {
    const to = Math.min(end, from - (from % SECTOR_BYTES) + SECTOR_BYTES)
    const isKept = fate === 'torn' && fates.below(2) === 0
    if (isKept) event.bytes.copy(result, from, from - event.offset, to - event.offset)
    from = to
  }
  return result
}

function patched(old: Buffer, offset: number, bytes: Buffer): Buffer {
  const result = Buffer.alloc(Math.max(old.length, offset + bytes.length))
  old.copy(result)
  bytes.copy(result, offset)
  return result
}
