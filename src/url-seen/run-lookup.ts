// Looks for many URLs in one run at a time: the filters first, then the blocks that are left, in the order of the file.
//
//   add() …  →  sorted once  →  | oldest run |  what it lacks →  | next run |  …  →  in none: new
//                                 locate() steps forward: index, filters and blocks are walked, not jumped about in
//
// The larger the batch, the nearer the blocks stand to each other, and those near each other are read in one go: of
// 262,144 URLs in a run of a gigabyte every fourth block is wanted, and it is read through like a merge would.
//
// hot: no allocation per batch, but when a batch is larger than all before.

import { RUN_WINDOW_BLOCKS, type SortedRun } from '../disk/index.ts'
import type { FingerprintBatch } from './url-seen.ts'

/** Fingerprints that can wait at once. */
export const LOOKUP_URLS_MAX = 2 ** 18
const LOOKUP_URLS_FIRST = 2 ** 10
/** Blocks that are read along rather than asking the system twice: copying 16 KiB costs 1.3 µs, a call 1.3 to 1.6. */
const GAP_BLOCKS = 16
/** Of six arrays of 4 bytes, and the order. */
const WAITING_BYTES = 6 * 4 + 8

export class RunLookup {
  #room = 0
  /** Of each URL that waits: its index in the batch, and a place that is the caller's own. */
  #indices = new Uint32Array(0)
  #places = new Uint32Array(0)
  #highs = new Uint32Array(0)
  #lows = new Uint32Array(0)
  /** Those that the filters of a run let pass: the block, and which of the waiting it is. */
  #blocks = new Uint32Array(0)
  #candidates = new Uint32Array(0)
  /** Pairs (position, high), which read as one number of 64 bits: sorted without a comparator. */
  #order = new Uint32Array(0)
  #waiting = 0

  get memoryBytes(): number {
    return this.#room * WAITING_BYTES
  }

  /** At most so many will be added. */
  begin(count: number): void {
    this.#waiting = 0
    if (count <= this.#room) return
    this.#room = Math.max(LOOKUP_URLS_FIRST, 2 ** Math.ceil(Math.log2(count)))
    this.#indices = new Uint32Array(this.#room)
    this.#places = new Uint32Array(this.#room)
    this.#highs = new Uint32Array(this.#room)
    this.#lows = new Uint32Array(this.#room)
    this.#blocks = new Uint32Array(this.#room)
    this.#candidates = new Uint32Array(this.#room)
    this.#order = new Uint32Array(2 * this.#room)
  }

  add(index: number, place: number): void {
    this.#indices[this.#waiting] = index
    this.#places[this.#waiting++] = place
  }

  /** Clears `isNew` of those that a run holds and tells their places. How many are in none. */
  search(runs: readonly SortedRun[], batch: FingerprintBatch, onFound: (place: number) => void): number {
    if (runs.length > 0 && this.#waiting > 0) this.#sort(batch)
    for (const run of runs) {
      const candidates = this.#candidatesIn(run)
      if (candidates === 0) continue
      this.#loadCandidates(run, candidates, batch, onFound)
      this.#dropFound(batch)
    }
    return this.#waiting
  }

  /**
   * Brings those that wait into the order of their upper halves, and what is asked of them side by side. Two of one upper
   * half stand as they came: seldom in the wrong order of blocks, and then it costs a read.
   */
  #sort({ high, low }: FingerprintBatch): void {
    const waiting = this.#waiting
    const order = this.#order
    for (let j = 0; j < waiting; j++) {
      order[2 * j] = j
      order[2 * j + 1] = high[this.#indices[j] as number] as number
    }
    new BigUint64Array(order.buffer, 0, waiting).sort()
    // The arrays of candidates are free until a run is searched, and take over the old order.
    this.#blocks.set(this.#indices.subarray(0, waiting))
    this.#candidates.set(this.#places.subarray(0, waiting))
    for (let j = 0; j < waiting; j++) {
      const from = order[2 * j] as number
      const i = this.#blocks[from] as number
      this.#indices[j] = i
      this.#places[j] = this.#candidates[from] as number
      this.#highs[j] = order[2 * j + 1] as number
      this.#lows[j] = low[i] as number
    }
  }

  /** Those that the filters of a run let pass, by their blocks. */
  #candidatesIn(run: SortedRun): number {
    let count = 0
    for (let j = 0; j < this.#waiting; j++) {
      const block = run.locate(this.#highs[j] as number, this.#lows[j] as number)
      if (block === -1) continue
      this.#blocks[count] = block
      this.#candidates[count++] = j
    }
    return count
  }

  #loadCandidates(run: SortedRun, count: number, { isNew }: FingerprintBatch, onFound: (place: number) => void): void {
    const blocks = this.#blocks
    for (let at = 0; at < count;) {
      const first = blocks[at] as number
      let last = first
      let end = at + 1
      for (; end < count; end++) {
        const block = blocks[end] as number
        if (block < first || block - last > GAP_BLOCKS || block - first >= RUN_WINDOW_BLOCKS) break
        last = Math.max(last, block)
      }
      run.load(first, last - first + 1)
      for (; at < end; at++) {
        const j = this.#candidates[at] as number
        if (run.loadCount(blocks[at] as number, this.#highs[j] as number, this.#lows[j] as number) === 0) continue
        isNew[this.#indices[j] as number] = 0
        onFound(this.#places[j] as number)
      }
    }
  }

  #dropFound({ isNew }: FingerprintBatch): void {
    let left = 0
    for (let j = 0; j < this.#waiting; j++) {
      const i = this.#indices[j] as number
      if (isNew[i] === 0) continue
      this.#indices[left] = i
      this.#places[left] = this.#places[j] as number
      this.#highs[left] = this.#highs[j] as number
      this.#lows[left++] = this.#lows[j] as number
    }
    this.#waiting = left
  }
}
