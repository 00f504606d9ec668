// Reads entries back, group by group. Mirrors entry-writer.ts line by line: references must be the same at every text.

import { Fault } from '../base/index.ts'
import type { CanonicalUrl, HostKey } from '../url/index.ts'
import {
  ENDING_BIT,
  FIRST_URL,
  FIRST_VIA,
  HTTP_ORIGIN,
  HTTPS_ORIGIN,
  LAST_URL,
  NO_NUMBERS,
  NUMBERS_BIT,
  type Numbers,
  REFERENCE_MASK,
  REFERENCES,
  TEXT_SHIFT,
  VIA,
  VIA_BEFORE,
  VIA_EARLIER,
  VIA_MASK,
  VIA_NONE,
  WIDE_BIT,
} from './entry-format.ts'
import type { FrontierEntry } from './frontier.ts'
import { isPlain, PIECE_LENGTH_MAX, readPieces } from './url-pieces.ts'

/** Thrown where the bytes make no sense. */
export function damagedBlock(host: HostKey, what: string): Fault {
  return new Fault('LEDGER_CORRUPT', `a block of waiting URLs of ${host} is damaged: ${what}`)
}

/** Reads numbers off bytes, and never past their end. */
export class ByteReader {
  readonly bytes: Buffer
  readonly #host: HostKey
  at: number

  constructor(host: HostKey, bytes: Buffer, at: number) {
    this.#host = host
    this.bytes = bytes
    this.at = at
  }

  byte(): number {
    const byte = this.bytes[this.at++]
    if (byte === undefined) throw this.damaged('it ends within an entry')
    return byte
  }

  number(): number {
    let byte = this.byte()
    let value = byte & 0x7f
    for (let scale = 0x80; byte > 0x7f; scale *= 0x80) {
      if (scale > 2 ** 28) throw this.damaged('a number is too long')
      byte = this.byte()
      value += (byte & 0x7f) * scale
    }
    return value
  }

  /** Where the next `bytes` begin; they are passed over. */
  skip(bytes: number): number {
    const from = this.at
    this.at += bytes
    if (this.at > this.bytes.length) throw this.damaged('it ends within a text')
    return from
  }

  damaged(what: string): Fault {
    return damagedBlock(this.#host, what)
  }
}

export class EntryReader {
  readonly #host: HostKey
  readonly #in: ByteReader
  /** The texts read so far, one after the other; a reference is a stretch of it. */
  #texts = Buffer.allocUnsafe(1_024)
  #textsEnd = 0
  /** The end of the origins, and the end of all that lasts for the whole block. */
  #originsEnd = 0
  #lastingEnd = 0
  readonly #starts = new Int32Array(REFERENCES)
  readonly #ends = new Int32Array(REFERENCES)
  /** Those that were new in this group, and where their texts stand. */
  readonly #vias: { readonly via: CanonicalUrl; readonly start: number; readonly end: number }[] = []
  #first: FrontierEntry | null = null
  #numbers: Numbers = NO_NUMBERS
  #via: CanonicalUrl | null = null

  constructor(host: HostKey, input: ByteReader) {
    this.#host = host
    this.#in = input
    if (!isPlain(host)) return
    this.#writeOrigin(HTTPS_ORIGIN, `https://${host}/`)
    this.#writeOrigin(HTTP_ORIGIN, `http://${host}/`)
  }

  /** Whether the first entry of the block was read: no other group can be started before. */
  get hasFirst(): boolean {
    return this.#first !== null
  }

  /** The next entry is at this byte, where the first group of the block begins. */
  startBlock(at: number): void {
    this.#first = null
    this.#lastingEnd = this.#originsEnd
    for (const reference of [FIRST_URL, FIRST_VIA]) this.#starts[reference] = this.#ends[reference] = 0
    this.startGroup(at)
  }

  /** The next entry is at this byte, where a group begins. */
  startGroup(at: number): void {
    this.#in.at = at
    this.#textsEnd = this.#lastingEnd
    this.#vias.length = 0
    this.#starts.fill(0, VIA)
    this.#ends.fill(0, VIA)
    this.#copyReference(FIRST_VIA, VIA)
    this.#numbers = this.#first ?? NO_NUMBERS
    this.#via = this.#first?.via ?? null
  }

  read(): FrontierEntry {
    const head = this.#in.byte()
    const via = this.#readVia(head & VIA_MASK)
    this.#via = via
    if ((head & NUMBERS_BIT) !== 0) this.#numbers = this.#readNumbers()
    const url = this.#readText(head >>> TEXT_SHIFT)
    const end = this.#textsEnd
    const start = (head >>> TEXT_SHIFT) & WIDE_BIT ? end : end - url.length
    this.#starts.copyWithin(LAST_URL + 1, LAST_URL, REFERENCES - 1)
    this.#ends.copyWithin(LAST_URL + 1, LAST_URL, REFERENCES - 1)
    this.#starts[LAST_URL] = start
    this.#ends[LAST_URL] = end
    const { depth, hops, band, isSeed, tries, pauses } = this.#numbers
    const entry: FrontierEntry = { url, host: this.#host, via, depth, hops, band, isSeed, tries, pauses }
    if (this.#first === null) {
      this.#first = entry
      this.#copyReference(LAST_URL, FIRST_URL)
      this.#copyReference(VIA, FIRST_VIA)
      this.#lastingEnd = end
    }
    return entry
  }

  #readVia(kind: number): CanonicalUrl | null {
    if (kind === VIA_NONE) return null
    if (kind === VIA_BEFORE) return this.#via
    if (kind === VIA_EARLIER) {
      const earlier = this.#vias[this.#in.byte()]
      if (earlier === undefined) throw this.#in.damaged('it names a via that is not there')
      this.#starts[VIA] = earlier.start
      this.#ends[VIA] = earlier.end
      return earlier.via
    }
    const head = this.#in.byte()
    const via = this.#readText(head)
    const end = this.#textsEnd
    const start = head & WIDE_BIT ? end : end - via.length
    this.#starts[VIA] = start
    this.#ends[VIA] = end
    this.#vias.push({ via, start, end })
    return via
  }

  #readNumbers(): Numbers {
    const first = this.#in.number()
    const depth = this.#in.number()
    const hasCounts = (first & 2) !== 0
    return {
      depth,
      hops: hasCounts ? this.#in.number() : 0,
      band: first >>> 2,
      isSeed: (first & 1) !== 0,
      tries: hasCounts ? this.#in.number() : 0,
      pauses: hasCounts ? this.#in.number() : 0,
    }
  }

  #readText(head: number): CanonicalUrl {
    const input = this.#in
    if ((head & WIDE_BIT) !== 0) {
      const from = input.skip(input.number())
      return input.bytes.toString('utf16le', from, input.at) as CanonicalUrl
    }
    const from = this.#starts[head & REFERENCE_MASK] as number
    const to = this.#ends[head & REFERENCE_MASK] as number
    const start = input.number()
    const ending = (head & ENDING_BIT) === 0 ? 0 : input.number()
    if (start + ending > to - from) throw input.damaged('a text shares more than there is')
    const length = input.number()
    const pieces = input.skip(length)
    this.#reserve(start + ending + length * PIECE_LENGTH_MAX)
    const texts = this.#texts
    const at = this.#textsEnd
    texts.copyWithin(at, from, from + start)
    const end = readPieces(input.bytes, pieces, input.at, texts, at + start)
    texts.copyWithin(end, to - ending, to)
    this.#textsEnd = end + ending
    return texts.toString('latin1', at, this.#textsEnd) as CanonicalUrl
  }

  #writeOrigin(reference: number, text: string): void {
    this.#reserve(text.length)
    this.#starts[reference] = this.#textsEnd
    this.#textsEnd += this.#texts.write(text, this.#textsEnd, 'latin1')
    this.#ends[reference] = this.#textsEnd
    this.#originsEnd = this.#textsEnd
  }

  #copyReference(from: number, to: number): void {
    this.#starts[to] = this.#starts[from] as number
    this.#ends[to] = this.#ends[from] as number
  }

  #reserve(bytes: number): void {
    if (this.#textsEnd + bytes <= this.#texts.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#textsEnd + bytes, 2 * this.#texts.length))
    this.#texts.copy(larger, 0, 0, this.#textsEnd)
    this.#texts = larger
  }
}
