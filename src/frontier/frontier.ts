// Whose turn is it? The frontier keeps the URLs that wait, filed under their hosts, and hands out
// turns: the right to ask one host now. It knows nothing of HTTP, robots or scores; it knows bands,
// times and addresses.
//
// The life of a host:
//
//            offer/sendErrand               take
//   absent ───────────────────▶ waiting ──────────▶ out ──┐
//                                  ▲   (rested, its IP     │ settle: rests for restMs,
//                                  │    free, not parked)  │ then waits again, or is idle
//                                  └───────────────────────┘
//
// A parked host (its robots.txt is being fetched elsewhere) gives turns for errands only.

import type { ClockMs } from '../base/index.ts'
import type { CanonicalUrl, HostKey } from '../url/index.ts'

/** How many bands there are unless a frontier is made with another number. */
export const BANDS = 8

/** A URL that waits. Immutable; a retry is a new entry with one more try. */
export interface FrontierEntry {
  readonly url: CanonicalUrl
  readonly host: HostKey
  /** The page it was found on; null for seeds. */
  readonly via: CanonicalUrl | null
  /** Links followed from a seed. */
  readonly depth: number
  /** Redirects followed in a row to get here. */
  readonly hops: number
  /** 0 is served first, and nothing of a worse band while a better one has a host that may be asked. */
  readonly band: number
  readonly isSeed: boolean
  /** How often it was asked for in vain and blamed for it. */
  readonly tries: number
  /** How often the host asked for a pause when this URL was requested. */
  readonly pauses: number
}

/**
 * A request that must be made in a host's turn but is not a URL of the crawl: a robots.txt, here or
 * at the end of a redirect from another host. Errands go before entries, run on parked hosts too, and
 * put their host into band 0: whoever sent one has URLs that wait for it.
 */
export interface Errand {
  readonly url: CanonicalUrl
  readonly host: HostKey
  /** Whatever the sender wants back with the turn. */
  readonly purpose: unknown
}

/** The right to ask one host now, over one connection. Given back exactly once, by settle(). */
export interface Turn {
  readonly host: HostKey
  /** Set when this turn is for an errand; then there are no entries. */
  readonly errand: Errand | null
  /** Of one band; up to `urlsPerTurn` when neither host nor address needs a rest between requests, else one. */
  readonly entries: readonly FrontierEntry[]
}

export interface Settlement {
  /** How long the host rests from now. */
  readonly restMs: number
  /**
   * How long its hours keep it closed from now, beyond any rest. Not remembered across runs: whoever knows the hours
   * says so again with the next turn.
   */
  readonly closedMs?: number
  /** False when no request was made in this turn: then its address need not rest. True by default. */
  readonly wasAsked?: boolean
  /** Entries of the turn that were not asked; they go back to the head of their band, in order. */
  readonly unvisited?: readonly FrontierEntry[]
  /** Entries to be asked again later; they go to the tail of their band. */
  readonly again?: readonly FrontierEntry[]
}

export interface FrontierFigures {
  /** Entries without a verdict: waiting or out. Errands are not counted. */
  readonly waiting: number
  /** Hosts ever offered. */
  readonly hosts: number
  /** Hosts with something waiting, by state; ready ones may still have to wait for their address. */
  readonly ready: number
  readonly resting: number
  readonly parked: number
  readonly out: number
}

export interface Frontier {
  /** Files a URL under its host. The caller has asked the seen set. */
  offer(entry: FrontierEntry): void
  sendErrand(errand: Errand): void
  /**
   * A turn of a host that has rested, whose address is free and rested too; null if there is none now.
   * Hosts of the best band first; within it round-robin, so that a host with a million URLs starves nobody.
   * The IP is claimed with the turn when the address of the host is known.
   */
  take(): Turn | null
  /**
   * When take() may next succeed, if nothing is settled or offered before; null if only that can help.
   * Never now or earlier when take() has just found nothing.
   */
  nextReadyMs(): ClockMs | null
  /**
   * Tells the address of a host once it is resolved. For a turn that is out it claims the IP: 0 when
   * granted, else when to try again (and the caller settles the turn with that rest, all unvisited).
   * The time may be now: the address is taken, the host goes back into line and waits there.
   */
  claimAddress(turn: Turn, address: string): ClockMs | 0
  /**
   * An entry of a turn that is out has its verdict: from now on it does not wait, whatever becomes of the turn.
   * Each entry of a turn is concluded once or comes back with settle(), never both.
   */
  conclude(entry: FrontierEntry, isPage: boolean): void
  settle(turn: Turn, settlement: Settlement): void
  /** The host rests at least this long from now, without a turn: a rest remembered from an earlier run. */
  rest(host: HostKey, restMs: number): void
  /** No entries of this host until unpark(). Parking twice is parking once. */
  park(host: HostKey): void
  unpark(host: HostKey): void
  /** The least rest between two requests to the host (Crawl-delay), beside the configured one. */
  setLeastRest(host: HostKey, restMs: number): void
  leastRestMs(host: HostKey): number
  /** Entries of a host concluded as pages, earlier runs included. Only of a host whose turn is out. */
  pagesOf(host: HostKey): number
  /** What is known of a host's state now, for `explain` and the control API. */
  inspect(host: HostKey): HostState | null
  figures(): FrontierFigures
  /** Throws if a promise of the implementation is broken. O(everything): for tests. */
  assertSound(): void
}

export interface HostState {
  readonly host: HostKey
  /** Entries waiting or out. */
  readonly waiting: number
  /** 'ready' also while its address is not free; 'idle' when there is nothing to ask it for. */
  readonly state: 'idle' | 'ready' | 'resting' | 'parked' | 'out'
  /** Only meaningful while resting. */
  readonly restUntilMs: ClockMs
  readonly leastRestMs: number
  readonly address: string | null
}

/** All that a frontier knows of a host, on its way to another frontier. */
export interface HandedHost {
  readonly host: HostKey
  readonly wasOffered: boolean
  readonly pages: number
  readonly leastRestMs: number
  /** What is left of its rest. */
  readonly restMs: number
  /** Those without a verdict, in the order of their lines. To be read before the next host is asked for. */
  readonly entries: AsyncIterable<FrontierEntry>
}
