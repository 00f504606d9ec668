// The hosts of one address, or of one domain, whose turn had come while it was not free.
//
// They wait here instead of being tried again and again: a host passes the ready line once per turn,
// stops here at most once, and when the address frees, the first of them is *called* and goes before
// the ready ones of its band. At most one host of an address is called at a time; when it has gone
// out the next is called, so an event costs O(1) however many thousands wait.
//
// A line exists only while somebody waits in it or is called from it.

import { BandedHosts } from './banded-hosts.ts'
import type { BenchHost } from './bench-host.ts'
import type { IpGate } from './ip-gate.ts'
import { RestHeap, type Resting } from './rest-heap.ts'

/** A gate, and those who wait at its doors; lines that wait for a time are in the heap as well. */
export class Crowd {
  readonly gate: IpGate
  readonly lines = new Map<number, AddressLine>()
  readonly resting = new RestHeap<AddressLine>()

  constructor(gate: IpGate) {
    this.gate = gate
  }

  /** The line of a door; none where nobody waits. */
  lineAt(door: number): AddressLine | undefined {
    return this.lines.size === 0 ? undefined : this.lines.get(door)
  }
}

/** Written by the workbench alone. */
export class AddressLine implements Resting {
  readonly crowd: Crowd
  /** Its number at the gate. */
  readonly door: number
  readonly waiting: BandedHosts
  called: BenchHost | null = null
  /** Its place among the addresses that wait for a time; -1 when only a release can help. */
  heapIndex = -1

  constructor(crowd: Crowd, door: number, bands: number) {
    this.crowd = crowd
    this.door = door
    this.waiting = new BandedHosts(bands)
  }

  get isEmpty(): boolean {
    return this.called === null && this.waiting.size === 0
  }

  /** Somebody of this band or a better one was here before. */
  goesBefore(band: number): boolean {
    return this.waiting.bestBand <= band || (this.called !== null && this.called.band <= band)
  }
}
