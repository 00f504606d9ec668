// Joins links with their base and takes the fingerprint of what comes of it. A link that is not plain is left to others
// (src/url/canonicalise.ts); which are, and why, says src/url/link-joiner.ts.

import { absorb, digest, high, low } from './hash'
import {
  AWAY,
  BESIDE,
  BESIDE_STATE,
  CLASSES,
  COPIED,
  HIGHS,
  JOINT_BYTES,
  LOWS,
  OUTCOMES,
  PAGE,
  PLACES,
  ROOT,
  ROOT_STATE,
  START_STATE,
  UPPER_BITS,
} from './memory'
import {
  areEqual,
  authorityOf,
  findOrigin,
  forgetOrigins,
  learnOrigin,
  lengthOf,
  slotOf,
  stateOf,
  textOf,
} from './origins'

const HASH: i32 = 0x23
const PERCENT: i32 = 0x25
const AMPERSAND: i32 = 0x26
const DOT: i32 = 0x2e
const SLASH: i32 = 0x2f
const COLON: i32 = 0x3a
const QUESTION: i32 = 0x3f
const LETTER_H: i32 = 0x68

/** As in src/url/plain-classes.ts. */
const PLAIN: u8 = 0
const CLASS_SLASH: u8 = 4
const CLASS_PERCENT: u8 = 5

/** What becomes of a link. From AWAY_FROM on: joined with the origin of that number, less AWAY_FROM. */
const LEFT: i32 = 0
const MISSED: i32 = 1
const BASE: i32 = 2
const OWN: i32 = 3
const AWAY_FROM: i32 = 4

let lengthMax: i32 = 0
let ampersands: i32 = 0
let rootLength: i32 = 0
let besideLength: i32 = 0
/** Of the base's host. */
let slot: i32 = 0
/** What `//host/` means: 0 nothing, 1 http, 2 https. */
let scheme: i32 = 0
/** The origin whose text stands at AWAY; -1 for none. */
let away: i32 = -1

/** The last URL that was joined. */
let joined: usize = 0
let joinedLength: i32 = 0

/** Once: the key, the longest URL, the meaning of links in which `&amp;` stands for `&`; classes are in place. */
export function prepare(key0: i32, key1: i32, longest: i32, amp: i32): void {
  store<i32>(START_STATE, key0)
  store<i32>(START_STATE, key1 ^ 0xee, 4)
  store<i32>(START_STATE, 0x6c796765 ^ key0, 8)
  store<i32>(START_STATE, 0x74656462 ^ key1, 12)
  lengthMax = min(longest, JOINT_BYTES)
  ampersands = amp
  for (let code = 0; code < 128; code++) {
    const kind = load<u8>(CLASSES + (code as usize))
    if (kind !== PLAIN && kind !== CLASS_SLASH) continue
    const at = COPIED + ((code & 15) as usize)
    const bit: i32 = 1 << (code >> 4)
    store<u8>(at, load<u8>(at) | (bit as u8))
  }
}

/** The base is at BESIDE: its directory so long, and the origin in it. */
export function beginPage(length: i32, originLength: i32, hostSlot: i32, itsScheme: i32): void {
  besideLength = length
  rootLength = originLength
  slot = hostSlot
  scheme = itsScheme
  for (let i = 0; i < originLength; i += 16) v128.store(ROOT + (i as usize), v128.load(BESIDE + (i as usize)))
  absorb(ROOT, 0, originLength >> 2, START_STATE, ROOT_STATE)
  absorb(BESIDE, originLength >> 2, length >> 2, ROOT_STATE, BESIDE_STATE)
}

export function forget(): void {
  forgetOrigins()
  away = -1
}

export function learn(length: i32, authority: i32, hostSlot: i32): i32 {
  return learnOrigin(length, authority, hostSlot, START_STATE)
}

/** Joins all links in PLACES, whose page begins `before` bytes before PAGE. How many lead to the base: their fingerprint is the room's to know. */
export function joinAll(count: i32, before: i32): i32 {
  let bases = 0
  for (let link = 0; link < count; link++) {
    const place = PLACES + ((link * 12) as usize)
    const start = load<i32>(place)
    const outcome = start === -1 ? LEFT : join(start - before, load<i32>(place, 4) - before, load<i32>(place, 8))
    const to = (link << 2) as usize
    store<i32>(OUTCOMES + to, outcome)
    if (outcome === BASE) bases++
    if (outcome < OWN) continue
    const itsSlot = outcome === OWN ? slot : slotOf(outcome - AWAY_FROM)
    store<i32>(HIGHS + to, (itsSlot << 16) | (high & 0xffff))
    store<i32>(LOWS + to, low)
  }
  return bases
}

/** Where the text of the last URL joined stands, and how long it is. */
export function joinedAt(): usize {
  return joined
}

export function lengthJoined(): i32 {
  return joinedLength
}

export function join(start: i32, end: i32, meaning: i32): i32 {
  const isEscaped = (meaning & ampersands) !== 0
  const code = start < end ? byteAt(start) : HASH
  if (code === HASH) return BASE
  if (code === SLASH) {
    if (start + 1 < end && byteAt(start + 1) === SLASH) {
      return scheme === 0 ? LEFT : joinAway(start + 2, end, scheme === 2, isEscaped)
    }
    return copy(start, end, ROOT, rootLength, false, isEscaped) ? inRoot() : LEFT
  }
  if (code === QUESTION) return LEFT
  if (code === DOT) return joinUpward(start, end, isEscaped)
  if (code === LETTER_H) {
    if (beginsWithOrigin(start, end)) {
      return copy(start + rootLength, end, ROOT, rootLength, false, isEscaped) ? inRoot() : LEFT
    }
    const authority = authorityStart(start, end)
    if (authority !== -1) return joinAway(authority, end, authority - start === 8, isEscaped)
  }
  if (!copy(start, end, BESIDE, besideLength, true, isEscaped)) return LEFT
  digest(BESIDE, joinedLength, besideLength >> 2, BESIDE_STATE)
  return OWN
}

function inRoot(): i32 {
  digest(ROOT, joinedLength, rootLength >> 2, ROOT_STATE)
  return OWN
}

function joinAway(authority: i32, end: i32, isSecure: bool, isEscaped: bool): i32 {
  const origin = findOrigin(authority, end, isSecure)
  if (origin === -1) return MISSED
  const length = lengthOf(origin)
  if (origin !== away) {
    away = origin
    for (let i = 0; i < length; i += 16) v128.store(AWAY + (i as usize), v128.load(textOf(origin) + (i as usize)))
  }
  if (!copy(authority + length - authorityOf(origin), end, AWAY, length, false, isEscaped)) return LEFT
  digest(AWAY, joinedLength, length >> 2, stateOf(origin))
  return AWAY_FROM + origin
}

/** './a', '../../a', or a name like '.a'. There is no way above the root. */
function joinUpward(start: i32, end: i32, isEscaped: bool): i32 {
  let directoryEnd = besideLength
  let from = start
  while (from + 1 < end && byteAt(from) === DOT) {
    const second = byteAt(from + 1)
    if (second === SLASH) from += 2
    else if (second === DOT && from + 2 < end && byteAt(from + 2) === SLASH) {
      from += 3
      if (directoryEnd - 1 > rootLength) {
        directoryEnd--
        while (load<u8>(BESIDE + ((directoryEnd - 1) as usize)) !== (SLASH as u8)) directoryEnd--
      }
    } else break
  }
  for (let i = rootLength; i < directoryEnd; i += 16) v128.store(ROOT + (i as usize), v128.load(BESIDE + (i as usize)))
  return copy(from, end, ROOT, directoryEnd, false, isEscaped) ? inRoot() : LEFT
}

function beginsWithOrigin(start: i32, end: i32): bool {
  if (start + rootLength >= end || byteAt(start + rootLength) !== SLASH) return false
  return areEqual(PAGE + (start as usize), ROOT, rootLength)
}

/** Behind `http://` or `https://` in lower case; -1 when neither stands there. */
function authorityStart(start: i32, end: i32): i32 {
  if (start + 8 > end) return -1
  const bytes = load<u64>(PAGE + (start as usize))
  // In the order of memory, the first byte lowest.
  if ((bytes & 0x00ff_ffff_ffff_ffff) === 0x002f_2f3a_7074_7468) return start + 7
  return bytes === 0x2f2f_3a73_7074_7468 ? start + 8 : -1
}

/**
 * Copies what counts of a link, up to a '#', to `at` of a joint, if all of it is plain. `from` is the beginning of a path segment or a
 * '/'. `mayHaveScheme`: a ':' in the first segment may end a scheme. `isEscaped`: every '&' is written as `&amp;`.
 */
function copy(from: i32, end: i32, joint: usize, at: i32, mayHaveScheme: bool, isEscaped: bool): bool {
  if (at + (end - from) > lengthMax) return false
  if (from < end && byteAt(from) === DOT && mayBeDotSegment(from, end)) return false
  let maySplit = mayHaveScheme
  let isPath = true
  let to = at
  let place = from
  while (place < end) {
    const page = PAGE + (place as usize)
    const bytes = v128.load(page)
    v128.store(joint + (to as usize), bytes)
    let looks = notCopied(bytes)
    if (isPath) looks |= i8x16.bitmask(v128.and(is(bytes, SLASH), is(v128.load(page, 1), DOT)))
    if (maySplit) looks |= i8x16.bitmask(v128.or(is(bytes, SLASH), is(bytes, COLON)))
    if (isEscaped) looks |= i8x16.bitmask(is(bytes, AMPERSAND))
    const left = end - place
    const plain = looks === 0 ? 16 : ctz(looks)
    if (plain >= left) {
      to += left
      break
    }
    to += plain
    place += plain
    if (plain === 16) continue
    const code = byteAt(place)
    if (code === HASH) break
    if (code === SLASH) {
      maySplit = false
      if (isPath && place + 1 < end && byteAt(place + 1) === DOT && mayBeDotSegment(place + 1, end)) return false
    } else if (code === QUESTION) {
      maySplit = false
      isPath = false
    } else if (code === AMPERSAND) {
      // The rest of `&amp;`.
      place += 4
    } else if (code !== PERCENT || place + 2 >= end || !isSettledEscape(place)) return false
    store<u8>(joint + (to as usize), code as u8)
    to++
    place++
  }
  joined = joint
  joinedLength = to
  return true
}

/** Bytes that are neither plain nor a '/', as bits. */
function notCopied(bytes: v128): i32 {
  const low = v128.and(bytes, i8x16.splat(15))
  const upper = i8x16.shr_u(bytes, 4)
  const fits = v128.and(i8x16.swizzle(v128.load(COPIED), low), i8x16.swizzle(v128.load(UPPER_BITS), upper))
  return i8x16.bitmask(i8x16.eq(fits, i8x16.splat(0)))
}

function is(bytes: v128, byte: i32): v128 {
  return i8x16.eq(bytes, i8x16.splat(byte as i8))
}

/** Whether a segment that begins with the '.' at `dot` might be '.' or '..'. */
function mayBeDotSegment(dot: i32, end: i32): bool {
  let next = dot + 1
  if (next < end && byteAt(next) === DOT) next++
  if (next >= end) return true
  const kind = load<u8>(CLASSES + (byteAt(next) as usize))
  return kind !== PLAIN && kind !== CLASS_PERCENT
}

/** Whether the escape whose '%' stands at a place is in its one form, and not of an unreserved character. */
function isSettledEscape(place: i32): bool {
  const upper = hexValue(byteAt(place + 1))
  const lower = hexValue(byteAt(place + 2))
  return upper !== -1 && lower !== -1 && !isUnreserved((upper << 4) | lower)
}

/** Digits and capital letters only. */
function hexValue(code: i32): i32 {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  return code >= 0x41 && code <= 0x46 ? code - 55 : -1
}

function isUnreserved(code: i32): bool {
  const folded = code | 0x20
  if (folded >= 0x61 && folded <= 0x7a) return true
  return (code >= 0x30 && code <= 0x39) || code === 0x2d || code === DOT || code === 0x5f || code === 0x7e
}

function byteAt(place: i32): i32 {
  return load<u8>(PAGE + (place as usize))
}
