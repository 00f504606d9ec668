// The seen set in memory: 256 tables, each grown by itself.
//
// One table would stop the agent for as long as moving every key takes (a second at ten million);
// of 256 tables each stops it for a 256th of that (bench/url-seen.ts shows the longest: below 10 ms),
// and the memory of old and new side by side is a 256th too. The table is chosen by the upper bits of the mixed fingerprint, the place by the lower.

import type { FingerprintBatch, UrlSeen } from './url-seen.ts'
import { FingerprintTable, mixFingerprint } from './fingerprint-table.ts'

const TABLE_BITS = 8
const TABLE_SHIFT = 32 - TABLE_BITS

export class MemoryUrlSeen implements UrlSeen {
  readonly #tables = Array.from({ length: 2 ** TABLE_BITS }, () => new FingerprintTable())
  #size = 0

  meet(batch: FingerprintBatch): undefined {
    const { count, high, low, isNew } = batch
    for (let i = 0; i < count; i++) isNew[i] = this.#meet(high[i] as number, low[i] as number, 1) ? 1 : 0
    return undefined
  }

  has(high: number, low: number): boolean {
    return this.meetings(high, low) > 0
  }

  meetings(high: number, low: number): number {
    const mixed = mixFingerprint(high, low)
    return this.#tableOf(mixed).count(high, low, mixed)
  }

  get size(): number {
    return this.#size
  }

  get memoryBytes(): number {
    return this.#tables.reduce((sum, table) => sum + table.memoryBytes, 0)
  }

  visit(visitor: (high: number, low: number, meetings: number) => void): void {
    for (const table of this.#tables) table.visit(visitor)
  }

  restore(high: number, low: number, meetings: number): void {
    if (meetings > 0) this.#meet(high, low, meetings)
  }

  #meet(high: number, low: number, times: number): boolean {
    const mixed = mixFingerprint(high, low)
    const isFirst = this.#tableOf(mixed).meet(high, low, mixed, times)
    if (isFirst) this.#size++
    return isFirst
  }

  #tableOf(mixed: number): FingerprintTable {
    return this.#tables[mixed >>> TABLE_SHIFT] as FingerprintTable
  }
}
