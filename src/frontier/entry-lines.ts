// The waiting URLs of all hosts, in columns: a URL that waits is a row, a line is a chain of rows.
//
//      row   next   url        via        depth   counts
//       0     3     '/a …'     '/ …'        1     tries 0, pauses 0, hops 0
//       1    -1     (free)                              free ─▶ 1
//       3    -1     '/b …'     '/ …'        1     …     line of a host's band: 0 ─▶ 3
//
// hot: a row costs 28 bytes (40 with the room to grow, see bench/frontier.ts) and the text of its URL;
// the object of a FrontierEntry (96 bytes more) is born when it is taken. One chain serves a host with one URL and a host with a million alike:
// no ring per host to size, O(1) at both ends. Growing copies three typed columns (12 bytes a row).
// Host and band stand in the line, not in the row. `via` is the caller's own string, shared by all
// links of a page; equal strings that arrive in a row are kept once.
//
// Texts are kept as given and must be flat: a slice of a page would keep the whole page alive.

import { assert } from '../base/index.ts'
import type { CanonicalUrl, HostKey } from '../url/index.ts'
import type { FrontierEntry } from './frontier.ts'

const NONE = -1
const FIRST_CAPACITY = 1_024
/** About what a row costs beside the text of its URL: 28 bytes of columns, room to grow, its share of a via. */
export const ROW_BYTES = 100

/** Ten bits each for tries, pauses and hops, one for the seeds. All are bounded far below by their own options. */
const COUNT_BITS = 10
const COUNT_MAX = 2 ** COUNT_BITS - 1
const SEED_BIT = 1 << (3 * COUNT_BITS)

/** URLs of one band of one host, in order. */
export class Chain {
  readonly band: number
  head = NONE
  tail = NONE
  count = 0

  constructor(band: number) {
    this.band = band
  }
}

/** One band of one host: a chain of rows, never empty while its host keeps it. */
export class Line extends Chain {
  /** The host's line of the next worse band. */
  worse: Line | null = null
}

export class EntryLines {
  #next = new Int32Array(FIRST_CAPACITY)
  #depth = new Uint32Array(FIRST_CAPACITY)
  #counts = new Uint32Array(FIRST_CAPACITY)
  readonly #urls: CanonicalUrl[] = []
  readonly #vias: (CanonicalUrl | null)[] = []
  #free = NONE
  #rows = 0
  #lastVia: CanonicalUrl | null = null
  /** Characters of all URLs. */
  #characters = 0

  /** Bytes that owners of rows keep beside them. */
  charged = 0

  /** Rows in use. */
  get count(): number {
    return this.#rows
  }

  /** About what the rows cost: the texts of the URLs, the rest of a row with its share of a via, and what is charged. */
  get bytes(): number {
    return this.#rows * ROW_BYTES + this.#characters + this.charged
  }

  push(line: Chain, entry: FrontierEntry): void {
    const row = this.#write(entry)
    this.#next[row] = NONE
    if (line.tail === NONE) line.head = row
    else this.#next[line.tail] = row
    line.tail = row
    line.count++
  }

  pushFirst(line: Chain, entry: FrontierEntry): void {
    const row = this.#write(entry)
    this.#next[row] = line.head
    if (line.tail === NONE) line.tail = row
    line.head = row
    line.count++
  }

  /** Takes the first URL of a line. Only when its count > 0. */
  shift(line: Chain, host: HostKey): FrontierEntry {
    const row = line.head
    const entry = this.#read(row, line, host)
    line.head = this.#next[row] as number
    if (line.head === NONE) line.tail = NONE
    line.count--
    this.#release(row)
    return entry
  }

  /** Forgets all URLs of a line but the first `count`. */
  keepFirst(line: Chain, count: number): void {
    if (line.count <= count) return
    let last = NONE
    let row = line.head
    for (let i = 0; i < count; i++) {
      last = row
      row = this.#next[row] as number
    }
    while (row !== NONE) {
      const next = this.#next[row] as number
      this.#release(row)
      row = next
    }
    line.tail = last
    if (last === NONE) line.head = NONE
    else this.#next[last] = NONE
    line.count = count
  }

  /** Puts the URLs of a second line behind those of the first; the second is empty then. */
  join(first: Chain, second: Chain): void {
    if (second.head === NONE) return
    if (first.tail === NONE) first.head = second.head
    else this.#next[first.tail] = second.head
    first.tail = second.tail
    first.count += second.count
    second.head = NONE
    second.tail = NONE
    second.count = 0
  }

  /** The URLs of a line in order, without taking them. The line must not change meanwhile. */
  *entries(line: Chain, host: HostKey): Iterable<FrontierEntry> {
    for (let row = line.head; row !== NONE; row = this.#next[row] as number) yield this.#read(row, line, host)
  }

  #read(row: number, line: Chain, host: HostKey): FrontierEntry {
    const counts = this.#counts[row] as number
    return {
      url: this.#urls[row] as CanonicalUrl,
      host,
      via: this.#vias[row] as CanonicalUrl | null,
      depth: this.#depth[row] as number,
      hops: (counts >>> (2 * COUNT_BITS)) & COUNT_MAX,
      band: line.band,
      isSeed: (counts & SEED_BIT) !== 0,
      tries: counts & COUNT_MAX,
      pauses: (counts >>> COUNT_BITS) & COUNT_MAX,
    }
  }

  #release(row: number): void {
    this.#characters -= (this.#urls[row] as string).length
    this.#urls[row] = '' as CanonicalUrl
    this.#vias[row] = null
    this.#next[row] = this.#free
    this.#free = row
    this.#rows--
  }

  #write(entry: FrontierEntry): number {
    const { tries, pauses, hops } = entry
    if (tries > COUNT_MAX || pauses > COUNT_MAX || hops > COUNT_MAX) {
      assert(false, `${entry.url}: ${tries} tries, ${pauses} pauses or ${hops} hops are more than ${COUNT_MAX}`)
    }
    let row = this.#free
    if (row === NONE) {
      row = this.#rows
      if (row === this.#next.length) this.#grow()
    } else {
      this.#free = this.#next[row] as number
    }
    this.#rows++
    if (entry.via !== this.#lastVia) this.#lastVia = entry.via
    this.#urls[row] = entry.url
    this.#characters += entry.url.length
    this.#vias[row] = this.#lastVia
    this.#depth[row] = entry.depth
    this.#counts[row] = tries | (pauses << COUNT_BITS) | (hops << (2 * COUNT_BITS)) | (entry.isSeed ? SEED_BIT : 0)
    return row
  }

  #grow(): void {
    const capacity = this.#next.length * 2
    this.#next = widened(new Int32Array(capacity), this.#next)
    this.#depth = widened(new Uint32Array(capacity), this.#depth)
    this.#counts = widened(new Uint32Array(capacity), this.#counts)
  }
}

function widened<T extends Int32Array | Uint32Array>(empty: T, old: T): T {
  empty.set(old)
  return empty
}
