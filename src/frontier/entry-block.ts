// Waiting URLs of one host as bytes: what the tail of a host's line is on disk.
//
//     block   crc u32 | 2 × count + isPacked | body, or its length and zstd of it, or 0, its length and its code
//     body    length of each group but the last | group | group | …
//     group   16 entries; the last may have fewer
//     entry   head | [head of via | via] | [numbers] | url
//     text    characters shared with the start of a reference | [with its end] | length | the rest, in pieces
//
// The crc is little-endian, other numbers are varints, heads are bytes (entry-format.ts), pieces are bytes too (url-pieces.ts).
//
// The order is the line's, so nothing is sorted. A text is told as its difference to whichever of eight references it
// shares most with. Four last for the whole block: the host's two origins, the first URL and the first via. Four move:
// the latest via and the last three URLs of the group. So an entry is found by reading the first of the block and then its own
// group: a group refers to nothing else.
//
// Differences leave words that a site uses again and again, and numbers whose digits cost a byte each: zstd over the body takes
// another third off. A call of it costs about 40 µs whatever the size, so small bodies, which gain little, go without. A code made of the
// crawl's own URLs (body-code.ts) takes off as much of bodies of any size; where both are tried, the shorter is kept.
//
// Nearly all blocks are written and read by a kernel (entry-kernel.ts); what it does not take goes the plain way (entry-writer.ts,
// entry-reader.ts), to the same bytes.
//
// The crc covers the host and every byte after it: a block that was cut, damaged or taken for another host's is a fault,
// never an entry. The bytes carry no version; whoever stores blocks has one, and it changes with these files.

import { crc32, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { assert } from '../base/index.ts'
import type { HostKey } from '../url/index.ts'
import type { BodyCode } from './body-code.ts'
import { GROUP_ENTRIES } from './entry-format.ts'
import { entryKernel } from './entry-kernel.ts'
import { ByteReader, damagedBlock, EntryReader } from './entry-reader.ts'
import { ByteWriter, EntryWriter } from './entry-writer.ts'
import type { FrontierEntry } from './frontier.ts'

const CRC_BYTES = 4
/** Packing a body of this size costs about 3 µs an entry; below, it soon costs more than all the rest. */
export const PACKED_BYTES_MIN = 1_024
/** Where there is a code, zstd is tried from so many entries on: with fewer it costs half a microsecond each or more, and hardly ever wins. */
export const PACKED_ENTRIES_MIN = 128
/** 256 entries with the longest URLs and vias the options allow are below; what claims to be larger is not unpacked. */
const BODY_BYTES_MAX = 2 ** 27
/** Checksum, count, mark and length. */
const HEAD_BYTES_MAX = CRC_BYTES + 11
/** Stands where a packed body has its length: no packed body is empty. */
const CODED = 0

/** What a block of these entries has in it before it is packed: the plain way, which takes whatever entries there are. */
export function bodyOf(host: HostKey, entries: readonly FrontierEntry[]): Buffer {
  const groups = new EntryWriter(host, entries.length)
  const lengths = new ByteWriter(64)
  for (let from = 0; from < entries.length; from += GROUP_ENTRIES) {
    const startedAt = groups.out.end
    const to = Math.min(from + GROUP_ENTRIES, entries.length)
    groups.startGroup()
    for (let i = from; i < to; i++) groups.write(entries[i] as FrontierEntry)
    if (to < entries.length) lengths.number(groups.out.end - startedAt)
  }
  return lengths.end === 0 ? groups.out.written() : Buffer.concat([lengths.written(), groups.out.written()])
}

/**
 * The entries, in their order, as a block. They are of this host; it is not stored and is given again to read them, and so is
 * the code, if there is one.
 */
export function encodeEntries(host: HostKey, entries: readonly FrontierEntry[], code: BodyCode | null = null): Buffer {
  const kernel = entryKernel()
  const made = kernel.bodyOf(host, entries)
  const body = made ?? bodyOf(host, entries)
  assert(body.length <= BODY_BYTES_MAX, `${entries.length} waiting URLs of ${host} are too long for one block`)
  const isWorthPacking = body.length >= PACKED_BYTES_MIN && (code === null || entries.length >= PACKED_ENTRIES_MIN)
  const packed = isWorthPacking ? zstdCompressSync(body) : body
  const coded = code === null ? null : made === null ? code.coded(body) : kernel.coded(body.length, code)
  const isCoded = coded !== null && coded.length + 1 < packed.length
  const isPacked = isCoded || packed.length < body.length
  const content = isCoded ? coded : packed
  const out = new ByteWriter(HEAD_BYTES_MAX + content.length)
  out.end = CRC_BYTES
  out.number(2 * entries.length + (isPacked ? 1 : 0))
  if (isCoded) out.number(CODED)
  if (isPacked) out.number(body.length)
  out.bytes.set(content, out.end)
  out.end += content.length
  const block = out.written()
  block.writeUInt32LE(checksum(host, block), 0)
  return block
}

/** A block that has passed its checksum. Its bytes must not change while it is in use. */
export class EntryBlock {
  readonly count: number
  readonly #host: HostKey
  readonly #input: ByteReader
  /** Where the body begins, and where each of its groups. */
  readonly #bodyAt: number
  readonly #groups: readonly number[]
  /** The plain way, when it is needed. */
  #reader: EntryReader | null = null

  private constructor(host: HostKey, count: number, input: ByteReader) {
    this.count = count
    this.#host = host
    this.#input = input
    this.#bodyAt = input.at
    const lengths: number[] = []
    for (let i = GROUP_ENTRIES; i < count; i += GROUP_ENTRIES) lengths.push(input.number())
    const groups = [input.at]
    for (const length of lengths) groups.push((groups.at(-1) as number) + length)
    this.#groups = groups
  }

  /** Throws LEDGER_CORRUPT unless these are all the bytes, and no others, that encodeEntries made for this host. */
  static open(host: HostKey, bytes: Uint8Array, code: BodyCode | null = null): EntryBlock {
    const block = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    if (block.length <= CRC_BYTES) throw damagedBlock(host, `it has ${block.length} bytes`)
    if (block.readUInt32LE(0) !== checksum(host, block)) throw damagedBlock(host, 'its checksum is wrong')
    const head = new ByteReader(host, block, CRC_BYTES)
    const counted = head.number()
    const count = Math.floor(counted / 2)
    const input = counted % 2 === 0 ? head : new ByteReader(host, unpack(host, head, code), 0)
    // Whatever the count, it cannot make us ask for more than the bytes allow: an entry has three at least.
    if (3 * count > input.bytes.length)
      throw damagedBlock(host, `${input.bytes.length} bytes cannot hold ${count} entries`)
    return new EntryBlock(host, count, input)
  }

  /** The entries from the i-th on, up to before the j-th, in order. */
  entries(from = 0, to = this.count): FrontierEntry[] {
    const end = Math.min(to, this.count)
    assert(Number.isSafeInteger(from) && from >= 0, `an entry's number is ${from}`)
    if (from >= end) return []
    const { bytes } = this.#input
    return entryKernel().entriesOf(this.#host, bytes, this.#bodyAt, this.count, from, end) ?? this.#read(from, end)
  }

  /** The i-th entry, by reading at most seventeen; undefined when there is none. */
  at(index: number): FrontierEntry | undefined {
    return this.entries(index, index + 1)[0]
  }

  /** The plain way, which reads whatever was written, and says what is wrong. */
  #read(from: number, to: number): FrontierEntry[] {
    const entries: FrontierEntry[] = []
    this.#reader ??= new EntryReader(this.#host, this.#input)
    const reader = this.#reader
    for (let group = Math.floor(from / GROUP_ENTRIES); group * GROUP_ENTRIES < to; group++) {
      if (group === 0 || !reader.hasFirst) reader.startBlock(this.#groups[0] as number)
      if (group > 0) {
        if (!reader.hasFirst) reader.read()
        reader.startGroup(this.#groups[group] as number)
      }
      const end = Math.min((group + 1) * GROUP_ENTRIES, to)
      for (let i = group * GROUP_ENTRIES; i < end; i++) {
        const entry = reader.read()
        if (i >= from) entries.push(entry)
      }
    }
    return entries
  }
}

function unpack(host: HostKey, head: ByteReader, code: BodyCode | null): Buffer {
  const first = head.number()
  const length = first === CODED ? head.number() : first
  if (length > BODY_BYTES_MAX) throw damagedBlock(host, `it claims to have ${length} bytes`)
  if (first === CODED) {
    if (code === null) throw damagedBlock(host, 'the code it was written in is missing')
    const coded = entryKernel().decoded(head.bytes, head.at, length, code) ?? code.read(head.bytes, head.at, length)
    if (coded === null) throw damagedBlock(host, 'it is not as long as it claims')
    return coded
  }
  let body: Buffer
  try {
    body = zstdDecompressSync(head.bytes.subarray(head.at), { maxOutputLength: Math.max(1, length) })
  } catch {
    throw damagedBlock(host, 'it cannot be unpacked')
  }
  if (body.length !== length) throw damagedBlock(host, `it has ${body.length} bytes, not ${length}`)
  return body
}

function checksum(host: HostKey, block: Buffer): number {
  return crc32(block.subarray(CRC_BYTES), crc32(host))
}
