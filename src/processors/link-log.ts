// The link graph of a crawl, written as pages are settled: which page links to which URLs. The report
// asks it who links to a broken URL and which hosts are linked most; graph tools may read it whole.
//
// Append-only and needing nothing of earlier pages, so that recovery is cutting the file back to its
// committed length. One frame per page with links:
//
//     file   magic, 8 bytes | key, 2 × u32 | frame …
//     frame  length varint | source length varint, source URL | group …
//     group  slot u16 | naming varint, host name | count varint | 48 bits of each target …
//
// A target is the lower 48 bits of its fingerprint; the upper 16, the slot, depend on the host alone
// and stand once per group. The host's name follows only where a reader cannot know it: naming is 0 for
// the host of the source, 1 for the host last named for this slot, else 2 + the length of the name. A
// writer that starts in the middle of a log names hosts again. A page with 27 links to six hosts takes
// about 240 bytes: 9 a link (bench/report.ts). The key is the crawl's, by which a reader computes the
// fingerprint of a URL it asks about.
//
// Two hosts of one slot on the same page share a group under the first one's name: a chance of
// 1 in 65,536 per pair, which moves a count of the report and nothing else.
//
// hot: no allocation per link, and a frame is built in the file's own buffer.

import { AppendFile } from '../disk/index.ts'
import { type CanonicalUrl, type FingerprintKey, hostKeyOf } from '../url/index.ts'

export const LINK_LOG_MAGIC = 'PLINKS\u0001\n'
export const KEY_BYTES = 8
/** Behind it stand frames, which may be appended to those of another log with the same key. */
export const LINK_LOG_HEAD_BYTES = LINK_LOG_MAGIC.length + KEY_BYTES
export const TARGET_BYTES = 6

/** How a group names its host; above these it is the length of the name that follows, plus 2. */
export const NAMED_BY_SOURCE = 0
const NAMED_BEFORE = 1
export const NAMED_HERE = 2

/** Links of one page that are kept; what is beyond is counted in `cutLinks`. Bounds a frame to about 4 MiB. */
const LINKS_PER_PAGE_MAX = 65_536
/** A longer name resolves nowhere (RFC 1035); it is cut. */
const HOST_BYTES_MAX = 255
/** A varint of 32 bits. */
export const VARINT_BYTES_MAX = 5
const GROUP_HEAD_BYTES_MAX = 2 + VARINT_BYTES_MAX + HOST_BYTES_MAX + VARINT_BYTES_MAX
const SLOTS = 65_536
const NO_GROUP = -1
const NAMED_BY_URLS = 4_096
/** Longer ones are not kept in memory. */
const NAMED_BY_LENGTH_MAX = 128
/** What is known of a group while its page is in hand. */
const GROUP_SLOT = 0
const GROUP_FIRST = 1
const GROUP_COUNT = 2
const GROUP_CURSOR = 3
const GROUP_FIELDS = 4
/** Of the table in which the links of a page are met, which is at most half full. */
const PLACES_MIN = 256
/** Links are counted up to here, in numbers that are small to the engine, and then from 0 again. */
const COUNTED_MAX = 2 ** 30
/** A longer frame is built in memory of its own: what is reserved in the file's buffer must fit. */
const IN_PLACE_BYTES_MAX = 2 ** 16

/** The links of a page, in parallel places; only the first `count` count. Repeats are harmless. */
export interface LinkTargets {
  readonly count: number
  /** The URL of each, or any other of the same host where nobody needed its text. */
  readonly urls: readonly CanonicalUrl[]
  /** High and low 32 bits of the fingerprint of each. */
  readonly high: Uint32Array
  readonly low: Uint32Array
}

export class LinkLog {
  readonly #file: AppendFile
  #cutLinks = 0

  // Working space, reused for every page.
  /** Open addressing over the fingerprints met on this page: places of links above `#before`. What is not above it is of earlier pages, and free. */
  #met = new Int32Array(PLACES_MIN)
  /** The same over the slots: numbers of groups. A table of all slots would be found by no cache. */
  #groupAt = new Int32Array(PLACES_MIN)
  /** As many links were met on earlier pages. So nothing is cleared for a page, which took 0.3 µs. */
  #before = 0
  /** The group of each link, or NO_GROUP for a repeat. */
  #groupOfLink = new Int32Array(PLACES_MIN)
  /** Of each group, side by side: its slot, a link that shows its host, how many links, and where the next one is written. */
  #groups = new Int32Array(GROUP_FIELDS * PLACES_MIN)
  /** A hash of the host last named for each slot; 0 for none. 256 KiB stand for the names themselves. */
  readonly #namedOfSlot = new Uint32Array(SLOTS)
  /** By the lower bits of its slot: a URL of the host last named for that slot. Most groups come with the very same string (admission.ts). */
  readonly #namedBy: string[] = Array.from({ length: NAMED_BY_URLS }, () => '')

  private constructor(file: AppendFile) {
    this.#file = file
  }

  /** Starts a log, or goes on in one cut back to `committedLength`. `key` is that of the fingerprints. */
  static async open(
    path: string,
    { key, committedLength }: { readonly key: FingerprintKey; readonly committedLength?: number },
  ): Promise<LinkLog> {
    const file = await AppendFile.open(path, committedLength === undefined ? {} : { committedLength })
    if (file.length === 0) {
      const head = Buffer.from(LINK_LOG_MAGIC + '\0'.repeat(KEY_BYTES), 'latin1')
      head.writeUInt32LE(key[0] >>> 0, LINK_LOG_MAGIC.length)
      head.writeUInt32LE(key[1] >>> 0, LINK_LOG_MAGIC.length + 4)
      file.append(head)
    }
    return new LinkLog(file)
  }

  /** What a ledger keeps, after sync(), to cut back to. */
  get length(): number {
    return this.#file.length
  }

  /** Links left out because their page had too many. */
  get cutLinks(): number {
    return this.#cutLinks
  }

  /** Notes the links of a page. A page without links leaves no trace. */
  append(source: CanonicalUrl, targets: LinkTargets): void {
    const count = Math.min(targets.count, LINKS_PER_PAGE_MAX)
    this.#cutLinks += targets.count - count
    if (count === 0) return
    const groups = this.#gather(targets, count)
    const bytesMax = 2 * VARINT_BYTES_MAX + source.length + groups * GROUP_HEAD_BYTES_MAX + count * TARGET_BYTES
    if (bytesMax > IN_PLACE_BYTES_MAX) {
      const frame = Buffer.allocUnsafe(bytesMax)
      this.#file.append(frame.subarray(0, this.#encode(frame, 0, source, targets, count, groups)))
      return
    }
    const memory = this.#file.reserve(bytesMax)
    const start = this.#file.fill
    this.#file.advance(this.#encode(memory, start, source, targets, count, groups) - start)
  }

  /** More waits to be written than should; wait for drained() before appending on. */
  get needsDrain(): boolean {
    return this.#file.needsDrain
  }

  drained(): Promise<void> {
    return this.#file.drained()
  }

  flush(): Promise<void> {
    return this.#file.flush()
  }

  sync(): Promise<void> {
    return this.#file.sync()
  }

  close(): Promise<void> {
    return this.#file.close()
  }

  /** Finds the group of every link and marks repeats. Says how many groups there are. */
  #gather({ high, low }: LinkTargets, count: number): number {
    const mask = this.#makeRoom(count) - 1
    const before = this.#before
    this.#before = before + count
    const met = this.#met
    const groupAt = this.#groupAt
    const groupOfLink = this.#groupOfLink
    const fields = this.#groups
    let groups = 0
    for (let i = 0; i < count; i++) {
      const ofHigh = high[i] as number
      const ofLow = low[i] as number
      let place = (ofLow ^ (ofHigh << 7)) & mask
      let other = (met[place] as number) - before
      while (other > 0 && (low[other - 1] !== ofLow || high[other - 1] !== ofHigh)) {
        place = (place + 1) & mask
        other = (met[place] as number) - before
      }
      if (other > 0) {
        groupOfLink[i] = NO_GROUP
        continue
      }
      met[place] = before + i + 1
      const slot = ofHigh >>> 16
      place = slot & mask
      let group = (groupAt[place] as number) - before - 1
      while (group >= 0 && fields[GROUP_FIELDS * group + GROUP_SLOT] !== slot) {
        place = (place + 1) & mask
        group = (groupAt[place] as number) - before - 1
      }
      if (group < 0) {
        group = groups++
        groupAt[place] = before + groups
        fields[GROUP_FIELDS * group + GROUP_SLOT] = slot
        fields[GROUP_FIELDS * group + GROUP_FIRST] = i
        fields[GROUP_FIELDS * group + GROUP_COUNT] = 0
      }
      groupOfLink[i] = group
      fields[GROUP_FIELDS * group + GROUP_COUNT] = (fields[GROUP_FIELDS * group + GROUP_COUNT] as number) + 1
    }
    return groups
  }

  /** How many places of the tables this page uses: one giant page does not slow all later ones. */
  #makeRoom(count: number): number {
    let places = PLACES_MIN
    while (places < 2 * count) places *= 2
    if (places > this.#met.length) {
      this.#met = new Int32Array(places)
      this.#groupAt = new Int32Array(places)
      this.#groupOfLink = new Int32Array(places)
      this.#groups = new Int32Array(GROUP_FIELDS * places)
    } else if (this.#before + count > COUNTED_MAX) {
      this.#met.fill(0)
      this.#groupAt.fill(0)
      this.#before = 0
    }
    return places
  }

  /** Notes that the host of a URL is named for its slot now; whether it was before. */
  #name(slot: number, url: CanonicalUrl): boolean {
    const place = slot % NAMED_BY_URLS
    // Nearly always, and nothing of it is read.
    if (this.#namedBy[place] === url) return true
    this.#namedBy[place] = url.length > NAMED_BY_LENGTH_MAX ? '' : url
    const hash = hashOf(hostKeyOf(url))
    const isKnown = this.#namedOfSlot[slot] === hash
    this.#namedOfSlot[slot] = hash
    return isKnown
  }

  #writeHost(frame: Buffer, at: number, url: CanonicalUrl, isOwn: boolean, isKnown: boolean): number {
    if (isOwn) return writeVarint(frame, at, NAMED_BY_SOURCE)
    if (isKnown) return writeVarint(frame, at, NAMED_BEFORE)
    const name = hostKeyOf(url).slice(0, HOST_BYTES_MAX)
    const end = writeVarint(frame, at, NAMED_HERE + name.length)
    return end + frame.write(name, end, 'latin1')
  }

  /** Writes the frame of a page at `start` and returns its end. */
  #encode(
    frame: Buffer,
    start: number,
    source: CanonicalUrl,
    { urls, high, low }: LinkTargets,
    count: number,
    groups: number,
  ): number {
    const groupOfLink = this.#groupOfLink
    const fields = this.#groups
    let hasOwn = false
    // The length of the frame stands before it and is known after: room is left for what it will most likely take.
    const lengthBytes = varintBytes(source.length + count * TARGET_BYTES)
    let end = writeVarint(frame, start + lengthBytes, source.length)
    end += frame.write(source, end, 'latin1')
    for (let group = 0; group < groups; group++) {
      const slot = fields[GROUP_FIELDS * group + GROUP_SLOT] as number
      const first = fields[GROUP_FIELDS * group + GROUP_FIRST] as number
      const linked = fields[GROUP_FIELDS * group + GROUP_COUNT] as number
      frame[end] = slot
      frame[end + 1] = slot >>> 8
      const url = urls[first] ?? source
      // Groups have different slots, and hosts with them: the source's host has one of them at most.
      const isOwn = !hasOwn && haveOneHost(source, url)
      if (isOwn) hasOwn = true
      end = this.#writeHost(frame, end + 2, url, isOwn, this.#name(slot, url))
      end = writeVarint(frame, end, linked)
      fields[GROUP_FIELDS * group + GROUP_CURSOR] = end
      end += linked * TARGET_BYTES
    }
    for (let i = 0; i < count; i++) {
      const group = groupOfLink[i] as number
      if (group === NO_GROUP) continue
      const at = fields[GROUP_FIELDS * group + GROUP_CURSOR] as number
      const ofHigh = high[i] as number
      const ofLow = low[i] as number
      frame[at] = ofHigh
      frame[at + 1] = ofHigh >>> 8
      frame[at + 2] = ofLow
      frame[at + 3] = ofLow >>> 8
      frame[at + 4] = ofLow >>> 16
      frame[at + 5] = ofLow >>> 24
      fields[GROUP_FIELDS * group + GROUP_CURSOR] = at + TARGET_BYTES
    }
    const payloadBytes = end - start - lengthBytes
    const shift = varintBytes(payloadBytes) - lengthBytes
    if (shift !== 0) frame.copyWithin(start + lengthBytes + shift, start + lengthBytes, end)
    writeVarint(frame, start, payloadBytes)
    return end + shift
  }
}

function haveOneHost(source: CanonicalUrl, url: CanonicalUrl): boolean {
  // Every URL has a '/' behind its authority, so where one begins with another they have that in common.
  return source.startsWith(url) || hostKeyOf(source) === hostKeyOf(url)
}

/** FNV-1a. Two names of one slot with the same hash, 1 in 2³², would be counted as one. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193)
  return (hash | 1) >>> 0
}

function varintBytes(value: number): number {
  return value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x20_0000 ? 3 : value < 0x1000_0000 ? 4 : 5
}

/** Seven bits a byte, lowest first, the top bit set on all but the last. Returns where it ends. */
function writeVarint(buffer: Buffer, at: number, value: number): number {
  let rest = value
  while (rest >= 0x80) {
    buffer[at++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  buffer[at++] = rest
  return at
}
