// The names of elements and attributes the room cares about, known by one multiplication and one comparison of sixteen bytes.
//
// The room says them once (learn) and gives each an id. No two may share a cell: then there is one place to look, and nothing to search.

import { all, FILTER_ATTRIBUTE, FILTER_END, FILTER_START, KEPT, NAME_CELLS, NAME_IDS, NAME_KEYS, PAGE } from './memory'

export const ELEMENTS: i32 = 0
export const ATTRIBUTES: i32 = 1

/** Elements whose end tag means something: form, frameset and template. */
export const ENDS: u64 = ((1 as u64) << 7) | ((1 as u64) << 9) | ((1 as u64) << 26)
/** Attributes that are asked for only inside svg and math: color, encoding, face and size. */
const FOREIGN: u64 = (1 << 4) | (1 << 7) | (1 << 8) | (1 << 18)

/** Takes the lower-case name of `length` bytes at PAGE into a table. Whether its cell was free. */
export function learn(table: i32, length: i32, id: i32): bool {
  const key = keyAt(PAGE, length)
  const cell = cellOf(table, i64x2.extract_lane(key, 0), i64x2.extract_lane(key, 1))
  if (load<u8>(NAME_IDS + cell) !== 0) return false
  v128.store(NAME_KEYS + (cell << 4), key)
  store<u8>(NAME_IDS + cell, id)
  if (table === ELEMENTS) {
    letThrough(FILTER_START, length)
    if (((ENDS >> (id as u64)) & 1) !== 0) letThrough(FILTER_END, length)
  } else if (((FOREIGN >> (id as u64)) & 1) === 0) letThrough(FILTER_ATTRIBUTE, length)
  return true
}

function letThrough(filter: usize, length: i32): void {
  const lower = filter + ((load<u8>(PAGE) as usize) << 2)
  const upper = filter + (((load<u8>(PAGE) & ~0x20) as usize) << 2)
  store<i32>(lower, load<i32>(lower) | (1 << length))
  store<i32>(upper, load<i32>(lower))
}

/** Whether a name with this first byte and length may be one that matters. */
export function mayMatter(filter: usize, first: i32, length: i32): bool {
  return ((load<i32>(filter + ((first << 2) as usize)) >> length) & 1) !== 0
}

/** The id of the name of `length` bytes, 1 to 16, at an address; 0 where it is in the table not. */
export function find(table: i32, at: usize, length: i32): i32 {
  const key = keyAt(at, length)
  const low: u64 = i64x2.extract_lane(key, 0)
  const high: u64 = i64x2.extract_lane(key, 1)
  const cell = cellOf(table, low, high)
  const held = NAME_KEYS + (cell << 4)
  const isSame = ((load<u64>(held) ^ low) | (load<u64>(held, 8) ^ high)) === 0
  return select<i32>(load<u8>(NAME_IDS + cell), 0, isSame)
}

/** Lower case, and spaces behind, which no name has. Only letters have the bit 0x40 and are changed by 0x20 into one another. */
function keyAt(at: usize, length: i32): v128 {
  const bytes = v128.load(at)
  const lower = v128.or(bytes, i64x2.shr_u(v128.and(bytes, all(0x40)), 1))
  return v128.bitselect(lower, all(0x20), v128.load(KEPT + 16 - length))
}

/** Found by trying: with this factor our names have a cell each. */
const FACTOR: u64 = ((0x8d88348a as u64) << 32) | 0x7eed8d15

function cellOf(table: i32, low: u64, high: u64): usize {
  const hash = (low ^ rotl(high, 29)) * FACTOR
  return ((table * NAME_CELLS) as usize) + ((hash >> 56) as usize)
}
