// The segments of a directory in order, and whether they make one journal: each whole, each following the one
// before it by number, digest and crawl, and the last one not sealed.

import { readdir } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { diskFault } from '../base/index.ts'
import type { Complaint } from './journal-faults.ts'
import { firstNumberOf } from './segment-record.ts'
import { scanSegment, type SegmentScan } from './segment-scan.ts'

export interface SegmentFiles {
  /** In order of their first numbers. */
  readonly segments: readonly { readonly name: string; readonly firstNumber: number }[]
  /** Segments that were never finished being created: `.new`. */
  readonly unfinished: readonly string[]
  /** Called like segments, and yet not: renamed, or copied. Files of any other name are not ours. */
  readonly misnamed: readonly string[]
}

/** Of a directory that is not there: none. */
export async function listSegments(directory: string): Promise<SegmentFiles> {
  const names = await readdir(directory).catch((cause: unknown) => {
    if (['ENOENT', 'ENOTDIR'].includes((cause as NodeJS.ErrnoException).code ?? '')) return []
    throw diskFault(`reading ${directory}`, cause)
  })
  const segments: { name: string; firstNumber: number }[] = []
  const unfinished: string[] = []
  const misnamed: string[] = []
  for (const name of names.filter((one) => one.startsWith('batches-')).sort()) {
    const firstNumber = firstNumberOf(name)
    if (firstNumber !== null) segments.push({ name, firstNumber })
    else if (name.endsWith('.log.new')) unfinished.push(name)
    else misnamed.push(name)
  }
  return { segments: segments.sort((a, b) => a.firstNumber - b.firstNumber), unfinished, misnamed }
}

export async function scanSegments(directory: string, files: SegmentFiles): Promise<SegmentScan[]> {
  const scans: SegmentScan[] = []
  for (const { name, firstNumber } of files.segments) scans.push(await scanSegment(directory, name, firstNumber))
  return scans
}

/** Why `next` cannot be read after `before`; null where the chain holds. */
export function breakBetween(before: SegmentScan, next: SegmentScan): string | null {
  if (!isDeepStrictEqual(before.identity, next.identity)) {
    return `it belongs to another crawl (${next.identity?.name}) than ${before.name} (${before.identity?.name})`
  }
  const missing = next.firstNumber - before.lastNumber - 1
  if (missing > 0) return `batches ${before.lastNumber + 1} to ${next.firstNumber - 1} before it are missing`
  if (missing < 0) return `${before.name} already goes up to batch ${before.lastNumber}`
  return next.followsDigest.equals(before.lastDigest)
    ? null
    : `it does not follow ${before.name}: one of them was exchanged`
}

/** What keeps this segment from being part of the journal, its neighbours seen. */
export function complaintAbout(scans: readonly SegmentScan[], index: number): Complaint | null {
  const scan = scans[index]
  const before = scans[index - 1]
  const next = scans[index + 1]
  if (scan === undefined) return null
  if (scan.complaint !== null) return scan.complaint
  const broken = before === undefined || before.complaint !== null ? null : breakBetween(before, scan)
  if (broken !== null) return { code: 'LEDGER_CORRUPT', at: 0, what: broken }
  if (next === undefined && scan.isSealed) {
    return { code: 'LEDGER_CORRUPT', at: scan.end, what: 'it is sealed, so a segment follows it, but there is none' }
  }
  if (scan.end < scan.size && next !== undefined && !isBeingSealed(scans, index)) {
    return { code: 'LEDGER_CORRUPT', at: scan.end, what: 'unreadable, although a segment follows' }
  }
  return null
}

/** A crash came after the next segment was created and before this one was sealed: no batch is in the next yet. */
export function isBeingSealed(scans: readonly SegmentScan[], index: number): boolean {
  const next = scans[index + 1]
  const isSealed = scans[index]?.isSealed ?? true
  return (
    !isSealed && next !== undefined && index + 2 === scans.length && next.ends.length === 1 && next.end === next.size
  )
}
