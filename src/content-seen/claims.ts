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
import { hexOf, keyOf } from './digest.ts'

interface Waiter {
  readonly resolve: (answer: Original | null) => void
  readonly reject: (fault: unknown) => void
}

export class Claims {
  /** By digest: who waits, in order. */
  readonly #held = new Map<string, Waiter[]>()

  isHeld(digest: Uint8Array): boolean {
    return this.#held.has(keyOf(digest))
  }

  /** The answer of whoever holds the claim, when that one is done; null when nobody does. */
  wait(digest: Uint8Array): Promise<Original | null> | null {
    const waiters = this.#held.get(keyOf(digest))
    if (waiters === undefined) return null
    return new Promise((resolve, reject) => waiters.push({ resolve, reject }))
  }

  /** The claim, which nobody holds, is the caller's now. */
  hold(digest: Uint8Array): void {
    this.#held.set(keyOf(digest), [])
  }

  /** The original is known. Where nobody holds a claim, nobody needs to hear. */
  settle(digest: Uint8Array, original: Original): void {
    for (const waiter of this.#end(digest)) waiter.resolve(original)
  }

  release(digest: Uint8Array): void {
    const waiters = this.#held.get(keyOf(digest))
    assert(waiters !== undefined, `the claim on ${hexOf(digest)} is not held`)
    const next = waiters.shift()
    if (next === undefined) this.#held.delete(keyOf(digest))
    else next.resolve(null)
  }

  /** Nobody can tell whether there is an original. */
  fail(digest: Uint8Array, fault: unknown): void {
    for (const waiter of this.#end(digest)) waiter.reject(fault)
  }

  #end(digest: Uint8Array): readonly Waiter[] {
    const key = keyOf(digest)
    const waiters = this.#held.get(key) ?? []
    this.#held.delete(key)
    return waiters
  }
}
