// The shortest way: a plain link becomes a fingerprint without ever being a string, if it leads to the page's own origin or
// to one that was met before (known-origins.ts).
//
//   page bytes  … href="../b/c.html#x" …
//                       └──┬───┘ checked and copied
//   base        http://example.org/a/d/       http://example.org/a/b/c.html ──▶ 64 bits
//               └── hashed once per page ──┘
//
// Nearly all links are known already: for them the fingerprint is all that is ever asked for. So the text is joined in one reused buffer and hashed from there, four bytes a load, beginning where the
// common part ends; a string is made only of what turns out to be new.
//
// It may answer false at any time ("take the string's way", canonicalise.ts). Where it answers true, URL and fingerprint are those of
// canonicalise() and Fingerprinter.compute(): link-joiner.test.ts compares them on generated links.
//
// hot: no allocation per link. Over the links of real pages, 89 characters once joined, a fingerprint takes 243 ns; making
// the string, asking the scope and hashing it takes 1,200 (bench/url.ts).

import { endianness } from 'node:os'
import type { BaseUrl } from './base-url.ts'
import type { CanonicalUrl } from './canonical-url.ts'
import { type FingerprintKey, HalfSipHash } from './fingerprint.ts'
import { Joint, JOINT_BYTES } from './joint.ts'
import { type KnownOrigin, KnownOrigins } from './known-origins.ts'
import { isSettledEscapeAt, PLAIN_CLASS, PLAIN_CLASSES } from './plain-classes.ts'
import { hostKeyOf, pathStart } from './url-parts.ts'

/** Words are loaded as the machine stores them; the hash wants the lowest byte first. */
const IS_LITTLE_ENDIAN = endianness() === 'LE'

const HASH = 35
const DOT = 46
const SLASH = 47
const COLON = 58
const QUESTION = 63
const LETTER_H = 104

export class LinkJoiner<Note = never> {
  /** The fingerprint of the last link joined, as Fingerprinter has it. */
  high = 0
  low = 0
  readonly #key0: number
  readonly #key1: number
  readonly #lengthMax: number
  readonly #hash = new HalfSipHash()
  #base: BaseUrl | null = null
  /** Of the last base; slot, host and the root's state are its. */
  #origin = ''
  #slot = 0
  #rootUrl = '' as CanonicalUrl
  /** Joins what begins at the root (`/a`, `../a`), what is beside the page, and what leads to another origin. */
  readonly #root = new Joint()
  readonly #beside = new Joint()
  readonly #away = new Joint()
  readonly #origins = new KnownOrigins<Note>()
  /** The origin of the last link joined, where it is not the base's. */
  #other: KnownOrigin<Note> | null = null
  #missedOrigin = false
  /** Where the last link was joined; null for the base itself. */
  #joined: Joint | null = null
  #joinedLength = 0
  /** The fingerprint of the base itself, once asked for. */
  #hasOwn = false
  #ownHigh = 0
  #ownLow = 0

  /** `lengthMax`: the longest URL that needs nothing but joining; 0 when none does. */
  constructor(key: FingerprintKey, lengthMax: number) {
    this.#key0 = key[0] | 0
    this.#key1 = key[1] | 0
    this.#lengthMax = IS_LITTLE_ENDIAN ? Math.min(lengthMax, JOINT_BYTES) : 0
  }

  /** The root of the base's origin. */
  get root(): CanonicalUrl {
    return this.#rootUrl
  }

  /** The origin of the last link joined, if it is another than the base's. */
  get other(): KnownOrigin<Note> | null {
    return this.#other
  }

  /** Whether the last link could not be joined because its origin was not known: then learn() its URL. */
  get missedOrigin(): boolean {
    return this.#missedOrigin
  }

  /** Remembers the origin of a URL. */
  learn(url: CanonicalUrl): void {
    if (!url.startsWith('http')) return
    const joint = this.#away
    joint.length = joint.bytes.write(url.slice(0, pathStart(url)), 'latin1')
    joint.start(this.#key0, this.#key1)
    const { v0, v1, v2, v3 } = joint
    this.#origins.add(url, { slot: this.#slotOf(url), v0, v1, v2, v3 })
  }

  /** What was noted of other origins holds no longer. */
  forget(): void {
    this.#origins.clear()
  }

  /** Makes ready for the links of a page; false when they must go the string's way. */
  begin(base: BaseUrl): boolean {
    if (base === this.#base) return true
    this.#base = null
    if (!base.isPlain || base.href.length >= this.#lengthMax) return false
    const root = this.#root
    const beside = this.#beside
    if (base.origin !== this.#origin) {
      this.#origin = base.origin
      this.#rootUrl = `${base.origin}/` as CanonicalUrl
      this.#slot = this.#slotOf(base.href as CanonicalUrl)
      root.length = root.bytes.write(base.origin, 'latin1')
      root.start(this.#key0, this.#key1)
    }
    beside.length = beside.bytes.write(base.directory, 'latin1')
    beside.v0 = root.v0
    beside.v1 = root.v1
    beside.v2 = root.v2
    beside.v3 = root.v3
    beside.absorb(root.length >> 2)
    this.#hasOwn = false
    this.#base = base
    return true
  }

  /**
   * Joins the link that stands at [start, end) of `bytes`, plain ASCII without white space at its ends. False when it is
   * not plain, or leads to an origin that is not known.
   */
  join(bytes: Uint8Array, start: number, end: number): boolean {
    const first = start < end ? (bytes[start] as number) : HASH
    const root = this.#root
    this.#other = null
    this.#missedOrigin = false
    if (first === HASH) return this.#joinOwn()
    if (first === SLASH) {
      if (start + 1 < end && bytes[start + 1] === SLASH) {
        const protocol = this.#base?.protocol
        return (
          (protocol === 'http:' || protocol === 'https:') &&
          this.#joinAway(bytes, start + 2, end, protocol === 'https:')
        )
      }
      return this.#copy(bytes, start, end, root, root.length, false)
    }
    if (first === QUESTION) return false
    if (first === DOT) return this.#joinUpward(bytes, start, end)
    if (first === LETTER_H) {
      if (this.#beginsWithOrigin(bytes, start, end)) {
        return this.#copy(bytes, start + root.length, end, root, root.length, false)
      }
      const authority = authorityStart(bytes, start, end)
      if (authority !== -1) return this.#joinAway(bytes, authority, end, authority - start === 8)
    }
    return this.#copy(bytes, start, end, this.#beside, this.#beside.length, true)
  }

  /** The URL of the last link joined. */
  url(): CanonicalUrl {
    const joined = this.#joined
    return (
      joined === null ? (this.#base?.href ?? '') : joined.bytes.toString('latin1', 0, this.#joinedLength)
    ) as CanonicalUrl
  }

  #joinOwn(): boolean {
    this.#joined = null
    if (!this.#hasOwn) {
      this.#hasOwn = true
      const hash = this.#hash
      hash.compute(this.#base?.href ?? '', this.#key0, this.#key1)
      this.#ownHigh = ((this.#slot << 16) | (hash.high & 0xffff)) >>> 0
      this.#ownLow = hash.low >>> 0
    }
    this.high = this.#ownHigh
    this.low = this.#ownLow
    return true
  }

  #joinAway(bytes: Uint8Array, authority: number, end: number, isSecure: boolean): boolean {
    const origin = this.#origins.find(bytes, authority, end, isSecure)
    if (origin === null) {
      this.#missedOrigin = true
      return false
    }
    const joint = this.#away
    const { length } = origin.bytes
    for (let i = 0; i < length; i++) joint.bytes[i] = origin.bytes[i] as number
    joint.length = length
    joint.v0 = origin.v0
    joint.v1 = origin.v1
    joint.v2 = origin.v2
    joint.v3 = origin.v3
    this.#other = origin
    return this.#copy(bytes, authority + length - origin.authority, end, joint, length, false)
  }

  #slotOf(url: CanonicalUrl): number {
    this.#hash.compute(hostKeyOf(url), this.#key0, this.#key1)
    return this.#hash.low >>> 16
  }

  #beginsWithOrigin(bytes: Uint8Array, start: number, end: number): boolean {
    const { bytes: origin, length } = this.#root
    if (start + length >= end || bytes[start + length] !== SLASH) return false
    for (let i = 0; i < length; i++) if (bytes[start + i] !== origin[i]) return false
    return true
  }

  /** './a', '../../a', or a name like '.a'. There is no way above the root. */
  #joinUpward(bytes: Uint8Array, start: number, end: number): boolean {
    const root = this.#root
    const directory = this.#beside.bytes
    let directoryEnd = this.#beside.length
    let from = start
    while (from + 1 < end && bytes[from] === DOT) {
      const second = bytes[from + 1]
      if (second === SLASH) from += 2
      else if (second === DOT && from + 2 < end && bytes[from + 2] === SLASH) {
        from += 3
        if (directoryEnd - 1 > root.length) {
          directoryEnd--
          while (directory[directoryEnd - 1] !== SLASH) directoryEnd--
        }
      } else break
    }
    for (let i = root.length; i < directoryEnd; i++) root.bytes[i] = directory[i] as number
    return this.#copy(bytes, from, end, root, directoryEnd, false)
  }

  /**
   * Copies what counts of a link, up to a '#', to `at` of a joint, if all of it is plain, and takes the fingerprint.
   * `from` is the beginning of a path segment or a '/'. `mayHaveScheme`: a ':' in the first segment may end a scheme.
   */
  #copy(bytes: Uint8Array, from: number, end: number, joint: Joint, at: number, mayHaveScheme: boolean): boolean {
    const target = joint.bytes
    if (at + (end - from) > this.#lengthMax) return false
    if (from < end && bytes[from] === DOT && mayBeDotSegment(bytes, from, end)) return false
    let maySplit = mayHaveScheme
    let inQuery = false
    let to = at
    for (let i = from; i < end; i++) {
      const code = bytes[i] as number
      const kind = PLAIN_CLASSES[code] as number
      if (kind !== PLAIN_CLASS.plain) {
        if (kind === PLAIN_CLASS.slash) {
          maySplit = false
          if (!inQuery && i + 1 < end && bytes[i + 1] === DOT && mayBeDotSegment(bytes, i + 1, end)) return false
        } else if (kind === PLAIN_CLASS.question) {
          maySplit = false
          inQuery = true
        } else if (kind === PLAIN_CLASS.hash) break
        else if (kind !== PLAIN_CLASS.percent || i + 2 >= end || !isSettledEscapeAt(bytes, i)) return false
      } else if (code === COLON && maySplit) return false
      target[to++] = code
    }
    this.#joined = joint
    this.#joinedLength = to
    joint.digest(to)
    const slot = this.#other === null ? this.#slot : this.#other.slot
    this.high = ((slot << 16) | (joint.high & 0xffff)) >>> 0
    this.low = joint.low >>> 0
    return true
  }
}

/** Behind `http://` or `https://` in lower case; -1 when neither stands there. */
function authorityStart(bytes: Uint8Array, start: number, end: number): number {
  if (start + 8 > end || bytes[start + 1] !== 116 || bytes[start + 2] !== 116 || bytes[start + 3] !== 112) return -1
  const colon = bytes[start + 4] === COLON ? start + 4 : bytes[start + 4] === 115 ? start + 5 : -1
  if (colon === -1 || bytes[colon] !== COLON || bytes[colon + 1] !== SLASH || bytes[colon + 2] !== SLASH) return -1
  return colon + 3
}

/** Whether a segment that begins with the '.' at `dot` might be '.' or '..'. */
function mayBeDotSegment(bytes: Uint8Array, dot: number, end: number): boolean {
  let next = dot + 1
  if (next < end && bytes[next] === DOT) next++
  if (next >= end) return true
  const kind = PLAIN_CLASSES[bytes[next] as number]
  return kind !== PLAIN_CLASS.plain && kind !== PLAIN_CLASS.percent
}
