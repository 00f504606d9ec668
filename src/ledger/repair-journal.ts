// What a damaged journal still holds, and how to go on with it.
//
//    kept whole        cut here         moved aside, never deleted
//   ┌──────────┐   ┌──────┊░░░░░┐   ┌──────────┐ ┌──────────┐
//   │ 1 … 50   │   │51…63 ┊  ?  │   │ 81 … 120 │ │ 121 …    │
//   └──────────┘   └──────┊░░░░░┘   └──────────┘ └──────────┘
//
// A history may lose its end but not its middle, so repair keeps the longest good prefix. Where the state
// on disk is known to hold batches already, damage among those does not count: they are moved aside
// from the front. Every step can be interrupted and done again.

import { copyFile, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { diskFault } from '../base/index.ts'
import { makeDirectory, moveDurably, syncDirectory } from '../disk/index.ts'
import { type Complaint, faultOf } from './journal-faults.ts'
import { breakBetween, complaintAbout, listSegments, type SegmentFiles, scanSegments } from './segment-chain.ts'
import type { SegmentScan } from './segment-scan.ts'

export interface SegmentFinding {
  readonly file: string
  readonly bytes: number
  /** The good batches from its beginning on; last = first - 1 where there is none. */
  readonly firstNumber: number
  readonly lastNumber: number
  /** A torn tail is what a crash leaves, and no reason to repair. */
  readonly state: 'whole' | 'torn-tail' | 'damaged'
  /** What is wrong and from which byte on; null where nothing is. */
  readonly damage: Complaint | null
  /** Batches that were in it and cannot be read; `to` is null where nothing tells how far it went. */
  readonly lost: { readonly from: number; readonly to: number | null } | null
}

export interface JournalFindings {
  readonly segments: readonly SegmentFinding[]
  /** Called like segments, and yet not. */
  readonly misnamed: readonly string[]
  /** Whether the journal can be opened as it is. */
  readonly isSound: boolean
}

/** Reads everything and changes nothing. */
export async function inspectJournal(directory: string): Promise<JournalFindings> {
  const files = await listSegments(directory)
  return findings(files, await scanSegments(directory, files))
}

function findings({ misnamed }: SegmentFiles, scans: readonly SegmentScan[]): JournalFindings {
  const segments = scans.map((scan, index): SegmentFinding => {
    const { name, size, firstNumber, lastNumber, end } = scan
    const complaint = complaintAbout(scans, index)
    const state = complaint !== null ? 'damaged' : end < size ? 'torn-tail' : 'whole'
    const lost = scan.complaint === null ? null : lostBatches(scan, scans[index + 1])
    return { file: name, bytes: size, firstNumber, lastNumber, state, damage: complaint, lost }
  })
  const isSound = misnamed.length === 0 && segments.every(({ state }) => state !== 'damaged')
  return { segments, misnamed, isSound }
}

function lostBatches({ lastNumber }: SegmentScan, next: SegmentScan | undefined): SegmentFinding['lost'] {
  if (next === undefined) return { from: lastNumber + 1, to: null }
  return next.firstNumber > lastNumber + 1 ? { from: lastNumber + 1, to: next.firstNumber - 1 } : null
}

export interface RepairOptions {
  /** Now by the wall clock: names the directory for what is moved aside. */
  readonly wallMs: number
  /** The state on disk holds every batch up to this one, so damage before it costs nothing. */
  readonly heldUpTo?: number
}

export interface JournalRepair {
  /** What was found before anything was changed. */
  readonly found: JournalFindings
  /** The batches the journal holds now; null when nothing could be kept. */
  readonly kept: { readonly firstNumber: number; readonly lastNumber: number } | null
  /** Where the damaged files are now; null when nothing had to be moved. */
  readonly movedTo: string | null
  /** Names of the files moved there, and of those of which a copy is there because they were cut. */
  readonly moved: readonly string[]
  readonly copied: readonly string[]
}

/** Keeps the longest good prefix. For a journal nobody is using: the caller holds the lock of the crawl. */
export async function repairJournal(directory: string, options: RepairOptions): Promise<JournalRepair> {
  const files = await listSegments(directory)
  const scans = await scanSegments(directory, files)
  const found = findings(files, scans)
  const other = scans.find(({ complaint }) => complaint?.code === 'LEDGER_VERSION')
  if (other !== undefined && other.complaint !== null) throw faultOf(other.path, other.complaint)
  if (found.isSound) return { found, kept: rangeOf(scans), movedTo: null, moved: [], copied: [] }

  const kept = longestGoodPart(scans, options.heldUpTo ?? 0)
  const cuts = kept.flatMap((scan, index) => {
    const cut = goodBytes(scan, index === kept.length - 1)
    return cut < scan.size ? [{ ...scan, cut }] : []
  })
  // The seal alone is no loss: a segment that is cut back to its last batch needs no copy.
  const copied = cuts.filter(({ size, end }) => end < size).map(({ name }) => name)
  const keptNames = new Set(kept.map(({ name }) => name))
  // From the end: what is left at any moment is still one journal, as far as it was.
  const moved = [
    ...files.misnamed,
    ...scans
      .map(({ name }) => name)
      .filter((name) => !keptNames.has(name))
      .reverse(),
  ]

  const stamp = new Date(options.wallMs).toISOString().replaceAll(':', '-')
  const aside = join(dirname(directory), `damaged-${stamp}`)
  if (moved.length + copied.length > 0) await makeDirectory(aside)
  for (const name of copied) await copyDurably(join(directory, name), join(aside, name))
  for (const name of moved) await moveDurably(join(directory, name), join(aside, name))
  for (const { path, cut } of cuts) await cutDurably(path, cut)
  await syncDirectory(directory)
  return { found, kept: rangeOf(kept), movedTo: moved.length + copied.length > 0 ? aside : null, moved, copied }
}

/** From the first segment on; where that does not reach what is needed, from the segment that begins it. */
function longestGoodPart(scans: readonly SegmentScan[], heldUpTo: number): SegmentScan[] {
  const fromFirst = goodPart(scans)
  const needed = scans.findLastIndex(({ firstNumber }) => firstNumber <= heldUpTo + 1)
  return fromFirst.length > needed ? fromFirst : goodPart(scans.slice(needed))
}

function goodPart(scans: readonly SegmentScan[]): SegmentScan[] {
  const kept: SegmentScan[] = []
  for (const scan of scans) {
    const before = kept.at(-1)
    if (scan.identity === null || (before !== undefined && breakBetween(before, scan) !== null)) break
    kept.push(scan)
  }
  return kept
}

/** The last one kept is the current segment of the next run: it must not be sealed. */
function goodBytes({ ends, end, isSealed }: SegmentScan, isLast: boolean): number {
  return isLast && isSealed ? (ends.at(-1) ?? end) : end
}

function rangeOf(scans: readonly SegmentScan[]): JournalRepair['kept'] {
  const [first, last] = [scans.at(0), scans.at(-1)]
  return first === undefined || last === undefined
    ? null
    : { firstNumber: first.firstNumber, lastNumber: last.lastNumber }
}

async function copyDurably(from: string, to: string): Promise<void> {
  try {
    await copyFile(from, to)
    const handle = await open(to, 'r+')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
    await syncDirectory(dirname(to))
  } catch (cause) {
    throw diskFault(`copying ${from} to ${to}`, cause)
  }
}

async function cutDurably(path: string, length: number): Promise<void> {
  try {
    const handle = await open(path, 'r+')
    try {
      await handle.truncate(length)
      await handle.sync()
    } finally {
      await handle.close()
    }
  } catch (cause) {
    throw diskFault(`cutting ${path} to ${length} bytes`, cause)
  }
}
