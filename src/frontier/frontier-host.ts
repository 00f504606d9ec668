// A host as a frontier knows it, whatever its lines are made of: its errands, its turn, what the turn has concluded, and what
// is remembered of it. Those that stand on a workbench are all of this kind.

import { assert } from '../base/index.ts'
import { BenchHost } from './bench-host.ts'
import type { EntryLines } from './entry-lines.ts'
import type { Errand, FrontierEntry, Turn } from './frontier.ts'

interface ErrandLink {
  readonly errand: Errand
  next: ErrandLink | null
}

export abstract class FrontierHost extends BenchHost {
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
  /** While its hours keep it closed: until when, and until when it would have rested otherwise. */
  #closed: { readonly untilMs: number; readonly restUntilMs: number } | null = null
  /** The turn that is out. */
  turn: Turn | null = null
  /** Entries of the turn that have their verdict. */
  readonly concluded: FrontierEntry[] = []
  /** Entries that became pages. */
  pages = 0

  /** The best band with URLs that can be taken now; null when there are none. */
  abstract get bestBand(): number | null
  /** URLs in lines that are in memory: all of them, unless some are on disk. */
  abstract get inMemory(): number
  abstract push(lines: EntryLines, entry: FrontierEntry): void
  abstract pushFirst(lines: EntryLines, entry: FrontierEntry): void
  /** Up to `max` URLs of the best band, taken out in order. */
  abstract shift(lines: EntryLines, max: number): FrontierEntry[]
  /** The URLs in memory, in the order they would be taken. */
  abstract entries(lines: EntryLines): Iterable<FrontierEntry>

  /** It is closed until `untilMs`; its rest, which alone is remembered, ends before. */
  close(restUntilMs: number, untilMs: number): void {
    this.#closed = { untilMs, restUntilMs: Math.max(restUntilMs, this.lastingRestMs) }
  }

  /** Until when it rests, hours that are closed left out. */
  get lastingRestMs(): number {
    const closed = this.#closed
    return closed !== null && closed.untilMs === this.restUntilMs ? closed.restUntilMs : this.restUntilMs
  }

  get hasErrand(): boolean {
    return this.#errands !== null
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
}

/** By URL: what is asked again is a new entry for the same one. A turn has twenty entries at most. */
function isAmong(entries: readonly FrontierEntry[], sought: FrontierEntry): boolean {
  for (const entry of entries) if (entry.url === sought.url) return true
  return false
}
