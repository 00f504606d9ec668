// Turns over hosts: what every frontier here has in common, whether the lines of its hosts lie in memory or on disk. Who may
// be asked stands in workbench.ts; what waits for whom in the hosts' lines; here the two are joined.
//
// Always true, checked by assertSound(), which every test calls at its end:
//   - a host's band on the workbench is that of its best line, 0 if it has an errand, and none if
//     it has neither, or only URLs that are parked, or is not at hand;
//   - `waitingCount` is the sum over all lines and over what has no verdict in turns that are out;
//   - a turn comes back exactly once.
//
// Checks on the way of every URL build their message only when they fail.

import { assert, type Clock, type ClockMs } from '../base/index.ts'
import type { HostKey } from '../url/index.ts'
import { BANDS_MAX } from './banded-hosts.ts'
import { AT_ADDRESS, CALLED, NO_BAND, OUT, READY, RESTING } from './bench-host.ts'
import { EntryLines } from './entry-lines.ts'
import type { FrontierHost } from './frontier-host.ts'
import {
  BANDS,
  type Errand,
  type Frontier,
  type FrontierEntry,
  type FrontierFigures,
  type HostState,
  type Settlement,
  type Turn,
} from './frontier.ts'
import type { HostRules } from './host-rules.ts'
import { type IpGate, type IpGateSettings, MemoryIpGate } from './ip-gate.ts'
import { SharedIpGate } from './shared-ip-gate.ts'
import { Workbench } from './workbench.ts'

/** The gate of domains is one of addresses: what it lets through one door is one host at a time, and rests. */
export function domainGateSettings(domainDelayMs: number): IpGateSettings {
  return { ipDelayMs: domainDelayMs, ipConnections: 1 }
}

export interface FrontierSettings {
  readonly clock: Clock
  /** The least rest between two requests to any host. */
  readonly delayMs: number
  readonly ipDelayMs: number
  readonly ipConnections: number
  /** The least rest between two requests to hosts of one registrable domain, which are asked one at a time then; 0 or none: off. */
  readonly domainDelayMs?: number
  /** Hosts with manners of their own; null or none where all are treated alike. */
  readonly rules?: HostRules | null
  readonly urlsPerTurn?: number
  readonly bands?: number
  /** A gate of one's own, for agents that share addresses; without it the frontier makes one. */
  readonly ipGate?: IpGate
  /** The same for domains. */
  readonly domainGate?: IpGate | null
}

const URLS_PER_TURN = 20
const NO_ENTRIES: readonly FrontierEntry[] = Object.freeze([])

/** Errands wait for nobody's band: whoever sent one has URLs parked until it is done. */
const ERRAND_BAND = 0

export abstract class FrontierOfHosts<H extends FrontierHost> implements Frontier {
  protected readonly clock: Clock
  protected readonly delayMs: number
  readonly #ipDelayMs: number
  protected readonly domainDelayMs: number
  readonly #rules: HostRules | null
  protected readonly urlsPerTurn: number
  protected readonly bands: number
  protected readonly bench: Workbench
  protected readonly lines = new EntryLines()
  protected readonly hosts = new Map<HostKey, H>()
  protected hostsOffered = 0
  #parked = 0
  /** Entries without a verdict, in lines and out. */
  protected waitingCount = 0
  /** Entries without a verdict in turns that are out. */
  protected entriesOut = 0

  constructor(settings: FrontierSettings) {
    this.clock = settings.clock
    this.delayMs = settings.delayMs
    this.#ipDelayMs = settings.ipDelayMs
    this.domainDelayMs = settings.domainDelayMs ?? 0
    this.#rules = settings.rules ?? null
    this.urlsPerTurn = settings.urlsPerTurn ?? URLS_PER_TURN
    this.bands = settings.bands ?? BANDS
    assert(this.bands >= 1 && this.bands <= BANDS_MAX, `${this.bands} bands; there are 1 to ${BANDS_MAX}`)
    assert(this.urlsPerTurn >= 1, `${this.urlsPerTurn} URLs per turn; at least one is needed`)
    const domainGate = this.domainDelayMs === 0 ? null : (settings.domainGate ?? ownDomainGate(this.domainDelayMs))
    this.bench = new Workbench(this.bands, settings.ipGate ?? new MemoryIpGate(settings), domainGate)
  }

  offer(entry: FrontierEntry): void {
    const host = this.hostToFile(entry)
    this.assertFits(entry, host)
    this.willArrive(host)
    if (!host.wasOffered) this.offeredFirst(host)
    host.push(this.lines, entry)
    this.waitingCount++
    this.rank(host)
  }

  sendErrand(errand: Errand): void {
    const host = this.hostOf(errand.host)
    host.pushErrand(errand)
    this.rank(host)
  }

  take(): Turn | null {
    const host = this.bench.next(this.clock.nowMs()) as H | null
    if (host === null) return null
    const errand = host.shiftErrand()
    const entries = errand === null ? host.shift(this.lines, this.#turnSize(host)) : NO_ENTRIES
    const turn: Turn = { host: host.key, errand, entries }
    host.turn = turn
    this.entriesOut += entries.length
    this.hasTaken(host)
    return turn
  }

  nextReadyMs(): ClockMs | null {
    const atMs = this.bench.nextReadyMs(this.clock.nowMs())
    return atMs === Infinity ? null : (atMs as ClockMs)
  }

  claimAddress(turn: Turn, address: string): ClockMs | 0 {
    const host = this.hostOut(turn)
    host.addressText = address
    return this.bench.claim(host, address, this.clock.nowMs()) as ClockMs | 0
  }

  conclude(entry: FrontierEntry, isPage: boolean): void {
    const host = this.hostOf(entry.host)
    this.willChange(host)
    host.conclude(entry)
    if (isPage) host.pages++
    this.entriesOut--
    this.waitingCount--
  }

  pagesOf(key: HostKey): number {
    return this.hosts.get(key)?.pages ?? 0
  }

  settle(turn: Turn, settlement: Settlement): void {
    const host = this.hostOut(turn)
    const unvisited = settlement.unvisited ?? NO_ENTRIES
    const again = settlement.again ?? NO_ENTRIES
    if (!(settlement.restMs >= 0)) assert(false, `${turn.host} cannot rest for ${settlement.restMs} ms`)
    const concluded = host.concluded.length
    if (unvisited.length + again.length + concluded !== turn.entries.length) {
      assert(
        false,
        `${turn.host}: of ${turn.entries.length} entries ${concluded} have a verdict and ${unvisited.length} + ${again.length} come back`,
      )
    }
    if (again.length > 0 || settlement.restMs > this.delayOf(host.key)) this.willChange(host)
    for (let i = unvisited.length - 1; i >= 0; i--) {
      const entry = unvisited[i] as FrontierEntry
      this.assertFits(entry, host)
      host.pushFirst(this.lines, entry)
    }
    for (const entry of again) {
      this.assertFits(entry, host)
      host.push(this.lines, entry)
    }
    host.turn = null
    host.concluded.length = 0
    this.entriesOut -= turn.entries.length - concluded
    const nowMs = this.clock.nowMs()
    const { restMs, closedMs = 0, wasAsked = true } = settlement
    if (closedMs > restMs) host.close(nowMs + restMs, nowMs + closedMs)
    this.bench.settle(host, nowMs + Math.max(restMs, closedMs), this.bandOf(host), nowMs, wasAsked)
    this.countParked(host)
    this.hasSettled(host)
  }

  park(key: HostKey): void {
    const host = this.hostOf(key)
    host.isParked = true
    this.rank(host)
  }

  unpark(key: HostKey): void {
    const host = this.hostOf(key)
    host.isParked = false
    this.rank(host)
  }

  rest(key: HostKey, restMs: number): void {
    const nowMs = this.clock.nowMs()
    const host = this.hostOf(key)
    this.willChange(host)
    this.bench.rest(host, nowMs + restMs, nowMs)
  }

  setLeastRest(key: HostKey, restMs: number): void {
    const host = this.hostOf(key)
    if (host.leastRestMs === restMs) return
    this.willChange(host)
    host.leastRestMs = restMs
  }

  leastRestMs(key: HostKey): number {
    return Math.max(this.delayOf(key), this.hosts.get(key)?.leastRestMs ?? 0)
  }

  inspect(key: HostKey): HostState | null {
    this.bench.advance(this.clock.nowMs())
    const host = this.hosts.get(key)
    return host === undefined ? null : this.stateOf(host)
  }

  figures(): FrontierFigures {
    this.bench.advance(this.clock.nowMs())
    return {
      waiting: this.waitingCount,
      hosts: this.hostsOffered,
      ready: this.bench.readyCount,
      resting: this.bench.restingCount,
      parked: this.#parked,
      out: this.bench.outCount,
    }
  }

  assertSound(): void {
    let entriesOut = 0
    let parked = 0
    for (const host of this.hosts.values()) {
      entriesOut += host.unconcluded.length
      assert(host.turn !== null || host.concluded.length === 0, `${host.key} has verdicts of no turn`)
      parked += host.countsAsParked ? 1 : 0
      const walked = [...host.entries(this.lines)]
      assert(walked.length === host.inMemory, `${host.key}: ${walked.length} URLs in line, ${host.inMemory} counted`)
      assert((host.turn !== null) === (host.place === OUT), `${host.key} is out without a turn, or the other way round`)
      assert(host.place === OUT || host.band === this.bandOf(host), `${host.key} is ranked wrongly`)
      const isParked = host.place !== OUT && host.isParked && !host.hasErrand && host.waiting > 0
      assert(host.countsAsParked === isParked, `${host.key} is counted wrongly as parked or not`)
    }
    assert(entriesOut === this.entriesOut, `${entriesOut} entries are out, ${this.entriesOut} counted`)
    assert(parked === this.#parked, `${parked} hosts are parked, ${this.#parked} counted`)
    this.bench.assertSound(this.hosts.values())
  }

  /** A host that was never met. */
  protected abstract makeHost(key: HostKey): H

  /** The host to file a URL under. */
  protected hostToFile(entry: FrontierEntry): H {
    return this.hostOf(entry.host)
  }

  /** Called before anything changes that a checkpoint must know of, but for arrivals. */
  protected willChange(_host: H): void {}

  /** Called before a URL is filed under the host. */
  protected willArrive(_host: H): void {}

  /** Called when a turn was taken. */
  protected hasTaken(_host: H): void {}

  /** Called when a turn was given back. */
  protected hasSettled(_host: H): void {}

  protected offeredFirst(host: H): void {
    host.wasOffered = true
    this.hostsOffered++
  }

  /** Several URLs in one turn only where no rest is due between two requests, to the host, its domain or its address. */
  #turnSize(host: H): number {
    const isRestless = host.leastRestMs === 0 && this.#ipDelayMs === 0 && this.domainDelayMs === 0
    return isRestless && this.delayOf(host.key) === 0 ? this.urlsPerTurn : 1
  }

  /** The configured rest of a host: its own, or that of all. */
  protected delayOf(key: HostKey): number {
    return this.#rules === null ? this.delayMs : (this.#rules.ruleOf(key)?.delay ?? this.delayMs)
  }

  /** The band in which a host has something to be asked for now. */
  protected bandOf(host: H): number {
    if (host.hasErrand) return ERRAND_BAND
    return host.isParked ? NO_BAND : (host.bestBand ?? NO_BAND)
  }

  protected rank(host: H): void {
    const band = this.bandOf(host)
    // One URL more seldom changes a host's band: then the bench has nothing to do, and needs no time.
    if (band !== host.band) this.bench.rank(host, band, this.clock.nowMs())
    this.countParked(host)
  }

  protected countParked(host: H): void {
    const counts = host.place !== OUT && host.isParked && !host.hasErrand && host.waiting > 0
    if (counts === host.countsAsParked) return
    host.countsAsParked = counts
    this.#parked += counts ? 1 : -1
  }

  protected stateOf(host: H): HostState {
    return {
      host: host.key,
      waiting: host.waiting + (host.turn?.entries.length ?? 0) - host.concluded.length,
      state: stateName(host),
      restUntilMs: host.restUntilMs,
      leastRestMs: Math.max(this.delayOf(host.key), host.leastRestMs),
      address: host.addressText,
    }
  }

  protected hostOf(key: HostKey): H {
    let host = this.hosts.get(key)
    if (host === undefined) {
      host = this.makeHost(key)
      this.hosts.set(key, host)
    }
    return host
  }

  protected hostOut(turn: Turn): H {
    const host = this.hosts.get(turn.host)
    if (host === undefined || host.turn !== turn) assert(false, `the turn of ${turn.host} is not out (any more)`)
    return host
  }

  protected assertFits(entry: FrontierEntry, host: H): void {
    if (entry.host !== host.key) assert(false, `${entry.url} of ${entry.host} is filed under ${host.key}`)
    if (!(entry.band >= 0 && entry.band < this.bands)) assert(false, `${entry.url}: there is no band ${entry.band}`)
  }
}

/** Of a fixed size, however many domains there are; those that meet in one door share its politeness. */
function ownDomainGate(domainDelayMs: number): IpGate {
  return new SharedIpGate(SharedIpGate.allocate(1), 0, domainGateSettings(domainDelayMs), 0)
}

function stateName(host: FrontierHost): HostState['state'] {
  switch (host.place) {
    case OUT:
      return 'out'
    case RESTING:
      return 'resting'
    case READY:
    case CALLED:
    case AT_ADDRESS:
      return 'ready'
    default:
      return host.countsAsParked ? 'parked' : 'idle'
  }
}
