// Where the line of each page begins: the lines themselves stay in pages.jsonl and are read when they are shown.
//
//   chunk n   lines n·256+1 … n·256+256:   place of the first, 8 bytes │ distances to the next, seven bits a byte │ checksum │

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { damagedUnless } from './damaged.ts'
import type { Collection } from './database.ts'
import { writeNumber } from './posting-chunk.ts'

const LINES_PER_CHUNK = 256
const BASE_BYTES = 8
const SUM_BYTES = 4
/** No distance takes more: a line is shorter than 2³⁵ bytes. */
const DISTANCE_BYTES_MAX = 5

/** Adds lines, in the transaction of its caller. */
export class PlacesWriter {
  readonly #get: StatementSync
  readonly #put: StatementSync

  constructor(database: DatabaseSync) {
    this.#get = database.prepare('SELECT bytes FROM places WHERE collection = ? AND chunk = ?')
    this.#put = database.prepare('INSERT OR REPLACE INTO places(collection, chunk, bytes) VALUES (?, ?, ?)')
  }

  /** Places of the lines from number `first` on. */
  add(collection: Collection, first: number, places: readonly number[]): void {
    for (let done = 0; done < places.length;) {
      const number = first + done - 1
      const chunk = Math.floor(number / LINES_PER_CHUNK)
      const skip = number % LINES_PER_CHUNK
      const there = skip === 0 ? [] : readPlaces(this.#get, collection, chunk)
      damagedUnless(there.length === skip, `chunk ${chunk} of places has ${there.length} lines, not ${skip}`)
      const added = places.slice(done, done + LINES_PER_CHUNK - skip)
      this.#put.run(collection, chunk, pack(collection, chunk, [...there, ...added]))
      done += added.length
    }
  }
}

/** For one question: what it has read is of one moment. */
export class PlacesReader {
  readonly #get: StatementSync
  #chunk = -1
  #places: readonly number[] = []
  #collection = 0

  constructor(database: DatabaseSync) {
    this.#get = database.prepare('SELECT bytes FROM places WHERE collection = ? AND chunk = ?')
  }

  placeOf(collection: Collection, id: number): number {
    const chunk = Math.floor((id - 1) / LINES_PER_CHUNK)
    if (chunk !== this.#chunk || collection !== this.#collection) {
      this.#places = readPlaces(this.#get, collection, chunk)
      this.#chunk = chunk
      this.#collection = collection
    }
    const place = this.#places[(id - 1) % LINES_PER_CHUNK]
    damagedUnless(place !== undefined, `no place for line ${id}`)
    return place
  }
}

function pack(collection: number, chunk: number, places: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(BASE_BYTES + DISTANCE_BYTES_MAX * places.length + SUM_BYTES)
  let last = places[0] ?? 0
  bytes.writeDoubleLE(last, 0)
  let at = BASE_BYTES
  for (const place of places.slice(1)) {
    at = writeNumber(bytes, at, place - last)
    last = place
  }
  bytes.writeUInt32LE(sumOf(collection, chunk, bytes.subarray(0, at)), at)
  return bytes.subarray(0, at + SUM_BYTES)
}

function readPlaces(get: StatementSync, collection: number, chunk: number): number[] {
  const row = get.get(collection, chunk) as { bytes: Uint8Array } | undefined
  damagedUnless(row !== undefined, `chunk ${chunk} of places is missing`)
  const bytes = Buffer.from(row.bytes.buffer, row.bytes.byteOffset, row.bytes.byteLength)
  const end = bytes.length - SUM_BYTES
  damagedUnless(end >= BASE_BYTES, `chunk ${chunk} of places is cut`)
  const isFit = bytes.readUInt32LE(end) === sumOf(collection, chunk, bytes.subarray(0, end))
  damagedUnless(isFit, `chunk ${chunk} of places has another checksum`)
  let place = bytes.readDoubleLE(0)
  const places = [place]
  for (let at = BASE_BYTES; at < end;) {
    let distance = 0
    let factor = 1
    let byte: number
    do {
      byte = bytes[at++] as number
      distance += (byte & 0x7f) * factor
      factor *= 0x80
    } while (byte >= 0x80)
    place += distance
    places.push(place)
  }
  return places
}

function sumOf(collection: number, chunk: number, bytes: Buffer): number {
  return crc32(bytes, crc32(`${collection} ${chunk}`))
}
