// The pages kept in one stretch of the crawl, with all that is known of them, in memory of a fixed size.
//
//   places   | · | 53 | 180 | · | …    where a record begins, + 1; 0 = free. In the order of the digests
//   arena    | digest 32 | date 8 | position 8 | URL bytes 4 | payload 1 | URL | payload digest | …
//
// A digest's upper bits say where its place is sought first, and records that push each other aside stand in the order
// of their digests. So the places from first to last are the digests in ascending order, without sorting: SHA-256 has
// spread them evenly. A page costs 53 bytes, the text of its URL, and some 8 for its place.
//
// Beside the pages that were kept stand *guests*: originals that were read back, so that a content which many pages have
// is not read for each of them. They have no position, are no part of the size, and are never shown.
//
// hot: nothing is allocated after the constructor, and nothing grows, but for a URL longer than the whole arena.
// Memory that was never touched is not resident.

import { assert } from '../base/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import type { Original } from './content-seen.ts'
import { bitsAt, DIGEST_BYTES, isTextOf, textOf } from './digest.ts'

const DATE_AT = DIGEST_BYTES
const POSITION_AT = DATE_AT + 8
const URL_BYTES_AT = POSITION_AT + 8
const PAYLOAD_AT = URL_BYTES_AT + 4
const HEAD_BYTES = PAYLOAD_AT + 1
/** In place of the length of a payload digest's text. */
const PAYLOAD_NONE = 255
const PAYLOAD_SAME = 254

const LOAD_MAX = 0.75
/** Places are numbers of 32 bits. */
const MEMORY_BYTES_MAX = 2 ** 31
const NEARLY = 7 / 8
/** In place of a guest's position. */
const GUEST = -1
/** Guests take no more than this of the places and of the arena: the fewer pages a generation takes, the more runs. */
const GUEST_SHARE = 1 / 4
/** What memory is planned by; a page whose URL has 70 characters takes it. */
const PAGE_BYTES_TYPICAL = 128
/** Pages shown between two moments at which control is given away: a millisecond or two. */
const STEP_PAGES = 2 ** 12

export class Generation {
  #arena: Buffer
  #used = 0
  readonly #places: Uint32Array
  readonly #shift: number
  readonly #sizeMax: number
  #size = 0
  #guests = 0
  #guestBytes = 0

  constructor(bytes: number) {
    const memoryBytes = Math.min(bytes, MEMORY_BYTES_MAX)
    const bits = Math.max(4, Math.ceil(Math.log2(memoryBytes / PAGE_BYTES_TYPICAL / LOAD_MAX)))
    const placesForBits = 2 ** bits
    // Beyond the last one: for those who are pushed aside at the end.
    this.#places = new Uint32Array(placesForBits + placesForBits / 8)
    this.#shift = 32 - bits
    this.#sizeMax = placesForBits * LOAD_MAX
    this.#arena = Buffer.alloc(Math.max(PAGE_BYTES_TYPICAL, Math.floor(memoryBytes) - this.#places.byteLength))
  }

  /** Pages that were kept. */
  get size(): number {
    return this.#size
  }

  /** How many pages it takes, by our experience. */
  get sizeTypical(): number {
    return Math.ceil(Math.min(this.#sizeMax, this.#arena.length / PAGE_BYTES_TYPICAL))
  }

  /** Little room is left: who can wait should, until there is a place for the next generation. */
  get isNearlyFull(): boolean {
    return this.#size + this.#guests > NEARLY * this.#sizeMax || this.#used > NEARLY * this.#arena.length
  }

  get memoryBytes(): number {
    return this.#arena.length + this.#places.byteLength
  }

  holds(digest: Uint8Array): boolean {
    return this.#recordOf(digest) !== -1
  }

  original(digest: Uint8Array): Original | null {
    const record = this.#recordOf(digest)
    if (record === -1) return null
    const arena = this.#arena
    const urlAt = record + HEAD_BYTES
    const payloadAt = urlAt + arena.readUInt32LE(record + URL_BYTES_AT)
    const payload = arena[record + PAYLOAD_AT] as number
    return {
      url: arena.toString('utf8', urlAt, payloadAt) as CanonicalUrl,
      fetchedAtMs: arena.readDoubleLE(record + DATE_AT),
      payloadDigest:
        payload === PAYLOAD_NONE
          ? null
          : payload === PAYLOAD_SAME
            ? textOf(digest)
            : arena.toString('latin1', payloadAt, payloadAt + payload),
    }
  }

  /** Takes a page up that is not there yet; false when there is no room. An empty generation has room for any page. */
  add(digest: Uint8Array, original: Original, position: number): boolean {
    if (this.#write(digest, original, position) === 0) return false
    this.#size++
    return true
  }

  /** Takes in an original that was read back, and is not there, if there is room for one more. */
  addGuest(digest: Uint8Array, original: Original): void {
    if (this.#guests >= this.#sizeMax * GUEST_SHARE || this.#guestBytes >= this.#arena.length * GUEST_SHARE) return
    const bytes = this.#write(digest, original, GUEST)
    this.#guestBytes += bytes
    if (bytes > 0) this.#guests++
  }

  clear(): void {
    this.#places.fill(0)
    this.#used = 0
    this.#size = 0
    this.#guests = 0
    this.#guestBytes = 0
  }

  /** Writes a record; how many bytes that took, 0 when there is no room. */
  #write(digest: Uint8Array, original: Original, position: number): number {
    const { payloadDigest } = original
    const urlBytes = Buffer.byteLength(original.url)
    const isSame = payloadDigest !== null && isTextOf(payloadDigest, digest)
    const payloadBytes = payloadDigest === null || isSame ? 0 : payloadDigest.length
    if (payloadBytes >= PAYLOAD_SAME) assert(false, `a payload digest of ${payloadBytes} characters`)
    const bytes = HEAD_BYTES + urlBytes + payloadBytes
    if (this.#size + this.#guests >= this.#sizeMax) return 0
    if (this.#used + bytes > this.#arena.length) {
      if (this.#used > 0 || position === GUEST) return 0
      this.#arena = Buffer.alloc(bytes)
    }
    const record = this.#used
    if (!this.#place(digest, record)) return 0
    const arena = this.#arena
    arena.set(digest, record)
    arena.writeDoubleLE(original.fetchedAtMs, record + DATE_AT)
    arena.writeDoubleLE(position, record + POSITION_AT)
    arena.writeUInt32LE(urlBytes, record + URL_BYTES_AT)
    arena[record + PAYLOAD_AT] = payloadDigest === null ? PAYLOAD_NONE : isSame ? PAYLOAD_SAME : payloadBytes
    arena.write(original.url, record + HEAD_BYTES, 'utf8')
    if (payloadBytes > 0) arena.write(payloadDigest as string, record + HEAD_BYTES + urlBytes, 'latin1')
    this.#used += bytes
    return bytes
  }

  /** Shows the pages that were kept in ascending order, and yields how many it has shown since it gave control away last. */
  *ascending(visitor: (high: number, low: number, position: number) => void): Generator<number> {
    let shown = 0
    for (let place = 0; place < this.#places.length; place++) {
      const record = (this.#places[place] as number) - 1
      if (record === -1) continue
      const arena = this.#arena
      const position = arena.readDoubleLE(record + POSITION_AT)
      if (position === GUEST) continue
      visitor(bitsAt(arena, record), bitsAt(arena, record + 4), position)
      if (++shown < STEP_PAGES) continue
      yield shown
      shown = 0
    }
    yield shown
  }

  /** Where the record of a digest begins, or -1. */
  #recordOf(digest: Uint8Array): number {
    // Nothing to look for, and no cold memory to look at.
    if (this.#used === 0) return -1
    for (let place = bitsAt(digest, 0) >>> this.#shift; place < this.#places.length; place++) {
      const record = (this.#places[place] as number) - 1
      if (record === -1) return -1
      const order = this.#compare(record, digest)
      if (order === 0) return record
      if (order > 0) return -1
    }
    return -1
  }

  /** Puts a record among those around it; false when they would be pushed out at the end. */
  #place(digest: Uint8Array, record: number): boolean {
    const places = this.#places
    let place = bitsAt(digest, 0) >>> this.#shift
    while (place < places.length) {
      const other = (places[place] as number) - 1
      if (other === -1 || this.#compare(other, digest) > 0) break
      place++
    }
    if (places[place] !== 0) {
      const free = places.indexOf(0, place)
      if (free === -1) return false
      places.copyWithin(place + 1, place, free)
    }
    places[place] = record + 1
    return true
  }

  /** How a record's digest stands to another: below 0 when it comes first. */
  #compare(record: number, digest: Uint8Array): number {
    for (let i = 0; i < DIGEST_BYTES; i++) {
      const order = (this.#arena[record + i] as number) - (digest[i] as number)
      if (order !== 0) return order
    }
    return 0
  }
}
