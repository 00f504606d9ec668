// Captures whose WARC file is lost: nothing may be kept as a revisit of them, and pages that were are to be had again.
//
//   pages.jsonl of every share ── names a file that is gone? ──▶ LostCaptures ──▶ requeue of the pages (requeue.ts)
//                                                                     └──────────▶ state/lost.jsonl of whoever owns the content
//
// A filter of fixed size (Bloom): what was added is always found; of what was not, some are found too, more of them the fuller
// it is. Such a page is had once more than needed, or kept whole where a revisit would have done: nothing is lost by it.

import { hash } from 'node:crypto'
import { Fault } from '../base/index.ts'
import { type PageRecord, readJsonLines, readPlacedLines } from '../store/index.ts'

/** An original that is lost (state/lost.jsonl). */
export interface LostNote {
  readonly url: string
  readonly fetchedAtMs: number
}

/** Ten million captures with one in a hundred found wrongly. */
const FILTER_BYTES = 2 ** 24
const HASHES = 7

export class LostCaptures {
  readonly #bits: Uint8Array
  #count = 0

  /** `bytes` of another one, from another process; or as many bytes as it is to take. */
  constructor(bytes: Uint8Array | number = FILTER_BYTES) {
    this.#bits = typeof bytes === 'number' ? new Uint8Array(bytes) : bytes
  }

  /** To be handed to whoever has other shares of the crawl. */
  get bytes(): Uint8Array {
    return this.#bits
  }

  /** How many were added. */
  get count(): number {
    return this.#count
  }

  /** What others know; of the same size. */
  join(other: LostCaptures): void {
    for (const [at, byte] of other.#bits.entries()) this.#bits[at] = (this.#bits[at] as number) | byte
    this.#count += other.#count
  }

  addPage({ url, fetchedAt, digest }: Pick<PageRecord, 'url' | 'fetchedAt' | 'digest'>): void {
    this.add({ url, fetchedAtMs: Date.parse(fetchedAt) })
    this.#add(`${digest} ${url}`)
  }

  add({ url, fetchedAtMs }: LostNote): void {
    this.#add(`${fetchedAtMs} ${url}`)
    this.#count++
  }

  has({ url, fetchedAtMs }: LostNote): boolean {
    return this.#has(`${fetchedAtMs} ${url}`)
  }

  /** Whether a page can be had from the archive no more, because it was kept as a revisit of what is lost. */
  leaves({ url, digest, duplicateOf, revisitOf }: PageRecord): boolean {
    if (duplicateOf !== undefined && this.#has(`${digest} ${duplicateOf}`)) return true
    return revisitOf !== undefined && this.has({ url, fetchedAtMs: Date.parse(revisitOf) })
  }

  #add(key: string): void {
    for (const bit of this.#places(key)) this.#bits[bit >>> 3] = (this.#bits[bit >>> 3] as number) | (1 << (bit & 7))
  }

  #has(key: string): boolean {
    for (const bit of this.#places(key)) if (((this.#bits[bit >>> 3] as number) & (1 << (bit & 7))) === 0) return false
    return true
  }

  *#places(key: string): Generator<number> {
    const digest = hash('sha1', key, 'buffer')
    const size = this.#bits.length * 8
    const first = digest.readUInt32LE(0)
    const step = digest.readUInt32LE(4)
    for (let one = 0; one < HASHES; one++) yield (first + one * step) % size
  }
}

/** Adds every capture that stands in a file that is gone; also those of visits that count no more, for others may refer to them. */
export async function collectLost(
  pagesPath: string,
  isGone: (file: string) => boolean,
  lost: LostCaptures,
): Promise<void> {
  try {
    for await (const { record } of readPlacedLines<PageRecord>(pagesPath)) {
      if (record.warc !== null && isGone(record.warc.file)) lost.addPage(record)
    }
  } catch (fault) {
    const isMissing = fault instanceof Fault && (fault.cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT'
    if (!isMissing) throw fault
  }
}

/** What state/lost.jsonl says. */
export async function readLost(path: string): Promise<LostCaptures> {
  const lost = new LostCaptures()
  for await (const note of readJsonLines<LostNote>(path)) lost.add(note)
  return lost
}
