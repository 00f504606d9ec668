// What became of faults on purpose, in memory that all threads share: how many struck, when the last one did, and how long until
// those that the agent mends by itself were mended.
//
//   [agent][point]   struck, mended, microseconds in all, most in one, and how many took up to 1, 2, 4, 8 … microseconds
//
// It outlives the threads it counts for.

import { FAULT_POINT_NAMES, type FaultPoint } from './fault-point.ts'

const BUCKETS = 32
const STRUCK = 0
const MENDED = 1
const SUM_US = 2
const MOST_US = 3
const BUCKET = 4
const WORDS = BUCKET + BUCKETS

export interface FaultFigures {
  readonly struck: number
  readonly mended: number
  /** Microseconds until mended; null where none was. The middle one is known up to a factor of two. */
  readonly meanUs: number | null
  readonly medianUs: number | null
  readonly mostUs: number | null
}

export class FaultTally {
  readonly buffer: SharedArrayBuffer
  readonly #agents: number
  /** By the wall clock, when the last fault struck. */
  readonly #lastMs: Float64Array
  readonly #words: Int32Array

  constructor(agents: number, buffer: SharedArrayBuffer | null = null) {
    const cells = agents * FAULT_POINT_NAMES.length
    const timesBytes = cells * Float64Array.BYTES_PER_ELEMENT
    this.buffer = buffer ?? new SharedArrayBuffer(timesBytes + cells * WORDS * Int32Array.BYTES_PER_ELEMENT)
    this.#agents = agents
    this.#lastMs = new Float64Array(this.buffer, 0, cells)
    this.#words = new Int32Array(this.buffer, timesBytes)
  }

  /** Counts a fault that strikes now; false where there were `most` already, by all agents. */
  strike(agent: number, point: FaultPoint, most: number | null, wallMs: number): boolean {
    // Of all agents the first cell counts for all, so that a limit is exact.
    const before = Atomics.add(this.#words, cellOf(0, point) * WORDS + STRUCK, 1)
    if (most !== null && before >= most) {
      Atomics.sub(this.#words, cellOf(0, point) * WORDS + STRUCK, 1)
      return false
    }
    this.#lastMs[cellOf(agent, point)] = wallMs
    return true
  }

  mended(agent: number, point: FaultPoint, us: number): void {
    const cell = cellOf(agent, point) * WORDS
    const whole = Math.max(1, Math.round(us))
    const bucket = Math.min(BUCKETS - 1, Math.ceil(Math.log2(whole)))
    Atomics.add(this.#words, cell + MENDED, 1)
    Atomics.add(this.#words, cell + SUM_US, whole)
    Atomics.add(this.#words, cell + BUCKET + bucket, 1)
    // Only the thread of the agent writes here.
    if (whole > (this.#words[cell + MOST_US] as number)) Atomics.store(this.#words, cell + MOST_US, whole)
  }

  struck(point: FaultPoint): number {
    return Atomics.load(this.#words, cellOf(0, point) * WORDS + STRUCK)
  }

  /** The last fault of any kind in an agent, by the wall clock; 0 where there was none. */
  lastMs(agent: number): number {
    return Math.max(...FAULT_POINT_NAMES.map((point) => this.#lastMs[cellOf(agent, point)] as number))
  }

  /** All agents together. */
  figures(point: FaultPoint): FaultFigures {
    const cells = Array.from({ length: this.#agents }, (_, agent) => cellOf(agent, point) * WORDS)
    const sum = (word: number): number =>
      cells.reduce((total, cell) => total + Atomics.load(this.#words, cell + word), 0)
    const mended = sum(MENDED)
    if (mended === 0) return { struck: this.struck(point), mended, meanUs: null, medianUs: null, mostUs: null }
    let bucket = 0
    for (let below = sum(BUCKET); below * 2 < mended; below += sum(BUCKET + bucket)) bucket++
    const mostUs = Math.max(...cells.map((cell) => Atomics.load(this.#words, cell + MOST_US)))
    return { struck: this.struck(point), mended, meanUs: sum(SUM_US) / mended, medianUs: 2 ** bucket, mostUs }
  }
}

function cellOf(agent: number, point: FaultPoint): number {
  return agent * FAULT_POINT_NAMES.length + FAULT_POINT_NAMES.indexOf(point)
}
