// Looks for many URLs in one run at a time: the filters first, then the blocks that are left, in the order of the file.
//
// hot: no allocation per batch. Blocks that stand near each other are read in one go.

import { RUN_WINDOW_BLOCKS, type SortedRun } from '../disk/index.ts'
import type { FingerprintBatch } from './url-seen.ts'

/** Fingerprints that can wait at once. */
export const LOOKUP_URLS_MAX = 2 ** 16
/** Blocks that are read along rather than asking the system twice: copying 8 KiB costs as much as a call. */
const GAP_BLOCKS = 8

export class RunLookup {
  /** Of each URL that waits: its index in the batch, and a place that is the caller's own. */
  readonly #indices = new Uint32Array(LOOKUP_URLS_MAX)
  readonly #places = new Uint32Array(LOOKUP_URLS_MAX)
  readonly #candidates = new Float64Array(LOOKUP_URLS_MAX)
  #waiting = 0

  get memoryBytes(): number {
    return LOOKUP_URLS_MAX * 16
  }

  begin(): void {
    this.#waiting = 0
  }

  add(index: number, place: number): void {
    this.#indices[this.#waiting] = index
    this.#places[this.#waiting++] = place
  }

  /** Clears `isNew` of those that a run holds and tells their places. How many are in none. */
  search(runs: readonly SortedRun[], batch: FingerprintBatch, onFound: (place: number) => void): number {
    for (const run of runs) {
      const candidates = this.#candidatesIn(run, batch)
      if (candidates === 0) continue
      this.#loadCandidates(run, candidates, batch, onFound)
      this.#dropFound(batch)
    }
    return this.#waiting
  }

  /** Those that the filters of a run let pass, by their blocks. */
  #candidatesIn(run: SortedRun, { high, low }: FingerprintBatch): number {
    let count = 0
    for (let j = 0; j < this.#waiting; j++) {
      const i = this.#indices[j] as number
      const block = run.locate(high[i] as number, low[i] as number)
      // Block and position in one number: sorted by block, in a typed array, without a comparator.
      if (block !== -1) this.#candidates[count++] = block * LOOKUP_URLS_MAX + j
    }
    if (count > 1) this.#candidates.subarray(0, count).sort()
    return count
  }

  #loadCandidates(
    run: SortedRun,
    count: number,
    { high, low, isNew }: FingerprintBatch,
    onFound: (place: number) => void,
  ): void {
    for (let at = 0; at < count;) {
      const first = this.#blockOf(at)
      let last = first
      let end = at + 1
      for (; end < count; end++) {
        const block = this.#blockOf(end)
        if (block - last > GAP_BLOCKS || block - first >= RUN_WINDOW_BLOCKS) break
        last = block
      }
      run.load(first, last - first + 1)
      for (; at < end; at++) {
        const block = this.#blockOf(at)
        const j = (this.#candidates[at] as number) - block * LOOKUP_URLS_MAX
        const i = this.#indices[j] as number
        if (run.loadCount(block, high[i] as number, low[i] as number) === 0) continue
        isNew[i] = 0
        onFound(this.#places[j] as number)
      }
    }
  }

  #dropFound({ isNew }: FingerprintBatch): void {
    let left = 0
    for (let j = 0; j < this.#waiting; j++) {
      if (isNew[this.#indices[j] as number] === 0) continue
      this.#indices[left] = this.#indices[j] as number
      this.#places[left++] = this.#places[j] as number
    }
    this.#waiting = left
  }

  #blockOf(candidate: number): number {
    return Math.floor((this.#candidates[candidate] as number) / LOOKUP_URLS_MAX)
  }
}
