// The content met so far, in memory: digests in typed columns, found by an open-addressing index.
//
//   index     | 7 | · | 0 | …        row + 1, 0 = free; by the digest's first 32 bits
//   digests   | 32 bytes | 32 bytes | …
//   dates, urls, payloads: one column each
//
// A page costs 32 + 8 + 16 bytes, 5 to 11 for its place in the index, and the text of its URL. The payload
// digest is kept as text only where it differs from the digest of the decoded body, that is for
// bodies that came encoded: 90 bytes saved for the others.

import type { CanonicalUrl } from '../url/index.ts'
import { Claims } from './claims.ts'
import type { ContentSeen, KnownContents, Original } from './content-seen.ts'
import { bitsAt, DIGEST_BYTES, isEmptyDigest, textOf } from './digest.ts'

const ROWS_FIRST = 256
const LOAD_MAX = 0.75

/** Stands in the column of payload digests for "the same as the content digest". */
const SAME = ''

export class MemoryContentSeen implements ContentSeen, KnownContents {
  #index = new Uint32Array(2 * ROWS_FIRST)
  #digests = Buffer.alloc(ROWS_FIRST * DIGEST_BYTES)
  #dates = new Float64Array(ROWS_FIRST)
  readonly #urls: CanonicalUrl[] = []
  readonly #payloads: (string | null)[] = []
  readonly #claims = new Claims()

  get size(): number {
    return this.#urls.length
  }

  claim(digest: Uint8Array): Promise<Original | null> | Original | null {
    if (isEmptyDigest(digest)) return null
    const row = this.#rowOf(digest)
    if (row >= 0) return this.#original(row)
    const answer = this.#claims.wait(digest)
    if (answer === null) this.#claims.hold(digest)
    return answer
  }

  keep(digest: Uint8Array, original: Original): void {
    if (isEmptyDigest(digest)) return
    if (this.#rowOf(digest) < 0) this.#insert(digest, original)
    this.#claims.settle(digest, original)
  }

  release(digest: Uint8Array): void {
    if (!isEmptyDigest(digest)) this.#claims.release(digest)
  }

  eachKey(see: (high: number, low: number) => void): void {
    for (let at = 0; at < this.size * DIGEST_BYTES; at += DIGEST_BYTES) {
      see(bitsAt(this.#digests, at), bitsAt(this.#digests, at + 4))
    }
  }

  #original(row: number): Original {
    const payload = this.#payloads[row] as string | null
    return {
      url: this.#urls[row] as CanonicalUrl,
      fetchedAtMs: this.#dates[row] as number,
      payloadDigest: payload === SAME ? textOf(this.#digestAt(row)) : payload,
    }
  }

  #digestAt(row: number): Buffer {
    return this.#digests.subarray(row * DIGEST_BYTES, (row + 1) * DIGEST_BYTES)
  }

  /** The row of a digest, or -1. */
  #rowOf(digest: Uint8Array): number {
    return (this.#index[this.#placeOf(digest)] as number) - 1
  }

  /** Where the digest stands in the index, or the free place where it would. */
  #placeOf(digest: Uint8Array): number {
    const mask = this.#index.length - 1
    let place = bitsAt(digest, 0) & mask
    for (;;) {
      const row = (this.#index[place] as number) - 1
      if (row < 0 || this.#isAt(row, digest)) return place
      place = (place + 1) & mask
    }
  }

  #isAt(row: number, digest: Uint8Array): boolean {
    const start = row * DIGEST_BYTES
    for (let i = 0; i < DIGEST_BYTES; i++) if (this.#digests[start + i] !== digest[i]) return false
    return true
  }

  #insert(digest: Uint8Array, original: Original): void {
    const row = this.#urls.length
    if (row === this.#dates.length) this.#growRows()
    if (row >= this.#index.length * LOAD_MAX) this.#growIndex()
    this.#digests.set(digest, row * DIGEST_BYTES)
    this.#dates[row] = original.fetchedAtMs
    this.#urls.push(original.url)
    this.#payloads.push(original.payloadDigest === textOf(digest) ? SAME : original.payloadDigest)
    this.#index[this.#placeOf(digest)] = row + 1
  }

  #growRows(): void {
    const digests = Buffer.alloc(this.#digests.length * 2)
    const dates = new Float64Array(this.#dates.length * 2)
    digests.set(this.#digests)
    dates.set(this.#dates)
    this.#digests = digests
    this.#dates = dates
  }

  #growIndex(): void {
    this.#index = new Uint32Array(this.#index.length * 2)
    const mask = this.#index.length - 1
    for (let row = 0; row < this.#urls.length; row++) {
      let place = bitsAt(this.#digests, row * DIGEST_BYTES) & mask
      while (this.#index[place] !== 0) place = (place + 1) & mask
      this.#index[place] = row + 1
    }
  }
}
