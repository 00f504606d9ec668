// Questions about pages and failures, answered from what is committed.
//
//   filters ─▶ which lists (cells of the host, cells of all hosts, words) ─▶ search ─▶ places ─▶ lines of the file, shown
//
// How many there are is known from the cells wherever no words are asked for. Every line that is shown is held against the question:
// one that does not fit means that the catalogue is damaged.

import type { DatabaseSync } from 'node:sqlite'
import { type Clock, Fault } from '../base/index.ts'
import type { FailureRecord, PageRecord } from '../store/index.ts'
import { type CanonicalUrl, hostKeyOf } from '../url/index.ts'
import type {
  BrokenLink,
  BrokenQuery,
  CataloguedFailure,
  CataloguedPage,
  FailuresQuery,
  Listed,
  PagesQuery,
} from './answers.ts'
import { Axis, axisName, OTHER, UNKNOWN_TYPE } from './axis.ts'
import { Damaged, damagedUnless } from './damaged.ts'
import { type Collection, FAILURES, PAGES, rowSum } from './database.ts'
import { ALL_HOSTS, BEGINNING, keyOfCell, WORD } from './intake.ts'
import type { LineFile } from './line-file.ts'
import { AllCursor, BeginningCursor, KeyCursor, type ListCursor, ListReader, UnionCursor, Work } from './list-cursor.ts'
import { PlacesReader } from './places.ts'
import { search } from './search.ts'
import { segmentsOf } from './segments.ts'
import { hasWords, PREFIX_LENGTH_MAX, wordsOf, wordsOfPage } from './words.ts'

export const LIMIT_USUAL = 100
export const LIMIT_MAX = 500
/** A quarter of a microsecond each, about. */
const WORK_UNITS = 250_000
/** Beyond this much time a question is answered with what was found. */
const WORK_MS = 100
/** From here on a status is an error. */
const ERROR_STATUS = 400

export interface CellRow {
  readonly a: number
  readonly b: number
  readonly count: number
}

/** What is wanted of a collection, by the names of its axes. */
interface Filter {
  readonly host: string | undefined
  readonly a: ((name: string) => boolean) | undefined
  readonly b: string | undefined
  readonly words: readonly string[]
}

interface Facts {
  readonly host: string
  readonly a: string
  readonly b: string
  readonly words: () => readonly string[]
}

export interface FinderLimits {
  readonly units: number
  readonly ms: number
}

export class Finder {
  readonly #database: DatabaseSync
  readonly #files: Readonly<Record<Collection, LineFile>>
  readonly #clock: Clock
  readonly #limits: FinderLimits

  constructor(
    database: DatabaseSync,
    files: Readonly<Record<Collection, LineFile>>,
    clock: Clock,
    limits: FinderLimits = { units: WORK_UNITS, ms: WORK_MS },
  ) {
    this.#database = database
    this.#files = files
    this.#clock = clock
    this.#limits = limits
  }

  pages({ after, limit, host, status, type, text }: PagesQuery): Listed<CataloguedPage> {
    const words = text === undefined ? [] : wordsOf(text)
    // Signs only: no page has them among its words.
    if (text !== undefined && words.length === 0 && text.trim() !== '') return { items: [], next: null, total: 0 }
    const a = status === undefined ? undefined : isName(String(status))
    const filter = { host, a, b: type === undefined ? undefined : axisName(type), words }
    return this.#find(PAGES, filter, after, limit, pageItem)
  }

  failures({ after, limit, host, kind, reason }: FailuresQuery): Listed<CataloguedFailure> {
    const a = kind === undefined ? undefined : isName(kind)
    const filter = { host, a, b: reason === undefined ? undefined : axisName(reason), words: [] }
    return this.#find(FAILURES, filter, after, limit, failureItem)
  }

  /** Pages that answer with an error, then URLs that failed; the newest first of each. Who links to them: where they were found. */
  broken({ after, limit = LIMIT_USUAL, host }: BrokenQuery): Listed<BrokenLink> {
    const isFailures = after?.startsWith('f') === true
    if (after !== undefined && !isFailures && !after.startsWith('p')) throw badAfter(after)
    const a = (name: string): boolean => Number(name) >= ERROR_STATUS
    const errors = { host, a, b: undefined, words: [] }
    const failed = { host, a: isName('failed'), b: undefined, words: [] }
    const from = after?.slice(1)
    const pages = isFailures ? null : this.#find(PAGES, errors, from, limit, brokenPage)
    const left = Math.min(limit, LIMIT_MAX) - (pages?.items.length ?? 0)
    const total = this.#total(PAGES, errors) + this.#total(FAILURES, failed)
    if (pages !== null && (pages.next !== null || left === 0)) {
      const next = this.#total(FAILURES, failed) > 0 ? 'f' : null
      return { items: pages.items, next: pages.next === null ? next : `p${pages.next}`, total }
    }
    const failures = this.#find(FAILURES, failed, isFailures && from !== '' ? from : undefined, left, brokenFailure)
    return {
      items: [...(pages?.items ?? []), ...failures.items],
      next: failures.next === null ? null : `f${failures.next}`,
      total,
    }
  }

  /** What is counted of a host, or of all. */
  cellsOf(collection: Collection, host: number): CellRow[] {
    const rows = this.#database
      .prepare('SELECT a, b, count, sum FROM cells WHERE collection = ? AND host = ?')
      .all(collection, host) as unknown as (CellRow & { sum: number })[]
    for (const { a, b, count, sum } of rows) {
      damagedUnless(sum === rowSum(collection, host, a, b, count), `cell ${host} ${a} ${b} has another checksum`)
    }
    return rows
  }

  hostId(host: string): number | null {
    const row = this.#database.prepare('SELECT id FROM hosts WHERE name = ?').get(host) as { id: number } | undefined
    return row?.id ?? null
  }

  #total(collection: Collection, filter: Filter): number {
    const hostId = filter.host === undefined ? ALL_HOSTS : this.hostId(filter.host)
    if (hostId === null) return 0
    return this.#cells(collection, filter, hostId).rows.reduce((sum, { count }) => sum + count, 0)
  }

  /** The cells that are meant; where a name has no number of its own they hold others too. */
  #cells(
    collection: Collection,
    { a, b }: Filter,
    hostId: number,
  ): { rows: CellRow[]; isSure: boolean; isAll: boolean } {
    const all = this.cellsOf(collection, hostId)
    const axisA = Axis.load(this.#database, collection, 0)
    const axisB = b === undefined ? null : Axis.load(this.#database, collection, 1)
    const wantedB = b === undefined ? null : (axisB?.find(b) ?? -1)
    const rows = all.filter(
      (cell) =>
        (a === undefined || cell.a === OTHER || a(axisA.nameOf(cell.a))) && (wantedB === null || cell.b === wantedB),
    )
    const isSure = (a === undefined || rows.every((cell) => cell.a !== OTHER)) && wantedB !== OTHER
    return { rows, isSure, isAll: rows.length === all.length }
  }

  #find<T extends { readonly at: string }>(
    collection: Collection,
    filter: Filter,
    after: string | undefined,
    limit = LIMIT_USUAL,
    itemOf: (record: never, at: string) => T,
  ): Listed<T> {
    const segments = segmentsOf(this.#database, collection)
    const newest = segments[0]?.last ?? 0
    const from = after === undefined ? newest : Math.min(newest, numberIn(after) - 1)
    const hostId = filter.host === undefined ? ALL_HOSTS : this.hostId(filter.host)
    if (hostId === null || newest === 0) return { items: [], next: null, total: 0 }
    const { rows, isSure, isAll } = this.#cells(collection, filter, hostId)
    const hasWordsAsked = filter.words.length > 0
    const counted = rows.reduce((sum, { count }) => sum + count, 0)
    if (counted === 0) return { items: [], next: null, total: 0 }
    const work = new Work(this.#limits.units, this.#clock, this.#limits.ms)
    const reader = new ListReader(this.#database, segments, work)
    const cursors = wordCursors(reader, filter.words)
    if (hostId !== ALL_HOSTS || !isAll) {
      const cells = rows.map(({ a, b }) => new KeyCursor(reader, keyOfCell(collection, hostId, a, b), isSure))
      cursors.unshift(cells.length === 1 ? (cells[0] as ListCursor) : new UnionCursor(cells, work))
    }
    if (cursors.length === 0) cursors.push(new AllCursor())
    const places = new PlacesReader(this.#database)
    const found = search(cursors, from, Math.max(1, Math.min(LIMIT_MAX, limit)), work, (id, isCertain) => {
      const record = this.#recordAt(collection, id, places.placeOf(collection, id))
      if (fits(filter, factsOf(collection, record))) return itemOf(record as never, String(id))
      damagedUnless(!isCertain, `line ${id} is not what its lists say`)
      return null
    })
    const isWhole = after === undefined && found.below === null
    const total = isWhole ? found.items.length : hasWordsAsked || !isSure ? null : counted
    if (isWhole && !hasWordsAsked && isSure) {
      damagedUnless(total === counted, `${counted} lines are counted, ${total} found`)
    }
    return { items: found.items, next: found.below === null ? null : String(found.below), total }
  }

  #recordAt(collection: Collection, id: number, place: number): PageRecord & FailureRecord {
    const line = this.#files[collection].lineAt(place)
    try {
      return JSON.parse(line) as PageRecord & FailureRecord
    } catch {
      throw new Damaged(`line ${id} is not JSON`)
    }
  }
}

/** All must be there; the last may be a beginning. Rare words are asked first by their order here only; search() needs none. */
function wordCursors(reader: ListReader, words: readonly string[]): ListCursor[] {
  return words.map((word, index) => {
    if (index < words.length - 1) return new KeyCursor(reader, WORD + word)
    if (word.length <= PREFIX_LENGTH_MAX) return new KeyCursor(reader, BEGINNING + word)
    return new BeginningCursor(reader, WORD, BEGINNING, word)
  })
}

function factsOf(collection: Collection, record: PageRecord & FailureRecord): Facts {
  damagedUnless(typeof record?.url === 'string' && record.url.includes('://'), 'a line has no URL')
  const host = hostKeyOf(record.url as CanonicalUrl)
  return collection === PAGES
    ? { host, a: axisName(record.status), b: axisName(record.type ?? UNKNOWN_TYPE), words: () => wordsOfPage(record) }
    : { host, a: axisName(record.kind), b: axisName(record.reason), words: () => [] }
}

function fits({ host, a, b, words }: Filter, facts: Facts): boolean {
  return (
    (host === undefined || facts.host === host) &&
    (a === undefined || a(facts.a)) &&
    (b === undefined || facts.b === b) &&
    (words.length === 0 || hasWords(facts.words(), words))
  )
}

function isName(wanted: string): (name: string) => boolean {
  return (name) => name === wanted
}

function numberIn(after: string): number {
  if (!/^\d{1,15}$/.test(after)) throw badAfter(after)
  return Number(after)
}

function badAfter(after: string): Fault {
  return new Fault(
    'CONFIG_INVALID',
    `after: ${JSON.stringify(after.slice(0, 50))} is no place in a list; take it from \`next\``,
  )
}

function pageItem(page: PageRecord, at: string): CataloguedPage {
  const { url, status, type, title = null, bytes, depth, fetchedAt, durationMs, duplicateOf = null } = page
  return { at, url, status, type, title, bytes, depth, fetchedAt, durationMs, duplicateOf }
}

function failureItem(
  { url, kind, reason, detail, depth, via, at: when }: FailureRecord,
  at: string,
): CataloguedFailure {
  return { at, url, kind, reason, detail, depth, via, when }
}

function brokenPage({ url, status, via }: PageRecord, at: string): BrokenLink {
  return { at: `p${at}`, url, outcome: String(status), linkedFrom: foundOn(via) }
}

function brokenFailure({ url, reason, via }: FailureRecord, at: string): BrokenLink {
  return { at: `f${at}`, url, outcome: reason, linkedFrom: foundOn(via) }
}

function foundOn(via: string | null): BrokenLink['linkedFrom'] {
  return via === null ? { count: 0, pages: [] } : { count: 1, pages: [via] }
}
