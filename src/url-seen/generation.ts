// What was met in one stretch of the crawl: fingerprints, meetings since, and whether they were new to the whole set.
//
//   keys      | low high | low high | …     8 bytes a place; in this order two halves read as one number of 64 bits
//   meetings  |    3     |    0     | …     2 bytes a place
//   kinds     |   NEW    |   FREE   | …     1 byte a place
//
// hot: nothing is allocated after the constructor, and nothing grows. Untouched places cost no resident memory.
// As FingerprintTable, but of fixed size, cleared at once, and able to give its keys in order, a range at a time.

import { mixFingerprint } from './fingerprint-table.ts'

const LOAD_MAX = 0.75
const PLACE_BYTES = 11
const MEETINGS_MAX = 0xffff
const FREE = 0
const NEW = 1
const KNOWN = 2
/** Fingerprints sorted in one go. Fewer make shorter pauses, but each range costs a look at every place. */
const RANGE_URLS = 2 ** 17

export class Generation {
  readonly #keys: Uint32Array
  readonly #meetings: Uint16Array
  readonly #kinds: Uint8Array
  readonly #mask: number
  readonly sizeMax: number
  #size = 0

  constructor(memoryBytes: number) {
    const places = 2 ** Math.max(4, Math.floor(Math.log2(memoryBytes / PLACE_BYTES)))
    this.#keys = new Uint32Array(2 * places)
    this.#meetings = new Uint16Array(places)
    this.#kinds = new Uint8Array(places)
    this.#mask = places - 1
    this.sizeMax = places * LOAD_MAX
  }

  get size(): number {
    return this.#size
  }

  get memoryBytes(): number {
    return this.#kinds.length * PLACE_BYTES
  }

  /** Where the fingerprint stands, or the free place where it would. */
  find(high: number, low: number): number {
    const keys = this.#keys
    const kinds = this.#kinds
    const mask = this.#mask
    let place = mixFingerprint(high, low) & mask
    while (kinds[place] !== FREE && (keys[2 * place] !== low || keys[2 * place + 1] !== high))
      place = (place + 1) & mask
    return place
  }

  holds(high: number, low: number): boolean {
    return this.#kinds[this.find(high, low)] !== FREE
  }

  isFree(place: number): boolean {
    return this.#kinds[place] === FREE
  }

  /** Takes a free place as new to the set, without a meeting yet. */
  take(place: number, high: number, low: number): void {
    this.#keys[2 * place] = low
    this.#keys[2 * place + 1] = high
    this.#meetings[place] = 0
    this.#kinds[place] = NEW
    this.#size++
  }

  /** It turned out that an earlier generation or a run knows it. */
  setKnown(place: number): void {
    this.#kinds[place] = KNOWN
  }

  count(place: number, times: number): void {
    this.#meetings[place] = Math.min((this.#meetings[place] as number) + times, MEETINGS_MAX)
  }

  /** Meetings in this stretch. */
  meetings(high: number, low: number): number {
    const place = this.find(high, low)
    return this.#kinds[place] === FREE ? 0 : (this.#meetings[place] as number)
  }

  /** Shows those that were new to the set, in any order. */
  visitNew(visitor: (high: number, low: number, meetings: number) => void): void {
    for (let place = 0; place <= this.#mask; place++) {
      if (this.#kinds[place] !== NEW) continue
      visitor(this.#keys[2 * place + 1] as number, this.#keys[2 * place] as number, this.#meetings[place] as number)
    }
  }

  clear(): void {
    this.#kinds.fill(FREE)
    this.#size = 0
  }

  /**
   * Shows all in ascending order, and gives control away after each range. A range costs a look at every kind (some
   * milliseconds for millions of places) and the sorting of its keys; there are as many as keep that short.
   */
  *ascending(visitor: (high: number, low: number, meetings: number) => void): Generator<number> {
    const bits = Math.max(0, Math.min(16, Math.ceil(Math.log2(this.#size / RANGE_URLS))))
    const ranges = 2 ** bits
    let scratch = new Uint32Array(4 * Math.min(RANGE_URLS, this.#size))
    for (let range = 0; range < ranges; range++) {
      let count = 0
      for (let place = 0; place <= this.#mask; place++) {
        if (this.#kinds[place] === FREE) continue
        const high = this.#keys[2 * place + 1] as number
        // A shift by 32 would be one by 0.
        if (bits > 0 && high >>> (32 - bits) !== range) continue
        if (2 * count >= scratch.length) scratch = grown(scratch)
        scratch[2 * count] = this.#keys[2 * place] as number
        scratch[2 * count + 1] = high
        count++
      }
      new BigUint64Array(scratch.buffer, 0, count).sort()
      for (let i = 0; i < count; i++) {
        const low = scratch[2 * i] as number
        const high = scratch[2 * i + 1] as number
        visitor(high, low, this.#meetings[this.find(high, low)] as number)
      }
      yield Math.max(count, 1)
    }
  }
}

function grown(scratch: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * scratch.length)
  larger.set(scratch)
  return larger
}
