// Counts by name in bounded memory. The web chooses the names (servers, types, languages), so there
// may be millions of different ones.
//
// Up to `namesMax` names are exact. At twice that the smaller half is dropped and their sum kept apart:
// whoever is large by then stays exact, a name that was dropped and comes again starts from zero. The
// report shows the largest few dozen, which only an adversary who orders the names could displace.

export interface TallyRow {
  readonly name: string
  readonly count: number
  /** A second sum beside the count: bytes, mostly. */
  readonly weight: number
}

export interface TallyRows {
  /** Largest first; equal ones by name, so that the same crawl gives the same report. */
  readonly rows: readonly TallyRow[]
  /** What is not in the rows: how many names (at least), and their sums. */
  readonly others: { readonly names: number; readonly count: number; readonly weight: number }
  readonly total: number
}

interface Entry {
  count: number
  weight: number
}

export class Tally {
  readonly #namesMax: number
  readonly #entries = new Map<string, Entry>()
  #total = 0
  #droppedNames = 0
  #droppedCount = 0
  #droppedWeight = 0

  constructor(namesMax = 10_000) {
    this.#namesMax = namesMax
  }

  add(name: string, weight = 0, count = 1): void {
    this.#total += count
    const entry = this.#entries.get(name)
    if (entry !== undefined) {
      entry.count += count
      entry.weight += weight
      return
    }
    this.#entries.set(name, { count, weight })
    if (this.#entries.size > 2 * this.#namesMax) this.#drop()
  }

  get total(): number {
    return this.#total
  }

  largest(rowsMax: number): TallyRows {
    const sorted = this.#sorted()
    const rows = sorted.slice(0, rowsMax)
    const others = { names: this.#droppedNames, count: this.#droppedCount, weight: this.#droppedWeight }
    for (const row of sorted.slice(rowsMax)) {
      others.names++
      others.count += row.count
      others.weight += row.weight
    }
    return { rows, others, total: this.#total }
  }

  #sorted(): TallyRow[] {
    return Array.from(this.#entries, ([name, { count, weight }]) => ({ name, count, weight })).sort(
      (a, b) => b.count - a.count || (a.name < b.name ? -1 : 1),
    )
  }

  #drop(): void {
    for (const row of this.#sorted().slice(this.#namesMax)) {
      this.#entries.delete(row.name)
      this.#droppedNames++
      this.#droppedCount += row.count
      this.#droppedWeight += row.weight
    }
  }
}
