// A host with what waits for it: its lines, one per band that has something, and its errands.

import { assert } from '../base/index.ts'
import { BenchHost } from './bench-host.ts'
import { type EntryLines, Line } from './entry-lines.ts'
import type { Errand, FrontierEntry, Turn } from './frontier.ts'

interface ErrandLink {
  readonly errand: Errand
  next: ErrandLink | null
}

export class HostLines extends BenchHost {
  /** From the best band to the worst; bands without URLs have no line. */
  #best: Line | null = null
  #errands: ErrandLink | null = null
  #lastErrand: ErrandLink | null = null
  /** URLs in all lines; those that are out are not among them. */
  waiting = 0
  wasOffered = false
  isParked = false
  /** Not out, and nothing to be asked for but URLs that are parked. */
  countsAsParked = false
  /** Beside the configured one. */
  leastRestMs = 0
  addressText: string | null = null
  /** The turn that is out. */
  turn: Turn | null = null
  /** Entries of the turn that have their verdict. */
  readonly concluded: FrontierEntry[] = []
  /** Entries that became pages. */
  pages = 0

  /** The best band with URLs; null when none wait. */
  get bestBand(): number | null {
    return this.#best === null ? null : this.#best.band
  }

  get hasErrand(): boolean {
    return this.#errands !== null
  }

  push(lines: EntryLines, entry: FrontierEntry): void {
    lines.push(this.#lineOf(entry.band), entry)
    this.waiting++
  }

  pushFirst(lines: EntryLines, entry: FrontierEntry): void {
    lines.pushFirst(this.#lineOf(entry.band), entry)
    this.waiting++
  }

  /** Up to `max` URLs of the best band, taken out in order. */
  shift(lines: EntryLines, max: number): FrontierEntry[] {
    const line = this.#best
    const taken: FrontierEntry[] = []
    if (line === null) return taken
    const count = Math.min(max, line.count)
    for (let i = 0; i < count; i++) taken.push(lines.shift(line, this.key))
    this.waiting -= count
    if (line.count === 0) this.#best = line.worse
    return taken
  }

  /** Takes note that an entry of the turn has its verdict. */
  conclude(entry: FrontierEntry): void {
    const { turn, concluded } = this
    // Almost always in order: then the one before it in the turn was the last concluded.
    const at = concluded.length
    const isNext = turn?.entries[at]?.url === entry.url && (at === 0 || turn.entries[at - 1] === concluded[at - 1])
    if (!isNext && (turn === null || !isAmong(turn.entries, entry) || isAmong(concluded, entry))) {
      assert(false, `${entry.url} is concluded, but is not out, or was concluded before`)
    }
    concluded.push(entry)
  }

  /** Entries of the turn without a verdict, in order. */
  get unconcluded(): readonly FrontierEntry[] {
    const { turn, concluded } = this
    return turn === null ? [] : turn.entries.filter((entry) => !isAmong(concluded, entry))
  }

  *entries(lines: EntryLines): Iterable<FrontierEntry> {
    for (let line = this.#best; line !== null; line = line.worse) yield* lines.entries(line, this.key)
  }

  pushErrand(errand: Errand): void {
    const link: ErrandLink = { errand, next: null }
    if (this.#lastErrand === null) this.#errands = link
    else this.#lastErrand.next = link
    this.#lastErrand = link
  }

  shiftErrand(): Errand | null {
    const link = this.#errands
    if (link === null) return null
    this.#errands = link.next
    if (link.next === null) this.#lastErrand = null
    return link.errand
  }

  #lineOf(band: number): Line {
    let better: Line | null = null
    let line = this.#best
    while (line !== null && line.band < band) {
      better = line
      line = line.worse
    }
    if (line !== null && line.band === band) return line
    const inserted = new Line(band)
    inserted.worse = line
    if (better === null) this.#best = inserted
    else better.worse = inserted
    return inserted
  }
}

/** By URL: what is asked again is a new entry for the same one. A turn has twenty entries at most. */
function isAmong(entries: readonly FrontierEntry[], sought: FrontierEntry): boolean {
  for (const entry of entries) if (entry.url === sought.url) return true
  return false
}
