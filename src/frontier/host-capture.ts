// What a checkpoint is to hold of one host: fixed in a moment, written later, while turns of the host go on.
//
// Capturing copies no URL. It closes the segments that are in memory, so that what arrives goes to new ones, and marks
// them, so that what is taken from them is noted (Segment.shifted) until they are encoded. Taking alone changes
// nothing that a checkpoint knows: what is out without a verdict stands in front of its line.
//
// A few URLs at either end of a line go into the host's record, those of all bands together, and are written anew whenever the host
// changes; some dozens become a block in the record, more a block of their own:
//
//     < 8    with those of other bands     < 64   a block in the record     ≥ 64   a block of its own
//
// Neighbours that have become enough for a block of their own are unpacked and made one. So a URL is encoded a few times,
// however often its host changes. Of a host to which nothing happened but arrivals they alone are captured, for an addendum to its record.

import type { CapturedLine, HostCapture, NewBlock } from './captured.ts'
import type { EntryLines } from './entry-lines.ts'
import type { FrontierEntry } from './frontier.ts'
import { type DiskHost, unpackSegment } from './disk-host.ts'
import type { Piece, StoredLines } from './host-record.ts'
import { type Segment, SEGMENT_BYTES, SEGMENT_ENTRIES_MAX, type SegmentLine } from './segment.ts'

/** Of this share of what is enough for a block of its own, a block in the record is made. */
const INLINE_SHARE = 1 / 8

export function inlineEntriesMin(blockEntriesMin: number): number {
  return blockEntriesMin * INLINE_SHARE
}

export interface CaptureSettings {
  readonly run: number
  readonly blockEntriesMin: number
  readonly addendaMax: number
}

export function captureHost(host: DiskHost, lines: EntryLines, nowMs: number, settings: CaptureSettings): HostCapture {
  const isRecord = !host.isAbsent && (host.isStale || !host.isStored || host.addenda >= settings.addendaMax)
  return isRecord ? captureRecord(host, lines, nowMs, settings) : captureArrivals(host, lines, settings.blockEntriesMin)
}

/** What arrived since the host was last written is all that has changed. */
function captureArrivals(host: DiskHost, lines: EntryLines, blockEntriesMin: number): HostCapture {
  const captured: CapturedLine[] = []
  for (let line = host.best; line !== null; line = line.worse) {
    joinShort(line, lines)
    const parts: NewBlock[] = []
    let tail: Segment | null = null
    for (const segment of line.segments()) {
      if (segment.isOnDisk) continue
      if (close(segment, blockEntriesMin) && segment === line.last) tail = segment
      else parts.push({ segment, block: 0, stored: 0, inline: null })
    }
    if (parts.length > 0 || tail !== null) captured.push({ band: line.band, front: null, parts, tail })
  }
  return { facts: null, unconcluded: [], lines: captured, spent: [] }
}

function captureRecord(host: DiskHost, lines: EntryLines, nowMs: number, settings: CaptureSettings): HostCapture {
  const captured: CapturedLine[] = []
  for (let line = host.best; line !== null; line = line.worse)
    captured.push(captureLine(host, line, lines, settings.blockEntriesMin))
  const spent = host.spent
  host.spent = []
  host.isStale = false
  const { wasOffered, pages, leastRestMs, lastingRestMs: restUntilMs } = host
  host.capturedRestMs = restUntilMs
  const restMs = Math.max(0, restUntilMs - nowMs)
  const facts = { wasOffered, pages, leastRestMs, restMs, run: settings.run, restUntilMs }
  return { facts, unconcluded: host.unconcluded, lines: captured, spent }
}

function captureLine(host: DiskHost, line: SegmentLine, lines: EntryLines, blockEntriesMin: number): CapturedLine {
  unpackNeighbours(host, line, lines, blockEntriesMin)
  for (const segment of line.segments()) segment.isInRecord = false
  joinShort(line, lines)
  let front: Segment | null = null
  let tail: Segment | null = null
  const parts: (Piece | NewBlock)[] = []
  for (const segment of line.segments()) {
    if (segment.block !== 0) {
      const { block, stored, from, inline } = segment
      parts.push({ block, stored, from, inline: inline ?? undefined })
      continue
    }
    const isShort = close(segment, blockEntriesMin)
    if (isShort && segment === line.first) front = segment
    else if (isShort && segment === line.last) tail = segment
    else parts.push({ segment, block: 0, stored: 0, inline: null })
  }
  return { band: line.band, front, parts, tail }
}

/** From now on nothing is put to the segment, and what is taken is noted. True for a few URLs, which at an end of the line are not worth a block. */
function close(segment: Segment, blockEntriesMin: number): boolean {
  segment.isClosed = true
  segment.isCaptured = true
  return segment.count < inlineEntriesMin(blockEntriesMin)
}

/** Makes rows of blocks in the record that are, with what stands beside them, enough for a block of their own. */
function unpackNeighbours(host: DiskHost, line: SegmentLine, lines: EntryLines, blockEntriesMin: number): void {
  let first = line.first
  while (first !== null) {
    let left = 0
    let end: Segment | null = first
    for (; end !== null && end.block <= 0; end = end.next) left += end.left
    if (left >= blockEntriesMin) {
      for (let segment = first; segment !== end; segment = segment.next as Segment) {
        if (segment.inline !== null) unpackSegment(host, segment, lines)
      }
    }
    first = end === null ? null : end.next
  }
}

/** Makes one of neighbours in memory that fit one block. */
function joinShort(line: SegmentLine, lines: EntryLines): void {
  let segment = line.first
  while (segment !== null) {
    const next: Segment | null = segment.next
    const isJoined =
      next !== null && !segment.isOnDisk && !next.isOnDisk && segment.count + next.count <= SEGMENT_ENTRIES_MAX
    if (!isJoined) {
      segment = next
      continue
    }
    lines.join(segment, next)
    lines.charged -= SEGMENT_BYTES
    segment.next = next.next
    if (line.last === next) line.last = segment
  }
}

/** The entries of a captured segment as they were; from now on it is not watched any more. */
export function releaseSegment(segment: Segment, host: DiskHost, lines: EntryLines): FrontierEntry[] {
  const entries = [...(segment.shifted ?? []), ...lines.entries(segment, host.key)]
  segment.isCaptured = false
  segment.shifted = null
  return entries
}

/** What was captured, as it is to be stored. Its new blocks have been encoded. */
export function storedLinesOf(host: DiskHost, capture: HostCapture, lines: EntryLines): StoredLines {
  const front: FrontierEntry[] = [...capture.unconcluded]
  const tail: FrontierEntry[] = []
  for (const line of capture.lines) {
    for (const [segment, end] of [
      [line.front, front],
      [line.tail, tail],
    ] as const) {
      if (segment === null) continue
      end.push(...releaseSegment(segment, host, lines))
      segment.isInRecord = true
    }
  }
  return {
    lines: capture.lines
      .filter(({ parts }) => parts.length > 0)
      .map(({ band, parts }) => ({
        band,
        pieces: parts.map((part) => ({
          block: part.block,
          stored: part.stored,
          from: 'from' in part ? part.from : 0,
          inline: part.inline ?? undefined,
        })),
      })),
    front,
    tail,
  }
}

export function newBlocksOf(capture: HostCapture): NewBlock[] {
  const blocks: NewBlock[] = []
  for (const { parts } of capture.lines) for (const part of parts) if ('segment' in part) blocks.push(part)
  return blocks
}
