// A host on disk: what is remembered of it, the blocks of its lines by name, and the few URLs that are not worth a block.
//
//     record   facts | lines, front, tail, blocks
//     addendum         lines, front, tail, blocks
//     facts    flags | pages | least rest | run | [rest, its end on the clock of that run] | page
//     line     band | blocks | of each: number, entries, of which gone; number 0: its length, it stands behind the tail
//     front    length | entries that come before the blocks, of all bands (entry-block.ts)
//     tail     length | entries that come after them
//     blocks   those without a number, in the order of the lines
//
// A host with a URL or two is its front and nothing else. What comes for a host while it is on disk is added to its record, and not read, until
// it comes to hand: an addendum goes on where the record, or the one before it, ends. Numbers are varints.

import { Fault } from '../base/index.ts'
import type { HostKey } from '../url/index.ts'
import type { BodyCode } from './body-code.ts'
import { encodeEntries, EntryBlock } from './entry-block.ts'
import { ByteReader } from './entry-reader.ts'
import { ByteWriter } from './entry-writer.ts'
import type { FrontierEntry } from './frontier.ts'
import type { StoredHost } from './guarded-store.ts'
import { INLINE, InlineBlock } from './inline-block.ts'

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
  /** Its number; INLINE when it is here. */
  readonly block: number
  readonly stored: number
  readonly from: number
  readonly inline?: InlineBlock | undefined
}

export interface RecordLine {
  readonly band: number
  readonly pieces: readonly Piece[]
}

/** URLs of one host, band by band: the front, then the blocks, then the tail. */
export interface StoredLines {
  readonly lines: readonly RecordLine[]
  readonly front: readonly FrontierEntry[]
  readonly tail: readonly FrontierEntry[]
}

export interface HostRecord extends HostFacts, StoredLines {}

/** A host as it is on disk. */
export interface HostOnDisk {
  readonly record: HostRecord
  readonly addenda: readonly StoredLines[]
}

export function encodeRecord(host: HostKey, record: HostRecord, code: BodyCode | null = null): Buffer {
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
  return encodeLines(out, host, record, code)
}

export function encodeAddendum(host: HostKey, added: StoredLines, code: BodyCode | null = null): Buffer {
  return encodeLines(new ByteWriter(16), host, added, code)
}

function encodeLines(out: ByteWriter, host: HostKey, stored: StoredLines, code: BodyCode | null): Buffer {
  out.number(stored.lines.length)
  const inlined: Buffer[] = []
  for (const { band, pieces } of stored.lines) {
    out.number(band)
    out.number(pieces.length)
    for (const { block, stored, from, inline } of pieces) {
      out.number(inline === undefined ? block : 0)
      out.number(stored)
      out.number(from)
      if (inline === undefined) continue
      out.number(inline.length)
      inlined.push(inline.bytes())
    }
  }
  const front = stored.front.length === 0 ? NOTHING : encodeEntries(host, stored.front, code)
  const tail = stored.tail.length === 0 ? NOTHING : encodeEntries(host, stored.tail, code)
  out.number(front.length)
  out.number(tail.length)
  return Buffer.concat([out.written(), front, tail, ...inlined])
}

const NOTHING = Buffer.alloc(0)

/** Throws LEDGER_CORRUPT unless these are the bytes of a record of this host. */
export function decodeRecord(host: HostKey, bytes: Buffer, code: BodyCode | null = null): HostRecord {
  const input = new ByteReader(host, bytes, 0)
  const flags = input.number()
  const pages = input.number()
  const leastRestMs = input.number()
  const run = input.number()
  const rests = (flags & RESTS_BIT) !== 0
  const restMs = rests ? input.number() : 0
  const restUntilMs = rests ? input.number() * TIME_UNIT + input.number() : 0
  const page = input.number()
  return {
    wasOffered: (flags & OFFERED_BIT) !== 0,
    pages,
    leastRestMs,
    restMs,
    run,
    restUntilMs,
    page,
    ...decodeLines(host, input, code),
  }
}

/** Throws LEDGER_CORRUPT unless these are the bytes of an addendum to the record of this host. */
export function decodeAddendum(host: HostKey, bytes: Buffer, code: BodyCode | null = null): StoredLines {
  return decodeLines(host, new ByteReader(host, bytes, 0), code)
}

export function decodeHost(host: HostKey, { record, addenda }: StoredHost, code: BodyCode | null): HostOnDisk {
  return {
    record: decodeRecord(host, record, code),
    addenda: addenda.map((bytes) => decodeAddendum(host, bytes, code)),
  }
}

function decodeLines(host: HostKey, input: ByteReader, code: BodyCode | null): StoredLines {
  const { bytes } = input
  const lines: RecordLine[] = []
  const inlined: { readonly pieces: Piece[]; readonly at: number; readonly length: number }[] = []
  for (let left = input.number(); left > 0; left--) {
    const band = input.number()
    const pieces: Piece[] = []
    for (let blocks = input.number(); blocks > 0; blocks--) {
      const piece = { block: input.number(), stored: input.number(), from: input.number() }
      pieces.push(piece)
      if (piece.block === 0) inlined.push({ pieces, at: pieces.length - 1, length: input.number() })
    }
    lines.push({ band, pieces })
  }
  const frontLength = input.number()
  const tailLength = input.number()
  const inlineLength = inlined.reduce((sum, { length }) => sum + length, 0)
  const inlineAt = input.at + frontLength + tailLength
  if (inlineAt + inlineLength !== bytes.length) {
    throw new Fault(
      'LEDGER_CORRUPT',
      `what is stored of the host ${host} has ${bytes.length} bytes, which is not its length`,
    )
  }
  const front = bytes.subarray(input.at, input.at + frontLength)
  const tail = bytes.subarray(input.at + frontLength, inlineAt)
  let at = inlineAt
  for (const { pieces, at: index, length } of inlined) {
    const inline = new InlineBlock(bytes.subarray(at, at + length), code)
    pieces[index] = { ...(pieces[index] as Piece), block: INLINE, inline }
    at += length
  }
  return {
    lines,
    front: frontLength === 0 ? [] : EntryBlock.open(host, front, code).entries(),
    tail: tailLength === 0 ? [] : EntryBlock.open(host, tail, code).entries(),
  }
}

/** How many URLs wait, by what is on disk. */
export function waitingOf({ record, addenda }: HostOnDisk): number {
  let waiting = 0
  for (const { front, tail, lines } of [record, ...addenda]) {
    waiting += front.length + tail.length
    for (const { pieces } of lines) for (const { stored, from } of pieces) waiting += stored - from
  }
  return waiting
}
