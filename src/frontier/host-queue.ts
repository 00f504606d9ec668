// The line of hosts that wait on disk: pages of a few hundred names each, first come, first served within a band.
//
// A page is named here by its number alone; the names in it are read when its turn comes. A host's record says which page names it, so a
// host stands in one page at most. Two kinds: `left` pages hold hosts that gave up their place in memory; `at hand` pages
// hold those that had one when a checkpoint was made, and matter only to the run after it.

import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { HostKey } from '../url/index.ts'

export interface HostPage {
  readonly page: number
  readonly band: number
  readonly wasAtHand: boolean
}

/** Hosts in one page. */
export const PAGE_HOSTS_MAX = 256
/** Packing costs 50 µs whatever the size; a full page takes half the room. */
const PACKED_BYTES_MIN = 1_024
/** How what is packed begins. No name does: they are ASCII. */
const PACKED = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])
/** More than this is not packed, so nothing that is packed has more: names of the web have 253 characters, those of a hostile page may have thousands. */
const PACKED_NAMES_BYTES_MAX = PAGE_HOSTS_MAX * 512

/** The names in a page, as they are stored: a line each, packed where that is shorter. */
export function encodePage(hosts: readonly HostKey[]): Buffer {
  const names = Buffer.from(hosts.join('\n'))
  if (names.length < PACKED_BYTES_MIN || names.length > PACKED_NAMES_BYTES_MAX) return names
  const packed = zstdCompressSync(names)
  return packed.length < names.length ? packed : names
}

/** Null unless these are the bytes of a page. */
export function decodePage(bytes: Buffer): HostKey[] | null {
  if (!bytes.subarray(0, PACKED.length).equals(PACKED)) return bytes.toString().split('\n') as HostKey[]
  try {
    const names = zstdDecompressSync(bytes, { maxOutputLength: PACKED_NAMES_BYTES_MAX })
    return names.toString().split('\n') as HostKey[]
  } catch {
    return null
  }
}

export class HostQueue {
  readonly #bands: HostPage[][]
  /** How many of the first pages of each band are read. */
  readonly #read: number[]
  readonly #queued = new Map<number, HostPage>()

  constructor(bands: number) {
    this.#bands = Array.from({ length: bands }, () => [])
    this.#read = Array.from({ length: bands }, () => 0)
  }

  get size(): number {
    return this.#queued.size
  }

  /** The best band with a page; Infinity when there is none. */
  get bestBand(): number {
    if (this.#queued.size === 0) return Infinity
    return this.#bands.findIndex((pages, band) => pages.length > (this.#read[band] as number))
  }

  /** The page with this number, as long as it was not read. */
  get(page: number): HostPage | undefined {
    return this.#queued.get(page)
  }

  push(page: HostPage): void {
    this.#bands[page.band]?.push(page)
    this.#queued.set(page.page, page)
  }

  /** These come before all others of their bands, in this order. */
  putBack(returned: readonly HostPage[]): void {
    for (const page of returned.toReversed()) {
      const pages = this.#bands[page.band]
      const at = this.#read[page.band] ?? 0
      if (at > 0) this.#read[page.band] = at - 1
      pages?.splice(Math.max(0, at - 1), at > 0 ? 1 : 0, page)
      this.#queued.set(page.page, page)
    }
  }

  /** Takes out the first page of the best band. */
  shift(): HostPage | null {
    const band = this.bestBand
    const pages = this.#bands[band]
    if (pages === undefined) return null
    const at = this.#read[band] as number
    const page = pages[at] as HostPage
    this.#queued.delete(page.page)
    // Moved together now and then, so that taking the first is not moving all.
    if (at >= 1_024) {
      pages.splice(0, at + 1)
      this.#read[band] = 0
    } else this.#read[band] = at + 1
    return page
  }

  /** All pages in line, those of a band in their order. */
  pages(): HostPage[] {
    return this.#bands.flatMap((pages, band) => pages.slice(this.#read[band]))
  }
}
