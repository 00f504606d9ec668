// Hosts in line, band by band: first come, first served within a band, the best band first.
//
//    band 0   head ⇄ host ⇄ host ⇄ tail
//    band 1   (empty)                          mask 0b0101: bands 0 and 2 have somebody
//    band 2   head ⇄ tail
//
// The links are fields of the hosts, so a host stands in one such structure at a time and leaves
// from anywhere in O(1): a better URL for a waiting host moves it to another band.

import { assert } from '../base/index.ts'
import type { BenchHost } from './bench-host.ts'

/** One bit of a 32-bit mask per band, the sign bit left out. */
export const BANDS_MAX = 31

export class BandedHosts {
  readonly #heads: (BenchHost | null)[]
  readonly #tails: (BenchHost | null)[]
  #mask = 0
  #size = 0

  constructor(bands: number) {
    this.#heads = Array.from({ length: bands }, () => null)
    this.#tails = Array.from({ length: bands }, () => null)
  }

  get size(): number {
    return this.#size
  }

  /** The best band with a host in it; Infinity when there is none. */
  get bestBand(): number {
    return this.#mask === 0 ? Infinity : 31 - Math.clz32(this.#mask & -this.#mask)
  }

  /** The host first in line of the best band. */
  get first(): BenchHost | null {
    return this.#mask === 0 ? null : (this.#heads[this.bestBand] as BenchHost)
  }

  /** To the end of the line of its band. */
  push(host: BenchHost): void {
    const tail = this.#tails[host.band] as BenchHost | null
    host.before = tail
    host.after = null
    if (tail === null) this.#heads[host.band] = host
    else tail.after = host
    this.#tails[host.band] = host
    this.#mask |= 1 << host.band
    this.#size++
  }

  /** To the front of the line of its band: it was there before. */
  pushFirst(host: BenchHost): void {
    const head = this.#heads[host.band] as BenchHost | null
    host.before = null
    host.after = head
    if (head === null) this.#tails[host.band] = host
    else head.before = host
    this.#heads[host.band] = host
    this.#mask |= 1 << host.band
    this.#size++
  }

  /** Its band must be the one it was pushed with. */
  remove(host: BenchHost): void {
    const { before, after, band } = host
    if (before === null) this.#heads[band] = after
    else before.after = after
    if (after === null) this.#tails[band] = before
    else after.before = before
    host.before = null
    host.after = null
    if (this.#heads[band] === null) this.#mask &= ~(1 << band)
    this.#size--
  }

  /** Checks links, bands, mask and size; returns whom it met, for the checks of its owner. */
  assertSound(): BenchHost[] {
    const met: BenchHost[] = []
    this.#heads.forEach((head, band) => {
      let last: BenchHost | null = null
      for (let host = head; host !== null; host = host.after) {
        assert(host.before === last, `${host.key}: its link backwards is wrong`)
        assert(host.band === band, `${host.key} of band ${host.band} stands in band ${band}`)
        met.push(host)
        last = host
      }
      assert(this.#tails[band] === last, `the tail of band ${band} is not its last host`)
      assert(((this.#mask & (1 << band)) !== 0) === (head !== null), `the mask is wrong for band ${band}`)
    })
    assert(met.length === this.#size, `${met.length} hosts in line, ${this.#size} counted`)
    return met
  }
}
