// Which hosts have a record on disk, and which of them stand in line there? Asked for every host that is offered and not at hand, so that
// one which was never met need not be looked for, and one that is sure to be called need not be read.
//
// Ten bytes each, in 256 small open-addressing tables that grow one by one: about 15 bytes a host, no long pause.
//
//     name      32 bits of the host's name: known
//     check     32 bits of it by a key that nobody else has, as long as a page in line names the host
//     listed    0, or the band of that page, + 1, and how many addenda the record has
//
// Known: "no" is certain; "yes" is wrong for a host in 4,000 at a million known ones, then the store is asked in vain.
// Listed must be right, for nothing is read: a host that is taken for another would be added to where there is no record, or be called by
// nobody, and the store be found damaged. 64 bits agree for two of 10⁷ hosts with a chance of 3 in a million; and who makes up names that agree in the 32 without
// a key cannot choose the others.
//
// What is listed is known of this run alone. After an opening nothing is, and whoever is offered something is read once.

import { assert } from '../base/index.ts'
import { type FingerprintKey, HalfSipHash, type HostKey } from '../url/index.ts'

const TABLES = 256
const FIRST_SLOTS = 12
const GROWTH = 1.5
const LOAD_MAX = 0.8
/** Tables are not filled evenly. */
const FIRST_LOAD = 0.7
/** Marks a free slot; no fingerprint is 0. */
const FREE = 0

const SLOT_BYTES = 10
const ADDENDA_BITS = 8
export const ADDENDA_COUNT_MAX = 2 ** ADDENDA_BITS - 1

/** A host on disk that a page in line names. */
export interface Listing {
  readonly band: number
  /** How often something was added to its record since that was written. */
  readonly addenda: number
}

export class KnownHosts {
  readonly #tables: Table[]
  readonly #hash = new HalfSipHash()
  readonly #key: FingerprintKey
  size = 0
  bytes: number

  /** The key is of this run, and random. `expected` hosts are taken in without growing on the way. */
  constructor(key: FingerprintKey, expected = 0) {
    this.#key = key
    const slots = Math.max(FIRST_SLOTS, Math.ceil(expected / TABLES / FIRST_LOAD))
    this.#tables = Array.from({ length: TABLES }, () => new Table(slots))
    this.bytes = TABLES * slots * SLOT_BYTES
  }

  has(fingerprint: number): boolean {
    const table = this.#tableOf(fingerprint)
    return table.names[table.slotOf(fingerprint)] === fingerprint
  }

  addAll(fingerprints: Uint32Array): void {
    for (let i = 0; i < fingerprints.length; i++) this.add(fingerprints[i] as number)
  }

  add(fingerprint: number): void {
    let table = this.#tableOf(fingerprint)
    let slot = table.slotOf(fingerprint)
    if (table.names[slot] === fingerprint) return
    if ((table.count + 1) / table.names.length > LOAD_MAX) {
      const wider = table.wider()
      this.bytes += (wider.names.length - table.names.length) * SLOT_BYTES
      this.#tables[fingerprint % TABLES] = wider
      table = wider
      slot = wider.slotOf(fingerprint)
    }
    table.names[slot] = fingerprint
    table.count++
    this.size++
  }

  /** The host leaves memory, and a page of this band names it; its record is as new. Of a host that is not known, or whose place is taken, nothing is noted. */
  list(host: HostKey, band: number): void {
    const { table, slot } = this.#placeOf(host)
    if (table.names[slot] === FREE) return
    const check = this.#checkOf(host)
    if (table.listed[slot] !== 0 && table.checks[slot] !== check) return
    table.checks[slot] = check
    table.listed[slot] = (band + 1) << ADDENDA_BITS
  }

  /** No page in line names the host any more, or nobody knows which. */
  unlist(host: HostKey): void {
    const { table, slot } = this.#placeOf(host)
    if (this.#isListed(host, table, slot)) table.listed[slot] = 0
  }

  listing(host: HostKey): Listing | null {
    const { table, slot } = this.#placeOf(host)
    if (!this.#isListed(host, table, slot)) return null
    const listed = table.listed[slot] as number
    return { band: (listed >>> ADDENDA_BITS) - 1, addenda: listed & ADDENDA_COUNT_MAX }
  }

  /** Something was added to the record of a host, if that is still listed. */
  countAddendum(host: HostKey): void {
    const { table, slot } = this.#placeOf(host)
    if (!this.#isListed(host, table, slot)) return
    const listed = table.listed[slot] as number
    assert((listed & ADDENDA_COUNT_MAX) < ADDENDA_COUNT_MAX, `too much was added to the record of ${host}`)
    table.listed[slot] = listed + 1
  }

  #tableOf(fingerprint: number): Table {
    return this.#tables[fingerprint % TABLES] as Table
  }

  #placeOf(host: HostKey): { readonly table: Table; readonly slot: number } {
    const fingerprint = hostFingerprint(host)
    const table = this.#tableOf(fingerprint)
    return { table, slot: table.slotOf(fingerprint) }
  }

  #isListed(host: HostKey, table: Table, slot: number): boolean {
    return table.listed[slot] !== 0 && table.checks[slot] === this.#checkOf(host)
  }

  #checkOf(host: HostKey): number {
    this.#hash.compute(host, this.#key[0] | 0, this.#key[1] | 0)
    return this.#hash.low >>> 0
  }
}

class Table {
  readonly names: Uint32Array
  readonly checks: Uint32Array
  readonly listed: Uint16Array
  count = 0

  constructor(slots: number) {
    this.names = new Uint32Array(slots)
    this.checks = new Uint32Array(slots)
    this.listed = new Uint16Array(slots)
  }

  /** Where a fingerprint stands, or the free slot where it would. */
  slotOf(fingerprint: number): number {
    const { names } = this
    let slot = Math.floor(((fingerprint >>> 8) * names.length) / 2 ** 24)
    while (names[slot] !== FREE && names[slot] !== fingerprint) slot = slot + 1 === names.length ? 0 : slot + 1
    return slot
  }

  wider(): Table {
    const wider = new Table(Math.ceil(this.names.length * GROWTH))
    for (let slot = 0; slot < this.names.length; slot++) {
      const name = this.names[slot] as number
      if (name === FREE) continue
      const to = wider.slotOf(name)
      wider.names[to] = name
      wider.checks[to] = this.checks[slot] as number
      wider.listed[to] = this.listed[slot] as number
    }
    wider.count = this.count
    return wider
  }
}

/** FNV-1a, with its bits mixed once more, because tables use the low ones. */
export function hostFingerprint(host: HostKey): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < host.length; i++) hash = Math.imul(hash ^ host.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0 || 1
}
