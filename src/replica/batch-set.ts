// One batch, or several that belong together, with what the files of the share have grown by: as parts for the log, and back.
//
//   part     frame, frame, …
//   frame    length of meta u32 | length of data u32 | meta, JSON | data
//
//   a batch in frames of at most 256 KiB:   { batch: 42, digest, isEnd }          the bytes of the journal, as they are
//   tails, as many as fit into 256 KiB:     { tails: [[pages, 0, 8192, 511] …] }  packed with zstd where that is shorter

import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { Fault } from '../base/index.ts'
import type { PreparedBatch } from '../ledger/index.ts'
import { readTails, type Slice, type Tail } from './file-tails.ts'
import { PAYLOAD_BYTES_MAX } from './log-entry.ts'

/** Well below what an entry holds, and enough for zstd to find what repeats. */
export const PIECE_BYTES = 256 * 1024
/** Level 3 makes a log 2 % shorter (bench/replica.ts), which is not worth a microsecond a page. */
const ZSTD_LEVEL = 1
const PACKED = { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } }
const PACKED_BYTES_MIN = 256

export interface BatchSet {
  readonly first: number
  readonly last: number
  /** Digests of the batch before the first and of the last one, in hexadecimal. */
  readonly before: string
  readonly digest: string
  readonly batches: () => AsyncIterable<PreparedBatch> | Iterable<PreparedBatch>
  readonly tails: readonly Tail[]
}

interface BatchMeta {
  readonly batch: number
  readonly digest: string
  readonly isEnd: boolean
}

interface TailsMeta {
  readonly tails: readonly (readonly [name: string, edition: number, at: number, bytes: number])[]
  readonly isPacked: boolean
}

/** The payloads of a set's entries, in order. */
export async function* partsOf(set: BatchSet): AsyncGenerator<Buffer> {
  let part: Buffer[] = []
  let bytes = 0
  for await (const frame of framesOf(set)) {
    if (bytes + frame.length > PAYLOAD_BYTES_MAX) {
      yield Buffer.concat(part, bytes)
      part = []
      bytes = 0
    }
    part.push(frame)
    bytes += frame.length
  }
  yield Buffer.concat(part, bytes)
}

async function* framesOf({ batches, tails }: BatchSet): AsyncGenerator<Buffer> {
  for await (const { number, digest, body } of batches()) {
    const meta = { batch: number, digest: digest.toString('hex') }
    for (let at = 0; at < body.length; at += PIECE_BYTES) {
      const isEnd = at + PIECE_BYTES >= body.length
      yield frame({ ...meta, isEnd } satisfies BatchMeta, body.subarray(at, at + PIECE_BYTES))
    }
  }
  for (const { slices, bytes } of readTails(tails, PIECE_BYTES)) {
    const packed = bytes.length < PACKED_BYTES_MIN ? null : zstdCompressSync(bytes, PACKED)
    const isPacked = packed !== null && packed.length < bytes.length
    const meta: TailsMeta = {
      tails: slices.map((one) => [one.name, one.edition, one.at, one.bytes]),
      isPacked,
    }
    yield frame(meta, isPacked ? packed : bytes)
  }
}

function frame(meta: BatchMeta | TailsMeta, data: Buffer): Buffer {
  const text = Buffer.from(JSON.stringify(meta))
  const bytes = Buffer.allocUnsafe(8 + text.length + data.length)
  bytes.writeUInt32LE(text.length, 0)
  bytes.writeUInt32LE(data.length, 4)
  text.copy(bytes, 8)
  data.copy(bytes, 8 + text.length)
  return bytes
}

export type SetPiece =
  | {
      readonly kind: 'batch'
      readonly number: number
      readonly digest: string
      readonly isEnd: boolean
      readonly bytes: Buffer
    }
  | { readonly kind: 'tail'; readonly slice: Slice; readonly bytes: Buffer }

/** What a part holds. */
export function* readPart(payload: Uint8Array): Generator<SetPiece> {
  const part = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength)
  for (let at = 0; at < part.length;) {
    const dataAt = at + 8 + part.readUInt32LE(at)
    const end = dataAt + part.readUInt32LE(at + 4)
    if (end > part.length) throw new Fault('LEDGER_CORRUPT', 'an entry of a share ends in the middle of a frame')
    const meta = JSON.parse(part.toString('utf8', at + 8, dataAt)) as BatchMeta | TailsMeta
    const data = part.subarray(dataAt, end)
    at = end
    if ('batch' in meta) {
      yield { kind: 'batch', number: meta.batch, digest: meta.digest, isEnd: meta.isEnd, bytes: data }
      continue
    }
    const raw = meta.isPacked ? zstdDecompressSync(data) : data
    let from = 0
    for (const [name, edition, start, bytes] of meta.tails) {
      yield { kind: 'tail', slice: { name, edition, at: start, bytes }, bytes: raw.subarray(from, from + bytes) }
      from += bytes
    }
  }
}
