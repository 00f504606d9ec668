// Bodies of blocks written and read by a kernel (kernel/frontier): byte for byte what entry-writer.ts and body-code.ts write, at a quarter of
// the cost, and what entry-reader.ts reads (decision 0013).
//
//    texts, joined ──▶ TEXTS ┐
//    numbers ────────▶ FACTS ┴──▶ body ──▶ body in the code          and back, a string for each text
//
// It takes what nearly all blocks are: 256 entries or fewer, printable ASCII, 128 KiB of texts together. For all else, and for whatever is
// damaged, it answers null, and the plain way is gone. Less than 1 MiB of memory, of which blocks touch what they need.

import { KERNEL_PAGE_BYTES, type KernelExports, kernelMaker } from '../base/index.ts'
import type { CanonicalUrl, HostKey } from '../url/index.ts'
import type { BodyCode, CodeTables } from './body-code.ts'
import { GROUP_ENTRIES, isHeld } from './entry-format.ts'
import type { FrontierEntry } from './frontier.ts'
import { KERNEL_BASE64 } from './kernel-module.ts'
import { codedTexts } from './url-pieces.ts'

/** As a constant of the kernel comes. */
interface Constant {
  readonly value: number
}

interface FrontierKernel extends KernelExports {
  readonly memoryBytes: Constant
  readonly startsAt: Constant
  readonly piecesAt: Constant
  readonly codesAt: Constant
  readonly looksAt: Constant
  readonly orderedAt: Constant
  readonly firstCodesAt: Constant
  readonly codeStartsAt: Constant
  readonly factsAt: Constant
  readonly placesAt: Constant
  readonly groupsAt: Constant
  readonly textsAt: Constant
  readonly textBytes: Constant
  readonly roomBytes: Constant
  checksum(length: number): number
  writeBody(count: number, hostBytes: number, textBytes: number): number
  bodyAt(): number
  codeBody(length: number): number
  decodeBody(codedBytes: number, length: number): number
  readBody(bodyBytes: number, count: number, hostBytes: number, from: number, to: number): number
}

// As kernel/frontier/memory.ts has them.
const ENTRIES_MAX = 256
const FACT_NUMBERS = 8
const VIA_IS_NONE = 0xffff_ffff
const VIA_IS_BEFORE = 0xffff_fffe
const START_COUNT = 2 ** 14
const NO_PIECE = 0x20
const PIECE_BYTES = 32
const PIECE_LENGTH = 24
const PIECE_NEXT = 25
const PLACE_NUMBERS = 4
const CODE_COUNT = 2 ** 16
const LOOK_COUNT = 2 ** 17
const LENGTH_COUNT = 256 * 17
/** A character beyond ASCII takes a byte more than its place, and is not written in part: with so much room it is seen. */
const SPARE_BYTES = 8

const makeKernel = kernelMaker(KERNEL_BASE64) as () => FrontierKernel

let theKernel: EntryKernel | null = null

/** One for all blocks of a thread: each is done with before the next. */
export function entryKernel(): EntryKernel {
  theKernel ??= new EntryKernel()
  return theKernel
}

class EntryKernel {
  readonly #kernel: FrontierKernel
  readonly #memory: Buffer
  readonly #facts: Uint32Array
  readonly #places: Uint32Array
  readonly #tables: CodeTables
  readonly #groupsAt: number
  readonly #textsAt: number
  readonly #textBytes: number
  readonly #roomBytes: number
  /** Whose codes the kernel has. Another's take 0.1 ms to tell; a thread has one crawl, and a crawl one code. */
  #code: BodyCode | null = null

  constructor() {
    const kernel = makeKernel()
    const { memory, memoryBytes, factsAt, placesAt } = kernel
    memory.grow(Math.ceil((memoryBytes.value - memory.buffer.byteLength) / KERNEL_PAGE_BYTES))
    const { buffer } = memory
    this.#kernel = kernel
    this.#memory = Buffer.from(buffer)
    this.#facts = new Uint32Array(buffer, factsAt.value, FACT_NUMBERS * ENTRIES_MAX)
    this.#places = new Uint32Array(buffer, placesAt.value, PLACE_NUMBERS * ENTRIES_MAX)
    this.#tables = {
      codes: new Uint32Array(buffer, kernel.codesAt.value, CODE_COUNT),
      looks: new Uint16Array(buffer, kernel.looksAt.value, LOOK_COUNT),
      ordered: new Uint8Array(buffer, kernel.orderedAt.value, CODE_COUNT),
      firstCodes: new Int32Array(buffer, kernel.firstCodesAt.value, LENGTH_COUNT),
      starts: new Int32Array(buffer, kernel.codeStartsAt.value, LENGTH_COUNT),
    }
    this.#groupsAt = kernel.groupsAt.value
    this.#textsAt = kernel.textsAt.value
    this.#textBytes = kernel.textBytes.value
    this.#roomBytes = kernel.roomBytes.value
    this.#tellPieces(kernel.startsAt.value, kernel.piecesAt.value)
  }

  /** CRC-32C of the bytes from `from` up to `to`; null when they are more than there is room for. */
  checksum(bytes: Uint8Array, from: number, to: number): number | null {
    if (to - from > this.#roomBytes) return null
    this.#memory.set(bytes.subarray(from, to), this.#textsAt)
    return this.#kernel.checksum(to - from) >>> 0
  }

  /** What a block of these entries has in it before it is packed, valid until the next one comes; null when the kernel does not do it. */
  bodyOf(host: HostKey, entries: readonly FrontierEntry[]): Buffer | null {
    if (entries.length > ENTRIES_MAX) return null
    // hot: one text for all, put there by one call, takes half of what a call for each does.
    let texts: string = host
    let via: CanonicalUrl | null = null
    const facts = this.#facts
    for (let i = 0, at = 0; i < entries.length; i++, at += FACT_NUMBERS) {
      const entry = entries[i] as FrontierEntry
      const { url, depth, hops, band, tries, pauses } = entry
      if (!isHeld(depth) || !isHeld(hops) || !isHeld(tries) || !isHeld(pauses) || !isHeld(4 * band)) return null
      if (i % GROUP_ENTRIES === 0 && i > 0) via = (entries[0] as FrontierEntry).via
      const before: CanonicalUrl | null = via
      via = entry.via
      if (via === null) facts[at] = VIA_IS_NONE
      else if (via === before) facts[at] = VIA_IS_BEFORE
      else {
        facts[at] = via.length
        texts += via
      }
      texts += url
      facts[at + 1] = url.length
      facts[at + 2] = 4 * band + (entry.isSeed ? 1 : 0)
      facts[at + 3] = depth
      facts[at + 4] = hops
      facts[at + 5] = tries
      facts[at + 6] = pauses
    }
    const { length } = texts
    if (length > this.#textBytes) return null
    if (this.#memory.write(texts, this.#textsAt, length + SPARE_BYTES) !== length) return null
    const bytes = this.#kernel.writeBody(entries.length, host.length, length)
    if (bytes === -1) return null
    const at = this.#kernel.bodyAt()
    return this.#memory.subarray(at, at + bytes)
  }

  /** The body that was made last, of so many bytes, in a code, valid until the next one comes; null when it does not get shorter. */
  coded(length: number, code: BodyCode): Buffer | null {
    this.#tellCode(code)
    const bytes = this.#kernel.codeBody(length)
    return bytes >= length ? null : this.#memory.subarray(this.#textsAt, this.#textsAt + bytes)
  }

  /** The body of this length that begins at a place and ends with the bytes; null when they are too many, or not as many as it takes. */
  decoded(bytes: Uint8Array, at: number, length: number, code: BodyCode): Buffer | null {
    if (length > this.#roomBytes || bytes.length - at > this.#roomBytes) return null
    this.#tellCode(code)
    this.#memory.set(bytes.subarray(at), this.#textsAt)
    if (this.#kernel.decodeBody(bytes.length - at, length) === 0) return null
    return Buffer.from(this.#memory.subarray(this.#groupsAt, this.#groupsAt + length))
  }

  /** Of so many entries, whose body begins at a place, those from the i-th on, up to before the j-th; null when the kernel does not do it. */
  entriesOf(
    host: HostKey,
    body: Uint8Array,
    at: number,
    count: number,
    from: number,
    to: number,
  ): FrontierEntry[] | null {
    const bytes = body.length - at
    if (count > ENTRIES_MAX || bytes > this.#roomBytes || host.length > this.#textBytes) return null
    const memory = this.#memory
    if (memory.write(host, this.#textsAt, host.length + SPARE_BYTES) !== host.length) return null
    memory.set(at === 0 ? body : body.subarray(at), this.#groupsAt)
    if (this.#kernel.readBody(bytes, count, host.length, from, to) === 0) return null
    const places = this.#places
    const facts = this.#facts
    const entries: FrontierEntry[] = []
    // A via that several entries have stands in one place, and is one string. Mostly they follow each other.
    const viasAt: number[] = []
    const vias: CanonicalUrl[] = []
    let viaAt = 0
    let via: CanonicalUrl | null = null
    for (let i = from; i < to; i++) {
      const place = i * PLACE_NUMBERS
      if (places[place] !== viaAt) {
        viaAt = places[place] as number
        const known = viasAt.lastIndexOf(viaAt)
        via = viaAt === 0 ? null : known === -1 ? this.#textAt(place) : (vias[known] as CanonicalUrl)
        if (via !== null && known === -1) {
          viasAt.push(viaAt)
          vias.push(via)
        }
      }
      const fact = i * FACT_NUMBERS
      const first = facts[fact + 2] as number
      entries.push({
        url: this.#textAt(place + 2),
        host,
        via,
        depth: facts[fact + 3] as number,
        hops: facts[fact + 4] as number,
        band: first >>> 2,
        isSeed: (first & 1) !== 0,
        tries: facts[fact + 5] as number,
        pauses: facts[fact + 6] as number,
      })
    }
    return entries
  }

  /** A string of its own: a part of a longer one would keep all of it. */
  #textAt(place: number): CanonicalUrl {
    const at = this.#places[place] as number
    return this.#memory.toString('latin1', at, at + (this.#places[place + 1] as number)) as CanonicalUrl
  }

  #tellCode(code: BodyCode): void {
    if (code === this.#code) return
    code.tell(this.#tables)
    this.#code = code
  }

  /** Pieces with the same two first characters are a chain, the longest first. */
  #tellPieces(startsAt: number, piecesAt: number): void {
    const memory = this.#memory
    memory.fill(NO_PIECE, startsAt, startsAt + START_COUNT)
    const shortestFirst = [...codedTexts().entries()].toSorted(([, a], [, b]) => a.length - b.length)
    for (const [code, text] of shortestFirst) {
      const at = piecesAt + code * PIECE_BYTES
      memory.set(text, at)
      memory[at + PIECE_LENGTH] = text.length
      if (text.length === 1) continue
      const start = startsAt + (((text[0] as number) << 7) | (text[1] as number))
      memory[at + PIECE_NEXT] = memory[start] as number
      memory[start] = code
    }
  }
}
