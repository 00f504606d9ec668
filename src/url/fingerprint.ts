// One number for a URL: 64 bits, of which the top 16 are its host's slot.
//
//     high, 32 bits                    low, 32 bits
//    | slot: 16 of hash(host key) | 48 of hash(canonical URL)             |
//
// So one sorted order keeps the URLs of a host together, of an agent's slots together, and hands ranges over.
//
// The hash is HalfSipHash-2-4 with 64 bits of output: a keyed function of the SipHash family whose words are
// 32 bits wide, the widest JavaScript computes without boxing. Its key is drawn per crawl, so nobody who writes
// pages can choose URLs that collide and so hide a page from us: they see neither key nor hash. An unkeyed or
// multiply-and-shift hash is faster and gives that away; SipHash proper needs 64-bit words, in pairs of
// numbers some four times the work.
//
// What 48 bits mean: n URLs of one slot collide in n² / 2⁴⁹ pairs. 0.18 expected at 10⁷ URLs of one slot, 18 at
// 10⁸. Slots of 65,536 hold 1,500 URLs each in a crawl of 10⁸: 4·10⁻⁹ per slot, 0.0003 in all. Only a single
// host of 10⁸ pages and more comes near; a collision there means one page taken for known.
//
// Hot: no allocation per URL. The slot of the last origin is remembered, because links mostly stay on their host.
// Measured: bench/url.ts.

import type { CanonicalUrl } from './canonical-url.ts'
import { hostKeyOf, originOf } from './url-parts.ts'

/** Two words of 32 bits, unsigned. */
export type FingerprintKey = readonly [first: number, second: number]

/** For the lenses, where results must be the same everywhere and no crawl is at stake: the first bits of π. */
export const defaultKey: FingerprintKey = [0x243f6a88, 0x85a308d3]

export class Fingerprinter {
  /** The upper 32 bits of the last computed fingerprint, unsigned: slot and 16 bits of the URL. */
  high = 0
  /** The lower 32 bits, unsigned. */
  low = 0

  readonly key: FingerprintKey
  readonly #key0: number
  readonly #key1: number
  readonly #hash = new HalfSipHash()
  /** The origin of the last URL with its '/', whose slot is #lastSlot. */
  #lastOrigin = ''
  #lastSlot = 0

  constructor(key: FingerprintKey) {
    this.key = key
    this.#key0 = key[0] | 0
    this.#key1 = key[1] | 0
  }

  /** Sets `high` and `low`. */
  compute(url: CanonicalUrl): void {
    const hash = this.#hash
    if (this.#lastOrigin === '' || !url.startsWith(this.#lastOrigin)) {
      hash.compute(hostKeyOf(url), this.#key0, this.#key1)
      this.#lastSlot = hash.low >>> 16
      this.#lastOrigin = `${originOf(url)}/`
    }
    hash.compute(url, this.#key0, this.#key1)
    this.high = ((this.#lastSlot << 16) | (hash.high & 0xffff)) >>> 0
    this.low = hash.low >>> 0
  }
}

/** The share of the host space a fingerprint belongs to, 0 to 65,535. */
export function slotOf(high: number): number {
  return high >>> 16
}

/** Sixteen hexadecimal digits. */
export function formatFingerprint(high: number, low: number): string {
  return high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0')
}

/**
 * HalfSipHash-2-4 of ASCII text, one byte per character (J.-P. Aumasson and D. J. Bernstein's reference, 64 bits
 * of output). The four words of state live in locals: fields would cost a load and a store per addition.
 */
export class HalfSipHash {
  /** The first 32 bits of the output, signed. */
  low = 0
  /** The last 32 bits of the output, signed. */
  high = 0

  compute(text: string, key0: number, key1: number): void {
    const length = text.length
    let v0 = key0
    // The constant that separates the 64-bit output from the 32-bit one.
    let v1 = key1 ^ 0xee
    let v2 = 0x6c796765 ^ key0
    let v3 = 0x74656462 ^ key1
    const blocksEnd = length - (length & 3)
    for (let i = 0; i < blocksEnd; i += 4) {
      const word =
        text.charCodeAt(i) |
        (text.charCodeAt(i + 1) << 8) |
        (text.charCodeAt(i + 2) << 16) |
        (text.charCodeAt(i + 3) << 24)
      v3 ^= word
      // Two rounds, written out: as a loop they made the whole 1.7 times as slow (bench/url.ts).
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)

      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
      v0 ^= word
    }
    let last = length << 24
    const rest = length & 3
    if (rest > 2) last |= text.charCodeAt(blocksEnd + 2) << 16
    if (rest > 1) last |= text.charCodeAt(blocksEnd + 1) << 8
    if (rest > 0) last |= text.charCodeAt(blocksEnd)
    v3 ^= last
    for (let round = 0; round < 2; round++) {
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
    }
    v0 ^= last
    v2 ^= 0xee
    for (let round = 0; round < 4; round++) {
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
    }
    this.low = v1 ^ v3
    v1 ^= 0xdd
    for (let round = 0; round < 4; round++) {
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
    }
    this.high = v1 ^ v3
  }
}
