import type { Frontier, HostRules } from '../frontier/index.ts'
import type { HostKey, Origin } from '../url/index.ts'

/** Hosts remembered with their origins, at some 365 bytes each. Of the others the frontier keeps the longest delay. */
const HOSTS_MAX = 50_000

/**
 * Crawl-delay is said per origin, politeness is kept per host: a host rests for the longest that any of
 * its origins asks for. Only hosts that ask for one are remembered here.
 */
export class CrawlDelays {
  readonly #frontier: Frontier
  readonly #maxMs: number
  readonly #rules: HostRules | null
  /** Lately learnt last. */
  readonly #byHost = new Map<HostKey, Map<Origin, number>>()

  /** A longer delay counts as `maxMs`, or as what a host's own rule says. */
  constructor(frontier: Frontier, maxMs: number, rules: HostRules | null = null) {
    this.#frontier = frontier
    this.#maxMs = maxMs
    this.#rules = rules
  }

  /** What an origin's robots.txt asks for now; null when it asks for nothing, or no longer. */
  learn(host: HostKey, origin: Origin, delayMs: number | null): void {
    let delays = this.#byHost.get(host)
    if (delays === undefined && delayMs === null) return
    if (delays === undefined) {
      delays = new Map()
      this.#byHost.set(host, delays)
      const oldest = this.#byHost.size > HOSTS_MAX ? this.#byHost.keys().next() : null
      if (oldest !== null && oldest.done === false) this.#byHost.delete(oldest.value)
    }
    if (delayMs === null) delays.delete(origin)
    else delays.set(origin, Math.min(delayMs, this.#rules?.ruleOf(host)?.crawlDelayMax ?? this.#maxMs))
    if (delays.size === 0) this.#byHost.delete(host)
    this.#frontier.setLeastRest(host, Math.max(0, ...delays.values()))
  }
}
