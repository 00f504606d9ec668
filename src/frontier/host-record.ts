// A host on disk: what is remembered of it, the blocks of its lines by name, and the few URLs that are not worth a block.
//
//     record   facts | lines | front | tail
//     facts    flags | pages | least rest | run | [rest, its end on the clock of that run] | page
//     line     band | blocks | of each: number, entries, of which gone
//     front    length | entries that come before the blocks, of all bands (entry-block.ts)
//     tail     length | entries that come after them
//
// A host with a URL or two is its front and nothing else. Numbers are varints.

import { Fault } from '../base/index.ts'
import type { HostKey } from '../url/index.ts'
import { encodeEntries, EntryBlock } from './entry-block.ts'
import { ByteReader } from './entry-reader.ts'
import { ByteWriter } from './entry-writer.ts'
import type { FrontierEntry } from './frontier.ts'

const OFFERED_BIT = 1
const RESTS_BIT = 2
/** Varints have 32 bits; a time in milliseconds has more. */
const TIME_UNIT = 2 ** 24

export interface HostFacts {
  readonly wasOffered: boolean
  readonly pages: number
  readonly leastRestMs: number
  /** The run in which the record was made. */
  readonly run: number
  /** How long it had to rest then, and until when on the clock of that run; 0 when it need not. */
  readonly restMs: number
  readonly restUntilMs: number
  /** The page that names the host, if it waits in line on disk. */
  readonly page: number
}

export interface Piece {
  readonly block: number
  readonly stored: number
  readonly from: number
}

export interface RecordLine {
  readonly band: number
  readonly pieces: readonly Piece[]
}

export interface HostRecord extends HostFacts {
  readonly lines: readonly RecordLine[]
  readonly front: readonly FrontierEntry[]
  readonly tail: readonly FrontierEntry[]
}

export function encodeRecord(host: HostKey, record: HostRecord): Buffer {
  const out = new ByteWriter(32)
  const restMs = Math.ceil(record.restMs)
  out.number((record.wasOffered ? OFFERED_BIT : 0) | (restMs > 0 ? RESTS_BIT : 0))
  out.number(record.pages)
  out.number(Math.ceil(record.leastRestMs))
  out.number(record.run)
  if (restMs > 0) {
    const untilMs = Math.ceil(record.restUntilMs)
    out.number(restMs)
    out.number(Math.floor(untilMs / TIME_UNIT))
    out.number(untilMs % TIME_UNIT)
  }
  out.number(record.page)
  out.number(record.lines.length)
  for (const { band, pieces } of record.lines) {
    out.number(band)
    out.number(pieces.length)
    for (const { block, stored, from } of pieces) {
      out.number(block)
      out.number(stored)
      out.number(from)
    }
  }
  const front = record.front.length === 0 ? NOTHING : encodeEntries(host, record.front)
  const tail = record.tail.length === 0 ? NOTHING : encodeEntries(host, record.tail)
  out.number(front.length)
  out.number(tail.length)
  return Buffer.concat([out.written(), front, tail])
}

const NOTHING = Buffer.alloc(0)

/** Throws LEDGER_CORRUPT unless these are the bytes of a record of this host. */
export function decodeRecord(host: HostKey, bytes: Buffer): HostRecord {
  const input = new ByteReader(host, bytes, 0)
  const flags = input.number()
  const pages = input.number()
  const leastRestMs = input.number()
  const run = input.number()
  const rests = (flags & RESTS_BIT) !== 0
  const restMs = rests ? input.number() : 0
  const restUntilMs = rests ? input.number() * TIME_UNIT + input.number() : 0
  const page = input.number()
  const lines: RecordLine[] = []
  for (let left = input.number(); left > 0; left--) {
    const band = input.number()
    const pieces: Piece[] = []
    for (let blocks = input.number(); blocks > 0; blocks--) {
      pieces.push({ block: input.number(), stored: input.number(), from: input.number() })
    }
    lines.push({ band, pieces })
  }
  const frontLength = input.number()
  const tailLength = input.number()
  if (input.at + frontLength + tailLength !== bytes.length) {
    throw new Fault(
      'LEDGER_CORRUPT',
      `the record of the host ${host} has ${bytes.length} bytes, which is not its length`,
    )
  }
  const front = bytes.subarray(input.at, input.at + frontLength)
  const tail = bytes.subarray(input.at + frontLength)
  return {
    wasOffered: (flags & OFFERED_BIT) !== 0,
    pages,
    leastRestMs,
    restMs,
    run,
    restUntilMs,
    page,
    lines,
    front: frontLength === 0 ? [] : EntryBlock.open(host, front).entries(),
    tail: tailLength === 0 ? [] : EntryBlock.open(host, tail).entries(),
  }
}

/** How many URLs wait, by this record. */
export function waitingOf(record: HostRecord): number {
  let waiting = record.front.length + record.tail.length
  for (const { pieces } of record.lines) for (const { stored, from } of pieces) waiting += stored - from
  return waiting
}
