// The hosts of one address whose turn had come while the address was not free.
//
// They wait here instead of being tried again and again: a host passes the ready line once per turn,
// stops here at most once, and when the address frees, the first of them is *called* and goes before
// the ready ones of its band. At most one host of an address is called at a time; when it has gone
// out the next is called, so an event costs O(1) however many thousands wait.
//
// A line exists only while somebody waits in it or is called from it.

import { BandedHosts } from './banded-hosts.ts'
import type { BenchHost } from './bench-host.ts'
import type { Resting } from './rest-heap.ts'

/** Written by the workbench alone. */
export class AddressLine implements Resting {
  /** Its number at the gate. */
  readonly door: number
  readonly waiting: BandedHosts
  called: BenchHost | null = null
  /** Its place among the addresses that wait for a time; -1 when only a release can help. */
  heapIndex = -1

  constructor(door: number, bands: number) {
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
