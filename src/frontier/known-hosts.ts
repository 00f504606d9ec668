// Which hosts have a record on disk? Asked for every host that is offered and not at hand, so that one which was never met
// need not be looked for.
//
// 32 bits of each host, in 256 small open-addressing tables that grow one by one: about 7 bytes a host, no long pause. "No" is certain.
// "Yes" is wrong for a host in 4,000 at a million known ones; then the store is asked in vain.

import type { HostKey } from '../url/index.ts'

const TABLES = 256
const FIRST_SLOTS = 16
/** Marks a free slot; no fingerprint is 0. */
const FREE = 0

export class KnownHosts {
  readonly #tables: Uint32Array[] = Array.from({ length: TABLES }, () => new Uint32Array(FIRST_SLOTS))
  readonly #counts = new Uint32Array(TABLES)
  size = 0
  bytes = 0

  has(fingerprint: number): boolean {
    const table = this.#tables[fingerprint % TABLES] as Uint32Array
    return table[slotOf(table, fingerprint)] === fingerprint
  }

  add(fingerprint: number): void {
    const number = fingerprint % TABLES
    let table = this.#tables[number] as Uint32Array
    let slot = slotOf(table, fingerprint)
    if (table[slot] === fingerprint) return
    const count = (this.#counts[number] as number) + 1
    if (count * 4 > table.length * 3) {
      const wider = new Uint32Array(table.length * 2)
      for (const known of table) if (known !== FREE) wider[slotOf(wider, known)] = known
      table = wider
      this.#tables[number] = wider
      this.bytes += table.byteLength / 2
      slot = slotOf(wider, fingerprint)
    }
    table[slot] = fingerprint
    this.#counts[number] = count
    this.size++
  }
}

/** Where a fingerprint stands, or the free slot where it would. */
function slotOf(table: Uint32Array, fingerprint: number): number {
  const mask = table.length - 1
  let slot = (fingerprint >>> 8) & mask
  while (table[slot] !== FREE && table[slot] !== fingerprint) slot = (slot + 1) & mask
  return slot
}

/** FNV-1a, with its bits mixed once more, because tables use the low ones. */
export function hostFingerprint(host: HostKey): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < host.length; i++) hash = Math.imul(hash ^ host.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0 || 1
}
