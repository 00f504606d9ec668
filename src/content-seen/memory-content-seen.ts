// The content met so far, in memory: digests in typed columns, found by an open-addressing index.
//
//   index     | 7 | · | 0 | …        row + 1, 0 = free; by the digest's first 32 bits
//   digests   | 32 bytes | 32 bytes | …
//   dates, urls, payloads: one column each
//
// A page costs 32 + 8 + 16 bytes, 5 to 11 for its place in the index, and the text of its URL. The payload
// digest is kept as text only where it differs from the digest of the decoded body, that is for
// bodies that came encoded: 90 bytes saved for the others.
//
// Claims under way are few (one per visitor at most) and live in a map. Whoever waits for a claim
// waits in order: the holder keeps (all waiters learn the original) or releases (the first waiter
// holds the claim now). A visitor holds one claim at most while it settles its page and waits for no
// other meanwhile, so waiting cannot become a circle, and waiters are never more than visitors.

import { assert } from '../base/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import type { ContentSeen, Original } from './content-seen.ts'

const DIGEST_BYTES = 32
const ROWS_FIRST = 256
const LOAD_MAX = 0.75

/** SHA-256 of nothing. An empty body is never a duplicate: it says nothing of the page. */
const EMPTY_DIGEST = Buffer.from('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'hex')

/** Stands in the column of payload digests for "the same as the content digest". */
const SAME = ''

type Waiter = (answer: Original | null) => void

export class MemoryContentSeen implements ContentSeen {
  #index = new Uint32Array(2 * ROWS_FIRST)
  #digests = Buffer.alloc(ROWS_FIRST * DIGEST_BYTES)
  #dates = new Float64Array(ROWS_FIRST)
  readonly #urls: CanonicalUrl[] = []
  readonly #payloads: (string | null)[] = []
  /** By digest, as one-byte text: who waits for the claim, in order. */
  readonly #claims = new Map<string, Waiter[]>()

  get size(): number {
    return this.#urls.length
  }

  claim(digest: Uint8Array): Promise<Original | null> | Original | null {
    if (isEmptyDigest(digest)) return null
    const row = this.#rowOf(digest)
    if (row >= 0) return this.#original(row)
    const key = keyOf(digest)
    const waiters = this.#claims.get(key)
    if (waiters === undefined) {
      this.#claims.set(key, [])
      return null
    }
    return new Promise((resolve) => waiters.push(resolve))
  }

  keep(digest: Uint8Array, original: Original): void {
    if (isEmptyDigest(digest)) return
    if (this.#rowOf(digest) < 0) this.#insert(digest, original)
    const key = keyOf(digest)
    const waiters = this.#claims.get(key)
    if (waiters === undefined) return
    this.#claims.delete(key)
    for (const waiter of waiters) waiter(original)
  }

  release(digest: Uint8Array): void {
    if (isEmptyDigest(digest)) return
    const key = keyOf(digest)
    const waiters = this.#claims.get(key)
    assert(waiters !== undefined, `the claim on ${hexOf(digest)} is not held`)
    const next = waiters.shift()
    if (next === undefined) this.#claims.delete(key)
    else next(null)
  }

  *originals(): Iterable<readonly [digest: Uint8Array, original: Original]> {
    for (let row = 0; row < this.#urls.length; row++) yield [this.#digestAt(row), this.#original(row)]
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
    let place = firstBits(digest, 0) & mask
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
      let place = firstBits(this.#digests, row * DIGEST_BYTES) & mask
      while (this.#index[place] !== 0) place = (place + 1) & mask
      this.#index[place] = row + 1
    }
  }
}

/** 32 bits of a digest, evenly spread because SHA-256 is. */
function firstBits(bytes: Uint8Array, start: number): number {
  const at = (i: number): number => bytes[start + i] as number
  return (at(0) | (at(1) << 8) | (at(2) << 16) | (at(3) << 24)) >>> 0
}

function keyOf(digest: Uint8Array): string {
  return viewOf(digest).toString('latin1')
}

function hexOf(digest: Uint8Array): string {
  return viewOf(digest).toString('hex')
}

/** A digest as archives write it. */
function textOf(digest: Uint8Array): string {
  return `sha256:${hexOf(digest)}`
}

function viewOf(digest: Uint8Array): Buffer {
  return digest instanceof Buffer ? digest : Buffer.from(digest.buffer, digest.byteOffset, digest.byteLength)
}

function isEmptyDigest(digest: Uint8Array): boolean {
  if (digest.length !== DIGEST_BYTES) assert(false, `a digest has ${DIGEST_BYTES} bytes, not ${digest.length}`)
  return digest[0] === EMPTY_DIGEST[0] && EMPTY_DIGEST.equals(digest)
}
