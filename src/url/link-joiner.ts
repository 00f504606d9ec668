// The shortest way: a plain link becomes a fingerprint without ever being a string, if it leads to the page's own origin or
// to one that was met before.
//
//   page bytes  … href="../b/c.html#x" …
//                       └──┬───┘ checked and copied
//   base        http://example.org/a/d/       http://example.org/a/b/c.html ──▶ 64 bits
//               └── hashed once per page ──┘
//
// Nearly all links are known already: for them the fingerprint is all that is ever asked for. So the links of a page are joined and
// hashed by a kernel (kernel/url), all in one call, in its own memory; a string is made only of what turns out to be new.
//
// It may leave any link aside ("take the string's way", canonicalise.ts). Where it does not, URL and fingerprint are those of
// canonicalise() and Fingerprinter.compute(): link-joiner.test.ts compares them on generated links.
//
// hot: no allocation per link (bench/url.ts).

import { KERNEL_PAGE_BYTES, type KernelExports, kernelMaker } from '../base/index.ts'
import type { BaseUrl } from './base-url.ts'
import type { CanonicalUrl } from './canonical-url.ts'
import { type FingerprintKey, HalfSipHash } from './fingerprint.ts'
import { KERNEL_BASE64 } from './kernel-module.ts'
import { type LinkPlaces, MEANS_AMPERSANDS } from './link-places.ts'
import { PLAIN_CLASSES } from './plain-classes.ts'
import { hostKeyOf, pathStart } from './url-parts.ts'

interface Address {
  readonly value: number
}

interface UrlKernel extends KernelExports {
  readonly memoryBytes: Address
  readonly pageAt: Address
  readonly placesAt: Address
  readonly outcomesAt: Address
  readonly highsAt: Address
  readonly lowsAt: Address
  readonly classesAt: Address
  readonly besideAt: Address
  readonly newOriginAt: Address
  prepare(key0: number, key1: number, longest: number, ampersands: number): void
  beginPage(length: number, originLength: number, slot: number, scheme: number): void
  forget(): void
  learn(length: number, authority: number, slot: number): number
  joinAll(count: number, before: number): number
  join(start: number, end: number, meaning: number): number
  joinedAt(): number
  lengthJoined(): number
}

/** What became of a link: it goes the string's way, and its origin is to be learnt then; it leads to the base itself, to its origin, or, from `away` on, to another. */
export const JOINED = { left: 0, missed: 1, base: 2, own: 3, away: 4 } as const

/** Links joined in one go. */
export const LINKS_JOINED_MAX = 512
/** How far apart they may stand in their page (kernel/url/memory.ts). */
const PAGE_BYTES = 2 ** 20
/** The longest origin that is learnt: a scheme and an authority of less than a hundred bytes. */
const ORIGIN_BYTES_MAX = 107
/** As many origins are remembered (kernel/url/memory.ts). */
const ORIGINS_MAX = 4_096
/** The longest URL there is room for, base or joined (kernel/url/memory.ts). What is longer would be written over all that stands behind. */
const JOINT_BYTES = 4_096

const makeKernel = kernelMaker(KERNEL_BASE64) as () => UrlKernel

/** An origin that links led to, and what the asker wants to remember of it (what the scope says). */
export interface KnownOrigin<Note> {
  /** `https://example.org:81/` */
  readonly root: CanonicalUrl
  note: Note | undefined
}

/** An origin that pages have. */
interface BaseOrigin<Note> extends KnownOrigin<Note> {
  readonly slot: number
  /** What `//host/` means there: 0 nothing, 1 http, 2 https. */
  readonly scheme: number
}

export class LinkJoiner<Note = never> {
  /** By the place of a link among those last joined: what became of it, and its fingerprint, as Fingerprinter has it. */
  readonly outcomes: Int32Array
  readonly highs: Uint32Array
  readonly lows: Uint32Array
  readonly #kernel: UrlKernel
  readonly #memory: Buffer
  readonly #page: Uint8Array
  readonly #places: Int32Array
  readonly #key0: number
  readonly #key1: number
  readonly #lengthMax: number
  readonly #hash = new HalfSipHash()
  #base: BaseUrl | null = null
  /** Of the last base. */
  #own: BaseOrigin<Note> = { root: '' as CanonicalUrl, note: undefined, slot: 0, scheme: 0 }
  readonly #owns = new Map<string, BaseOrigin<Note>>()
  #origins: KnownOrigin<Note>[] = []
  /** Whose bytes the kernel has, and how many of them are left out before what it has. */
  #links: LinkPlaces | null = null
  #before = 0
  #after = 0

  /** `lengthMax`: the longest URL that needs nothing but joining; 0 when none does. */
  constructor(key: FingerprintKey, lengthMax: number) {
    const kernel = makeKernel()
    const { memory, classesAt, outcomesAt, highsAt, lowsAt, pageAt, placesAt, memoryBytes } = kernel
    memory.grow(Math.ceil((memoryBytes.value - memory.buffer.byteLength) / KERNEL_PAGE_BYTES))
    const { buffer } = memory
    this.#memory = Buffer.from(buffer)
    this.outcomes = new Int32Array(buffer, outcomesAt.value, LINKS_JOINED_MAX)
    this.highs = new Uint32Array(buffer, highsAt.value, LINKS_JOINED_MAX)
    this.lows = new Uint32Array(buffer, lowsAt.value, LINKS_JOINED_MAX)
    this.#page = new Uint8Array(buffer, pageAt.value, PAGE_BYTES)
    this.#places = new Int32Array(buffer, placesAt.value, 3 * LINKS_JOINED_MAX)
    this.#memory.set(PLAIN_CLASSES, classesAt.value)
    this.#key0 = key[0] | 0
    this.#key1 = key[1] | 0
    this.#lengthMax = Math.min(lengthMax, JOINT_BYTES)
    kernel.prepare(this.#key0, this.#key1, this.#lengthMax, MEANS_AMPERSANDS)
    this.#kernel = kernel
  }

  /** The origin of the base. */
  get own(): KnownOrigin<Note> {
    return this.#own
  }

  /** The origin of a link with this outcome, if it is another than the base's. */
  originOf(outcome: number): KnownOrigin<Note> | null {
    return outcome < JOINED.away ? null : (this.#origins[outcome - JOINED.away] ?? null)
  }

  /** Remembers the origin of a URL. What was joined before stays as it is. */
  learn(url: CanonicalUrl): void {
    const length = pathStart(url)
    if (!url.startsWith('http') || length > ORIGIN_BYTES_MAX) return
    this.#memory.write(url.slice(0, length), this.#kernel.newOriginAt.value, 'latin1')
    const number = this.#kernel.learn(length, url.startsWith('https:') ? 8 : 7, this.#slotOf(url))
    if (number !== -1) this.#origins[number] ??= { root: `${url.slice(0, length)}/` as CanonicalUrl, note: undefined }
  }

  /** What was noted of origins holds no longer. */
  forget(): void {
    this.#kernel.forget()
    this.#origins = []
    this.#owns.clear()
    this.#base = null
  }

  /** Makes ready for the links of a page; false when they must go the string's way. */
  begin(base: BaseUrl): boolean {
    if (base === this.#base) return true
    this.#base = null
    if (!base.isPlain || base.href.length >= this.#lengthMax) return false
    if (this.#origins.length >= ORIGINS_MAX || this.#owns.size >= ORIGINS_MAX) this.forget()
    const kernel = this.#kernel
    // Not only the directory: it is a part of this string, and such a part takes longer to write.
    this.#memory.write(base.href, kernel.besideAt.value, 'latin1')
    const own = this.#owns.get(base.origin) ?? this.#meetOwn(base)
    kernel.beginPage(base.directory.length, base.origin.length, own.slot, own.scheme)
    this.#own = own
    this.#base = base
    return true
  }

  #meetOwn({ href, origin, protocol }: BaseUrl): BaseOrigin<Note> {
    const at = this.#kernel.besideAt.value
    // Of its own bytes, or the whole URL would be kept with it.
    const root = this.#memory.toString('latin1', at, at + origin.length + 1) as CanonicalUrl
    const scheme = protocol === 'https:' ? 2 : protocol === 'http:' ? 1 : 0
    const own = { root, note: undefined, slot: this.#slotOf(href as CanonicalUrl), scheme }
    this.#owns.set(root.slice(0, -1), own)
    return own
  }

  /** Joins the links of a page from the one at `from` to before that at `to`, at most LINKS_JOINED_MAX. Whether that could be tried at all. */
  joinAll(links: LinkPlaces, from: number, to: number): boolean {
    const { places } = links
    const taken = this.#places
    let before = Infinity
    let after = 0
    for (let i = 3 * from, j = 0; i < 3 * to; i += 3, j += 3) {
      const start = places[i] as number
      const end = places[i + 1] as number
      taken[j] = start
      taken[j + 1] = end
      taken[j + 2] = places[i + 2] as number
      if (start === -1) continue
      if (start < before) before = start
      if (end > after) after = end
    }
    if (before > after || !this.#take(links, before, after)) return false
    if (this.#kernel.joinAll(to - from, before) > 0) this.#joinBase(to - from)
    return true
  }

  /** Puts a part of a page into the kernel's memory, unless it is there. */
  #take(links: LinkPlaces, before: number, after: number): boolean {
    if (after - before > PAGE_BYTES) return false
    if (links === this.#links && before === this.#before && after === this.#after) return true
    this.#page.set(links.bytes.subarray(before, after))
    this.#links = links
    this.#before = before
    this.#after = after
    return true
  }

  /** Links that lead to the base itself, `#part` and the empty one, have its fingerprint. */
  #joinBase(count: number): void {
    const hash = this.#hash
    hash.compute(this.#base?.href ?? '', this.#key0, this.#key1)
    for (let i = 0; i < count; i++) {
      if (this.outcomes[i] !== JOINED.base) continue
      this.highs[i] = (this.#own.slot << 16) | (hash.high & 0xffff)
      this.lows[i] = hash.low
    }
  }

  /** The URL of a link of this base that was joined; null where that is no longer known: then the string's way leads there. */
  urlOf(links: LinkPlaces, index: number): CanonicalUrl | null {
    const start = links.places[3 * index] as number
    const end = links.places[3 * index + 1] as number
    const isThere = links === this.#links && start >= this.#before && end <= this.#after
    if (!isThere && !this.#take(links, start, end)) return null
    const kernel = this.#kernel
    const outcome = kernel.join(start - this.#before, end - this.#before, links.places[3 * index + 2] as number)
    if (outcome < JOINED.base) return null
    if (outcome === JOINED.base) return (this.#base?.href ?? '') as CanonicalUrl
    const at = kernel.joinedAt()
    return this.#memory.toString('latin1', at, at + kernel.lengthJoined()) as CanonicalUrl
  }

  #slotOf(url: CanonicalUrl): number {
    this.#hash.compute(hostKeyOf(url), this.#key0, this.#key1)
    return this.#hash.low >>> 16
  }
}
