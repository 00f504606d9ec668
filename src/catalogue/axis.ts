// Names of one axis of a collection, by number: statuses and types of pages, kinds and reasons of failures. The web chooses types, so
// there may be any number of them: beyond AXIS_NAMES_MAX all others are one.

import type { DatabaseSync } from 'node:sqlite'
import { damagedUnless } from './damaged.ts'
import { type Collection, rowSum } from './database.ts'

export const AXIS_NAMES_MAX = 1_000
/** Whatever has no number of its own. */
export const OTHER = 0
/** Of pages that do not say theirs. */
export const UNKNOWN_TYPE = 'unknown'

export class Axis {
  readonly #collection: Collection
  readonly #axis: number
  readonly #ids = new Map<string, number>()
  readonly #names: string[] = []
  #isWritten = 0

  private constructor(collection: Collection, axis: number) {
    this.#collection = collection
    this.#axis = axis
  }

  static load(database: DatabaseSync, collection: Collection, axis: number): Axis {
    const loaded = new Axis(collection, axis)
    const rows = database
      .prepare('SELECT id, name, sum FROM axes WHERE collection = ? AND axis = ? ORDER BY id')
      .all(collection, axis) as { id: number; name: string; sum: number }[]
    for (const { id, name, sum } of rows) {
      damagedUnless(sum === rowSum(collection, axis, id, name), `name ${id} of axis ${axis} has another checksum`)
      damagedUnless(loaded.numberOf(name) === id, `names of axis ${axis} are out of order`)
    }
    loaded.#isWritten = rows.length
    return loaded
  }

  /** Gives it a number if it has none. */
  numberOf(name: string): number {
    const known = this.#ids.get(name)
    if (known !== undefined) return known
    if (this.#names.length >= AXIS_NAMES_MAX) return OTHER
    this.#names.push(name)
    this.#ids.set(name, this.#names.length)
    return this.#names.length
  }

  /** Null where nothing has it; OTHER where that cannot be told. */
  find(name: string): number | null {
    return this.#ids.get(name) ?? (this.#names.length >= AXIS_NAMES_MAX ? OTHER : null)
  }

  nameOf(number: number): string {
    return this.#names[number - 1] ?? 'other'
  }

  /** Writes those that are new, in the transaction of its caller. */
  write(database: DatabaseSync): void {
    const put = database.prepare('INSERT INTO axes(collection, axis, id, name, sum) VALUES (?, ?, ?, ?, ?)')
    for (const name of this.#names.slice(this.#isWritten)) {
      const id = ++this.#isWritten
      put.run(this.#collection, this.#axis, id, name, rowSum(this.#collection, this.#axis, id, name))
    }
  }
}

const PLAIN = /^[\u0001-\u007f]{0,100}$/

/** As a name of an axis: what SQLite would change is changed here. */
export function axisName(value: unknown): string {
  const text = typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
  return PLAIN.test(text) ? text : text.slice(0, 100).toWellFormed().replaceAll('\0', '\ufffd')
}
