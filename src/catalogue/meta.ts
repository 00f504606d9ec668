// Of which crawl a catalogue is, and how far it has read.

import type { DatabaseSync } from 'node:sqlite'
import { damagedUnless } from './damaged.ts'
import { rowSum } from './database.ts'

export interface FileState {
  /** Up to which byte it was read, */
  readonly position: number
  /** and a checksum of what stands before it. */
  readonly tail: number
  /** Lines that were taken in: the number of the last. */
  readonly count: number
}

export interface MetaState {
  /** Standing.of */
  readonly of: string
  readonly pages: FileState
  readonly failures: FileState
  readonly hosts: number
  /** Rises with every transaction, whoever makes it. */
  readonly writes: number
}

const NOTHING: FileState = { position: 0, tail: 0, count: 0 }

export function emptyState(of: string): MetaState {
  return { of, pages: NOTHING, failures: NOTHING, hosts: 0, writes: 0 }
}

export function writeMeta(database: DatabaseSync, state: MetaState): void {
  const put = database.prepare('INSERT OR REPLACE INTO meta(name, value, sum) VALUES (?, ?, ?)')
  for (const [name, value] of [
    ['state', JSON.stringify(state)],
    ['writes', String(state.writes)],
  ] as const) {
    put.run(name, value, rowSum(name, value))
  }
}

export function readMeta(database: DatabaseSync): MetaState {
  const row = database.prepare("SELECT value, sum FROM meta WHERE name = 'state'").get() as
    | { value: string; sum: number }
    | undefined
  damagedUnless(row !== undefined && row.sum === rowSum('state', row.value), 'it does not say of which crawl it is')
  return JSON.parse(row.value) as MetaState
}
