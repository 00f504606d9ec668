// A host with what waits for it in memory: its lines, one per band that has something.

import { type EntryLines, Line } from './entry-lines.ts'
import { FrontierHost } from './frontier-host.ts'
import type { FrontierEntry } from './frontier.ts'

export class HostLines extends FrontierHost {
  /** From the best band to the worst; bands without URLs have no line. */
  #best: Line | null = null

  override get bestBand(): number | null {
    return this.#best === null ? null : this.#best.band
  }

  override get inMemory(): number {
    return this.waiting
  }

  override push(lines: EntryLines, entry: FrontierEntry): void {
    lines.push(this.#lineOf(entry.band), entry)
    this.waiting++
  }

  override pushFirst(lines: EntryLines, entry: FrontierEntry): void {
    lines.pushFirst(this.#lineOf(entry.band), entry)
    this.waiting++
  }

  override shift(lines: EntryLines, max: number): FrontierEntry[] {
    const line = this.#best
    const taken: FrontierEntry[] = []
    if (line === null) return taken
    const count = Math.min(max, line.count)
    for (let i = 0; i < count; i++) taken.push(lines.shift(line, this.key))
    this.waiting -= count
    if (line.count === 0) this.#best = line.worse
    return taken
  }

  override *entries(lines: EntryLines): Iterable<FrontierEntry> {
    for (let line = this.#best; line !== null; line = line.worse) yield* lines.entries(line, this.key)
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
