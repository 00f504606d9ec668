// A host with what waits for it: its lines, one per band that has something, and its errands.

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
