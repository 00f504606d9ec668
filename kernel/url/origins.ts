// Origins met in canonical URLs, found again by the bytes of a link that names one: `http://example.org:81/…`, `//example.org/…`. What is
// written exactly as a canonical origin is one, whatever path follows, so such a link needs no parser.

import { absorb } from './hash'
import {
  AUTHORITY_BYTES_MAX,
  CELL,
  CELLS,
  NEW_ORIGIN,
  ORIGIN_BYTES,
  ORIGIN_TEXT,
  ORIGINS,
  ORIGINS_MAX,
  PAGE,
} from './memory'

const SLASH: i8 = 0x2f

let count: i32 = 0

export function lengthOf(origin: i32): i32 {
  return load<i32>(at(origin))
}

export function authorityOf(origin: i32): i32 {
  return load<i32>(at(origin), 4)
}

export function slotOf(origin: i32): i32 {
  return load<i32>(at(origin), 8)
}

export function stateOf(origin: i32): usize {
  return at(origin) + 12
}

export function textOf(origin: i32): usize {
  return at(origin) + ORIGIN_TEXT
}

function at(origin: i32): usize {
  return ORIGINS + ((origin * ORIGIN_BYTES) as usize)
}

export function forgetOrigins(): void {
  count = 0
  memory.fill(CELL, 0, 2 * CELLS)
}

/** The number of the origin whose authority begins at a place in the page and ends with a '/' before `end`; -1 where it is not known. */
export function findOrigin(start: i32, end: i32, isSecure: bool): i32 {
  const text = PAGE + (start as usize)
  const length = authorityLength(text, min(end - start, AUTHORITY_BYTES_MAX))
  return length <= 0 ? -1 : find(text, length, isSecure)
}

/** Where the first '/' stands; -1 where none does. */
function authorityLength(text: usize, limit: i32): i32 {
  const slashes = i8x16.splat(SLASH)
  for (let from = 0; from < limit; from += 16) {
    const found = i8x16.bitmask(i8x16.eq(v128.load(text + (from as usize)), slashes))
    if (found === 0) continue
    const length = from + ctz(found)
    return length < limit ? length : -1
  }
  return -1
}

function find(authority: usize, length: i32, isSecure: bool): i32 {
  let cell = hashOf(authority, length, isSecure)
  let origin = originIn(cell)
  while (origin !== -1 && !isOrigin(origin, authority, length, isSecure)) {
    cell = (cell + 1) & (CELLS - 1)
    origin = originIn(cell)
  }
  return origin
}

function originIn(cell: i32): i32 {
  return (load<u16>(CELL + ((cell << 1) as usize)) as i32) - 1
}

function isOrigin(origin: i32, authority: usize, length: i32, isSecure: bool): bool {
  const begin = authorityOf(origin)
  if (lengthOf(origin) - begin !== length || (begin === 8) !== isSecure) return false
  return areEqual(authority, textOf(origin) + (begin as usize), length)
}

function hashOf(text: usize, length: i32, isSecure: bool): i32 {
  let hash: u64 = (length as u64) ^ (isSecure ? 0x9e3779b97f4a7c15 : 0)
  for (let from = 0; from < length; from += 8) {
    hash = rotl((hash ^ eight(text, from, length)) * 0x9e3779b97f4a7c15, 29)
  }
  return ((hash ^ (hash >> 32)) as i32) & (CELLS - 1)
}

/** Eight bytes of a text; what is behind its end counts as zeros. */
function eight(text: usize, from: i32, length: i32): u64 {
  const bytes = load<u64>(text + (from as usize))
  const left = length - from
  return left >= 8 ? bytes : bytes & (((1 as u64) << ((left << 3) as u64)) - 1)
}

export function areEqual(one: usize, other: usize, length: i32): bool {
  for (let from = 0; from < length; from += 8) if (eight(one, from, length) !== eight(other, from, length)) return false
  return true
}

/** Remembers the origin at NEW_ORIGIN, of which the first words begin with `state`. Its number; -1 where it is nobody's, or there is no room. */
export function learnOrigin(length: i32, authority: i32, slot: i32, state: usize): i32 {
  const text = NEW_ORIGIN + (authority as usize)
  const isSecure = authority === 8
  if (length - authority >= AUTHORITY_BYTES_MAX) return -1
  const known = find(text, length - authority, isSecure)
  if (known !== -1 || count === ORIGINS_MAX) return known
  const origin = count++
  let cell = hashOf(text, length - authority, isSecure)
  while (originIn(cell) !== -1) cell = (cell + 1) & (CELLS - 1)
  store<u16>(CELL + ((cell << 1) as usize), (origin + 1) as u16)
  store<i32>(at(origin), length)
  store<i32>(at(origin), authority, 4)
  store<i32>(at(origin), slot, 8)
  memory.copy(textOf(origin), NEW_ORIGIN, length)
  absorb(textOf(origin), 0, length >> 2, state, stateOf(origin))
  return origin
}
