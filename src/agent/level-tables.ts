// Which files of a LevelDB store belong to it at this moment, read from its manifest: what a copy must have, and
// what of it never changes again.
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

export interface LevelFiles {
  /** Name of the manifest, and how long it was when it was read. */
  readonly manifest: string
  readonly manifestBytes: number
  /** Numbers of the tables that hold what the store holds. */
  readonly tables: ReadonlySet<number>
  /** Logs from this number on are needed. */
  readonly firstLog: number
}

const BLOCK_BYTES = 32_768
const HEAD_BYTES = 7
const FULL = 1
const LAST = 4

export async function readLevelFiles(directory: string): Promise<LevelFiles> {
  const manifest = (await readFile(join(directory, 'CURRENT'), 'utf8')).trim()
  const bytes = await readFile(join(directory, manifest))
  const tables = new Set<number>()
  let firstLog = 0
  for (const edit of recordsOf(bytes)) {
    const input = new EditReader(directory, edit)
    while (!input.isAtEnd) {
      const tag = input.number()
      switch (tag) {
        case 1:
          input.text()
          break
        case 2:
          firstLog = input.number()
          break
        case 3:
        case 4:
        case 9:
          input.number()
          break
        case 5:
          input.number()
          input.text()
          break
        case 6:
          input.number()
          tables.delete(input.number())
          break
        case 7:
          input.number()
          tables.add(input.number())
          input.number()
          input.text()
          input.text()
          break
        default:
          throw input.damaged(`it has an edit of kind ${tag}`)
      }
    }
  }
  return { manifest, manifestBytes: bytes.length, tables, firstLog }
}

/** Whole records, joined from their pieces; a last one that is half written does not count, as for LevelDB itself. */
function* recordsOf(bytes: Buffer): Generator<Buffer> {
  let pieces: Buffer[] = []
  for (let at = 0; at + HEAD_BYTES <= bytes.length;) {
    const left = BLOCK_BYTES - (at % BLOCK_BYTES)
    if (left < HEAD_BYTES) {
      at += left
      continue
    }
    const length = bytes.readUInt16LE(at + 4)
    const kind = bytes[at + 6] as number
    const end = at + HEAD_BYTES + length
    if (end > bytes.length) return
    pieces.push(bytes.subarray(at + HEAD_BYTES, end))
    if (kind === FULL || kind === LAST) {
      yield Buffer.concat(pieces)
      pieces = []
    }
    at = end
  }
}

class EditReader {
  readonly #directory: string
  readonly #bytes: Buffer
  #at = 0

  constructor(directory: string, bytes: Buffer) {
    this.#directory = directory
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  number(): number {
    let value = 0
    for (let unit = 1; ; unit *= 128) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) throw this.damaged('an edit is cut')
      value += (byte & 127) * unit
      if (byte < 128) return value
    }
  }

  text(): void {
    const length = this.number()
    this.#at += length
    if (this.#at > this.#bytes.length) throw this.damaged('an edit is cut')
  }

  damaged(what: string): Fault {
    return new Fault('LEDGER_CORRUPT', `the manifest of ${this.#directory} cannot be read: ${what}`)
  }
}
