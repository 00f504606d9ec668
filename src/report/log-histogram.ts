// How values spread, over many orders of magnitude and in constant memory: counts in buckets whose
// bounds grow by a fixed factor. A quantile read from it is off by at most that factor.

export interface HistogramBucket {
  readonly from: number
  readonly to: number
  readonly count: number
}

export class LogHistogram {
  readonly #stepsPerOctave: number
  /** Bucket 0 holds everything below 1; bucket i > 0 holds [2^((i-1)/steps), 2^(i/steps)). */
  readonly #counts: Uint32Array
  #total = 0
  #sum = 0
  #max = 0

  /** `octaves` doublings above 1; what is larger goes into the last bucket. */
  constructor(stepsPerOctave = 1, octaves = 40) {
    this.#stepsPerOctave = stepsPerOctave
    this.#counts = new Uint32Array(octaves * stepsPerOctave + 1)
  }

  add(value: number): void {
    const index = bucketOf(value, this.#stepsPerOctave, this.#counts.length)
    this.#counts[index] = (this.#counts[index] ?? 0) + 1
    this.#total++
    this.#sum += value
    if (value > this.#max) this.#max = value
  }

  get total(): number {
    return this.#total
  }

  get mean(): number {
    return this.#total === 0 ? 0 : this.#sum / this.#total
  }

  get max(): number {
    return this.#max
  }

  /** The value below which the share `q` of all lies, interpolated inside its bucket. */
  quantile(q: number): number {
    return Math.min(this.#max, quantileOf(this.#counts, this.#total, q, this.#stepsPerOctave))
  }

  /** From the first bucket that holds something to the last, those between included. */
  buckets(): HistogramBucket[] {
    const first = this.#counts.findIndex((count) => count > 0)
    const last = this.#counts.findLastIndex((count) => count > 0)
    if (first < 0) return []
    return Array.from(this.#counts.subarray(first, last + 1), (count, i) => ({
      from: lowerBound(first + i, this.#stepsPerOctave),
      to: lowerBound(first + i + 1, this.#stepsPerOctave),
      count,
    }))
  }
}

export function bucketOf(value: number, stepsPerOctave: number, buckets: number): number {
  if (!(value >= 1)) return 0
  return Math.min(buckets - 1, Math.floor(Math.log2(value) * stepsPerOctave) + 1)
}

function lowerBound(index: number, stepsPerOctave: number): number {
  return index === 0 ? 0 : 2 ** ((index - 1) / stepsPerOctave)
}

export function quantileOf(counts: Uint32Array, total: number, q: number, stepsPerOctave: number): number {
  if (total === 0) return 0
  const rank = q * total
  let below = 0
  for (let i = 0; i < counts.length; i++) {
    const here = counts[i] ?? 0
    if (here > 0 && below + here >= rank) {
      const from = lowerBound(i, stepsPerOctave)
      return from + ((lowerBound(i + 1, stepsPerOctave) - from) * Math.max(0, rank - below)) / here
    }
    below += here
  }
  return lowerBound(counts.length, stepsPerOctave)
}
