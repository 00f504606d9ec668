// A batch as bytes: JSON, because a batch is read once per crash and looked at by people, with one
// economy: the links of a page stand together under what they share (via, depth, band), so that a
// new URL costs its own text and little more.

import { Fault } from '../base/index.ts'
import type { FrontierEntry } from '../frontier/index.ts'
import { type CanonicalUrl, hostKeyOf } from '../url/index.ts'
import type { LedgerBatch } from './ledger.ts'

interface EntryGroup {
  readonly via: CanonicalUrl | null
  readonly depth: number
  readonly hops: number
  readonly band: number
  readonly isSeed: boolean
  readonly urls: CanonicalUrl[]
}

type EncodedBatch = Omit<LedgerBatch, 'admitted' | 'held'> & {
  readonly admitted: readonly EntryGroup[]
  readonly held: readonly EntryGroup[]
}

function sharesAll(group: EntryGroup | undefined, entry: FrontierEntry): group is EntryGroup {
  return (
    group !== undefined &&
    group.via === entry.via &&
    group.depth === entry.depth &&
    group.hops === entry.hops &&
    group.band === entry.band &&
    group.isSeed === entry.isSeed
  )
}

export function encodeBatch(batch: LedgerBatch): Buffer {
  const encoded: EncodedBatch = { ...batch, admitted: grouped(batch.admitted), held: grouped(batch.held) }
  return Buffer.from(JSON.stringify(encoded))
}

export function decodeBatch(bytes: Uint8Array): LedgerBatch {
  let encoded: EncodedBatch
  try {
    encoded = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()) as EncodedBatch
  } catch (cause) {
    throw new Fault('LEDGER_CORRUPT', 'a batch of the ledger passed its checksum but cannot be read', cause)
  }
  return { ...encoded, admitted: ungrouped(encoded.admitted), held: ungrouped(encoded.held) }
}

function grouped(entries: readonly FrontierEntry[]): EntryGroup[] {
  const groups: EntryGroup[] = []
  let group: EntryGroup | undefined
  for (const entry of entries) {
    if (sharesAll(group, entry)) group.urls.push(entry.url)
    else {
      const { via, depth, hops, band, isSeed } = entry
      group = { via, depth, hops, band, isSeed, urls: [entry.url] }
      groups.push(group)
    }
  }
  return groups
}

function ungrouped(groups: readonly EntryGroup[]): FrontierEntry[] {
  return groups.flatMap(({ urls, ...shared }) =>
    urls.map((url): FrontierEntry => ({ ...shared, url, host: hostKeyOf(url), tries: 0, pauses: 0 })),
  )
}

export function emptyBatch(): LedgerBatch {
  return {
    admitted: [],
    held: [],
    requeued: [],
    verdicts: [],
    robots: [],
    rests: [],
    contents: [],
    refused: {},
    files: {},
    runStartedAtMs: 0,
    ranMs: 0,
    cpuMs: 0,
    peakRssBytes: 0,
  }
}

/** Nothing happened since the last one. */
export function isEmpty(batch: LedgerBatch): boolean {
  return (
    batch.admitted.length === 0 &&
    batch.held.length === 0 &&
    batch.requeued.length === 0 &&
    batch.verdicts.length === 0 &&
    batch.robots.length === 0 &&
    batch.rests.length === 0 &&
    Object.keys(batch.refused).length === 0
  )
}
