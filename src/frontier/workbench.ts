// Who may be asked now, and when the next one may: hosts ordered by their rest, their band and the
// freedom of their address. It knows nothing of URLs; a frontier tells it each host's best band.
//
//   ASIDE ──rank──▶ RESTING ──rest over──▶ READY ──first in line──▶ OUT
//     ▲                                      │  address not free     ▲
//     │ no band any more                     ▼                       │
//     └──────────────────────────────── AT_ADDRESS ──▶ CALLED ───────┘
//                                        address free, one at a time
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
import { AddressLine } from './address-line.ts'
import { BandedHosts } from './banded-hosts.ts'
import { ASIDE, AT_ADDRESS, type BenchHost, CALLED, NO_BAND, NO_DOOR, OUT, READY, RESTING } from './bench-host.ts'
import type { IpGate } from './ip-gate.ts'
import { RestHeap } from './rest-heap.ts'

export class Workbench {
  readonly #bands: number
  readonly #gate: IpGate
  readonly #ready: BandedHosts
  readonly #called: BandedHosts
  readonly #resting = new RestHeap<BenchHost>()
  /** Addresses with hosts in line, by door; those that wait for a time are in the heap as well. */
  readonly #crowded = new Map<number, AddressLine>()
  readonly #crowdedResting = new RestHeap<AddressLine>()
  #atAddress = 0
  #out = 0

  constructor(bands: number, gate: IpGate) {
    this.#bands = bands
    this.#gate = gate
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
      this.#leave(host)
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
    const door = this.#gate.doorOf(address)
    if (host.holdsClaim) {
      if (host.door === door) return 0
      this.#release(host, nowMs, true)
    }
    host.door = door
    const line = this.#crowded.get(door)
    if (line !== undefined && line.goesBefore(host.band)) return nowMs
    const atMs = this.#gate.claim(door, nowMs, host)
    host.holdsClaim = atMs === 0
    return atMs === Infinity ? nowMs : atMs
  }

  /** Ends the turn of a host: it gives back its address, rests, and is ranked anew. */
  settle(host: BenchHost, restUntilMs: number, band: number, nowMs: number, wasAsked: boolean): void {
    if (host.place !== OUT) assert(false, `${host.key} is settled but not out`)
    if (host.holdsClaim) this.#release(host, nowMs, wasAsked)
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
      this.#leave(host)
      this.#line(host, nowMs)
    }
  }

  /** When next() may first yield a host if nothing changes; Infinity if only a change can help. */
  nextReadyMs(nowMs: number): number {
    this.advance(nowMs)
    if (this.#ready.size > 0 || this.#called.size > 0) return nowMs
    return Math.min(this.#resting.firstMs, this.#crowdedResting.firstMs)
  }

  /** Ends the rests that are over. */
  advance(nowMs: number): void {
    while (this.#resting.firstMs <= nowMs) {
      const host = this.#resting.pop()
      host.place = READY
      this.#ready.push(host)
    }
    while (this.#crowdedResting.firstMs <= nowMs) this.#call(this.#crowdedResting.pop())
  }

  /** Whether the host first in line may go out; if not, it has been moved to its address's line. */
  #passes(host: BenchHost, nowMs: number): boolean {
    const line = host.door === NO_DOOR || this.#crowded.size === 0 ? undefined : this.#crowded.get(host.door)
    const wasCalled = host.place === CALLED
    // Not even asked: a gate shared with others may be free by now, but those in line go first.
    const mustWait = !wasCalled && line !== undefined && line.goesBefore(host.band)
    const atMs = mustWait || host.door === NO_DOOR ? 0 : this.#gate.claim(host.door, nowMs, host)
    if (wasCalled) {
      this.#called.remove(host)
      if (line !== undefined) line.called = null
    } else {
      this.#ready.remove(host)
    }
    if (!mustWait && atMs === 0) {
      host.holdsClaim = host.door !== NO_DOOR
      if (wasCalled && line !== undefined) this.#call(line)
      return true
    }
    this.#wait(host, line ?? this.#newLine(host.door), wasCalled, mustWait ? null : atMs)
    return false
  }

  /** Puts a host into its address's line; `atMs` is what the gate said, null if it was not asked. */
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
    if (line.heapIndex >= 0) this.#crowdedResting.remove(line)
    if (atMs !== Infinity) this.#crowdedResting.push(line, atMs)
  }

  /** The address may be free: its first host in line is called, unless one is called already. */
  #call(line: AddressLine): void {
    const host = line.waiting.first
    if (line.called !== null) return
    if (host === null) {
      if (line.heapIndex >= 0) this.#crowdedResting.remove(line)
      this.#crowded.delete(line.door)
      return
    }
    line.waiting.remove(host)
    this.#atAddress--
    line.called = host
    host.place = CALLED
    this.#called.push(host)
  }

  #newLine(door: number): AddressLine {
    const line = new AddressLine(door, this.#bands)
    this.#crowded.set(door, line)
    return line
  }

  /** Moves a host that waits at its address to another band, before a called one of a worse band. */
  #reline(host: BenchHost, band: number): void {
    const line = this.#crowded.get(host.door) as AddressLine
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
    this.#gate.release(host.door, nowMs, wasAsked, host)
    const line = this.#crowded.get(host.door)
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
  #leave(host: BenchHost): void {
    switch (host.place) {
      case READY:
        this.#ready.remove(host)
        break
      case RESTING:
        this.#resting.remove(host)
        break
      case CALLED:
      case AT_ADDRESS: {
        const line = this.#crowded.get(host.door) as AddressLine
        if (host.place === CALLED) {
          this.#called.remove(host)
          line.called = null
          this.#call(line)
        } else {
          line.waiting.remove(host)
          this.#atAddress--
          if (line.isEmpty) this.#call(line)
        }
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
      if (host.place === RESTING) assert(this.#resting.timeOf(host) === host.restUntilMs, `${host.key} rests wrongly`)
    }
    const isAll = (place: number, met: readonly BenchHost[], name: string): void => {
      for (const host of met) assert(host.place === place, `${host.key} is ${name} but in place ${host.place}`)
      assert(met.length === byPlace[place], `${met.length} ${name}, ${byPlace[place]} believe so`)
    }
    isAll(READY, this.#ready.assertSound(), 'ready')
    isAll(CALLED, this.#called.assertSound(), 'called')
    this.#resting.assertSound()
    this.#crowdedResting.assertSound()
    assert(this.#resting.size === byPlace[RESTING], `${this.#resting.size} rest, ${byPlace[RESTING]} believe so`)
    assert(this.#out === byPlace[OUT], `${this.#out} are out, ${byPlace[OUT]} believe so`)
    const atAddress: BenchHost[] = []
    for (const line of this.#crowded.values()) {
      const met = line.waiting.assertSound()
      for (const host of met) assert(host.door === line.door, `${host.key} waits at a foreign address`)
      assert(!line.isEmpty, `the line of door ${line.door} is empty but kept`)
      assert(line.called === null || line.called.place === CALLED, `door ${line.door} called a host that left`)
      atAddress.push(...met)
    }
    isAll(AT_ADDRESS, atAddress, 'at an address')
    assert(this.#atAddress === atAddress.length, `${atAddress.length} at addresses, ${this.#atAddress} counted`)
  }
}
