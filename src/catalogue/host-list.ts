// Hosts in any order, and what is counted of one.

import type { DatabaseSync } from 'node:sqlite'
import { Fault } from '../base/index.ts'
import type { CataloguedHost, HostFacts, HostOrder, HostsQuery, Listed } from './answers.ts'
import { Axis } from './axis.ts'
import { damagedUnless } from './damaged.ts'
import { type Collection, FAILURES, PAGES } from './database.ts'
import { type Finder, LIMIT_MAX, LIMIT_USUAL } from './finder.ts'
import { type HostRow, hostSum } from './host-rows.ts'

/** Hosts that are looked at for one answer where part of a name is asked for: some hundredths of a second. */
const LOOKED_AT_MAX = 100_000
/** Looked at in one piece. */
const STRETCH = 2_000

const COLUMNS: Readonly<Record<HostOrder, string>> = {
  pages: 'pages',
  errors: 'errors',
  bytes: 'bytes',
  time: 'mean',
  host: 'name',
}

export function listHosts(
  database: DatabaseSync,
  { after, limit = LIMIT_USUAL, text, sort = 'pages' }: HostsQuery,
  lookedAtMax = LOOKED_AT_MAX,
): Listed<CataloguedHost> {
  const column = COLUMNS[sort]
  const wanted = Math.max(1, Math.min(LIMIT_MAX, limit))
  const part = text?.toLowerCase().trim() ?? ''
  const items: CataloguedHost[] = []
  let last = after === undefined ? null : placeIn(after, sort)
  const stretch = Math.min(part === '' ? wanted + 1 : STRETCH, lookedAtMax)
  for (let lookedAt = 0; lookedAt < lookedAtMax;) {
    const rows = read(database, column, last, stretch)
    for (const row of rows) {
      if (items.length === wanted) return { items, next: afterOf(last), total: totalOf(database, part) }
      damagedUnless(row.sum === hostSum(row), `host ${row.id} has another checksum`)
      lookedAt++
      last = { value: sort === 'host' ? row.name : (row[column as 'pages'] ?? 0), name: row.name }
      if (part === '' || row.name.includes(part)) items.push(hostOf(row))
    }
    if (rows.length < stretch) {
      const isWhole = after === undefined
      return { items, next: null, total: isWhole ? items.length : totalOf(database, part) }
    }
  }
  return { items, next: afterOf(last), total: totalOf(database, part) }
}

interface Place {
  readonly value: number | string
  readonly name: string
}

/** Numbers from the largest on, names from A on. Rows are read by the index of their order. */
function read(database: DatabaseSync, column: string, last: Place | null, limit: number): HostRow[] {
  const fields = 'id, name, pages, errors, bytes, ms, mean, sum'
  if (column === 'name') {
    return database
      .prepare(`SELECT ${fields} FROM hosts WHERE name > ? ORDER BY name LIMIT ?`)
      .all(last?.name ?? '', limit) as unknown as HostRow[]
  }
  const order = `ORDER BY ${column} DESC, name DESC LIMIT ?`
  if (last === null) return database.prepare(`SELECT ${fields} FROM hosts ${order}`).all(limit) as unknown as HostRow[]
  return database
    .prepare(`SELECT ${fields} FROM hosts WHERE (${column}, name) < (?, ?) ${order}`)
    .all(last.value, last.name, limit) as unknown as HostRow[]
}

function totalOf(database: DatabaseSync, part: string): number | null {
  if (part !== '') return null
  return (database.prepare('SELECT max(id) AS hosts FROM hosts').get() as { hosts: number | null }).hosts ?? 0
}

function afterOf(place: Place | null): string | null {
  return place === null ? null : `${typeof place.value === 'number' ? place.value : ''}:${place.name}`
}

function placeIn(after: string, sort: HostOrder): Place {
  const found = /^(\d{0,16}):(.{1,300})$/.exec(after)
  if (found === null || (found[1] === '') !== (sort === 'host')) {
    throw new Fault(
      'CONFIG_INVALID',
      `after: ${JSON.stringify(after.slice(0, 50))} is no place in this list; take it from \`next\``,
    )
  }
  return { value: sort === 'host' ? (found[2] as string) : Number(found[1]), name: found[2] as string }
}

/** Null where no line speaks of it. */
export function hostFacts(database: DatabaseSync, finder: Finder, host: string): HostFacts | null {
  const row = database
    .prepare('SELECT id, name, pages, errors, bytes, ms, mean, sum FROM hosts WHERE name = ?')
    .get(host) as HostRow | undefined
  if (row === undefined) return null
  damagedUnless(row.sum === hostSum(row), `host ${row.id} has another checksum`)
  const verdicts = { failed: counts(), skipped: counts() }
  const kinds = Axis.load(database, FAILURES, 0)
  const reasons = Axis.load(database, FAILURES, 1)
  for (const { a, b, count } of finder.cellsOf(FAILURES, row.id)) {
    const of = kinds.nameOf(a) === 'skipped' ? verdicts.skipped : verdicts.failed
    of[reasons.nameOf(b)] = (of[reasons.nameOf(b)] ?? 0) + count
  }
  return {
    ...hostOf(row),
    statuses: countsOf(database, finder, PAGES, row.id, 0),
    types: countsOf(database, finder, PAGES, row.id, 1),
    failures: verdicts.failed,
    skipped: verdicts.skipped,
  }
}

function countsOf(
  database: DatabaseSync,
  finder: Finder,
  collection: Collection,
  host: number,
  axis: 0 | 1,
): Record<string, number> {
  const names = Axis.load(database, collection, axis)
  const found = counts()
  for (const cell of finder.cellsOf(collection, host)) {
    const name = names.nameOf(axis === 0 ? cell.a : cell.b)
    found[name] = (found[name] ?? 0) + cell.count
  }
  return found
}

/** Without prototype: the web chooses the names. */
function counts(): Record<string, number> {
  return Object.create(null) as Record<string, number>
}

function hostOf({ name, pages, errors, bytes, ms }: HostRow): CataloguedHost {
  return { host: name, pages, errors, bytes, meanMs: pages === 0 ? 0 : ms / pages }
}
