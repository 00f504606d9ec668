// Writes entries of one host as bytes, group by group: each text as the difference to the reference it shares most with.

import { assert } from '../base/index.ts'
import type { CanonicalUrl, HostKey } from '../url/index.ts'
import {
  ENDING_BIT,
  FIRST_URL,
  FIRST_VIA,
  isHeld,
  LAST_URL,
  NO_NUMBERS,
  NUMBERS_BIT,
  type Numbers,
  REFERENCES,
  TEXT_SHIFT,
  VIA,
  VIA_BEFORE,
  VIA_EARLIER,
  VIA_NEW,
  VIA_NONE,
  WIDE_BIT,
} from './entry-format.ts'
import type { FrontierEntry } from './frontier.ts'
import { isPlain, writePieces } from './url-pieces.ts'

/** About the mean before packing, see docs/decisions/0013. */
const ENTRY_BYTES = 64
/** An ending shorter than this is as cheap in pieces. */
const ENDING_MIN = 4

export class ByteWriter {
  bytes: Buffer
  end = 0

  constructor(capacity: number) {
    this.bytes = Buffer.allocUnsafe(capacity)
  }

  written(): Buffer {
    return this.bytes.subarray(0, this.end)
  }

  reserve(bytes: number): void {
    if (this.end + bytes <= this.bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.end + bytes, 2 * this.bytes.length))
    this.bytes.copy(larger, 0, 0, this.end)
    this.bytes = larger
  }

  /** A varint: seven bits a byte, low ones first. */
  number(value: number): void {
    this.reserve(5)
    let rest = value
    for (; rest > 0x7f; rest >>>= 7) this.bytes[this.end++] = (rest & 0x7f) | 0x80
    this.bytes[this.end++] = rest
  }
}

export class EntryWriter {
  readonly out: ByteWriter
  readonly #references: string[]
  /** Those that were new in this group. */
  readonly #vias: CanonicalUrl[] = []
  #first: FrontierEntry | null = null
  #numbers: Numbers = NO_NUMBERS
  #via: CanonicalUrl | null = null

  /** `entryCount` is for the size of the first buffer only: small ones come from Node's pool and cost little. */
  constructor(host: HostKey, entryCount: number) {
    this.out = new ByteWriter(64 + ENTRY_BYTES * entryCount)
    this.#references = [`https://${host}/`, `http://${host}/`, '', '', '', '', '', '']
    if (!isPlain(host)) this.#references.fill('')
  }

  startGroup(): void {
    this.#vias.length = 0
    this.#references.fill('', VIA)
    this.#references[VIA] = this.#references[FIRST_VIA] as string
    this.#numbers = this.#first ?? NO_NUMBERS
    this.#via = this.#first?.via ?? null
  }

  write(entry: FrontierEntry): void {
    const { out } = this
    const references = this.#references
    out.reserve(1)
    const headAt = out.end++
    let head = this.#writeVia(entry.via)
    if (!isAlike(entry, this.#numbers)) {
      head |= NUMBERS_BIT
      this.#writeNumbers(entry)
      this.#numbers = entry
    }
    const textHead = this.#writeText(entry.url)
    out.bytes[headAt] = head | (textHead << TEXT_SHIFT)
    const text = (textHead & WIDE_BIT) === 0 ? entry.url : ''
    references.copyWithin(LAST_URL + 1, LAST_URL, REFERENCES - 1)
    references[LAST_URL] = text
    if (this.#first !== null) return
    this.#first = entry
    references[FIRST_URL] = text
    references[FIRST_VIA] = references[VIA] as string
  }

  /** Its part of the entry's head. */
  #writeVia(via: CanonicalUrl | null): number {
    const before = this.#via
    this.#via = via
    if (via === null) return VIA_NONE
    if (via === before) return VIA_BEFORE
    const { out } = this
    const earlier = this.#vias.indexOf(via)
    let kind = VIA_EARLIER
    out.reserve(1)
    if (earlier === -1) {
      kind = VIA_NEW
      const headAt = out.end++
      // In two steps: the bytes may move while the text is written.
      const head = this.#writeText(via)
      out.bytes[headAt] = head
      this.#vias.push(via)
    } else {
      out.bytes[out.end++] = earlier
    }
    this.#references[VIA] = isPlain(via) ? via : ''
    return kind
  }

  #writeNumbers({ depth, hops, band, isSeed, tries, pauses }: Numbers): void {
    if (!isHeld(depth) || !isHeld(hops) || !isHeld(tries) || !isHeld(pauses) || !isHeld(4 * band)) {
      assert(
        false,
        `depth ${depth}, hops ${hops}, band ${band}, tries ${tries} or pauses ${pauses} does not fit a block`,
      )
    }
    const hasCounts = hops > 0 || tries > 0 || pauses > 0
    this.out.number(band * 4 + (hasCounts ? 2 : 0) + (isSeed ? 1 : 0))
    this.out.number(depth)
    if (!hasCounts) return
    this.out.number(hops)
    this.out.number(tries)
    this.out.number(pauses)
  }

  /** Its head, which the caller writes. */
  #writeText(text: string): number {
    const { out } = this
    if (!isPlain(text)) {
      const bytes = 2 * text.length
      out.number(bytes)
      out.reserve(bytes)
      out.end += out.bytes.write(text, out.end, 'utf16le')
      return WIDE_BIT
    }
    let reference = 0
    let start = 0
    for (let i = REFERENCES - 1; i >= 0; i--) {
      const candidate = this.#references[i] as string
      // Only a longer start is of use, and it would have to agree here.
      if (candidate.length <= start || candidate.charCodeAt(start) !== text.charCodeAt(start)) continue
      const shared = sharedStart(candidate, text)
      if (shared <= start) continue
      reference = i
      start = shared
    }
    const ending = sharedEnd(this.#references[reference] as string, text, start)
    out.number(start)
    if (ending > 0) out.number(ending)
    this.#writeRest(text, start, text.length - ending)
    return reference | (ending > 0 ? ENDING_BIT : 0)
  }

  /** The length in pieces, and the pieces. The length is known last and mostly one byte; if it is not, they move up. */
  #writeRest(text: string, from: number, to: number): void {
    const { out } = this
    out.reserve(to - from + 5)
    const piecesAt = out.end + 1
    const end = writePieces(text, from, to, out.bytes, piecesAt)
    const length = end - piecesAt
    if (length > 0x7f) out.bytes.copyWithin(out.end + varintBytes(length), piecesAt, end)
    out.number(length)
    out.end += length
  }
}

function isAlike(a: Numbers, b: Numbers): boolean {
  return (
    a.depth === b.depth &&
    a.band === b.band &&
    a.isSeed === b.isSeed &&
    a.hops === b.hops &&
    a.tries === b.tries &&
    a.pauses === b.pauses
  )
}

function varintBytes(value: number): number {
  let bytes = 1
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes++
  return bytes
}

function sharedStart(a: string, b: string): number {
  const end = Math.min(a.length, b.length)
  let i = 0
  while (i < end && a.charCodeAt(i) === b.charCodeAt(i)) i++
  return i
}

/** Characters that both end with, leaving alone the first `start`; 0 when too few to be worth telling. */
function sharedEnd(a: string, b: string, start: number): number {
  const most = Math.min(a.length, b.length) - start
  let shared = 0
  while (shared < most && a.charCodeAt(a.length - 1 - shared) === b.charCodeAt(b.length - 1 - shared)) shared++
  return shared >= ENDING_MIN ? shared : 0
}
