// How the memory of a frontier on disk is shared out, and what follows: when a checkpoint would help, when hosts may come to hand, how much
// ought to leave, when nothing more should be taken in.
//
//     0        ¼             0.45        0.6      0.7    0.75              1
//     |—arrivals—|             |           |        |      |               |
//                      made as little   hosts come  …of a   a seal is      nothing more
//                      by a checkpoint  to hand     better  wanted         is taken in
//                                                   band

/** Arrivals since the last seal, before another is wanted. */
const DIRTY_SHARE = 1 / 4
/** A checkpoint that finds more makes it as little as this. */
const TARGET_SHARE = 0.45
/** Hosts are brought to hand up to here; those of a better band than any at hand a little further. */
const PAGES_SHARE = 0.6
const BETTER_PAGES_SHARE = 0.7
const SEAL_SHARE = 0.75
/** So much more than after the last checkpoint must there be for another to help. */
const PROGRESS_SHARE = 1 / 16

export class MemoryShares {
  readonly #memoryBytes: number
  /** What was used after the last checkpoint. */
  #settledBytes = 0
  /** What was offered since the last seal. */
  dirtyBytes = 0

  constructor(memoryBytes: number) {
    this.#memoryBytes = memoryBytes
  }

  hasSettled(usedBytes: number): void {
    this.#settledBytes = usedBytes
  }

  /** Much has arrived, or memory is short and a checkpoint can change that. */
  wantsSeal(usedBytes: number): boolean {
    if (this.dirtyBytes > this.#memoryBytes * DIRTY_SHARE) return true
    return this.#hasGrown(usedBytes) && usedBytes > this.#memoryBytes * SEAL_SHARE
  }

  /** There is no room for hosts that wait on disk. */
  isFull(usedBytes: number): boolean {
    return usedBytes > this.#memoryBytes * PAGES_SHARE
  }

  /** There is room for more hosts, of a better band than those at hand or not. */
  hasRoom(usedBytes: number, isBetter: boolean): boolean {
    return usedBytes < (isBetter ? BETTER_PAGES_SHARE : PAGES_SHARE) * this.#memoryBytes
  }

  /** Nothing more should be taken in, and a checkpoint can change that. */
  isUsedUp(usedBytes: number): boolean {
    return usedBytes > this.#memoryBytes && this.#hasGrown(usedBytes)
  }

  /** What ought to leave with a checkpoint; more where others wait on disk for a place. */
  excess(usedBytes: number, othersWait: boolean): number {
    const share = othersWait ? TARGET_SHARE : PAGES_SHARE
    return usedBytes > share * this.#memoryBytes ? usedBytes - TARGET_SHARE * this.#memoryBytes : 0
  }

  #hasGrown(usedBytes: number): boolean {
    return usedBytes > this.#settledBytes + this.#memoryBytes * PROGRESS_SHARE
  }
}
