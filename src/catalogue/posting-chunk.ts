// Numbers of pages in rising order, packed: what a list of the catalogue consists of.
//
//   key, first, last │ distances to the next one, seven bits a byte │ checksum, 4 bytes │
//
// The checksum is of all of it, the key too: a changed byte is noticed when the chunk is read. Chunks of one key are joined without
// unpacking them.

import { crc32 } from 'node:zlib'
import { damagedUnless } from './damaged.ts'

/** A chunk stands inside a page of the database (of 4 KiB a quarter): longer ones would spill over. */
export const CHUNK_BYTES_MAX = 880
const SUM_BYTES = 4

export interface Chunk {
  readonly first: number
  readonly last: number
  /** Without checksum. */
  readonly distances: Buffer
}

/** Rising ids as chunks. */
export function packIds(ids: readonly number[]): Chunk[] {
  const chunks: Chunk[] = []
  const bytes = Buffer.allocUnsafe(CHUNK_BYTES_MAX)
  let length = 0
  let first = ids[0] ?? 0
  let last = first
  for (let i = 1; i < ids.length; i++) {
    const id = ids[i] as number
    if (length + 5 > CHUNK_BYTES_MAX) {
      chunks.push({ first, last, distances: Buffer.from(bytes.subarray(0, length)) })
      length = 0
      first = id
    } else {
      length = writeNumber(bytes, length, id - last)
    }
    last = id
  }
  if (ids.length > 0) chunks.push({ first, last, distances: Buffer.from(bytes.subarray(0, length)) })
  return chunks
}

/** Two neighbours as one; null where they are too long for that. */
export function joinChunks(a: Chunk, b: Chunk): Chunk | null {
  if (a.distances.length + b.distances.length + 5 > CHUNK_BYTES_MAX) return null
  const joined = Buffer.allocUnsafe(a.distances.length + b.distances.length + 5)
  a.distances.copy(joined, 0)
  const at = writeNumber(joined, a.distances.length, b.first - a.last)
  b.distances.copy(joined, at)
  return { first: a.first, last: b.last, distances: joined.subarray(0, at + b.distances.length) }
}

export function sealChunk(key: string, { first, last, distances }: Chunk): Buffer {
  const sealed = Buffer.allocUnsafe(distances.length + SUM_BYTES)
  distances.copy(sealed)
  sealed.writeUInt32LE(sumOf(key, first, last, distances), distances.length)
  return sealed
}

/** Throws Damaged where the checksum is another. */
export function openChunk(key: string, first: number, last: number, sealed: Uint8Array): Chunk {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
  damagedUnless(bytes.length >= SUM_BYTES, `a chunk of ${key} is cut`)
  const distances = bytes.subarray(0, bytes.length - SUM_BYTES)
  const isFit = bytes.readUInt32LE(distances.length) === sumOf(key, first, last, distances)
  damagedUnless(isFit, `a chunk of ${key} has another checksum`)
  return { first, last, distances }
}

export function idsOf({ first, distances }: Chunk): Float64Array {
  // At most one id a byte, and the first.
  const ids = new Float64Array(distances.length + 1)
  let count = 1
  let id = first
  ids[0] = first
  for (let at = 0; at < distances.length;) {
    let byte = distances[at++] as number
    let distance = byte & 0x7f
    for (let factor = 0x80; byte >= 0x80; factor *= 0x80) {
      byte = distances[at++] ?? 0
      distance += (byte & 0x7f) * factor
    }
    id += distance
    ids[count++] = id
  }
  return ids.subarray(0, count)
}

function sumOf(key: string, first: number, last: number, distances: Buffer): number {
  return crc32(distances, crc32(`${key} ${first} ${last}`))
}

/** Returns where it ends. At most five bytes: distances stay below 2³⁵. */
export function writeNumber(buffer: Buffer, at: number, value: number): number {
  let rest = value
  while (rest >= 0x80) {
    buffer[at++] = (rest % 0x80) | 0x80
    rest = Math.floor(rest / 0x80)
  }
  buffer[at++] = rest
  return at
}
