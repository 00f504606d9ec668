// Which files of a LevelDB store belong to it at this moment, read from its manifest: what a copy must have, what of it never
// changes again, and what must be sound before LevelDB may see it.
//
//   CURRENT          names the manifest
//   MANIFEST-000012  a log of edits: table added, table deleted, the oldest log still needed
//   000031.ldb       a table: immutable once an edit has added it; deleted some time after an edit has dropped it
//   000034.log       the newest log: appended to by writes only
//
// LevelDB merges tables by itself, also while nobody writes. So tables are taken between two readings of the manifest that
// agree: then no table was added or dropped meanwhile, and those that it names are all there, and whole.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault } from '../base/index.ts'
import { logRecords } from './level-log.ts'
import { KEY_TRAILER_BYTES } from './level-table.ts'
import { VarintReader } from './level-varint.ts'

export interface LevelFiles {
  /** Name of the manifest, and how long it was when it was read. */
  readonly manifest: string
  readonly manifestBytes: number
  /** The tables that hold what the store holds, by their numbers. */
  readonly tables: ReadonlyMap<number, LevelTable>
  /** Logs from this number on are needed. */
  readonly firstLog: number
}

export interface LevelTable {
  readonly bytes: number
  /** Its first and its last key. */
  readonly smallest: Buffer
  readonly largest: Buffer
}

const MANIFEST_NAME = /^MANIFEST-\d+$/

/** Throws LEDGER_CORRUPT for what LevelDB would not take either, and what Node says of files that cannot be read. */
export async function readLevelFiles(directory: string): Promise<LevelFiles> {
  const manifest = (await readFile(join(directory, 'CURRENT'), 'utf8')).replace(/\n$/, '')
  if (!MANIFEST_NAME.test(manifest)) throw new Fault('LEDGER_CORRUPT', `CURRENT of ${directory} names no manifest`)
  const bytes = await readFile(join(directory, manifest))
  const damaged = (what: string): never => {
    throw new Fault('LEDGER_CORRUPT', `the manifest of ${directory} cannot be read: ${what}`)
  }
  const tables = new Map<number, LevelTable>()
  let firstLog = 0
  for (const edit of logRecords(bytes, damaged)) {
    const input = new VarintReader(edit)
    const key = (): Buffer => {
      const text = input.bytes(input.number())
      return text === null || text.length < KEY_TRAILER_BYTES
        ? damaged('an edit has no key')
        : text.subarray(0, text.length - KEY_TRAILER_BYTES)
    }
    const number = (): number => {
      const value = input.number()
      return Number.isNaN(value) ? damaged('an edit is cut') : value
    }
    while (!input.isAtEnd) {
      const tag = number()
      switch (tag) {
        case 1:
          if (input.bytes(number()) === null) damaged('an edit is cut')
          break
        case 2:
          firstLog = number()
          break
        case 3:
        case 4:
        case 9:
          number()
          break
        case 5:
          number()
          key()
          break
        case 6:
          number()
          tables.delete(number())
          break
        case 7: {
          number()
          tables.set(number(), { bytes: number(), smallest: key(), largest: key() })
          break
        }
        default:
          damaged(`it has an edit of kind ${tag}`)
      }
    }
  }
  return { manifest, manifestBytes: bytes.length, tables, firstLog }
}
