// A table of LevelDB, read without LevelDB, which takes what it reads for true: it looks at no checksum, and aborts the process
// over a key that makes no sense.
//
//   data block, data block, …      each with a trailer: its kind (0 plain, 1 Snappy), and a checksum over block and kind
//   filter block
//   metaindex block                "filter.<name>" → where the filter is
//   index block                    a key not below any of a block, not above any of the next → where the block is
//   footer, 48 bytes               where metaindex and index are, padding, a magic number
//
// Always true of a table that is found sound: its blocks follow each other without a gap from the first byte to the footer, so every
// byte of it is under a checksum, or in the footer, where it can only be what it is. What stands inside a data block is not looked at:
// under a right checksum it is what LevelDB wrote, and what LevelDB writes LevelDB can read.
//
// Costs one pass of crc32c.ts over the table, and its index unpacked.

import { maskedCrc32c } from './crc32c.ts'
import { encodeVarint, VarintReader } from './level-varint.ts'
import { unpackSnappy } from './snappy.ts'

export interface DataBlock {
  readonly offset: number
  /** Without the trailer. */
  readonly size: number
  /** From the index: no key of the block is above it. */
  readonly lastKey: Buffer
  readonly isSound: boolean
}

export interface TableReading {
  /** What is wrong, in words; null when nothing is. */
  readonly damage: string | null
  /** Null when nothing tells where they are. */
  readonly blocks: readonly DataBlock[] | null
}

interface Handle {
  readonly offset: number
  readonly size: number
}

interface Footer {
  readonly metaindex: Handle
  readonly index: Handle
}

interface BlockEntry {
  readonly key: Buffer
  readonly value: Buffer
}

const TRAILER_BYTES = 5
const FOOTER_BYTES = 48
const HANDLES_BYTES = 40
const MAGIC = Buffer.from([0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb])
const PLAIN = 0
const SNAPPY = 1
/** Behind every key: a sequence number and what was done. */
export const KEY_TRAILER_BYTES = 8

export function readTable(bytes: Buffer): TableReading {
  const footer = readFooter(bytes)
  if (typeof footer === 'string') return { damage: footer, blocks: null }
  const index = readIndex(bytes, footer)
  if (typeof index === 'string') return { damage: index, blocks: null }
  const blocks = index.map((block) => ({ ...block, isSound: hasChecksum(bytes, block) }))
  const broken = blocks.filter(({ isSound }) => !isSound)
  const [first] = broken
  const damage =
    first === undefined
      ? readRest(bytes, footer, index)
      : `${broken.length} of its ${blocks.length} blocks are damaged, the first at byte ${first.offset}`
  return { damage, blocks }
}

/** A table of the sound blocks of another one; null when there is none. */
export function tableOf(bytes: Buffer, blocks: readonly DataBlock[]): Buffer | null {
  const parts: Buffer[] = []
  const entries: BlockEntry[] = []
  let offset = 0
  for (const { size, isSound, lastKey, offset: from } of blocks) {
    if (!isSound) continue
    parts.push(bytes.subarray(from, from + size + TRAILER_BYTES))
    entries.push({ key: lastKey, value: encodeHandle({ offset, size }) })
    offset += size + TRAILER_BYTES
  }
  if (entries.length === 0) return null
  // A filter tells which keys a table has not. Without one it is read to be sure.
  const metaindex = encodeBlock([])
  const index = encodeBlock(entries)
  const footer = Buffer.alloc(FOOTER_BYTES)
  const indexAt = offset + metaindex.length
  Buffer.concat([
    encodeHandle({ offset, size: metaindex.length - TRAILER_BYTES }),
    encodeHandle({ offset: indexAt, size: index.length - TRAILER_BYTES }),
  ]).copy(footer)
  MAGIC.copy(footer, HANDLES_BYTES)
  return Buffer.concat([...parts, metaindex, index, footer])
}

function readFooter(bytes: Buffer): Footer | string {
  if (bytes.length < FOOTER_BYTES) return `it is ${bytes.length} bytes long, too short for a table`
  const footer = bytes.subarray(bytes.length - FOOTER_BYTES)
  if (!footer.subarray(HANDLES_BYTES).equals(MAGIC)) return 'it does not end as a table does'
  const reader = new VarintReader(footer.subarray(0, HANDLES_BYTES))
  const metaindex = readHandle(reader)
  const index = readHandle(reader)
  if (!reader.hasOnlyZerosLeft) return 'its footer is damaged'
  if (endOf(index) !== bytes.length - FOOTER_BYTES || endOf(metaindex) !== index.offset) return 'its footer is damaged'
  return { metaindex, index }
}

function readIndex(bytes: Buffer, { metaindex, index }: Footer): Omit<DataBlock, 'isSound'>[] | string {
  const entries = hasChecksum(bytes, index) ? readBlock(bytes, index) : null
  if (entries === null) return 'its index is damaged'
  const blocks: Omit<DataBlock, 'isSound'>[] = []
  let end = 0
  let before: Buffer | null = null
  for (const { key, value } of entries) {
    const block = readHandle(new VarintReader(value))
    if (block.offset !== end || !(endOf(block) <= metaindex.offset)) return 'its index makes no sense'
    if (key.length < KEY_TRAILER_BYTES || (before !== null && compareKeys(before, key) >= 0))
      return 'the keys of its index are not in order'
    blocks.push({ ...block, lastKey: key })
    end = endOf(block)
    before = key
  }
  return blocks
}

/** Filter and metaindex: what is wrong with them, or null. They fill what is between the data and the index. */
function readRest(bytes: Buffer, footer: Footer, index: readonly Handle[]): string | null {
  const last = index.at(-1)
  let end = last === undefined ? 0 : endOf(last)
  const entries = hasChecksum(bytes, footer.metaindex) ? readBlock(bytes, footer.metaindex) : null
  if (entries === null) return 'its metaindex is damaged'
  for (const { value } of entries) {
    const filter = readHandle(new VarintReader(value))
    if (filter.offset !== end || !(endOf(filter) <= footer.metaindex.offset)) return 'its metaindex makes no sense'
    if (!hasChecksum(bytes, filter)) return 'its filter is damaged'
    end = endOf(filter)
  }
  return end === footer.metaindex.offset ? null : `nobody knows what is at byte ${end}`
}

/** Where there is none its numbers are NaN, with which no comparison holds. */
function readHandle(reader: VarintReader): Handle {
  return { offset: reader.number(), size: reader.number() }
}

function endOf({ offset, size }: Handle): number {
  return offset + size + TRAILER_BYTES
}

/** Of a handle that ends within the table. */
function hasChecksum(bytes: Buffer, { offset, size }: Handle): boolean {
  const kind = offset + size
  return (bytes[kind] as number) <= SNAPPY && bytes.readUInt32LE(kind + 1) === maskedCrc32c(bytes, offset, kind + 1)
}

/** The entries of a block under a right checksum; null when they make no sense all the same. */
function readBlock(bytes: Buffer, { offset, size }: Handle): BlockEntry[] | null {
  const stored = bytes.subarray(offset, offset + size)
  const block = bytes[offset + size] === PLAIN ? stored : unpackSnappy(stored)
  if (block === null || block.length < 4) return null
  const restarts = block.readUInt32LE(block.length - 4)
  const end = block.length - 4 - restarts * 4
  if (restarts === 0 || end < 0) return null
  const entries: BlockEntry[] = []
  let key = Buffer.alloc(0)
  const reader = new VarintReader(block.subarray(0, end))
  while (!reader.isAtEnd) {
    const shared = reader.number()
    const own = reader.number()
    const valueBytes = reader.number()
    if (shared > key.length) return null
    const rest = reader.bytes(own)
    const value = reader.bytes(valueBytes)
    if (rest === null || value === null) return null
    key = Buffer.concat([key.subarray(0, shared), rest])
    entries.push({ key, value })
  }
  return entries
}

/** With its trailer; nothing shared between keys, every key a restart. */
function encodeBlock(entries: readonly BlockEntry[]): Buffer {
  const parts: Buffer[] = []
  const restarts: number[] = []
  let at = 0
  for (const { key, value } of entries) {
    restarts.push(at)
    const part = Buffer.concat([encodeVarint(0), encodeVarint(key.length), encodeVarint(value.length), key, value])
    parts.push(part)
    at += part.length
  }
  // LevelDB takes a block without restarts for a damaged one.
  if (restarts.length === 0) restarts.push(0)
  const tail = Buffer.alloc(4 * restarts.length + 4 + TRAILER_BYTES)
  for (const [i, restart] of restarts.entries()) tail.writeUInt32LE(restart, 4 * i)
  tail.writeUInt32LE(restarts.length, 4 * restarts.length)
  const block = Buffer.concat([...parts, tail])
  block.writeUInt32LE(maskedCrc32c(block, 0, block.length - 4), block.length - 4)
  return block
}

function encodeHandle({ offset, size }: Handle): Buffer {
  return Buffer.concat([encodeVarint(offset), encodeVarint(size)])
}

/** LevelDB's order: by what the user calls the key, and of equal ones the later written first. */
function compareKeys(a: Buffer, b: Buffer): number {
  const [endA, endB] = [a.length - KEY_TRAILER_BYTES, b.length - KEY_TRAILER_BYTES]
  const order = Buffer.compare(a.subarray(0, endA), b.subarray(0, endB))
  if (order !== 0) return order
  const [seqA, seqB] = [a.readBigUInt64LE(endA), b.readBigUInt64LE(endB)]
  return seqA > seqB ? -1 : seqA < seqB ? 1 : 0
}
