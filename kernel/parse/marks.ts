// Three bits for each byte of a page, made in one pass that has no branch: all later searches are in them, 64 bytes at a step.
//
//     page     <p>The quick fox</p>
//     tags     #..............#...    a `<`; one more stands behind the page, so that no search need ask where it ends
//     starts   .#.#...#.....#...#.    a word starts here
//     stops    #.#...#.....#..###.    no word goes on here (a word is letters, digits and bytes from 0x80 on)
//
// A byte from 0xE0 on starts a word and stops the one before: scripts without spaces are read character by character.
// What turns out to be no text is hidden: its bits are taken from `starts`.

import { all, MARGIN, PAGE } from './memory'

export let length: i32 = 0
export let tags: usize = 0
export let starts: usize = 0
export let stops: usize = 0

/** Bytes of memory from PAGE on that a page of this length needs. */
export function room(length: i32): usize {
  return align(length) + 3 * mapBytes(length)
}

function align(length: i32): usize {
  return ((length + MARGIN + 63) & ~63) as usize
}

function mapBytes(length: i32): usize {
  // A word more for the mark behind the page, and one for reads of 64 bits at the last byte.
  return (((length >> 6) + 3) << 3) as usize
}

/** Marks the page of so many bytes that stands at PAGE. */
export function mark(bytes: i32): void {
  length = bytes
  memory.fill(PAGE + bytes, 0, MARGIN)
  const size = mapBytes(bytes)
  const tagsAt = PAGE + align(bytes)
  const startsAt = tagsAt + size
  const stopsAt = startsAt + size
  tags = tagsAt
  starts = startsAt
  stops = stopsAt
  let at: usize = PAGE
  const end = PAGE + bytes
  let place: usize = 0
  const less = all(0x3c)
  const lower = all(0x20)
  const a = all(0x61 + 128)
  const letters = all(128 + 26)
  const zero = all(0x30 + 128)
  const digits = all(128 + 10)
  const limit = all(0xdf)
  /** Whether the byte before is of a word. */
  let before: u64 = 0
  for (; at < end; at += 64) {
    const one = v128.load(at)
    const two = v128.load(at, 16)
    const three = v128.load(at, 32)
    const four = v128.load(at, 48)
    const words = joined(
      wordMask(one, lower, a, letters, zero, digits),
      wordMask(two, lower, a, letters, zero, digits),
      wordMask(three, lower, a, letters, zero, digits),
      wordMask(four, lower, a, letters, zero, digits),
    )
    const firsts = joined(firstMask(one, limit), firstMask(two, limit), firstMask(three, limit), firstMask(four, limit))
    store<u64>(tagsAt + place, joined(mask(one, less), mask(two, less), mask(three, less), mask(four, less)))
    store<u64>(startsAt + place, (words & ~((words << 1) | before)) | firsts)
    store<u64>(stopsAt + place, ~words | firsts)
    before = words >> 63
    place += 8
  }
  for (; place < size; place += 8) {
    store<u64>(tagsAt + place, 0)
    store<u64>(startsAt + place, 0)
    store<u64>(stopsAt + place, -1)
  }
  const last = tags + (((bytes >> 6) << 3) as usize)
  store<u64>(last, load<u64>(last) | ((1 as u64) << (bytes & 63)))
}

function joined(one: i32, two: i32, three: i32, four: i32): u64 {
  return ((one | (two << 16)) as u32 as u64) | (((three | (four << 16)) as u32 as u64) << 32)
}

function mask(bytes: v128, wanted: v128): i32 {
  return i8x16.bitmask(i8x16.eq(bytes, wanted))
}

/** Letters, digits, and bytes from 0x80 on, which have the sign already. (Comparing is with signs: ranges are moved down to -128.) */
function wordMask(bytes: v128, lower: v128, a: v128, letters: v128, zero: v128, digits: v128): i32 {
  const isLetter = i8x16.lt_s(i8x16.sub(v128.or(bytes, lower), a), letters)
  const isDigit = i8x16.lt_s(i8x16.sub(bytes, zero), digits)
  return i8x16.bitmask(v128.or(v128.or(isLetter, isDigit), bytes))
}

/** Bytes from 0xE0 on: higher than the limit, and with the sign. */
function firstMask(bytes: v128, limit: v128): i32 {
  return i8x16.bitmask(v128.and(bytes, i8x16.gt_s(bytes, limit)))
}

/** What stands at [from, to) is no text. */
export function hide(from: i32, to: i32): void {
  const first = starts + (((from >> 6) << 3) as usize)
  const last = starts + (((to >> 6) << 3) as usize)
  const kept = ((1 as u64) << ((from & 63) as u64)) - 1
  const keptAfter = (-1 as u64) << ((to & 63) as u64)
  if (first === last) {
    store<u64>(first, load<u64>(first) & (kept | keptAfter))
    return
  }
  store<u64>(first, load<u64>(first) & kept)
  memory.fill(first + 8, 0, last - first - 8)
  store<u64>(last, load<u64>(last) & keptAfter)
}

/** The same; most tags are short, and take one step. */
export function hideTag(from: i32, to: i32): void {
  const size = to - from
  if (size > 57) {
    hide(from, to)
    return
  }
  const at = starts + ((from >> 3) as usize)
  const bits = (((1 as u64) << (size as u64)) - 1) << ((from & 7) as u64)
  store<u64>(at, load<u64>(at) & ~bits)
}
