// A list of any length, of which a part is held. The server gives it in pieces, each with the place where the next begins: one can go on
// and come back, but not jump. What is far from the eye is forgotten, its place kept, and asked for again on the way back.
//
//   pieces   0    1    2    3    4    5 …            places (a short text each) are kept for all that was seen,
//   held               ███  ███  ███                 rows for HELD_MAX pieces around the eye
//
// What the server finds them in may still be read: `readShare` says how far, and `askAgain` begins the list anew.

export interface Piece<T> {
  readonly items: readonly T[]
  readonly next: string | null
  readonly total: number | null
  /** How far what it was found in is read; left out where it needs no reading. */
  readonly readShare?: number
}

interface Known {
  /** What `after` takes; undefined: the beginning. */
  readonly after: string | undefined
  /** The row it begins with. */
  readonly start: number
}

/** 30 pieces of 100 rows: some hundred kilobytes. */
const HELD_MAX = 30

export class EndlessList<T> {
  readonly #load: (after: string | undefined, signal: AbortSignal) => Promise<Piece<T>>
  readonly #onChange: () => void
  readonly #known: Known[] = [{ after: undefined, start: 0 }]
  readonly #held = new Map<number, readonly T[]>()
  readonly #abort = new AbortController()
  #loading: number | null = null
  #end: number | null = null
  #total: number | null = null
  #readShare = 1
  #error: unknown = null

  constructor(load: (after: string | undefined, signal: AbortSignal) => Promise<Piece<T>>, onChange: () => void) {
    this.#load = load
    this.#onChange = onChange
  }

  /** Rows that are known to be there. */
  get length(): number {
    return this.#end ?? this.#known.at(-1)?.start ?? 0
  }

  get isWhole(): boolean {
    return this.#end !== null
  }

  get isLoading(): boolean {
    return this.#loading !== null
  }

  /** As the server counts; null when it does not. */
  get total(): number | null {
    return this.#end ?? this.#total
  }

  /** 1: there is no more than what it tells of. */
  get readShare(): number {
    return this.#readShare
  }

  get error(): unknown {
    return this.#error
  }

  row(index: number): T | null {
    const piece = this.#pieceOf(index)
    return this.#held.get(piece)?.[index - (this.#known[piece]?.start ?? 0)] ?? null
  }

  /** The rows from first to last are looked at: what lacks is fetched, one piece after another. */
  look(first: number, last: number): void {
    if (this.#loading !== null || this.#error !== null || this.#abort.signal.aborted) return
    const from = this.#pieceOf(Math.max(0, first))
    const to = this.#pieceOf(Math.max(first, last))
    for (let piece = from; piece <= to; piece++) {
      if (this.#held.has(piece)) continue
      const known = this.#known[piece]
      if (known === undefined || (this.#end !== null && known.start >= this.#end)) return
      this.#fetch(piece, known, () => this.look(first, last))
      return
    }
  }

  again(): void {
    this.#error = null
    this.#onChange()
  }

  /** Of its beginning, for what may be there by now; until it answers everything stays as it is. */
  askAgain(): void {
    const [first] = this.#known
    if (first === undefined || this.#loading !== null || this.#error !== null || this.#abort.signal.aborted) return
    this.#fetch(0, first, () => undefined, true)
  }

  close(): void {
    this.#abort.abort()
  }

  #fetch(piece: number, known: Known, then: () => void, isAnew = false): void {
    this.#loading = piece
    void (async () => {
      try {
        const { items, next, total, readShare = 1 } = await this.#load(known.after, this.#abort.signal)
        if (this.#abort.signal.aborted) return
        if (isAnew) this.#forget()
        this.#held.set(piece, items)
        this.#total = total
        this.#readShare = readShare
        const start = known.start + items.length
        if (next === null) this.#end = start
        else if (this.#known.length === piece + 1) this.#known.push({ after: next, start })
        this.#forgetFarFrom(piece)
      } catch (error) {
        if (!this.#abort.signal.aborted) this.#error = error
      }
      this.#loading = null
      if (this.#abort.signal.aborted) return
      this.#onChange()
      then()
    })()
  }

  #forget(): void {
    this.#held.clear()
    this.#known.length = 1
    this.#end = null
  }

  #forgetFarFrom(piece: number): void {
    while (this.#held.size > HELD_MAX) {
      let farthest = piece
      for (const one of this.#held.keys()) if (Math.abs(one - piece) > Math.abs(farthest - piece)) farthest = one
      this.#held.delete(farthest)
    }
  }

  /** The last piece that begins at the row or before it. */
  #pieceOf(row: number): number {
    let low = 0
    let high = this.#known.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#known[middle]?.start ?? 0) <= row) low = middle
      else high = middle - 1
    }
    return low
  }
}
