// The robots rules of the hosts we visit, bounded in number and in bytes; the least recently used go first.
//
// Losing an entry costs one request for the file, never a wrong decision. In memory entries age on the
// monotonic clock; saved ones carry dates, so that a crawl resumed next week does not trust last week's rules.

import type { Clock, ClockMs } from '../base/index.ts'
import type { Origin } from '../url/index.ts'
import { RobotsRules, type SavedRules } from './robots-rules.ts'
import { type SavedWishes, SiteWishes } from './site-wishes.ts'

export interface RobotsCacheBounds {
  readonly entriesMax: number
  readonly bytesMax: number
}

export interface RobotsEntry {
  readonly rules: RobotsRules
  readonly sitemaps: readonly string[]
  /** What the site asks of the use of its pages; null where nothing. */
  readonly wishes: SiteWishes | null
  /** Whether its tdmrep.json was asked for as well, or need not be. */
  readonly knowsTdm: boolean
  /** Why the file could not be had, where it could not: what users are told. */
  readonly trouble?: string
}

/** An entry as plain data. */
export interface SavedRobotsEntry {
  readonly origin: Origin
  readonly fetchedWallMs: number
  readonly lifeMs: number
  readonly rules: SavedRules
  readonly sitemaps: readonly string[]
  readonly wishes?: SavedWishes
  readonly knowsTdm?: true
  readonly trouble?: string
}

interface Kept extends RobotsEntry {
  readonly fetchedWallMs: number
  readonly lifeMs: number
  readonly expiresMs: ClockMs
  readonly bytes: number
}

/** RFC 9309, 2.4: nothing is relied on for longer. */
export const ROBOTS_LIFE_MS_MAX = 24 * 3_600_000

/** What an entry costs beside its rules: the object, a slot of the map, the key's header. */
const ENTRY_BYTES = 200

export class RobotsCache {
  readonly #clock: Clock
  readonly #bounds: RobotsCacheBounds
  /** Least recently used first. */
  readonly #entries = new Map<Origin, Kept>()
  #bytes = 0
  #hasWishes = false

  constructor(clock: Clock, bounds: RobotsCacheBounds) {
    this.#clock = clock
    this.#bounds = bounds
  }

  get size(): number {
    return this.#entries.size
  }

  /** An estimate; never above `bytesMax` once set() has returned. */
  get bytes(): number {
    return this.#bytes
  }

  /** Whether any site has asked anything of the use of its pages: most crawls need not look. */
  get hasWishes(): boolean {
    return this.#hasWishes
  }

  /** What is known and still valid; null when the file must be asked for. */
  get(origin: Origin): RobotsEntry | null {
    const kept = this.#entries.get(origin)
    if (kept === undefined || kept.expiresMs <= this.#clock.nowMs()) return null
    this.#entries.delete(origin)
    this.#entries.set(origin, kept)
    return kept
  }

  /**
   * What was known last, however old. The RFC lets a crawler go on with it while the file is
   * unreachable; the caller decides for how long.
   */
  getStale(origin: Origin): RobotsEntry | null {
    return this.#entries.get(origin) ?? null
  }

  /** Keeps what an answer said for `lifeMs`, at most a day. */
  set(origin: Origin, entry: RobotsEntry, lifeMs: number): void {
    this.#keep(origin, entry, Math.min(lifeMs, ROBOTS_LIFE_MS_MAX), 0)
  }

  delete(origin: Origin): void {
    const kept = this.#entries.get(origin)
    if (kept === undefined) return
    this.#entries.delete(origin)
    this.#bytes -= kept.bytes
  }

  /** All that is kept, least recently used first, valid or not. */
  *save(): Generator<SavedRobotsEntry> {
    for (const [origin, kept] of this.#entries) {
      yield {
        origin,
        fetchedWallMs: kept.fetchedWallMs,
        lifeMs: kept.lifeMs,
        rules: kept.rules.save(),
        sitemaps: kept.sitemaps,
        ...(kept.wishes === null ? {} : { wishes: kept.wishes.save() }),
        ...(kept.knowsTdm ? { knowsTdm: true } : {}),
        ...(kept.trouble === undefined ? {} : { trouble: kept.trouble }),
      }
    }
  }

  /** Takes back what save() gave, in its order. What has expired by the wall clock, or lies in its future, is left out. */
  restore(saved: Iterable<SavedRobotsEntry>): void {
    const nowWallMs = this.#clock.wallMs()
    for (const { origin, fetchedWallMs, lifeMs, rules, sitemaps, wishes, knowsTdm, trouble } of saved) {
      const ageMs = nowWallMs - fetchedWallMs
      const boundedLifeMs = Math.min(lifeMs, ROBOTS_LIFE_MS_MAX)
      if (ageMs < 0 || ageMs >= boundedLifeMs) continue
      const entry = {
        rules: RobotsRules.restore(rules),
        sitemaps,
        wishes: wishes === undefined ? null : new SiteWishes(wishes),
        knowsTdm: knowsTdm === true,
        ...(trouble === undefined ? {} : { trouble }),
      }
      this.#keep(origin, entry, boundedLifeMs, ageMs)
    }
  }

  #keep(origin: Origin, entry: RobotsEntry, lifeMs: number, ageMs: number): void {
    this.delete(origin)
    if (entry.wishes !== null) this.#hasWishes = true
    const bytes = entry.sitemaps.reduce(
      (sum, sitemap) => sum + sitemap.length + 24,
      ENTRY_BYTES + origin.length + entry.rules.bytes + (entry.wishes?.bytes ?? 0) + (entry.trouble?.length ?? 0),
    )
    // Rules larger than the whole budget are used by whoever set them and forgotten.
    if (bytes > this.#bounds.bytesMax) return
    this.#entries.set(origin, {
      rules: entry.rules,
      sitemaps: entry.sitemaps,
      wishes: entry.wishes,
      knowsTdm: entry.knowsTdm,
      ...(entry.trouble === undefined ? {} : { trouble: entry.trouble }),
      fetchedWallMs: this.#clock.wallMs() - ageMs,
      lifeMs,
      expiresMs: (this.#clock.nowMs() + lifeMs - ageMs) as ClockMs,
      bytes,
    })
    this.#bytes += bytes
    while (this.#entries.size > this.#bounds.entriesMax || this.#bytes > this.#bounds.bytesMax) {
      const oldest = this.#entries.keys().next()
      if (oldest.done === true) return
      this.delete(oldest.value)
    }
  }
}
