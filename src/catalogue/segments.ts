// Lists grow by whole segments, never in place: a list that is changed where it stands costs a page of the disk for every word.
//
//   pages 1 … 400,000 │ 400,001 … 650,000 │ … 680,000 │ … 690,000 │ … 690,500 │      each has its own list of every key it met
//        large: stays │     large         │   small: eight neighbours are merged into one, again and again until it is large
//
// Segments of a collection follow each other without gap, so a list, read from the newest page on, is the list of the newest segment,
// then that of the one before. Writing is appending, and every number is written about three times in its life.
//
// A merge is many small transactions, since nobody can be answered while SQLite commits one and brings it into the file:
//
//   chunks of the new segment, step by step ─▶ the switch: its row instead of theirs ─▶ chunks of the old ones deleted, step by step
//
// Chunks whose segment has no row count for nothing: left by a merge that ended in the middle, they are deleted by the next.

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { damagedUnless } from './damaged.ts'
import { type Collection, rowSum } from './database.ts'
import { type Chunk, joinChunks, openChunk, packIds, sealChunk } from './posting-chunk.ts'

export interface Segment {
  readonly id: number
  readonly first: number
  readonly last: number
}

/** So many neighbours of a size or smaller become one. */
const MERGED_AT_ONCE = 8
/** Sizes in pages; what is larger than the last stays as it is. */
const SIZES = [4_000, 32_000, 256_000]
/** Chunks that are read, written or deleted in one step: some milliseconds, and half a MiB at most. */
const STEP_CHUNKS = 512
/** Chunks that are held of each segment that is merged. */
const SOURCE_CHUNKS = 64

interface ChunkRow {
  readonly key: string
  readonly first: number
  readonly last: number
  readonly ids: Uint8Array
}

/** The newest first. */
export function segmentsOf(database: DatabaseSync, collection: Collection): Segment[] {
  const rows = database
    .prepare('SELECT id, first, last, chunks, sum FROM segments WHERE collection = ? ORDER BY first DESC')
    .all(collection) as unknown as (Segment & { chunks: number; sum: number })[]
  for (const [i, { id, first, last, chunks, sum }] of rows.entries()) {
    damagedUnless(sum === rowSum(id, collection, first, last, chunks), `segment ${id} has another checksum`)
    const older = rows[i + 1]
    damagedUnless(first === (older?.last ?? 0) + 1, `segment ${id} does not follow the one before`)
  }
  return rows
}

/** Something long in pieces: whoever runs it may do something else in between. */
export type Steps = Generator<void, void, void>

/** Runs something in a transaction of its own. */
export type InTransaction = (work: () => void) => void

export class SegmentWriter {
  readonly #database: DatabaseSync
  readonly #insert: StatementSync

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#insert = database.prepare('INSERT INTO postings(segment, key, first, last, ids) VALUES (?, ?, ?, ?, ?)')
  }

  /** The lists of pages `first` to `last`, inside the transaction of its caller. */
  *write(collection: Collection, first: number, last: number, lists: ReadonlyMap<string, readonly number[]>): Steps {
    const id = this.#nextId()
    const sorted = byBeginning(lists.keys())
    yield
    let chunks = 0
    let steps = 0
    for (const keys of sorted) {
      // Nearly the order of the database, so that nearly all is appended.
      for (const key of keys.sort()) {
        for (const chunk of packIds(lists.get(key) ?? [])) {
          this.#insert.run(id, key, chunk.first, chunk.last, sealChunk(key, chunk))
          chunks++
        }
        if (++steps % STEP_CHUNKS === 0) yield
      }
    }
    this.#note(id, collection, first, last, chunks)
  }

  /** Whether segments have become many. */
  isMergeDue(collection: Collection): boolean {
    return runToMerge(segmentsOf(this.#database, collection)).length > 0
  }

  /** Merges what has become many, and deletes what counts no more. */
  *merge(collection: Collection, inTransaction: InTransaction): Steps {
    yield* this.#sweep(inTransaction)
    const run = runToMerge(segmentsOf(this.#database, collection))
    if (run.length === 0) return
    const id = this.#nextId()
    // The oldest first: their numbers come first in every list.
    const sources = run.toReversed().map((segment) => new ChunkSource(this.#database, segment.id))
    let chunks = 0
    let rows: [string, Chunk][] = []
    const insert = (): void => {
      for (const [key, chunk] of rows) this.#insert.run(id, key, chunk.first, chunk.last, sealChunk(key, chunk))
      chunks += rows.length
      rows = []
    }
    for (const [key, chunk] of merged(sources)) {
      rows.push([key, chunk])
      if (rows.length < STEP_CHUNKS) continue
      inTransaction(insert)
      yield
    }
    inTransaction(() => {
      insert()
      const remove = this.#database.prepare('DELETE FROM segments WHERE id = ?')
      for (const segment of run) remove.run(segment.id)
      this.#note(id, collection, run.at(-1)?.first ?? 0, run[0]?.last ?? 0, chunks)
    })
    yield
    yield* this.#sweep(inTransaction)
  }

  /** Deletes chunks whose segment has no row. */
  *#sweep(inTransaction: InTransaction): Steps {
    const isKept = this.#database.prepare('SELECT 1 FROM segments WHERE id = ?')
    const next = this.#database.prepare('SELECT min(segment) AS id FROM postings WHERE segment > ?')
    const end = this.#database.prepare(
      `SELECT key, first FROM postings WHERE segment = ? ORDER BY key, first LIMIT 1 OFFSET ${STEP_CHUNKS - 1}`,
    )
    const remove = this.#database.prepare('DELETE FROM postings WHERE segment = ? AND (key, first) <= (?, ?)')
    const removeAll = this.#database.prepare('DELETE FROM postings WHERE segment = ?')
    let segment = 0
    for (;;) {
      const { id } = next.get(segment) as { id: number | null }
      if (id === null) return
      segment = id
      if (isKept.get(id) !== undefined) continue
      for (let isMore = true; isMore;) {
        const last = end.get(id) as { key: string; first: number } | undefined
        inTransaction(() => {
          if (last === undefined) removeAll.run(id)
          else remove.run(id, last.key, last.first)
        })
        isMore = last !== undefined
        yield
      }
    }
  }

  #note(id: number, collection: Collection, first: number, last: number, chunks: number): void {
    this.#database
      .prepare('INSERT INTO segments(id, collection, first, last, chunks, sum) VALUES (?, ?, ?, ?, ?, ?)')
      .run(id, collection, first, last, chunks, rowSum(id, collection, first, last, chunks))
  }

  #nextId(): number {
    const noted = this.#database.prepare('SELECT max(id) AS id FROM segments').get() as { id: number | null }
    // Also above what was left of a merge.
    const there = this.#database.prepare('SELECT max(segment) AS id FROM postings').get() as { id: number | null }
    return Math.max(noted.id ?? 0, there.id ?? 0) + 1
  }
}

/** Keys by their first two signs, in the order of those: what is sorted in parts is sorted in steps. */
function byBeginning(keys: Iterable<string>): string[][] {
  const parts = new Map<string, string[]>()
  for (const key of keys) {
    const beginning = key.slice(0, 2)
    const part = parts.get(beginning)
    if (part === undefined) parts.set(beginning, [key])
    else part.push(key)
  }
  return [...parts].sort(([one], [two]) => (one < two ? -1 : 1)).map(([, part]) => part)
}

/** The chunks of a segment in their order. */
class ChunkSource {
  readonly #segment: number
  readonly #read: StatementSync
  #rows: readonly ChunkRow[] = []
  #at = 0

  constructor(database: DatabaseSync, segment: number) {
    this.#segment = segment
    this.#read = database.prepare(
      `SELECT key, first, last, ids FROM postings WHERE segment = ? AND (key, first) > (?, ?) ORDER BY key, first LIMIT ${SOURCE_CHUNKS}`,
    )
    this.#fill('', 0)
  }

  get head(): ChunkRow | null {
    return this.#rows[this.#at] ?? null
  }

  next(): void {
    this.#at++
    const last = this.#rows.at(-1)
    if (this.#at === this.#rows.length && last !== undefined) this.#fill(last.key, last.first)
  }

  #fill(key: string, first: number): void {
    this.#rows = this.#read.all(this.#segment, key, first) as unknown as ChunkRow[]
    this.#at = 0
  }
}

/** Chunks of all of them in order, joined where they fit into one. */
function* merged(sources: readonly ChunkSource[]): Generator<readonly [string, Chunk], void, void> {
  while (sources.some((source) => source.head !== null)) {
    const key = smallest(sources)
    let open: Chunk | null = null
    for (const source of sources) {
      for (let head = source.head; head !== null && head.key === key; head = source.head) {
        const chunk = openChunk(key, head.first, head.last, head.ids)
        source.next()
        const joined: Chunk | null = open === null ? chunk : joinChunks(open, chunk)
        if (joined === null && open !== null) yield [key, open]
        open = joined ?? chunk
      }
    }
    if (open !== null) yield [key, open]
  }
}

function smallest(sources: readonly ChunkSource[]): string {
  let key: string | null = null
  for (const { head } of sources) if (head !== null && (key === null || byBytes(head.key, key) < 0)) key = head.key
  return key ?? ''
}

/** Of the newest ones, those that are due, the oldest of them first: a merge has a bound too. None: nothing to do. */
function runToMerge(segments: readonly Segment[]): readonly Segment[] {
  for (const size of SIZES) {
    const larger = segments.findIndex(({ first, last }) => last - first + 1 >= size)
    const run = larger === -1 ? segments : segments.slice(0, larger)
    if (run.length >= MERGED_AT_ONCE) return run.slice(-MERGED_AT_ONCE)
  }
  return []
}

/** As SQLite compares text. */
function byBytes(a: string, b: string): number {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (x === y) continue
    // In UTF-16 characters beyond the first plane begin with a surrogate, below U+E000; in UTF-8 they come last.
    const [isHighX, isHighY] = [x >= 0xd800 && x <= 0xdfff, y >= 0xd800 && y <= 0xdfff]
    if (isHighX !== isHighY) return isHighX ? 1 : -1
    return x - y
  }
  return a.length - b.length
}
