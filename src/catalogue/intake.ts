// Lines on their way into the catalogue: gathered in memory, then written in one transaction with the place up to which they were read,
// so that a crash loses work and nothing else.
//
//   line ─▶ its host, its two axes, its words ─▶ lists by key, cells, hosts, tallies ─▶ write(): segment, counts, position
//
// Memory: LINES_HELD_MAX lines or HELD_BYTES_MAX of what they consist of, whatever that is, and names of HOSTS_HELD_MAX hosts.

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { FailureRecord, PageRecord } from '../store/index.ts'
import { type CanonicalUrl, hostKeyOf } from '../url/index.ts'
import { Axis, AXIS_NAMES_MAX, axisName, UNKNOWN_TYPE } from './axis.ts'
import { damagedUnless } from './damaged.ts'
import { type Collection, FAILURES, PAGES, rowSum } from './database.ts'
import { type HostRow, hostSum } from './host-rows.ts'
import { type FileState, type MetaState, writeMeta } from './meta.ts'
import { PlacesWriter } from './places.ts'
import { SegmentWriter, type Steps } from './segments.ts'
import { Tallies } from './tallies.ts'
import { listsOfBeginnings } from './beginnings.ts'
import { wordsOfPage } from './words.ts'

export const LINES_HELD_MAX = 150_000
/** Reckoned by what each thing takes, as measured, its lists on their way to the disk included. Titles may be words nobody else uses. */
const HELD_BYTES_MAX = 48 * 2 ** 20
const HOST_BYTES = 1_000
const CELL_BYTES = 250
const WORD_BYTES = 400
/** A number in a list, and in those of its beginnings. */
const LISTED_BYTES = 40
const HOSTS_HELD_MAX = 100_000
/** Rows that are counted in one step. */
const STEP_ROWS = 256
/** Beginnings that are put together in one: the short ones have nearly all lines. */
const STEP_LISTS = 128

/** Keys of lists. Cells name their collection: the numbers of pages and of failures have nothing to do with each other. */
export const keyOfCell = (collection: Collection, host: number, a: number, b: number): string =>
  `${collection === PAGES ? 'p' : 'f'}${host}.${a}.${b}`
export const WORD = 'w'
export const BEGINNING = 'x'
/** In place of a host: all of them. */
export const ALL_HOSTS = 0

/** What is held of a cell. */
interface HeldCell {
  readonly a: number
  readonly b: number
  readonly ids: number[]
}

type HeldCells = Record<Collection, Map<number, HeldCell>>

/** What is held of a host. */
class HeldHost {
  readonly id: number
  readonly name: string
  readonly isNew: boolean
  readonly cells: HeldCells = { [PAGES]: new Map(), [FAILURES]: new Map() }
  pages = 0
  errors = 0
  bytes = 0
  ms = 0

  constructor(id: number, name: string, isNew: boolean) {
    this.id = id
    this.name = name
    this.isNew = isNew
  }
}

type OpenState = { -readonly [field in keyof FileState]: FileState[field] }

/** All that is held, thrown away when it is written. Found with one look-up for a host and one for each word. */
class Held {
  readonly places: Record<Collection, number[]> = { [PAGES]: [], [FAILURES]: [] }
  readonly cells: HeldCells = { [PAGES]: new Map(), [FAILURES]: new Map() }
  readonly hosts = new Map<string, HeldHost>()
  readonly words = new Map<string, number[]>()
  /** What all of it takes, about. */
  bytes = 0
}

export class Intake {
  readonly #database: DatabaseSync
  readonly #segments: SegmentWriter
  readonly #places: PlacesWriter
  readonly #findHost: StatementSync
  readonly #getCell: StatementSync
  readonly #putCell: StatementSync
  readonly #axes: Readonly<Record<Collection, readonly [Axis, Axis]>>
  readonly #tallies: Tallies
  #held = new Held()
  /** Numbers of hosts that were met: a name that is not here is looked up. */
  readonly #hostIds = new Map<string, number>()
  #nextHost: number
  readonly #linesHeldMax: number
  readonly #of: string
  readonly #files: Readonly<Record<Collection, OpenState>>
  #writes: number
  /** As it was committed last: what is held is not in it. */
  #committed: MetaState

  constructor(
    database: DatabaseSync,
    { of, pages, failures, hosts, writes }: MetaState,
    linesHeldMax: number = LINES_HELD_MAX,
  ) {
    this.#database = database
    this.#linesHeldMax = linesHeldMax
    this.#of = of
    this.#files = { [PAGES]: { ...pages }, [FAILURES]: { ...failures } }
    this.#writes = writes
    this.#committed = { of, pages, failures, hosts, writes }
    this.#segments = new SegmentWriter(database)
    this.#places = new PlacesWriter(database)
    this.#findHost = database.prepare('SELECT id FROM hosts WHERE name = ?')
    this.#getCell = database.prepare(
      'SELECT count, sum FROM cells WHERE collection = ? AND host = ? AND a = ? AND b = ?',
    )
    this.#putCell = database.prepare(
      'INSERT OR REPLACE INTO cells(collection, host, a, b, count, sum) VALUES (?, ?, ?, ?, ?, ?)',
    )
    this.#axes = {
      [PAGES]: [Axis.load(database, PAGES, 0), Axis.load(database, PAGES, 1)],
      [FAILURES]: [Axis.load(database, FAILURES, 0), Axis.load(database, FAILURES, 1)],
    }
    this.#tallies = Tallies.load(database)
    this.#nextHost = hosts + 1
  }

  /** How far files are read, what is held included. */
  get state(): MetaState {
    const { [PAGES]: pages, [FAILURES]: failures } = this.#files
    return { of: this.#of, pages, failures, hosts: this.#nextHost - 1, writes: this.#writes }
  }

  get heldLines(): number {
    return this.#held.places[PAGES].length + this.#held.places[FAILURES].length
  }

  get isFull(): boolean {
    return this.heldLines >= this.#linesHeldMax || this.#held.bytes >= HELD_BYTES_MAX
  }

  addPage(page: PageRecord, place: number): void {
    const host = this.#hostOf(hostKeyOf(page.url as CanonicalUrl))
    const id = this.#add(PAGES, host, axisName(page.status), axisName(page.type ?? UNKNOWN_TYPE), place)
    host.pages++
    host.bytes += Math.max(0, Math.round(page.bytes))
    host.ms += Math.max(0, Math.round(page.firstByteMs))
    if (page.status >= 400) host.errors++
    this.#tallies.addPage(page, host.name)
    const held = this.#held
    for (const word of wordsOfPage(page)) {
      const list = held.words.get(word)
      if (list === undefined) {
        held.words.set(ownCopy(word), [id])
        held.bytes += WORD_BYTES
      } else list.push(id)
      held.bytes += LISTED_BYTES
    }
  }

  addFailure(failure: FailureRecord, place: number): void {
    const host = this.#hostOf(hostKeyOf(failure.url as CanonicalUrl))
    this.#add(FAILURES, host, axisName(failure.kind), axisName(failure.reason), place)
    if (failure.kind === 'failed') host.errors++
  }

  /** What was read up to here, whether it was taken in or left out. */
  reached(collection: Collection, { position, tail }: Pick<FileState, 'position' | 'tail'>): void {
    this.#files[collection].position = position
    this.#files[collection].tail = tail
  }

  /** Writes all that is held, in one transaction. A fault leaves what was there before; the intake is then of no use any more. */
  *write(): Steps {
    const database = this.#database
    database.exec('BEGIN IMMEDIATE')
    try {
      this.#refuseOthers()
      for (const collection of [PAGES, FAILURES] as const) yield* this.#writeCollection(collection)
      yield* this.#writeHosts()
      for (const axis of [...this.#axes[PAGES], ...this.#axes[FAILURES]]) axis.write(database)
      this.#tallies.write(database)
      this.#writes++
      writeMeta(database, this.state)
      database.exec('COMMIT')
    } finally {
      if (database.isTransaction) database.exec('ROLLBACK')
    }
    const { pages, failures, ...others } = this.state
    this.#committed = { ...others, pages: { ...pages }, failures: { ...failures } }
    this.#held = new Held()
    if (this.#hostIds.size > HOSTS_HELD_MAX) this.#hostIds.clear()
  }

  get isMergeDue(): boolean {
    return this.#segments.isMergeDue(PAGES) || this.#segments.isMergeDue(FAILURES)
  }

  /** Merges segments that have become many, in transactions of their own, each a step; what is held stays held. */
  *merge(): Steps {
    const inTransaction = (work: () => void): void => {
      this.#database.exec('BEGIN IMMEDIATE')
      try {
        this.#refuseOthers()
        work()
        this.#writes++
        this.#committed = { ...this.#committed, writes: this.#writes }
        writeMeta(this.#database, this.#committed)
        this.#database.exec('COMMIT')
      } finally {
        if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      }
    }
    for (const collection of [PAGES, FAILURES] as const) yield* this.#segments.merge(collection, inTransaction)
  }

  /** Another process may have written into the same file: then what we hold is there already. */
  #refuseOthers(): void {
    const found = this.#database.prepare("SELECT value FROM meta WHERE name = 'writes'").get() as
      | { value: string }
      | undefined
    if (Number(found?.value ?? 0) !== this.#writes) throw new Overtaken()
  }

  #add(collection: Collection, host: HeldHost, a: string, b: string, place: number): number {
    const held = this.#held
    const id = ++this.#files[collection].count
    held.places[collection].push(place)
    const [axisA, axisB] = this.#axes[collection]
    const [numberA, numberB] = [axisA.numberOf(a), axisB.numberOf(b)]
    const cell = numberA * (AXIS_NAMES_MAX + 1) + numberB
    for (const cells of [host.cells[collection], held.cells[collection]]) {
      const known = cells.get(cell)
      if (known === undefined) {
        cells.set(cell, { a: numberA, b: numberB, ids: [id] })
        held.bytes += CELL_BYTES
      } else known.ids.push(id)
    }
    held.bytes += LISTED_BYTES
    return id
  }

  #hostOf(name: string): HeldHost {
    const held = this.#held.hosts.get(name)
    if (held !== undefined) return held
    const stored = this.#hostIds.get(name) ?? (this.#findHost.get(name) as { id: number } | undefined)?.id
    const own = ownCopy(name)
    const host = new HeldHost(stored ?? this.#nextHost++, own, stored === undefined)
    if (host.isNew) this.#tallies.addHost(own)
    this.#hostIds.set(own, host.id)
    this.#held.hosts.set(own, host)
    this.#held.bytes += HOST_BYTES
    return host
  }

  *#writeCollection(collection: Collection): Steps {
    const places = this.#held.places[collection]
    if (places.length === 0) return
    const { count } = this.#files[collection]
    const first = count - places.length + 1
    this.#places.add(collection, first, places)
    yield
    const lists = yield* this.#listsOf(collection)
    yield
    yield* this.#segments.write(collection, first, count, lists)
    this.#writeCells(collection, ALL_HOSTS, this.#held.cells)
    let rows = 0
    for (const { id, cells } of this.#held.hosts.values()) {
      this.#writeCells(collection, id, cells)
      if (++rows % STEP_ROWS === 0) yield
    }
  }

  *#listsOf(collection: Collection): Generator<void, Map<string, readonly number[]>, void> {
    const lists = new Map<string, readonly number[]>()
    const { cells, hosts, words, places } = this.#held
    for (const { a, b, ids } of cells[collection].values()) lists.set(keyOfCell(collection, ALL_HOSTS, a, b), ids)
    for (const host of hosts.values()) {
      for (const { a, b, ids } of host.cells[collection].values()) lists.set(keyOfCell(collection, host.id, a, b), ids)
    }
    if (collection === FAILURES) return lists
    for (const [word, ids] of words) lists.set(WORD + word, ids)
    yield
    const first = this.#files[collection].count - places[collection].length + 1
    for (const [beginning, ids] of listsOfBeginnings(words, first, places[collection].length)) {
      lists.set(BEGINNING + beginning, ids)
      if (lists.size % STEP_LISTS === 0) yield
    }
    return lists
  }

  #writeCells(collection: Collection, host: number, cells: HeldCells): void {
    for (const { a, b, ids } of cells[collection].values()) {
      const old = this.#getCell.get(collection, host, a, b) as { count: number; sum: number } | undefined
      const isFit = old === undefined || old.sum === rowSum(collection, host, a, b, old.count)
      damagedUnless(isFit, `cell ${host} ${a} ${b} has another checksum`)
      const sum = (old?.count ?? 0) + ids.length
      this.#putCell.run(collection, host, a, b, sum, rowSum(collection, host, a, b, sum))
    }
  }

  *#writeHosts(): Steps {
    const get = this.#database.prepare('SELECT id, name, pages, errors, bytes, ms, mean, sum FROM hosts WHERE id = ?')
    const insert = this.#database.prepare(
      'INSERT INTO hosts(id, name, pages, errors, bytes, ms, mean, sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    )
    // An order that stays is not written: half of the cost is in the indexes.
    const update = [false, true].map((isErrors) =>
      [false, true].map((isMean) =>
        this.#database.prepare(
          `UPDATE hosts SET pages = ?1, bytes = ?3, ms = ?4, sum = ?6 ${isErrors ? ', errors = ?2' : ''} ${isMean ? ', mean = ?5' : ''} WHERE id = ?7`,
        ),
      ),
    )
    let rows = 0
    for (const { id, name, isNew, ...change } of this.#held.hosts.values()) {
      const old = isNew ? undefined : (get.get(id) as HostRow | undefined)
      const isFit = old === undefined || old.sum === hostSum(old)
      damagedUnless(isFit && (isNew || old !== undefined), `host ${id} has another checksum`)
      const pages = (old?.pages ?? 0) + change.pages
      const errors = (old?.errors ?? 0) + change.errors
      const bytes = (old?.bytes ?? 0) + change.bytes
      const ms = (old?.ms ?? 0) + change.ms
      const mean = pages === 0 ? 0 : roughly(ms / pages)
      const sum = hostSum({ id, name, pages, errors, bytes, ms, mean })
      if (old === undefined) insert.run(id, name, pages, errors, bytes, ms, mean, sum)
      else
        update[Number(errors !== old.errors)]?.[Number(mean !== old.mean)]?.run(pages, errors, bytes, ms, mean, sum, id)
      if (++rows % STEP_ROWS === 0) yield
    }
  }
}

/** Of its own: a piece of a text keeps all of it in memory, and a title may be long. What is copied has no lone surrogates. */
function ownCopy(text: string): string {
  return Buffer.from(text).toString()
}

/** In steps of a sixteenth: by what hosts are put in order need not change with every page. */
function roughly(ms: number): number {
  const step = 2 ** Math.max(0, Math.floor(Math.log2(ms)) - 4)
  return Math.round(ms / step) * step
}

/** Somebody else keeps this catalogue too, and was quicker. */
export class Overtaken extends Error {}
