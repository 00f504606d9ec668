// What was met in one stretch of the crawl: fingerprints, meetings since, and whether they were new to the whole set.
//
//   keys      | low high | low high | …     8 bytes a place; in this order two halves read as one number of 64 bits
//   meetings  |    3     |    0     | …     2 bytes a place
//   kinds     |   NEW    |   FREE   | …     1 byte a place
//
// hot: memory for all places is asked for once, but untouched places cost no resident memory: a crawl of some thousand
// URLs uses the first few only. reserve() spreads them over more, in two small steps and one to the whole, so that it never
// takes long. As FingerprintTable, but of bounded size, cleared at once, and able to give its keys in order, a part at a
// time (`ascending.ts`).

import { mixFingerprint } from './fingerprint-table.ts'

const LOAD_MAX = 0.75
/** Places in use, before all of them are. */
const FIRST_PLACES = [2 ** 14, 2 ** 17]
const PLACE_BYTES = 11
const MEETINGS_MAX = 0xffff
const FREE = 0
const NEW = 1
const KNOWN = 2

export class Generation {
  readonly #keys: Uint32Array
  readonly #meetings: Uint16Array
  readonly #kinds: Uint8Array
  #mask: number
  readonly sizeMax: number
  #size = 0
  /** Of no meaning: what is computed must be kept, or it is not computed. */
  touched = 0

  constructor(memoryBytes: number) {
    const places = 2 ** Math.max(4, Math.floor(Math.log2(memoryBytes / PLACE_BYTES)))
    this.#keys = new Uint32Array(2 * places)
    this.#meetings = new Uint16Array(places)
    this.#kinds = new Uint8Array(places)
    this.#mask = Math.min(places, FIRST_PLACES[0] as number) - 1
    this.sizeMax = places * LOAD_MAX
  }

  get size(): number {
    return this.#size
  }

  /** Makes room for so many more, within `sizeMax`. Places found before are no longer valid. */
  reserve(count: number): void {
    const wanted = this.#size + count
    if (wanted <= (this.#mask + 1) * LOAD_MAX) return
    const all = this.#kinds.length
    const places = FIRST_PLACES.find((some) => some < all && wanted <= some * LOAD_MAX) ?? all
    const used = this.#mask + 1
    const keys = this.#keys.slice(0, 2 * used)
    const meetings = this.#meetings.slice(0, used)
    const kinds = this.#kinds.slice(0, used)
    this.#kinds.fill(FREE, 0, used)
    this.#mask = places - 1
    for (let place = 0; place < used; place++) {
      if (kinds[place] === FREE) continue
      const [low, high] = [keys[2 * place] as number, keys[2 * place + 1] as number]
      const target = this.find(high, low)
      this.#keys[2 * target] = low
      this.#keys[2 * target + 1] = high
      this.#meetings[target] = meetings[place] as number
      this.#kinds[target] = kinds[place] as number
    }
  }

  /** In use. */
  get places(): number {
    return this.#mask + 1
  }

  get memoryBytes(): number {
    return (this.#mask + 1) * PLACE_BYTES
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

  /**
   * Looks at the places of some fingerprints and remembers nothing. Each place is in memory far from the others, and a look waits for
   * it; these looks do not depend on each other, so the processor waits for many at once, and find() finds them in its cache.
   */
  touch(highs: Uint32Array, lows: Uint32Array, from: number, to: number): void {
    const keys = this.#keys
    const kinds = this.#kinds
    const meetings = this.#meetings
    const mask = this.#mask
    let sum = 0
    for (let i = from; i < to; i++) {
      const place = mixFingerprint(highs[i] as number, lows[i] as number) & mask
      sum ^= (keys[2 * place] as number) ^ (kinds[place] as number) ^ (meetings[place] as number)
    }
    this.touched = sum
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
    this.#kinds.fill(FREE, 0, this.#mask + 1)
    this.#size = 0
  }

  /**
   * Copies the keys that stand from one place to another in ascending order, as pairs (low, high), and their meetings,
   * to index `at` on. How many.
   */
  copySorted(from: number, to: number, keys: Uint32Array<ArrayBuffer>, meetings: Uint16Array, at: number): number {
    const last = Math.min(to - 1, this.#mask)
    let end = at
    for (let place = from; place <= last; place++) {
      if (this.#kinds[place] === FREE) continue
      keys[2 * end] = this.#keys[2 * place] as number
      keys[2 * end + 1] = this.#keys[2 * place + 1] as number
      end++
    }
    // Two halves in this order read as one number where numbers are little-endian: everywhere Node runs for us.
    new BigUint64Array(keys.buffer, keys.byteOffset + 8 * at, end - at).sort()
    for (let i = at; i < end; i++) {
      meetings[i] = this.#meetings[this.find(keys[2 * i + 1] as number, keys[2 * i] as number)] as number
    }
    return end - at
  }
}
