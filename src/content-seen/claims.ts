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
import { DIGEST_BYTES, hexOf, isSameDigest, keyOf } from './digest.ts'

interface Waiter {
  readonly resolve: (answer: Original | null) => void
  readonly reject: (fault: unknown) => void
}

export class Claims {
  /**
   * The claim that is held alone, as nearly every one is: a page is mostly settled in one breath. Bytes beside each other are
   * compared at once; a table that holds one entry after the other is made anew for each.
   */
  readonly #lone = new Uint8Array(DIGEST_BYTES)
  /** Who waits for it; null when there is none. */
  #waitersOfLone: Waiter[] | null = null
  /** The others, by digest: who waits, in order. */
  readonly #held = new Map<string, Waiter[]>()

  isHeld(digest: Uint8Array): boolean {
    return this.#waitersFor(digest) !== undefined
  }

  /** The answer of whoever holds the claim, when that one is done; null when nobody does. */
  wait(digest: Uint8Array): Promise<Original | null> | null {
    const waiters = this.#waitersFor(digest)
    return waiters === undefined ? null : waitAmong(waiters)
  }

  /** The claim, which nobody holds, is the caller's now. */
  hold(digest: Uint8Array): void {
    if (this.#waitersOfLone === null) {
      this.#lone.set(digest)
      this.#waitersOfLone = []
    } else this.#held.set(keyOf(digest), [])
  }

  /** The original is known. Where nobody holds a claim, nobody needs to hear. */
  settle(digest: Uint8Array, original: Original): void {
    const waiters = this.#waitersFor(digest)
    if (waiters === undefined) return
    this.#end(digest, waiters)
    for (const waiter of waiters) waiter.resolve(original)
  }

  release(digest: Uint8Array): void {
    const waiters = this.#waitersFor(digest)
    if (waiters === undefined) assert(false, `the claim on ${hexOf(digest)} is not held`)
    const next = waiters.shift()
    if (next === undefined) this.#end(digest, waiters)
    else next.resolve(null)
  }

  /** Nobody can tell whether there is an original. */
  fail(digest: Uint8Array, fault: unknown): void {
    const waiters = this.#waitersFor(digest)
    if (waiters === undefined) return
    this.#end(digest, waiters)
    for (const waiter of waiters) waiter.reject(fault)
  }

  #waitersFor(digest: Uint8Array): Waiter[] | undefined {
    if (this.#waitersOfLone !== null && isSameDigest(this.#lone, digest)) return this.#waitersOfLone
    return this.#held.size === 0 ? undefined : this.#held.get(keyOf(digest))
  }

  #end(digest: Uint8Array, waiters: readonly Waiter[]): void {
    if (waiters === this.#waitersOfLone) this.#waitersOfLone = null
    else this.#held.delete(keyOf(digest))
  }
}

function waitAmong(waiters: Waiter[]): Promise<Original | null> {
  return new Promise((resolve, reject) => waiters.push({ resolve, reject }))
}
