// A batch as bytes: JSON, because a batch is read once per crash and looked at by people, with three economies:
//   - the links of a page stand together under what they share (via, depth, band);
//   - a page of the batch is named by its place there: new links come with their page nearly always;
//   - from 1 KiB on the text is packed with zstd, at its quickest. `zstd -d` shows it.
// Together a page takes a fifth to an eighth of the bytes of plain JSON, for two to six microseconds (bench/ledger.ts).
// Every field that is not named here goes through as it is.

import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { Fault } from '../base/index.ts'
import type { FrontierEntry } from '../frontier/index.ts'
import { type CanonicalUrl, hostKeyOf } from '../url/index.ts'
import type { LedgerBatch, OriginalNote } from './ledger.ts'

/** Below this a call of the compressor costs more than the bytes are worth. */
const PACKED_BYTES_MIN = 1_024
const QUICKEST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
/** JSON of a batch begins with a brace; a zstd frame never does. */
const BRACE = 0x7b

/** A URL, or its place among the pages. */
type UrlOrPlace = CanonicalUrl | number

type EncodedGroup = readonly [
  via: UrlOrPlace | null,
  depth: number,
  hops: number,
  band: number,
  isSeed: 0 | 1,
  urls: CanonicalUrl[],
]

/** What few crawls have is left out where there is nothing: returns, and what is for other agents. */
type EncodedBatch = Omit<LedgerBatch, 'admitted' | 'returned' | 'abroad' | 'originals'> & {
  readonly admitted: readonly EncodedGroup[]
  readonly returned?: readonly CanonicalUrl[] | undefined
  readonly abroad?: readonly EncodedGroup[] | undefined
  readonly originals?: readonly OriginalNote[] | undefined
}

export function encodeBatch(batch: LedgerBatch): Buffer {
  const places = new Map<CanonicalUrl | null, number>()
  for (const [place, url] of batch.pages.entries()) places.set(url, place)
  const { admitted, returned, abroad, originals } = batch
  const encoded: EncodedBatch = {
    ...batch,
    admitted: grouped(admitted, places),
    returned: returned.length === 0 ? undefined : returned,
    abroad: abroad.length === 0 ? undefined : grouped(abroad, places),
    originals: originals.length === 0 ? undefined : originals,
  }
  const text = Buffer.from(JSON.stringify(encoded))
  return text.length < PACKED_BYTES_MIN ? text : zstdCompressSync(text, QUICKEST)
}

export function decodeBatch(bytes: Uint8Array): LedgerBatch {
  let encoded: EncodedBatch
  try {
    const text = bytes[0] === BRACE ? bytes : zstdDecompressSync(bytes)
    encoded = JSON.parse(Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString()) as EncodedBatch
  } catch (cause) {
    throw new Fault('LEDGER_CORRUPT', 'a batch of the ledger passed its checksum but cannot be read', cause)
  }
  const { admitted, returned = [], abroad = [], originals = [], pages } = encoded
  return {
    ...encoded,
    admitted: ungrouped(admitted, pages),
    returned: [...returned],
    abroad: ungrouped(abroad, pages),
    originals: [...originals],
  }
}

/** Entries as text, packed as in a batch: how they travel between agents. */
export function packEntries(entries: readonly FrontierEntry[]): string {
  return JSON.stringify(grouped(entries, new Map()))
}

export function unpackEntries(text: string): FrontierEntry[] {
  return ungrouped(JSON.parse(text) as EncodedGroup[], [])
}

function urlAt(url: UrlOrPlace, pages: readonly CanonicalUrl[]): CanonicalUrl {
  if (typeof url === 'string') return url
  const page = pages[url]
  if (page === undefined) throw new Fault('LEDGER_CORRUPT', `a batch of the ledger names page ${url} and has none`)
  return page
}

function grouped(entries: readonly FrontierEntry[], places: ReadonlyMap<CanonicalUrl | null, number>): EncodedGroup[] {
  const groups: EncodedGroup[] = []
  let urls: CanonicalUrl[] = []
  let before: FrontierEntry | undefined
  for (const entry of entries) {
    const { url, via, depth, hops, band, isSeed } = entry
    if (before !== undefined && sharesAll(before, entry)) urls.push(url)
    else {
      urls = [url]
      groups.push([places.get(via) ?? via, depth, hops, band, isSeed ? 1 : 0, urls])
    }
    before = entry
  }
  return groups
}

function sharesAll(one: FrontierEntry, other: FrontierEntry): boolean {
  return (
    one.via === other.via &&
    one.depth === other.depth &&
    one.hops === other.hops &&
    one.band === other.band &&
    one.isSeed === other.isSeed
  )
}

function ungrouped(groups: readonly EncodedGroup[], pages: readonly CanonicalUrl[]): FrontierEntry[] {
  const entries: FrontierEntry[] = []
  for (const [place, depth, hops, band, seed, urls] of groups) {
    const via = place === null ? null : urlAt(place, pages)
    for (const url of urls) {
      const host = hostKeyOf(url)
      entries.push({ url, host, via, depth, hops, band, isSeed: seed === 1, tries: 0, pauses: 0 })
    }
  }
  return entries
}

export function emptyBatch(): LedgerBatch {
  return {
    admitted: [],
    pages: [],
    returned: [],
    ended: [],
    rests: [],
    abroad: [],
    originals: [],
    files: {},
    totals: null,
  }
}
