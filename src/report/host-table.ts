// What is known of each host, in columns, for up to a hundred thousand hosts.
//
// A crawl may meet millions of hosts; the report names a few dozen. Beyond HOSTS_MAX the quieter ones
// (fewest requests) are dropped, and how many is said. A dropped host that returns starts from zero:
// its figures are then too small, never too large, and it was not among the largest.
//
// Per host 5 numbers and a histogram of 32 response-time buckets, half an octave each from 1 ms to
// 46 s: 168 bytes and the name, 25 MB at the bound. Columns double as they fill.

import { quantileOf, bucketOf } from './log-histogram.ts'

const HOSTS_MAX = 100_000
const TIME_BUCKETS = 32
const STEPS_PER_OCTAVE = 2

export interface HostFigures {
  readonly host: string
  readonly pages: number
  /** Answers with a status of 400 and above, and URLs given up. */
  readonly errors: number
  readonly bytes: number
  /** To the first byte, over answered requests; 0 when there was none. */
  readonly meanMs: number
  readonly p95Ms: number
}

export class HostTable {
  readonly #hostsMax: number
  #rows = new Map<string, number>()
  #pages = new Float64Array(64)
  #errors = new Float64Array(64)
  #bytes = new Float64Array(64)
  #sumMs = new Float64Array(64)
  #maxMs = new Float64Array(64)
  #times = new Uint32Array(64 * TIME_BUCKETS)
  #dropped = 0

  constructor(hostsMax: number = HOSTS_MAX) {
    this.#hostsMax = hostsMax
  }

  addPage(host: string, bytes: number, firstByteMs: number, isError: boolean): void {
    const row = this.#rowOf(host)
    add(this.#pages, row, 1)
    add(this.#bytes, row, bytes)
    add(this.#sumMs, row, firstByteMs)
    this.#maxMs[row] = Math.max(this.#maxMs[row] ?? 0, firstByteMs)
    if (isError) add(this.#errors, row, 1)
    add(this.#times, row * TIME_BUCKETS + bucketOf(firstByteMs, STEPS_PER_OCTAVE, TIME_BUCKETS), 1)
  }

  addFailure(host: string): void {
    add(this.#errors, this.#rowOf(host), 1)
  }

  /** Hosts known, those dropped (and perhaps met again) included. */
  get size(): number {
    return this.#rows.size + this.#dropped
  }

  get dropped(): number {
    return this.#dropped
  }

  /** Hosts that never answered, as far as they were not dropped. */
  get silent(): number {
    let count = 0
    for (const row of this.#rows.values()) if (this.#pages[row] === 0) count++
    return count
  }

  /** The `max` hosts with the largest figure; hosts for which it is 0 are left out. */
  largest(max: number, figure: (host: HostFigures) => number): HostFigures[] {
    const all: { figures: HostFigures; size: number }[] = []
    for (const [host, row] of this.#rows) {
      const figures = this.#figures(host, row)
      const size = figure(figures)
      if (size > 0) all.push({ figures, size })
    }
    all.sort(
      (a, b) => b.size - a.size || b.figures.pages - a.figures.pages || (a.figures.host < b.figures.host ? -1 : 1),
    )
    return all.slice(0, max).map(({ figures }) => figures)
  }

  #figures(host: string, row: number): HostFigures {
    const pages = this.#pages[row] ?? 0
    const times = this.#times.subarray(row * TIME_BUCKETS, (row + 1) * TIME_BUCKETS)
    return {
      host,
      pages,
      errors: this.#errors[row] ?? 0,
      bytes: this.#bytes[row] ?? 0,
      meanMs: pages === 0 ? 0 : (this.#sumMs[row] ?? 0) / pages,
      p95Ms: Math.min(this.#maxMs[row] ?? 0, quantileOf(times, pages, 0.95, STEPS_PER_OCTAVE)),
    }
  }

  #rowOf(host: string): number {
    const known = this.#rows.get(host)
    if (known !== undefined) return known
    if (this.#rows.size >= 1.25 * this.#hostsMax) this.#drop()
    const row = this.#rows.size
    if (row === this.#pages.length) this.#resize(2 * row)
    this.#rows.set(host, row)
    return row
  }

  #resize(hosts: number): void {
    this.#pages = grown(this.#pages, hosts)
    this.#errors = grown(this.#errors, hosts)
    this.#bytes = grown(this.#bytes, hosts)
    this.#sumMs = grown(this.#sumMs, hosts)
    this.#maxMs = grown(this.#maxMs, hosts)
    const times = new Uint32Array(hosts * TIME_BUCKETS)
    times.set(this.#times)
    this.#times = times
  }

  /** Keeps the busiest, moved together in their old order; what lies behind them is zero again. */
  #drop(): void {
    const requests = (row: number): number => (this.#pages[row] ?? 0) + (this.#errors[row] ?? 0)
    const kept = [...this.#rows]
      .sort(([, a], [, b]) => requests(b) - requests(a))
      .slice(0, this.#hostsMax)
      .sort(([, a], [, b]) => a - b)
    this.#dropped += this.#rows.size - kept.length
    this.#rows = new Map()
    const columns = [this.#pages, this.#errors, this.#bytes, this.#sumMs, this.#maxMs]
    for (const [host, from] of kept) {
      const to = this.#rows.size
      for (const column of columns) column[to] = column[from] ?? 0
      this.#times.copyWithin(to * TIME_BUCKETS, from * TIME_BUCKETS, (from + 1) * TIME_BUCKETS)
      this.#rows.set(host, to)
    }
    for (const column of columns) column.fill(0, kept.length)
    this.#times.fill(0, kept.length * TIME_BUCKETS)
  }
}

function add(column: Float64Array | Uint32Array, row: number, value: number): void {
  column[row] = (column[row] ?? 0) + value
}

function grown(column: Float64Array, length: number): Float64Array<ArrayBuffer> {
  const longer = new Float64Array(length)
  longer.set(column)
  return longer
}
