// Claims under way: who holds the right to be the first with a content, and who waits to hear of it.
//
//   hold ──▶ settle   everybody who waited learns the original
//       └──▶ release  the first who waited holds the claim now
//       └──▶ fail     everybody who waited fails
//
// They are few: a visitor holds one claim at most while it settles its page, and waits for no other meanwhile, so
// waiting cannot become a circle, and waiters are never more than visitors.

import { assert } from '../base/index.ts'
import type { Original } from './content-seen.ts'
import { bitsAt, hexOf, isSameDigest } from './digest.ts'

interface Waiter {
  readonly resolve: (answer: Original | null) => void
  readonly reject: (fault: unknown) => void
}

interface Claim {
  readonly digest: Uint8Array
  /** In order; mostly nobody. */
  readonly waiters: Waiter[]
}

export class Claims {
  /**
   * In no order, and looked through: those of the pages that are settled together. A map would need a text for each question: 1.2 to 1.5 µs
   * a page beside 0.35 where 32 are held, and no less where a thousand are. Their first bits stand beside each other.
   */
  readonly #held: Claim[] = []
  readonly #bits: number[] = []

  isHeld(digest: Uint8Array): boolean {
    return this.#find(digest) !== -1
  }

  /** The answer of whoever holds the claim, when that one is done; null when nobody does. */
  wait(digest: Uint8Array): Promise<Original | null> | null {
    const claim = this.#held[this.#find(digest)]
    return claim === undefined ? null : waitAmong(claim.waiters)
  }

  /** The claim, which nobody holds, is the caller's now. */
  hold(digest: Uint8Array): void {
    this.#bits.push(bitsAt(digest, 0) | 0)
    this.#held.push({ digest: new Uint8Array(digest), waiters: [] })
  }

  /** The original is known. Where nobody holds a claim, nobody needs to hear. */
  settle(digest: Uint8Array, original: Original): void {
    for (const waiter of this.#end(digest)) waiter.resolve(original)
  }

  release(digest: Uint8Array): void {
    const claim = this.#held[this.#find(digest)]
    if (claim === undefined) assert(false, `the claim on ${hexOf(digest)} is not held`)
    const next = claim.waiters.shift()
    if (next === undefined) this.#end(digest)
    else next.resolve(null)
  }

  /** Nobody can tell whether there is an original. */
  fail(digest: Uint8Array, fault: unknown): void {
    for (const waiter of this.#end(digest)) waiter.reject(fault)
  }

  /** hot: its place among those that are held; -1 where it is not. */
  #find(digest: Uint8Array): number {
    const bits = bitsAt(digest, 0) | 0
    for (let at = this.#bits.indexOf(bits); at !== -1; at = this.#bits.indexOf(bits, at + 1)) {
      if (isSameDigest((this.#held[at] as Claim).digest, digest)) return at
    }
    return -1
  }

  /** Nobody holds it any more. Who waited; nobody where it was not held. */
  #end(digest: Uint8Array): readonly Waiter[] {
    const at = this.#find(digest)
    if (at === -1) return NOBODY
    const { waiters } = this.#held[at] as Claim
    const [lastBits, last] = [this.#bits.pop() as number, this.#held.pop() as Claim]
    if (at < this.#held.length) {
      this.#bits[at] = lastBits
      this.#held[at] = last
    }
    return waiters
  }
}

const NOBODY: readonly Waiter[] = []

function waitAmong(waiters: Waiter[]): Promise<Original | null> {
  return new Promise((resolve, reject) => waiters.push({ resolve, reject }))
}
