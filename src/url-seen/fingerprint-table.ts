// Fingerprints and how often each was met: open addressing with linear probing over typed arrays.
//
//   keys    | high low | high low | high low | …     8 bytes a place
//   counts  |    3     |    0     |    1     | …     2 bytes a place; 0 means the place is free
//
// hot: no allocation but when it grows. The count marks a place as taken, so every 64-bit
// number is a possible key, zero included.
//
// Grown to double at three quarters full. With eight million keys a check cost the same from half to 0.7
// full and half as much again at 0.85, where runs of taken places get long. So a known URL costs 13
// to 27 bytes. Keys and counts in one array, or in three, made no difference that could be measured.

const PLACES_FIRST = 64
const LOAD_MAX = 0.75
const COUNT_MAX = 0xffff

/** Odd constants with evenly spread bits (from the golden ratio and from MurmurHash3's finaliser). */
const MIX_HIGH = 0x9e3779b1
const MIX_ALL = 0x85ebca6b

/** 32 mixed bits of a fingerprint. Its top 16 bits are a host's and shared by thousands of URLs. */
export function mixFingerprint(high: number, low: number): number {
  const mixed = Math.imul(low ^ Math.imul(high, MIX_HIGH), MIX_ALL)
  return (mixed ^ (mixed >>> 15)) >>> 0
}

export class FingerprintTable {
  #keys = new Uint32Array(2 * PLACES_FIRST)
  #counts = new Uint16Array(PLACES_FIRST)
  #mask = PLACES_FIRST - 1
  #size = 0
  #sizeMax = PLACES_FIRST * LOAD_MAX

  get size(): number {
    return this.#size
  }

  get memoryBytes(): number {
    return this.#keys.byteLength + this.#counts.byteLength
  }

  /** Counts a meeting, `times` at once; true when it is the first. `mixed` comes from mixFingerprint(). */
  meet(high: number, low: number, mixed: number, times: number): boolean {
    const place = this.#find(high, low, mixed)
    const count = this.#counts[place] as number
    this.#counts[place] = Math.min(count + times, COUNT_MAX)
    if (count > 0) return false
    this.#keys[2 * place] = high
    this.#keys[2 * place + 1] = low
    if (++this.#size > this.#sizeMax) this.#grow()
    return true
  }

  /** How often it was met, up to 65,535. */
  count(high: number, low: number, mixed: number): number {
    return this.#counts[this.#find(high, low, mixed)] as number
  }

  visit(visitor: (high: number, low: number, meetings: number) => void): void {
    const keys = this.#keys
    this.#counts.forEach((count, place) => {
      if (count > 0) visitor(keys[2 * place] as number, keys[2 * place + 1] as number, count)
    })
  }

  /** Where the fingerprint stands, or the free place where it would. There is always a free one. */
  #find(high: number, low: number, mixed: number): number {
    const keys = this.#keys
    const counts = this.#counts
    const mask = this.#mask
    let place = mixed & mask
    while (counts[place] !== 0 && (keys[2 * place + 1] !== low || keys[2 * place] !== high)) place = (place + 1) & mask
    return place
  }

  #grow(): void {
    const keys = this.#keys
    const counts = this.#counts
    const places = counts.length * 2
    this.#keys = new Uint32Array(2 * places)
    this.#counts = new Uint16Array(places)
    this.#mask = places - 1
    this.#sizeMax = places * LOAD_MAX
    for (let old = 0; old < counts.length; old++) {
      const count = counts[old] as number
      if (count === 0) continue
      const high = keys[2 * old] as number
      const low = keys[2 * old + 1] as number
      const place = this.#find(high, low, mixFingerprint(high, low))
      this.#keys[2 * place] = high
      this.#keys[2 * place + 1] = low
      this.#counts[place] = count
    }
  }
}
