// Who may be asked now, and when the next one may: hosts ordered by their rest, their band and the
// freedom of their address. It knows nothing of URLs; a frontier tells it each host's best band.
//
//   ASIDE ──rank──▶ RESTING ──rest over──▶ READY ──first in line──▶ OUT
//     ▲                                      │  address not free     ▲
//     │ no band any more                     ▼                       │
//     └──────────────────────────────── AT_ADDRESS ──▶ CALLED ───────┘
//                                        address free, one at a time
//
// Where domains rest as well, a host passes two gates: first its domain's, where it waits in the same way; what it
// holds there it keeps while it waits for its address. So of a domain's hosts one at most stands at an address, the others
// in the domain's line, and each of both lines is passed once per turn.
//
// hot: next() and settle() run once per turn; no allocation while no address is contended.
//
// Order: strictly by band. Within a band a host that became ready goes to the end of the line, so
// that while it stays eligible every other host of its band is served at most once before it. The
// called go before the ready: they have been through the line and waited for their address since.
//
// Cost of a turn: O(1), and O(log n) when there is a rest. A host stops at its address at most once
// per turn, plus once per release for the one that is called; never a scan of an address's hosts.
//
// Always true, checked by assertSound():
//   - a host with a band stands in exactly one place, a host without one is ASIDE or OUT;
//   - whoever waits AT_ADDRESS will be called: its address's line has a called host, or a time, or
//     the gate waits for a release;
//   - restUntilMs never decreases.

import { assert, type ClockMs } from '../base/index.ts'
import { registrableDomain } from '../url/index.ts'
import { AddressLine, Crowd } from './address-line.ts'
import { BandedHosts } from './banded-hosts.ts'
import { ASIDE, AT_ADDRESS, type BenchHost, CALLED, NO_BAND, NO_DOOR, OUT, READY, RESTING } from './bench-host.ts'
import type { IpGate } from './ip-gate.ts'
import { RestHeap } from './rest-heap.ts'

export class Workbench {
  readonly #bands: number
  readonly #ready: BandedHosts
  readonly #called: BandedHosts
  readonly #resting = new RestHeap<BenchHost>()
  /** Addresses with hosts in line. */
  readonly #addresses: Crowd
  /** Domains with hosts in line; null where domains do not rest. */
  readonly #domains: Crowd | null
  /** No domain is asked before this. */
  #domainsFromMs = 0
  #atAddress = 0
  #out = 0

  constructor(bands: number, gate: IpGate, domainGate: IpGate | null = null) {
    this.#bands = bands
    this.#addresses = new Crowd(gate)
    this.#domains = domainGate === null ? null : new Crowd(domainGate)
    this.#ready = new BandedHosts(bands)
    this.#called = new BandedHosts(bands)
  }

  /** Rested and with something to be asked for, whether or not the address is free. */
  get readyCount(): number {
    return this.#ready.size + this.#called.size + this.#atAddress
  }

  /** The best band in which a host may be asked, if its address is free; Infinity when there is none. */
  get bestBand(): number {
    return Math.min(this.#ready.bestBand, this.#called.bestBand)
  }

  get restingCount(): number {
    return this.#resting.size
  }

  get outCount(): number {
    return this.#out
  }

  /** Says in which band the host has something to be asked for now; NO_BAND when there is nothing. */
  rank(host: BenchHost, band: number, nowMs: number): void {
    if (host.band === band) return
    // A host that is out keeps the band of its turn until settle().
    if (host.place === OUT) return
    if (host.place === RESTING && band !== NO_BAND) {
      host.band = band
    } else if (host.place === AT_ADDRESS && band !== NO_BAND) {
      this.#reline(host, band)
    } else {
      // A called host whose band changes goes to the end of the ready line of its new band.
      this.#leave(host, nowMs)
      host.band = band
      this.#line(host, nowMs)
    }
  }

  /** The host whose turn it is, out from now on, its address claimed when known; null if there is none. */
  next(nowMs: number): BenchHost | null {
    this.advance(nowMs)
    for (;;) {
      const isCalled = this.#called.bestBand <= this.#ready.bestBand
      const host = isCalled ? this.#called.first : this.#ready.first
      if (host === null) return null
      if (this.#passes(host, nowMs)) {
        host.place = OUT
        this.#out++
        return host
      }
    }
  }

  /**
   * The address of a host that is out. 0 when it is claimed for this turn, else when to ask again;
   * a host new to an address does not overtake those that wait for it.
   */
  claim(host: BenchHost, address: string, nowMs: number): number {
    if (host.place !== OUT) assert(false, `${host.key} claims an address without a turn`)
    const { gate } = this.#addresses
    const door = gate.doorOf(address)
    if (host.holdsClaim) {
      if (host.door === door) return 0
      this.#release(host, nowMs, true)
    }
    host.door = door
    const line = this.#addresses.lineAt(door)
    if (line !== undefined && line.goesBefore(host.band)) return nowMs
    const atMs = gate.claim(door, nowMs, host)
    host.holdsClaim = atMs === 0
    return atMs === Infinity ? nowMs : atMs
  }

  /** Ends the turn of a host: it gives back its address, rests, and is ranked anew. */
  settle(host: BenchHost, restUntilMs: number, band: number, nowMs: number, wasAsked: boolean): void {
    if (host.place !== OUT) assert(false, `${host.key} is settled but not out`)
    if (host.holdsClaim) this.#release(host, nowMs, wasAsked)
    if (host.holdsDomain) this.#releaseDomain(host, nowMs, wasAsked)
    this.#out--
    host.place = ASIDE
    host.band = band
    this.#lengthen(host, restUntilMs)
    this.#line(host, nowMs)
  }

  /** Lengthens the rest of a host, wherever it is. */
  rest(host: BenchHost, restUntilMs: number, nowMs: number): void {
    if (restUntilMs <= host.restUntilMs) return
    this.#lengthen(host, restUntilMs)
    if (host.place === RESTING) this.#resting.move(host, restUntilMs)
    else if (host.place !== OUT && host.place !== ASIDE && restUntilMs > nowMs) {
      this.#leave(host, nowMs)
      this.#line(host, nowMs)
    }
  }

  /** When next() may first yield a host if nothing changes; Infinity if only a change can help. */
  nextReadyMs(nowMs: number): number {
    this.advance(nowMs)
    if (this.#ready.size > 0 || this.#called.size > 0) return nowMs
    const atDomainsMs = this.#domains === null ? Infinity : this.#domains.resting.firstMs
    return Math.min(this.#resting.firstMs, this.#addresses.resting.firstMs, atDomainsMs)
  }

  /** An earlier run may have asked any domain up to now. */
  restDomains(untilMs: number): void {
    this.#domainsFromMs = untilMs
  }

  /** Ends the rests that are over. */
  advance(nowMs: number): void {
    while (this.#resting.firstMs <= nowMs) {
      const host = this.#resting.pop()
      host.place = READY
      this.#ready.push(host)
    }
    const { resting } = this.#addresses
    while (resting.firstMs <= nowMs) this.#call(resting.pop())
    if (this.#domains === null) return
    const domains = this.#domains.resting
    while (domains.firstMs <= nowMs) this.#call(domains.pop())
  }

  /** Whether the host first in line may go out; if not, it has been moved to the line of its domain or address. */
  #passes(host: BenchHost, nowMs: number): boolean {
    let caller: AddressLine | null = null
    if (host.place === CALLED) {
      caller = this.#lineOf(host)
      this.#called.remove(host)
      caller.called = null
    } else this.#ready.remove(host)
    const refusedAt = this.#enter(host, caller, nowMs)
    // Who went back to the head of the line it was called from waits there for all.
    if (caller !== null && refusedAt !== caller) this.#call(caller)
    return refusedAt === null
  }

  /** Through one gate and the other: null when it may go out, else the line it waits in now. */
  #enter(host: BenchHost, caller: AddressLine | null, nowMs: number): AddressLine | null {
    if (this.#domains !== null && !host.holdsDomain) {
      if (host.domainDoor === NO_DOOR) host.domainDoor = this.#domains.gate.doorOf(registrableDomain(host.key))
      const line = this.#passGate(host, this.#domains, host.domainDoor, caller, nowMs)
      if (line !== null) return line
      host.holdsDomain = true
    }
    if (host.door === NO_DOOR) return null
    const line = this.#passGate(host, this.#addresses, host.door, caller, nowMs)
    if (line === null) host.holdsClaim = true
    return line
  }

  #passGate(
    host: BenchHost,
    crowd: Crowd,
    door: number,
    caller: AddressLine | null,
    nowMs: number,
  ): AddressLine | null {
    const line = crowd.lineAt(door)
    const wasCalled = caller !== null && caller === line
    // Not even asked: a gate shared with others may be free by now, but those in line go first.
    const mustWait = !wasCalled && line !== undefined && line.goesBefore(host.band)
    let atMs: number | null = null
    if (!mustWait) {
      const isTooEarly = crowd === this.#domains && nowMs < this.#domainsFromMs
      atMs = isTooEarly ? this.#domainsFromMs : crowd.gate.claim(door, nowMs, host)
      if (atMs === 0) return null
    }
    const joined = line ?? this.#newLine(crowd, door)
    this.#wait(host, joined, wasCalled, atMs)
    return joined
  }

  /** Puts a host into the line of an address or domain; `atMs` is what the gate said, null if it was not asked. */
  #wait(host: BenchHost, line: AddressLine, isFirst: boolean, atMs: number | null): void {
    host.place = AT_ADDRESS
    this.#atAddress++
    if (isFirst) line.waiting.pushFirst(host)
    else line.waiting.push(host)
    if (atMs === null) return
    // What one of the address was refused, the called one would be refused as well.
    if (line.called !== null) {
      const called = line.called
      line.called = null
      this.#called.remove(called)
      called.place = AT_ADDRESS
      this.#atAddress++
      line.waiting.pushFirst(called)
    }
    const { resting } = line.crowd
    if (line.heapIndex >= 0) resting.remove(line)
    if (atMs !== Infinity) resting.push(line, atMs)
  }

  /** The address may be free: its first host in line is called, unless one is called already. */
  #call(line: AddressLine): void {
    const host = line.waiting.first
    if (line.called !== null) return
    if (host === null) {
      if (line.heapIndex >= 0) line.crowd.resting.remove(line)
      line.crowd.lines.delete(line.door)
      return
    }
    line.waiting.remove(host)
    this.#atAddress--
    line.called = host
    host.place = CALLED
    this.#called.push(host)
  }

  #newLine(crowd: Crowd, door: number): AddressLine {
    const line = new AddressLine(crowd, door, this.#bands)
    crowd.lines.set(door, line)
    return line
  }

  /** The line a host waits in, or was called from: its address's when it has its domain. */
  #lineOf(host: BenchHost): AddressLine {
    const domains = this.#domains
    const line =
      domains === null || host.holdsDomain ? this.#addresses.lineAt(host.door) : domains.lineAt(host.domainDoor)
    return line as AddressLine
  }

  /** Moves a host that waits at its address to another band, before a called one of a worse band. */
  #reline(host: BenchHost, band: number): void {
    const line = this.#lineOf(host)
    line.waiting.remove(host)
    host.band = band
    line.waiting.push(host)
    const called = line.called
    if (called === null || called.band <= band) return
    this.#called.remove(called)
    called.place = AT_ADDRESS
    this.#atAddress++
    line.waiting.pushFirst(called)
    line.called = null
    this.#call(line)
  }

  #release(host: BenchHost, nowMs: number, wasAsked: boolean): void {
    host.holdsClaim = false
    this.#free(this.#addresses, host.door, nowMs, wasAsked, host)
  }

  #releaseDomain(host: BenchHost, nowMs: number, wasAsked: boolean): void {
    host.holdsDomain = false
    if (this.#domains !== null) this.#free(this.#domains, host.domainDoor, nowMs, wasAsked, host)
  }

  #free(crowd: Crowd, door: number, nowMs: number, wasAsked: boolean, host: BenchHost): void {
    crowd.gate.release(door, nowMs, wasAsked, host)
    const line = crowd.lineAt(door)
    if (line !== undefined) this.#call(line)
  }

  #lengthen(host: BenchHost, restUntilMs: number): void {
    if (restUntilMs > host.restUntilMs) host.restUntilMs = restUntilMs as ClockMs
  }

  /** Files a host that stands ASIDE where it belongs. */
  #line(host: BenchHost, nowMs: number): void {
    if (host.band === NO_BAND) return
    if (host.restUntilMs > nowMs) {
      host.place = RESTING
      this.#resting.push(host, host.restUntilMs)
    } else {
      host.place = READY
      this.#ready.push(host)
    }
  }

  /** Takes a host from wherever it stands; it is ASIDE then. */
  #leave(host: BenchHost, nowMs: number): void {
    switch (host.place) {
      case READY:
        this.#ready.remove(host)
        break
      case RESTING:
        this.#resting.remove(host)
        break
      case CALLED:
      case AT_ADDRESS: {
        const line = this.#lineOf(host)
        if (host.place === CALLED) {
          this.#called.remove(host)
          line.called = null
          this.#call(line)
        } else {
          line.waiting.remove(host)
          this.#atAddress--
          if (line.isEmpty) this.#call(line)
        }
        if (host.holdsDomain) this.#releaseDomain(host, nowMs, false)
        break
      }
      default:
    }
    if (host.place !== OUT) host.place = ASIDE
  }

  /** Checks every promise of the header against the hosts given, which must be all there are. */
  assertSound(hosts: Iterable<BenchHost>): void {
    const byPlace = [0, 0, 0, 0, 0, 0]
    for (const host of hosts) {
      byPlace[host.place] = (byPlace[host.place] ?? 0) + 1
      assert(
        host.place === OUT || (host.place === ASIDE) === (host.band === NO_BAND),
        `${host.key} of band ${host.band} stands in place ${host.place}`,
      )
      assert(!host.holdsClaim || host.place === OUT, `${host.key} holds a claim without a turn`)
      assert(
        !host.holdsDomain || host.place === OUT || host.place === AT_ADDRESS || host.place === CALLED,
        `${host.key} holds its domain in place ${host.place}`,
      )
      if (host.place === RESTING) assert(this.#resting.timeOf(host) === host.restUntilMs, `${host.key} rests wrongly`)
    }
    const isAll = (place: number, met: readonly BenchHost[], name: string): void => {
      for (const host of met) assert(host.place === place, `${host.key} is ${name} but in place ${host.place}`)
      assert(met.length === byPlace[place], `${met.length} ${name}, ${byPlace[place]} believe so`)
    }
    isAll(READY, this.#ready.assertSound(), 'ready')
    isAll(CALLED, this.#called.assertSound(), 'called')
    this.#resting.assertSound()
    assert(this.#resting.size === byPlace[RESTING], `${this.#resting.size} rest, ${byPlace[RESTING]} believe so`)
    assert(this.#out === byPlace[OUT], `${this.#out} are out, ${byPlace[OUT]} believe so`)
    const atAddress: BenchHost[] = []
    for (const crowd of this.#domains === null ? [this.#addresses] : [this.#addresses, this.#domains]) {
      crowd.resting.assertSound()
      for (const line of crowd.lines.values()) {
        const met = line.waiting.assertSound()
        for (const host of met) assert(this.#lineOf(host) === line, `${host.key} waits in a foreign line`)
        assert(!line.isEmpty, `the line of door ${line.door} is empty but kept`)
        assert(line.called === null || line.called.place === CALLED, `door ${line.door} called a host that left`)
        atAddress.push(...met)
      }
    }
    isAll(AT_ADDRESS, atAddress, 'at an address')
    assert(this.#atAddress === atAddress.length, `${atAddress.length} at addresses, ${this.#atAddress} counted`)
  }
}
