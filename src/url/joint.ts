// Where link-joiner.ts puts a URL together, and the hash of what stands there.
//
//     | http://example.org/a/ | b/c.html |          bytes, and the same as 32-bit words
//     └─ common: hashed once ─┘
//
// The hash is that of fingerprint.ts, HalfSipHash-2-4 with 64 bits of output, taken from words in memory instead of the
// characters of a string, and from the state behind the common part instead of from the start.

/** Joined URLs are no longer than this. */
export const JOINT_BYTES = 4_096

/** A buffer that a URL is joined in, and the state of the hash behind the part that all URLs of the page share. */
export class Joint {
  readonly bytes = Buffer.alloc(JOINT_BYTES)
  readonly words = new Int32Array(this.bytes.buffer, this.bytes.byteOffset, JOINT_BYTES / 4)
  /** Bytes of the common part. */
  length = 0
  /** The last digest, both halves signed. */
  high = 0
  low = 0
  v0 = 0
  v1 = 0
  v2 = 0
  v3 = 0

  /** The state behind the whole words of the common part. */
  start(key0: number, key1: number): void {
    this.v0 = key0
    this.v1 = key1 ^ 0xee
    this.v2 = 0x6c796765 ^ key0
    this.v3 = 0x74656462 ^ key1
    this.absorb(0)
  }

  /** Takes the whole words of the common part into the state, from word `word` on. */
  absorb(word: number): void {
    const { words, length } = this
    let { v0, v1, v2, v3 } = this
    for (let i = word; i < length >> 2; i++) {
      const block = words[i] as number
      v3 ^= block
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
      v0 ^= block
    }
    this.v0 = v0
    this.v1 = v1
    this.v2 = v2
    this.v3 = v3
  }

  /** HalfSipHash-2-4 of the first `length` bytes, into `high` and `low` (fingerprint.ts has the same of strings). */
  digest(length: number): void {
    const { words } = this
    let { v0, v1, v2, v3 } = this
    const blocks = length >> 2
    for (let i = this.length >> 2; i < blocks; i++) {
      const block = words[i] as number
      v3 ^= block
      // Written out, as in fingerprint.ts.
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
      v0 ^= block
    }
    const rest = length & 3
    // The bytes of an earlier URL may stand behind this one.
    const last = (length << 24) | (rest === 0 ? 0 : (words[blocks] as number) & ((1 << (8 * rest)) - 1))
    this.#finish(v0, v1, v2, v3, last)
  }

  #finish(v0: number, v1: number, v2: number, v3: number, last: number): void {
    v3 ^= last
    let low = 0
    // Two rounds for the last word, four for the first half of the output, four for the second.
    for (let round = 0; round < 10; round++) {
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
      if (round === 1) {
        v0 ^= last
        v2 ^= 0xee
      } else if (round === 5) {
        low = v1 ^ v3
        v1 ^= 0xdd
      }
    }
    this.high = v1 ^ v3
    this.low = low
  }
}
