// The walk over a page from `<` to `<`. It crosses what means nothing to the room, and stops at tags that do.
//
//     …prose…<p class="x">prose <a href="y">…</a> <!-- … --> <svg>
//            ^ crossed          ^ kept in LINKS   ^ crossed  ^ stopped at
//
// hot: the next `<` is known from the marks before it is known where this tag ends, and what a tag is costs no loop over its name, so
// the processor can be at work on several tags at once.

import { AMPERSAND, BANG, byteAt, GREATER, isLetter, isSpace, QUESTION, SLASH } from './bytes'
import { hide, hideTag, length, mark, tags } from './marks'
import {
  all,
  FILTER_ATTRIBUTE,
  FILTER_END,
  FILTER_NONE,
  FILTER_START,
  LINK_ATTRIBUTES,
  LINK_COUNT,
  LINKS,
  LINKS_MAX,
  NEEDS,
  PAGE,
  STOP,
  VALUES,
} from './memory'
import { ENDS } from './names'
import { afterDeclaration, afterGreater, endOfRawText } from './passages'
import { element, isSelfClosing, nameEnd, present, readAttributes, readName } from './tag'

/** How to walk, as bits: stop at every tag; at comments and declarations too; know CDATA sections; keep plain links; no text counts. */
const EVERY: i32 = 1
const OTHERS: i32 = 2
const CDATA: i32 = 4
const KEEP: i32 = 8
const INERT: i32 = 16

/** What was stopped at: the id of the element, and these. */
const END_TAG: i32 = 64
const SELF_CLOSING: i32 = 128
const NO_TAG: i32 = 256
const PAGE_END: i32 = -1

/** Ids as the room gives them: elements whose links may be empty, and the one that has raw text behind it; */
const AREA: i32 = 2
const SCRIPT: i32 = 22
/** attributes that need a closer look. */
const IMAGESRCSET: i32 = 11
const REL: i32 = 16
const SRCSET: i32 = 20
const STYLE: i32 = 24

const STARTS: u64 = ~1

/** A rel that is shorter is neither nofollow nor canonical. */
const REL_SIZE: i32 = 8

/** Where the walk goes on. */
let place: i32 = 0

/** Begins with the page of so many bytes that stands at PAGE. */
export function begin(bytes: i32): void {
  mark(bytes)
  place = 0
  store<i32>(LINK_COUNT, 0)
}

/** Walks to the next tag that matters, and answers its element and kind; PAGE_END where there is none. */
export function next(how: i32): i32 {
  const from = place
  const found = walk(how)
  if ((how & INERT) !== 0) hide(from, place)
  return found
}

/** Crosses the raw text of the element just stopped at, to its end tag; answers where that stands. */
export function crossRawText(id: i32): i32 {
  const end = endOfRawText(place, id)
  hide(place, end)
  place = end
  return end
}

/** Ends the walk here. */
export function crossAll(): void {
  hide(place, length)
  place = length
}

function walk(how: i32): i32 {
  const isEvery = (how & EVERY) !== 0
  const wantedStarts: u64 = isEvery ? -1 : STARTS
  const wantedEnds: u64 = isEvery ? -1 : ENDS
  const filterStarts = isEvery ? FILTER_NONE : FILTER_START
  const filterEnds = isEvery ? FILTER_NONE : FILTER_END
  const filterAttributes = isEvery ? FILTER_NONE : FILTER_ATTRIBUTE
  const pageLength = length
  const tagsAt = tags
  let end = place
  let block = end >> 6
  let bits = load<u64>(tagsAt + ((block << 3) as usize)) & ((-1 as u64) << ((end & 63) as u64))
  while (true) {
    while (bits === 0) {
      block++
      bits = load<u64>(tagsAt + ((block << 3) as usize))
    }
    const less = (block << 6) + (ctz(bits) as i32)
    bits &= bits - 1
    // It may stand in a tag, or in what was crossed with one.
    if (less < end) continue
    if (less + 1 >= pageLength) return pageEnd(pageLength)

    const isEnd = byteAt(less + 1) === SLASH
    const start = less + 1 + i32(isEnd)
    if (!isLetter(byteAt(start))) {
      end = afterOther(less, start, isEnd, (how & CDATA) !== 0)
      // A `<` that opens nothing is text.
      if (end === less + 1) continue
      if ((how & OTHERS) !== 0) return stop(less, start, end, NO_TAG, false)
      hide(less, end)
      continue
    }

    readName(start, isEnd ? filterEnds : filterStarts)
    const id = element
    const isWanted = (((isEnd ? wantedEnds : wantedStarts) >> (id as u64)) & 1) !== 0
    end = nameEnd + 1
    if (byteAt(nameEnd) !== GREATER) {
      end = readAttributes(nameEnd, filterAttributes)
      if (end === -1) return pageEnd(less)
      if (!isEnd && ((present >> STYLE) & 1) !== 0 && mayStyleLink()) return stop(less, start, end, id, isEnd)
    }
    if (isWanted) {
      if (isEvery || isEnd || (isMeant() && ((how & KEEP) === 0 || !isLinkKept())))
        return stop(less, start, end, id, isEnd)
      // A script is over where its text is; with CDATA it is XML, where `<script/>` has none.
      if (id === SCRIPT && !(isSelfClosing && (how & CDATA) !== 0)) end = endOfRawText(end, SCRIPT)
    }
    hideTag(less, end)
  }
}

function stop(start: i32, nameStart: i32, end: i32, id: i32, isEnd: bool): i32 {
  hide(start, end)
  place = end
  store<i32>(STOP, start)
  store<i32>(STOP, nameStart, 4)
  store<i32>(STOP, nameEnd, 8)
  store<i32>(STOP, end, 12)
  store<i32>(STOP, present, 16)
  return id | (isEnd ? END_TAG : 0) | (isSelfClosing ? SELF_CLOSING : 0)
}

/** Whether the tag just read has what it needs to mean something. */
function isMeant(): bool {
  const needs = load<i32>(NEEDS + ((element << 2) as usize))
  return needs === 0 || (needs & present) !== 0
}

/** Text ends at `end`: at the end of the page, or at a tag that it ends in. */
function pageEnd(end: i32): i32 {
  hide(end, length)
  place = length
  store<i32>(STOP, end)
  return PAGE_END
}

/** After what begins with the `<` at `less` and is no tag; one further when it is nothing. */
function afterOther(less: i32, start: i32, isEnd: bool, allowsCdata: bool): i32 {
  const code = byteAt(less + 1)
  if (code === BANG) return afterDeclaration(less, allowsCdata)
  if (code === QUESTION) return afterGreater(less)
  if (isEnd && start < length) return byteAt(start) === GREATER ? start + 1 : afterGreater(start)
  return less + 1
}

/** Whether the room need not see this start tag: all that it says is a link that means what it says, which is kept. */
function isLinkKept(): bool {
  const attribute = load<u8>(LINK_ATTRIBUTES + (element as usize)) as i32
  if (attribute === 0 || (present & ((1 << SRCSET) | (1 << IMAGESRCSET))) !== 0) return false
  if (((present >> attribute) & 1) === 0) return true
  if (((present >> REL) & 1) !== 0 && mayRelMatter()) return false
  const value = VALUES + ((attribute << 3) as usize)
  let start = load<i32>(value)
  let end = load<i32>(value, 4)
  while (start < end && isSpace(byteAt(start))) start++
  while (end > start && isSpace(byteAt(end - 1))) end--
  const count = load<i32>(LINK_COUNT)
  if (count === LINKS_MAX || !isPlain(start, end)) return false
  // Only <a> and <area> lead somewhere by nothing.
  if (start === end && element > AREA) return true
  const link = LINKS + ((12 * count) as usize)
  store<i32>(link, start)
  store<i32>(link, end, 4)
  store<i32>(link, element, 8)
  store<i32>(LINK_COUNT, count + 1)
  return true
}

/** Whether rel may say nofollow or canonical: without a w, a c, or a reference that could spell them it does not. */
function mayRelMatter(): bool {
  const rel = VALUES + REL * 8
  const start = load<i32>(rel)
  const end = load<i32>(rel, 4)
  if (end - start < REL_SIZE) return false
  for (let at = start; at < end; at++) {
    const code = byteAt(at)
    if ((code | 0x20) === 0x77 || (code | 0x20) === 0x63 || code === AMPERSAND) return true
  }
  return false
}

/** Whether the text at [start, end) means what it says: ASCII without references and NUL. */
function isPlain(start: i32, end: i32): bool {
  let odd = 0
  let at = start
  for (; at + 16 < end; at += 16) odd |= oddBytes(at)
  return (odd | (oddBytes(at) & ((1 << (end - at)) - 1))) === 0
}

function oddBytes(at: i32): i32 {
  const bytes = v128.load(at as usize, PAGE)
  const references = i8x16.eq(bytes, all(AMPERSAND))
  const nuls = i8x16.eq(bytes, i8x16.splat(0))
  return i8x16.bitmask(v128.or(v128.or(references, nuls), bytes))
}

/** Whether the style may name a file: without a parenthesis, an at sign, or an escape that could spell them it does not. */
function mayStyleLink(): bool {
  const style = VALUES + STYLE * 8
  const end = load<i32>(style, 4)
  for (let at = load<i32>(style); at < end; at += 16) {
    const bytes = v128.load(at as usize, PAGE)
    const signs = v128.or(is(bytes, 0x28), is(bytes, 0x40))
    const escapes = v128.or(is(bytes, 0x5c), is(bytes, AMPERSAND))
    const found = i8x16.bitmask(v128.or(signs, escapes))
    if (found !== 0 && at + ctz(found) < end) return true
  }
  return false
}

function is(bytes: v128, byte: i32): v128 {
  return i8x16.eq(bytes, all(byte))
}
