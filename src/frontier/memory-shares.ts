// How the memory of a frontier on disk is shared out, and what follows: when a checkpoint would help, when hosts may come to hand, how much
// ought to leave, when nothing more should be taken in.
//
//     0              0.3           0.5       0.6           0.8             1
//     |               |             |         |             |               |
//              made as little   hosts come  …of a      a seal is       nothing more
//              by a checkpoint  to hand     better     wanted          is taken in
//                                           band
//
// What lies between the least and a seal is for arrivals: the more of them a checkpoint takes at once, the less each costs, for hosts that many
// links point to are written once for all of them, and what is at hand is looked through less often.

/** Arrivals since the last seal, before another is wanted. */
const DIRTY_SHARE = 0.45
/** A checkpoint that finds more makes it as little as this. */
const TARGET_SHARE = 0.3
/** Hosts are brought to hand up to here; those of a better band than any at hand a little further. */
const PAGES_SHARE = 0.5
const BETTER_PAGES_SHARE = 0.6
const SEAL_SHARE = 0.8
/** So much more than after the last checkpoint must there be for another to help. */
const PROGRESS_SHARE = 1 / 16

/** However many hosts are known, so much of the memory is shared out. */
const SHARED_OUT_MIN = 1 / 4

export class MemoryShares {
  readonly #memoryBytes: number
  /** What is shared out: all but the names of known hosts, which stay whatever leaves. */
  #sharedBytes: number
  /** What was used after the last checkpoint. */
  #settledBytes = 0
  /** What was offered since the last seal. */
  dirtyBytes = 0

  constructor(memoryBytes: number) {
    this.#memoryBytes = memoryBytes
    this.#sharedBytes = memoryBytes
  }

  /** So much is taken up for good. What is used, below, is beside it. */
  reserve(bytes: number): void {
    this.#sharedBytes = Math.max(SHARED_OUT_MIN * this.#memoryBytes, this.#memoryBytes - bytes)
  }

  hasSettled(usedBytes: number): void {
    this.#settledBytes = usedBytes
  }

  /** Much has arrived, or memory is short and a checkpoint can change that. */
  wantsSeal(usedBytes: number): boolean {
    if (this.dirtyBytes > this.#sharedBytes * DIRTY_SHARE) return true
    return this.#hasGrown(usedBytes) && usedBytes > this.#sharedBytes * SEAL_SHARE
  }

  /** There is no room for hosts that wait on disk. */
  isFull(usedBytes: number): boolean {
    return usedBytes > this.#sharedBytes * PAGES_SHARE
  }

  /** There is room for more hosts, of a better band than those at hand or not. */
  hasRoom(usedBytes: number, isBetter: boolean): boolean {
    return usedBytes < (isBetter ? BETTER_PAGES_SHARE : PAGES_SHARE) * this.#sharedBytes
  }

  /** Nothing more should be taken in, and a checkpoint can change that. */
  isUsedUp(usedBytes: number): boolean {
    return usedBytes > this.#sharedBytes && this.#hasGrown(usedBytes)
  }

  /** What ought to leave with a checkpoint; more where others wait on disk for a place. */
  excess(usedBytes: number, othersWait: boolean): number {
    const share = othersWait ? TARGET_SHARE : PAGES_SHARE
    return usedBytes > share * this.#sharedBytes ? usedBytes - TARGET_SHARE * this.#sharedBytes : 0
  }

  #hasGrown(usedBytes: number): boolean {
    return usedBytes > this.#settledBytes + this.#sharedBytes * PROGRESS_SHARE
  }
}
