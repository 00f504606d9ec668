// Sorts an index of lines by their bytes: a quicksort that looks at eight of them at a time.
//
//     keys of bytes 0 to 7:   │ less │ equal: again, by bytes 8 to 15 │ greater │
//
// The bytes stand beside each entry while they are looked at, so lines are read once for each eight bytes that they share with
// others. Lines of one host share some tens of bytes, which a comparison of whole lines would walk through each time.

import { compare, ENTRY, lengthOf, lineOf } from './lines'

/** So few are sorted by comparing them. */
const FEW: usize = 16 * ENTRY
const KEY_BYTES: u32 = 8

let seed: u32 = 1

export function sort(index: usize, lines: i32): void {
  seed = 0x9e37_79b9
  const end = index + (lines as usize) * ENTRY
  readKeys(index, end, 0)
  sortRange(index, end, 0)
}

/** Keys of the bytes from `depth` on are read. It calls itself for halves at most, and goes on with the rest, so it is never deep in itself. */
function sortRange(begin: usize, end: usize, atDepth: u32): void {
  let from = begin
  let to = end
  let depth = atDepth
  while (to - from > FEW) {
    const pivot = medianKey(from, to)
    let less = from
    let greater = to
    for (let at = from; at < greater;) {
      const key = load<u64>(at)
      if (key < pivot) {
        swap(less, at)
        less += ENTRY
        at += ENTRY
      } else if (key > pivot) {
        greater -= ENTRY
        swap(at, greater)
      } else at += ENTRY
    }
    const equal = endedFirst(less, greater, depth)
    const lessBytes = less - from
    const equalBytes = greater - equal
    const greaterBytes = to - greater
    readKeys(equal, greater, depth + KEY_BYTES)
    if (equalBytes >= lessBytes && equalBytes >= greaterBytes) {
      sortRange(from, less, depth)
      sortRange(greater, to, depth)
      from = equal
      to = greater
      depth += KEY_BYTES
    } else {
      sortRange(equal, greater, depth + KEY_BYTES)
      if (lessBytes >= greaterBytes) {
        sortRange(greater, to, depth)
        to = less
      } else {
        sortRange(from, less, depth)
        from = greater
      }
    }
  }
  sortFew(from, to, depth)
}

/** Eight bytes of each, from `depth` on: zeros where the line has ended. */
function readKeys(from: usize, to: usize, depth: u32): void {
  for (let entry = from; entry < to; entry += ENTRY) {
    const length = lengthOf(entry)
    let key: u64 = 0
    if (length > depth) {
      const left = length - depth
      key = bswap(load<u64>(lineOf(entry) + (depth as usize)))
      if (left < KEY_BYTES) key &= ~(<u64>0) << ((8 * (KEY_BYTES - left)) as u64)
    }
    store<u64>(entry, key)
  }
}

/**
 * Of lines that are equal up to behind their keys, those that end there, the shorter first: a zero that a line has cannot be told from one that
 * stands for its end. Where the others begin.
 */
function endedFirst(from: usize, to: usize, depth: u32): usize {
  const limit = depth + KEY_BYTES
  let ended = from
  for (let entry = from; entry < to; entry += ENTRY) {
    if (lengthOf(entry) > limit) continue
    swap(ended, entry)
    ended += ENTRY
  }
  let next = from
  for (let length = depth; length < limit && next < ended; length++) {
    for (let entry = next; entry < ended; entry += ENTRY) {
      if (lengthOf(entry) !== length) continue
      swap(next, entry)
      next += ENTRY
    }
  }
  return ended
}

/** By insertion. */
function sortFew(from: usize, to: usize, depth: u32): void {
  for (let entry = from + ENTRY; entry < to; entry += ENTRY) {
    for (let at = entry; at > from && isLess(at, at - ENTRY, depth); at -= ENTRY) swap(at, at - ENTRY)
  }
}

function isLess(one: usize, two: usize, depth: u32): bool {
  const a = load<u64>(one)
  const b = load<u64>(two)
  if (a !== b) return a < b
  const from = depth as usize
  // Whoever is here is at least as long as what all of them have in common.
  return compare(lineOf(one) + from, lengthOf(one) - depth, lineOf(two) + from, lengthOf(two) - depth) < 0
}

/** Of three entries by chance: lines that were made to be sorted slowly would have to guess them. */
function medianKey(from: usize, to: usize): u64 {
  const a = anyKey(from, to)
  const b = anyKey(from, to)
  const c = anyKey(from, to)
  return max(min(a, b), min(max(a, b), c))
}

function anyKey(from: usize, to: usize): u64 {
  seed ^= seed << 13
  seed ^= seed >> 17
  seed ^= seed << 5
  return load<u64>(from + ((seed as usize) % ((to - from) / ENTRY)) * ENTRY)
}

function swap(one: usize, two: usize): void {
  const entry = v128.load(one)
  v128.store(one, v128.load(two))
  v128.store(two, entry)
}
