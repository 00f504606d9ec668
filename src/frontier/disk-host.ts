// A host whose lines may be longer than memory: segments of which the front is in memory and the rest on disk.
//
// Always true: rows that are in memory are those taken first; a host whose best line has none at its front gives no turn
// until they are read. A record of it on disk describes it as it was when it was last captured; `epoch` says in which
// stretch between two seals it changed since, 0 when not at all.

import type { EntryLines } from './entry-lines.ts'
import { FrontierHost } from './frontier-host.ts'
import type { FrontierEntry } from './frontier.ts'
import type { HostCapture } from './captured.ts'
import type { HostOnDisk } from './host-record.ts'
import { Segment, SEGMENT_BYTES, SEGMENT_ENTRIES_MAX, SegmentLine } from './segment.ts'

/** About what a host costs in memory, beside its segments and rows. */
export const HOST_BYTES = 550

export class DiskHost extends FrontierHost {
  /** From the best band to the worst; bands without URLs have no line. */
  best: SegmentLine | null = null
  epoch = 0
  /** What a checkpoint under way is to hold of it; null when it was written or is as captured. */
  capture: HostCapture | null = null
  /** False while its record is being read, or is not to be; until then nobody knows its rest and what waits in front. */
  isAtHand = true
  /** It stands in line on disk and is left there: memory has what arrived for it since the last checkpoint, which the next adds to its record. */
  isAbsent = false
  /** Of one that is absent: the band of the page that names it. */
  listedBand = 0
  /** It is absent, and needed: as soon as what is being added to its record is on disk, that is read. */
  isRecalled = false
  /** Something happened to it but arrivals since its record was captured: it needs a new one. */
  isStale = false
  /** How often something was added to its record, on disk, since that was written. */
  addenda = 0
  /** Some of its lines was on disk since it came to hand. */
  hasBlocks = false
  /** A segment of it is being read. */
  isReading = false
  /** Its Crawl-delay was told while it was not at hand. */
  hasLeastRest = false
  /** Whether it has a record on disk, or one on the way. */
  isStored = false
  /** The page of the line of hosts on disk that names it, as far as it is known; it may be read and gone. */
  page = 0
  /** The epoch in which it came to hand. */
  joined = 0
  wasServed = false
  /** It came to hand because its page was read, not because something was offered. */
  isFromPage = false
  /** What was offered after a seal that has not captured it yet, because its record is still being read. */
  later: FrontierEntry[] | null = null
  /** It was offered something for the first time then. */
  wasOfferedLater = false
  /** Until when it rested when it was last captured. */
  capturedRestMs = 0
  /** Blocks that were used up since the last record. */
  spent: { readonly band: number; readonly block: number }[] = []

  override get bestBand(): number | null {
    const line = this.best
    if (line === null) return null
    const first = line.first as Segment
    return first.count === 0 && first.inline === null ? null : line.band
  }

  override get inMemory(): number {
    let count = 0
    for (const segment of this.segments()) count += segment.count
    return count
  }

  /** What its segments cost beside their rows. */
  get packedBytes(): number {
    let bytes = 0
    for (const segment of this.segments()) bytes += segment.cost
    return bytes
  }

  override push(lines: EntryLines, entry: FrontierEntry): void {
    if (this.later !== null) {
      this.later.push(entry)
      this.waiting++
      return
    }
    const line = this.lineOf(entry.band)
    let last = line.last
    if (last === null || last.isClosed || last.count >= SEGMENT_ENTRIES_MAX) {
      last = new Segment(entry.band)
      lines.charged += SEGMENT_BYTES
      line.append(last)
    }
    lines.push(last, entry)
    line.waiting++
    this.waiting++
  }

  override pushFirst(lines: EntryLines, entry: FrontierEntry): void {
    const line = this.lineOf(entry.band)
    let first = line.first
    if (first === null || first.isClosed || first.count >= SEGMENT_ENTRIES_MAX) {
      first = new Segment(entry.band)
      lines.charged += SEGMENT_BYTES
      line.prepend(first)
    }
    lines.pushFirst(first, entry)
    line.waiting++
    this.waiting++
  }

  override shift(lines: EntryLines, max: number): FrontierEntry[] {
    const line = this.best
    const taken: FrontierEntry[] = []
    if (line === null) return taken
    while (taken.length < max) {
      const segment = line.first
      if (segment === null) break
      if (segment.count === 0) {
        if (segment.inline === null) break
        unpackRows(this, segment, lines)
      }
      const entry = lines.shift(segment, this.key)
      if (segment.isCaptured) (segment.shifted ??= []).push(entry)
      if (segment.block !== 0) segment.from++
      taken.push(entry)
      if (segment.left > 0) continue
      line.shiftSegment()
      lines.charged -= segment.cost
      if (segment.block > 0) this.spent.push({ band: line.band, block: segment.block })
    }
    line.waiting -= taken.length
    this.waiting -= taken.length
    if (line.waiting === 0) this.best = line.worse
    return taken
  }

  /** The segment to be read next, if fewer than `least` of the URLs that come next are in memory. */
  segmentToRead(least: number): Segment | null {
    let ahead = 0
    for (let line = this.best; line !== null; line = line.worse) {
      for (let segment = line.first; segment !== null; segment = segment.next) {
        ahead += segment.inline === null ? segment.count : segment.left
        if (ahead >= least) return null
        if (segment.isUnread && segment.inline === null) return segment
      }
    }
    return null
  }

  /**
   * Forgets what is on disk too, but for the `keep` URLs that come next; rows that are packed in memory as well go first. Of a worse band
   * nothing is needed before the better ones come to their end, and then it is read: kept of each band, they were five times as many (decision 0017).
   */
  trim(lines: EntryLines, keep: number): void {
    let left = keep
    for (let line = this.best; line !== null; line = line.worse) {
      for (const segment of line.segments()) {
        if (segment.inline !== null) lines.keepFirst(segment, 0)
        else if (segment.block !== 0) lines.keepFirst(segment, Math.max(0, left))
        left -= segment.inline === null ? segment.count : segment.left
      }
    }
  }

  /** Joins what is on disk with what arrived before that was read, which comes after it. */
  adopt(lines: EntryLines, { record, addenda }: HostOnDisk): void {
    this.addenda = addenda.length
    this.pages += record.pages
    if (!this.hasLeastRest) this.leastRestMs = record.leastRestMs
    this.isStored = true
    this.page = record.page
    const stored = new Map<number, Segment[]>()
    const segmentsOf = (band: number): Segment[] => {
      let segments = stored.get(band)
      if (segments === undefined) {
        segments = []
        stored.set(band, segments)
      }
      return segments
    }
    const addRows = (entries: readonly FrontierEntry[]): void => {
      for (const entry of entries) {
        const segments = segmentsOf(entry.band)
        let last = segments.at(-1)
        if (last === undefined || last.block !== 0 || last.count >= SEGMENT_ENTRIES_MAX) {
          last = new Segment(entry.band)
          last.isClosed = true
          last.isInRecord = true
          segments.push(last)
        }
        lines.push(last, entry)
      }
    }
    for (const { front, lines: blocks, tail } of [record, ...addenda]) {
      addRows(front)
      for (const { band, pieces } of blocks) {
        for (const { block, stored: count, from, inline } of pieces) {
          const segment = new Segment(band)
          this.hasBlocks ||= inline === undefined
          segment.block = block
          segment.inline = inline ?? null
          segment.stored = count
          segment.from = from
          segment.isClosed = true
          segmentsOf(band).push(segment)
        }
      }
      addRows(tail)
    }
    for (const [band, segments] of stored) {
      const line = this.lineOf(band)
      for (const segment of segments.reverse()) {
        lines.charged += segment.cost
        line.prepend(segment)
        line.waiting += segment.left
        this.waiting += segment.left
      }
    }
  }

  /** What was captured of it has been added to its record on disk: memory need not have it any more. Only of one that is absent. */
  forgetCaptured(lines: EntryLines, capture: HostCapture): void {
    for (const { band, parts, tail } of capture.lines) {
      const line = this.lineOf(band)
      for (let left = parts.length + (tail === null ? 0 : 1); left > 0; left--) {
        const segment = line.first as Segment
        line.shiftSegment()
        line.waiting -= segment.count
        this.waiting -= segment.count
        lines.keepFirst(segment, 0)
        lines.charged -= segment.cost
      }
    }
    this.dropEmptyLines()
  }

  dropEmptyLines(): void {
    const kept: SegmentLine[] = []
    for (let line = this.best; line !== null; line = line.worse) if (line.waiting > 0) kept.push(line)
    this.best = null
    for (const line of kept.reverse()) {
      line.worse = this.best
      this.best = line
    }
  }

  /** Frees all rows: the host leaves memory. */
  clear(lines: EntryLines): void {
    for (const segment of this.segments()) {
      lines.keepFirst(segment, 0)
      lines.charged -= segment.cost
    }
    this.best = null
    this.waiting = 0
  }

  override *entries(lines: EntryLines): Iterable<FrontierEntry> {
    for (const segment of this.segments()) yield* lines.entries(segment, this.key)
  }

  *segments(): Iterable<Segment> {
    for (let line = this.best; line !== null; line = line.worse) {
      for (let segment = line.first; segment !== null; segment = segment.next) yield segment
    }
  }

  lineOf(band: number): SegmentLine {
    let better: SegmentLine | null = null
    let line = this.best
    while (line !== null && line.band < band) {
      better = line
      line = line.worse
    }
    if (line !== null && line.band === band) return line
    const inserted = new SegmentLine(band)
    inserted.worse = line
    if (better === null) this.best = inserted
    else better.worse = inserted
    return inserted
  }
}

/** Makes rows of all that is left of a block in the record. */
function unpackRows(host: DiskHost, segment: Segment, lines: EntryLines): void {
  const from = segment.from + segment.count
  for (const entry of segment.inline?.entries(host.key, segment.stored, from) ?? []) lines.push(segment, entry)
}

/** Makes a block in the record what it was before: rows that can be joined with others. */
export function unpackSegment(host: DiskHost, segment: Segment, lines: EntryLines): void {
  unpackRows(host, segment, lines)
  lines.charged -= segment.cost
  segment.block = 0
  segment.inline = null
  segment.stored = 0
  segment.from = 0
  lines.charged += segment.cost
}
