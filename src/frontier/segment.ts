// A stretch of a host's line: up to 256 URLs of one band, in memory, on disk, or the first of them in both. A few dozen may stand
// in their host's record as a block (inline-block.ts): then they are in memory, but packed.
//
//     line    first                                                   last
//             [rows]  →  [block 7: from 30 of 256, rows 64]  →  [block 9: 0 of 256]  →  [rows]
//             put back    being taken; 162 of it not read        not read               arrivals
//
// Only the first can be put back to, only the last grows; between them nothing changes but what is taken from the front.

import { Chain } from './entry-lines.ts'
import type { FrontierEntry } from './frontier.ts'
import type { InlineBlock } from './inline-block.ts'

/** Entries of one segment, and so of one block. */
export const SEGMENT_ENTRIES_MAX = 256

/** About what a segment costs in memory, with its share of a line. Whoever makes one charges it to the rows, and discharges it. */
export const SEGMENT_BYTES = 230

export class Segment extends Chain {
  next: Segment | null = null
  /** The number of its block on disk; INLINE when that is in the host's record, 0 while it has none. */
  block = 0
  inline: InlineBlock | null = null
  /** Of a block: how many entries it has, and how many of them are gone. The rows are the first of the others. */
  stored = 0
  from = 0
  /** Its rows stand in the host's record on disk, or in an addendum to it, but not as a block. */
  isInRecord = false
  /** Nothing is put to it any more, at either end: it is on disk, or about to be written. */
  isClosed = false
  /** A checkpoint is to hold it as it is: what is taken from it meanwhile is noted. */
  isCaptured = false
  shifted: FrontierEntry[] | null = null

  /** URLs that wait in it. */
  get left(): number {
    return this.block === 0 ? this.count : this.stored - this.from
  }

  /** A checkpoint has it, as long as nothing but arrivals happened to its host. */
  get isOnDisk(): boolean {
    return this.block !== 0 || this.isInRecord
  }

  /** Some of it is in its block only. */
  get isUnread(): boolean {
    return this.block !== 0 && this.from + this.count < this.stored
  }

  /** What it costs in memory beside its rows. */
  get cost(): number {
    return SEGMENT_BYTES + (this.inline?.length ?? 0)
  }
}

/** One band of one host, from its best to its worst; never empty while its host keeps it. */
export class SegmentLine {
  readonly band: number
  worse: SegmentLine | null = null
  first: Segment | null = null
  last: Segment | null = null
  /** URLs in all segments. */
  waiting = 0

  constructor(band: number) {
    this.band = band
  }

  append(segment: Segment): void {
    if (this.last === null) this.first = segment
    else this.last.next = segment
    this.last = segment
  }

  prepend(segment: Segment): void {
    segment.next = this.first
    this.first = segment
    if (this.last === null) this.last = segment
  }

  /** Takes out the first segment. */
  shiftSegment(): void {
    const first = this.first as Segment
    this.first = first.next
    if (first.next === null) this.last = null
  }

  *segments(): Iterable<Segment> {
    for (let segment = this.first; segment !== null; segment = segment.next) yield segment
  }
}
