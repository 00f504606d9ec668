// A block of deflate in whichever of its three ways is shortest: as it is, with the codes everybody knows, or with codes of its own.

import { bitCount, bits, endByte, goOnAt, out, putBits } from './bits'
import { makeCodes, makeLengths } from './codes'
import { sequences } from './matches'
import {
  BOTH_LENGTHS,
  COUNTS_BYTES,
  DISTANCE_CODES,
  DISTANCE_COUNTS,
  DISTANCE_LENGTHS,
  DISTANCES,
  END_OF_BLOCK,
  FIRST_LENGTH,
  HEADER_CODES,
  HEADER_COUNTS,
  HEADER_ITEMS,
  HEADER_LENGTHS,
  HEADER_ORDER,
  HEADER_SYMBOLS,
  LENGTH_SLOTS,
  LITERAL_CODES,
  LITERAL_COUNTS,
  LITERAL_LENGTHS,
  LITERALS,
  MATCH_CODES,
  MATCH_MAX,
  SEQUENCES,
  SLOT_BASES,
  SLOT_BITS,
  SLOTS,
} from './memory'

/** Four literals and the rest of a byte fit 64 bits; 15 would be allowed, and win nothing. */
const LITERAL_LIMIT: i32 = 14
const DISTANCE_LIMIT: i32 = 15
const HEADER_LIMIT: i32 = 7

const STORED: u32 = 0
const FIXED: u32 = 1
const OWN: u32 = 2
const BLOCK_HEADER_BITS: u32 = 3

/** Of both codes in the header: the last length again, a few zeros, many zeros. */
const AGAIN: u32 = 16
const ZEROS: u32 = 17
const MANY_ZEROS: u32 = 18

for (let slot = 0; slot < SLOTS; slot++) {
  for (let length = slotBase(slot); length <= MATCH_MAX; length++) store<u8>(LENGTH_SLOTS + length, slot as u8)
}

let literalsTold: i32 = 0
let distancesTold: i32 = 0
let headerTold: i32 = 0
let headerItems: usize = 0

function slotBase(slot: i32): i32 {
  return load<u16>(SLOT_BASES + ((slot << 1) as usize))
}

function slotBits(slot: i32): u32 {
  return load<u8>(SLOT_BITS + (slot as usize))
}

function distanceBits(symbol: i32): u32 {
  return symbol < 4 ? 0 : ((symbol >> 1) as u32) - 1
}

function at32(base: usize, index: i32): u32 {
  return load<u32>(base + ((index << 2) as usize))
}

function at8(base: usize, index: i32): u32 {
  return load<u8>(base + (index as usize))
}

/** Before the symbols of a block are counted. */
export function beginCounts(): void {
  memory.fill(LITERAL_COUNTS, 0, COUNTS_BYTES)
  store<u32>(LITERAL_COUNTS, 1, 4 * END_OF_BLOCK)
}

/** Writes the block from `from` to `to`, whose sequences are found and counted. */
export function writeBlock(from: usize, to: usize, isLast: bool): void {
  makeLengths(LITERAL_COUNTS, LITERALS, LITERAL_LIMIT, LITERAL_LENGTHS)
  makeLengths(DISTANCE_COUNTS, DISTANCES, DISTANCE_LIMIT, DISTANCE_LENGTHS)
  const header = planHeader()
  let own = header
  let fixed: u32 = 0
  for (let symbol = 0; symbol < LITERALS; symbol++) {
    const count = at32(LITERAL_COUNTS, symbol)
    own += count * at8(LITERAL_LENGTHS, symbol)
    fixed += count * fixedLength(symbol)
  }
  let further: u32 = 0
  for (let symbol = 0; symbol < DISTANCES; symbol++) {
    const count = at32(DISTANCE_COUNTS, symbol)
    own += count * at8(DISTANCE_LENGTHS, symbol)
    fixed += count * 5
    further += count * distanceBits(symbol)
  }
  for (let slot = 8; slot < SLOTS; slot++) further += at32(LITERAL_COUNTS, FIRST_LENGTH + slot) * slotBits(slot)
  const asItIs: u32 = 32 + (((to - from) as u32) << 3) + ((5 - bitCount) & 7)
  if (asItIs <= min(own, fixed) + further) {
    writeStored(from, to, isLast)
    return
  }
  if (fixed <= own) {
    putBits((isLast ? 1 : 0) | (FIXED << 1), BLOCK_HEADER_BITS)
    for (let symbol = 0; symbol < 288; symbol++) {
      store<u8>(LITERAL_LENGTHS + symbol, fixedLength(symbol) as u8)
    }
    memory.fill(DISTANCE_LENGTHS, 5, 32)
    makeCodes(LITERAL_LENGTHS, 288, LITERAL_CODES)
  } else {
    putBits((isLast ? 1 : 0) | (OWN << 1), BLOCK_HEADER_BITS)
    writeHeader()
    makeCodes(LITERAL_LENGTHS, LITERALS, LITERAL_CODES)
  }
  makeCodes(DISTANCE_LENGTHS, DISTANCES, DISTANCE_CODES)
  joinCodes()
  writeSequences(from)
}

function fixedLength(symbol: i32): u32 {
  if (symbol < 144) return 8
  if (symbol < 256) return 9
  return symbol < 280 ? 7 : 8
}

/** Up to 65,535 bytes as they are. */
export function writeStored(from: usize, to: usize, isLast: bool): void {
  putBits((isLast ? 1 : 0) | (STORED << 1), BLOCK_HEADER_BITS)
  endByte()
  const length = (to - from) as u32
  putBits(length | (~length << 16), 32)
  memory.copy(out, from, length)
  goOnAt(out + length, 0, 0)
}

/** How the lengths of both codes are told, and how many bits that takes. */
function planHeader(): u32 {
  literalsTold = told(LITERAL_LENGTHS, LITERALS, FIRST_LENGTH)
  distancesTold = told(DISTANCE_LENGTHS, DISTANCES, 1)
  // One behind the other: a run may go on from the first to the second.
  memory.copy(BOTH_LENGTHS, LITERAL_LENGTHS, literalsTold)
  memory.copy(BOTH_LENGTHS + literalsTold, DISTANCE_LENGTHS, distancesTold)
  planRuns(BOTH_LENGTHS, literalsTold + distancesTold)
  makeLengths(HEADER_COUNTS, HEADER_SYMBOLS, HEADER_LIMIT, HEADER_LENGTHS)
  headerTold = HEADER_SYMBOLS
  while (headerTold > 4 && headerLength(headerTold - 1) === 0) headerTold--
  let size: u32 = 5 + 5 + 4 + 3 * headerTold
  for (let symbol = 0; symbol < HEADER_SYMBOLS; symbol++) {
    size += at32(HEADER_COUNTS, symbol) * (at8(HEADER_LENGTHS, symbol) + furtherBits(symbol))
  }
  return size
}

function told(lengths: usize, symbols: i32, least: i32): i32 {
  let count = symbols
  while (count > least && at8(lengths, count - 1) === 0) count--
  return count
}

function headerLength(place: i32): u32 {
  return at8(HEADER_LENGTHS, at8(HEADER_ORDER, place) as i32)
}

function furtherBits(symbol: i32): u32 {
  if ((symbol as u32) < AGAIN) return 0
  if ((symbol as u32) === AGAIN) return 2
  return (symbol as u32) === ZEROS ? 3 : 7
}

/** Lengths as items: each for itself, or for a run of the same. */
function planRuns(lengths: usize, count: i32): void {
  headerItems = HEADER_ITEMS
  for (let from = 0; from < count;) {
    const length = at8(lengths, from)
    let to = from + 1
    while (to < count && at8(lengths, to) === length) to++
    let run = to - from
    from = to
    if (length === 0) {
      for (; run >= 11; run -= min(run, 138)) putItem(MANY_ZEROS, (min(run, 138) as u32) - 11)
      if (run >= 3) {
        putItem(ZEROS, (run as u32) - 3)
        run = 0
      }
    } else {
      putItem(length, 0)
      run--
      while (run >= 3) {
        const some = min(run, 6)
        putItem(AGAIN, (some as u32) - 3)
        run -= some
      }
    }
    for (; run > 0; run--) putItem(length, 0)
  }
}

function putItem(symbol: u32, further: u32): void {
  store<u16>(headerItems, (symbol | (further << 8)) as u16)
  headerItems += 2
  const at = HEADER_COUNTS + ((symbol << 2) as usize)
  store<u32>(at, load<u32>(at) + 1)
}

function writeHeader(): void {
  makeCodes(HEADER_LENGTHS, HEADER_SYMBOLS, HEADER_CODES)
  putBits(
    ((literalsTold - FIRST_LENGTH) as u32) | (((distancesTold - 1) as u32) << 5) | (((headerTold - 4) as u32) << 10),
    14,
  )
  for (let place = 0; place < headerTold; place++) putBits(headerLength(place), 3)
  for (let item = HEADER_ITEMS; item < headerItems; item += 2) {
    const symbol = load<u8>(item) as i32
    const code = at32(HEADER_CODES, symbol)
    const length = code >> 16
    putBits((code & 0xffff) | ((load<u8>(item, 1) as u32) << length), length + furtherBits(symbol))
  }
}

/** Codes with what always follows them: of a length all its bits, of a distance how many come. */
function joinCodes(): void {
  for (let slot = 0; slot < SLOTS; slot++) {
    if (at32(LITERAL_COUNTS, FIRST_LENGTH + slot) === 0) continue
    const code = at32(LITERAL_CODES, FIRST_LENGTH + slot)
    const length = code >> 16
    const further = slotBits(slot)
    const base = MATCH_CODES + ((slotBase(slot) << 2) as usize)
    for (let which: u32 = 0; which < 1 << further; which++) {
      store<u32>(base + ((which << 2) as usize), (code & 0xffff) | (which << length) | ((length + further) << 24))
    }
  }
  for (let symbol = 4; symbol < DISTANCES; symbol++) {
    const at = DISTANCE_CODES + ((symbol << 2) as usize)
    store<u32>(at, (load<u32>(at) & 0x00ff_ffff) | (distanceBits(symbol) << 24))
  }
}

/** hot: of a match at most 14 + 5 + 15 + 13 bits, of four literals 56: beside seven that wait they fit 64. */
function writeSequences(from: usize): void {
  let to = out
  let wait = bits
  let count = bitCount as u64
  let at = from
  const end = SEQUENCES + ((sequences << 3) as usize)
  for (let sequence = SEQUENCES; ; sequence += 8) {
    const found = load<u64>(sequence)
    let run = (found & 0xffff) as i32
    for (; run >= 4; run -= 4) {
      const first = load<u32>(LITERAL_CODES + ((load<u8>(at) as usize) << 2))
      wait |= ((first & 0xffff) as u64) << count
      count += first >> 16
      const second = load<u32>(LITERAL_CODES + ((load<u8>(at, 1) as usize) << 2))
      wait |= ((second & 0xffff) as u64) << count
      count += second >> 16
      const third = load<u32>(LITERAL_CODES + ((load<u8>(at, 2) as usize) << 2))
      wait |= ((third & 0xffff) as u64) << count
      count += third >> 16
      const fourth = load<u32>(LITERAL_CODES + ((load<u8>(at, 3) as usize) << 2))
      wait |= ((fourth & 0xffff) as u64) << count
      count += fourth >> 16
      store<u64>(to, wait)
      to += (count >> 3) as usize
      wait >>= count & 56
      count &= 7
      at += 4
    }
    // Up to three more: those that do not come have no bits. A branch for each would cost more.
    const first = select(load<u32>(LITERAL_CODES + ((load<u8>(at) as usize) << 2)), 0, run > 0)
    wait |= ((first & 0xffff) as u64) << count
    count += first >> 16
    const second = select(load<u32>(LITERAL_CODES + ((load<u8>(at, 1) as usize) << 2)), 0, run > 1)
    wait |= ((second & 0xffff) as u64) << count
    count += second >> 16
    const third = select(load<u32>(LITERAL_CODES + ((load<u8>(at, 2) as usize) << 2)), 0, run > 2)
    wait |= ((third & 0xffff) as u64) << count
    count += third >> 16
    at += run as usize
    store<u64>(to, wait)
    to += (count >> 3) as usize
    wait >>= count & 56
    count &= 7
    if (sequence === end) break
    const length = (found >> 16) & 0xffff
    at += length as usize
    const match = load<u32>(MATCH_CODES + ((length << 2) as usize))
    wait |= ((match & 0x00ff_ffff) as u64) << count
    count += match >> 24
    const distance = load<u32>(DISTANCE_CODES + (((found >> 48) << 2) as usize))
    wait |= ((distance & 0xffff) as u64) << count
    count += (distance >> 16) & 0xff
    const further = (distance >> 24) as u64
    wait |= ((found >> 32) & (((1 as u64) << further) - 1)) << count
    count += further
    store<u64>(to, wait)
    to += (count >> 3) as usize
    wait >>= count & 56
    count &= 7
  }
  goOnAt(to, wait, count as u32)
  const code = at32(LITERAL_CODES, END_OF_BLOCK)
  putBits(code & 0xffff, code >> 16)
}
