// Lists of page numbers, walked from the newest page back: one list, several joined, those of all words with a beginning. What
// search.ts puts together.
//
// seek(id) gives the highest number of the list that is not above `id`, 0 where there is none. `id` never rises from call to call.

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { ClockMs, Clock } from '../base/index.ts'
import { idsOf, openChunk } from './posting-chunk.ts'
import type { Segment } from './segments.ts'
import { cut, PREFIX_LENGTH_MAX } from './words.ts'

/** What a question may cost. Work is what can be told apart without a clock; time is for disks that are slow. */
export class Work {
  #left: number
  readonly #clock: Clock
  readonly #untilMs: number

  constructor(units: number, clock: Clock, ms: number) {
    this.#left = units
    this.#clock = clock
    this.#untilMs = clock.nowMs() + ms
  }

  spend(units: number): void {
    this.#left -= units
  }

  /** Something was read from the disk: a chunk, a line. */
  read(): void {
    this.#left -= READ_UNITS
    if (this.#clock.nowMs() > (this.#untilMs as ClockMs)) this.#left = 0
  }

  get isSpent(): boolean {
    return this.#left <= 0
  }
}

/** A look at a chunk in memory is one unit. */
const READ_UNITS = 40
/** Chunks of words with a common beginning that are put together for one segment; with more, their shorter beginning is used and pages are looked at. */
const PREFIX_CHUNKS_MAX = 200

export interface ListCursor {
  seek(id: number): number
  /** False: what seek() gave last may not belong to it, and must be looked at. */
  readonly isSure: boolean
}

/** Reads chunks of one collection. */
export class ListReader {
  readonly segments: readonly Segment[]
  readonly work: Work
  readonly #chunk: StatementSync
  readonly #range: StatementSync

  constructor(database: DatabaseSync, segments: readonly Segment[], work: Work) {
    this.segments = segments
    this.work = work
    this.#chunk = database.prepare(
      'SELECT first, last, ids FROM postings WHERE segment = ? AND key = ? AND first <= ? ORDER BY first DESC LIMIT 1',
    )
    this.#range = database.prepare(
      `SELECT key, first, last, ids FROM postings WHERE segment = ? AND key >= ? AND key < ? LIMIT ${PREFIX_CHUNKS_MAX + 1}`,
    )
  }

  /** The numbers of the chunk in which the highest one up to `id` stands; null where the segment has none. */
  chunk(segment: number, key: string, id: number): Float64Array | null {
    this.work.read()
    const row = this.#chunk.get(segment, key, id) as { first: number; last: number; ids: Uint8Array } | undefined
    return row === undefined ? null : idsOf(openChunk(key, row.first, row.last, row.ids))
  }

  /** All numbers under keys with this beginning in rising order; null where these are too many chunks. */
  range(segment: number, beginning: string): Float64Array | null {
    this.work.read()
    const rows = this.#range.all(segment, beginning, `${beginning}\u{10ffff}`) as unknown as {
      key: string
      first: number
      last: number
      ids: Uint8Array
    }[]
    if (rows.length > PREFIX_CHUNKS_MAX) return null
    const parts = rows.map(({ key, first, last, ids }) => idsOf(openChunk(key, first, last, ids)))
    const all = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0))
    let at = 0
    for (const part of parts) {
      all.set(part, at)
      at += part.length
    }
    this.work.spend(all.length >> 2)
    return all.sort()
  }
}

/** Every page. */
export class AllCursor implements ListCursor {
  readonly isSure = true
  seek(id: number): number {
    return Math.max(0, id)
  }
}

/** Of one key. */
export class KeyCursor implements ListCursor {
  readonly isSure: boolean
  readonly #reader: ListReader
  readonly #key: string
  #segment = 0
  #ids: Float64Array | null = null
  #at = 0

  constructor(reader: ListReader, key: string, isSure = true) {
    this.#reader = reader
    this.#key = key
    this.isSure = isSure
  }

  seek(id: number): number {
    this.#reader.work.spend(1)
    if (this.#ids !== null && id >= (this.#ids[0] ?? 0)) return this.#within(this.#ids, id)
    const { segments } = this.#reader
    for (; this.#segment < segments.length; this.#segment++) {
      const segment = segments[this.#segment] as Segment
      if (segment.first > id) continue
      this.#ids = this.#reader.chunk(segment.id, this.#key, id)
      if (this.#ids === null) continue
      this.#at = this.#ids.length - 1
      return this.#within(this.#ids, id)
    }
    this.#ids = null
    return 0
  }

  #within(ids: Float64Array, id: number): number {
    this.#at = highestUpTo(ids, id, this.#at)
    return ids[this.#at] ?? 0
  }
}

/** Of all words with a beginning that is too long for a list of its own. */
export class BeginningCursor implements ListCursor {
  readonly #reader: ListReader
  readonly #beginning: string
  readonly #wider: string
  #segment = -1
  #ids: Float64Array | null = null
  #at = 0
  #instead: KeyCursor | null = null

  /** `letter` is what keys of words begin with, `widerLetter` those of beginnings. */
  constructor(reader: ListReader, letter: string, widerLetter: string, beginning: string) {
    this.#reader = reader
    this.#beginning = `${letter}${beginning}`
    this.#wider = `${widerLetter}${cut(beginning, PREFIX_LENGTH_MAX)}`
  }

  get isSure(): boolean {
    return this.#instead === null
  }

  seek(id: number): number {
    this.#reader.work.spend(1)
    const { segments } = this.#reader
    for (;;) {
      const segment = segments[this.#segment]
      if (segment !== undefined && segment.first <= id) {
        const found = this.#inSegment(segment, id)
        if (found > 0) return found
      }
      if (this.#segment >= segments.length - 1) {
        this.#segment = segments.length
        return 0
      }
      this.#segment++
      const next = segments[this.#segment] as Segment
      if (next.first > id) continue
      this.#ids = this.#reader.range(next.id, this.#beginning)
      this.#instead = this.#ids === null ? new KeyCursor(this.#reader, this.#wider, false) : null
      this.#at = (this.#ids?.length ?? 0) - 1
    }
  }

  #inSegment({ first, last }: Segment, id: number): number {
    const limit = Math.min(id, last)
    if (this.#instead !== null) {
      const found = this.#instead.seek(limit)
      return found >= first ? found : 0
    }
    const ids = this.#ids
    if (ids === null || ids.length === 0 || limit < (ids[0] as number)) return 0
    this.#at = highestUpTo(ids, limit, this.#at)
    return ids[this.#at] ?? 0
  }
}

/** Any of several. */
export class UnionCursor implements ListCursor {
  readonly #cursors: readonly ListCursor[]
  /** What each gave last; above every id at first, so that it is asked. */
  readonly #heads: Float64Array
  readonly #work: Work
  #isSure = true

  constructor(cursors: readonly ListCursor[], work: Work) {
    this.#cursors = cursors
    this.#heads = new Float64Array(cursors.length).fill(Infinity)
    this.#work = work
  }

  get isSure(): boolean {
    return this.#isSure
  }

  seek(id: number): number {
    this.#work.spend(1 + (this.#cursors.length >> 4))
    let best = 0
    for (let i = 0; i < this.#heads.length; i++) {
      const cursor = this.#cursors[i] as ListCursor
      if ((this.#heads[i] as number) > id) this.#heads[i] = cursor.seek(id)
      const head = this.#heads[i] as number
      if (head > best || (head === best && head > 0 && cursor.isSure)) {
        best = head
        this.#isSure = cursor.isSure
      }
    }
    return best
  }
}

/** The place of the highest number up to `id`, looked for from `at` down; there is one. */
function highestUpTo(ids: Float64Array, id: number, at: number): number {
  if ((ids[at] as number) <= id) return at
  // Galloping: the next one is mostly near.
  let step = 1
  let high = at
  let low = at - 1
  while (low > 0 && (ids[low] as number) > id) {
    high = low
    step *= 2
    low -= step
  }
  low = Math.max(0, low)
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if ((ids[middle] as number) <= id) low = middle
    else high = middle
  }
  return low
}
