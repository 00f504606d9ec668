// Codes of few bits for what comes often (Huffman), none longer than a limit.

import { BUCKETS, LENGTH_COUNTS, NEXT_CODES, SYMBOLS, TURNED, USED, WEIGHTS } from './memory'

/** Counts from here on share a bucket, and are sorted one by one. */
const BUCKET_LAST: u32 = 127
const LENGTHS: i32 = 16

for (let byte = 0; byte < 256; byte++) {
  let turned = 0
  for (let bit = 0; bit < 8; bit++) if ((byte & (1 << bit)) !== 0) turned |= 0x80 >> bit
  store<u8>(TURNED + byte, turned as u8)
}

/** From how often each symbol comes to how long its code is. There are at least two codes, so that every reader finds a whole set. */
export function makeLengths(counts: usize, symbols: i32, limit: i32, lengths: usize): void {
  memory.fill(lengths, 0, symbols)
  const used = sortSymbols(counts, symbols)
  if (used < 2) {
    // What is not used has a code of one bit all the same.
    const only = used === 1 ? (load<u16>(SYMBOLS) as i32) : 0
    store<u8>(lengths + (only as usize), 1)
    store<u8>(lengths + ((only === 0 ? 1 : 0) as usize), 1)
    return
  }
  countLengths(used, limit)
  // The rarest have the longest.
  let symbol = SYMBOLS
  for (let length = limit; length > 0; length--) {
    for (let left = load<i32>(LENGTH_COUNTS + ((length << 2) as usize)); left > 0; left--) {
      store<u8>(lengths + (load<u16>(symbol) as usize), length as u8)
      symbol += 2
    }
  }
}

/** Symbols that come at all, the rarest first, to SYMBOLS, and how often to WEIGHTS. How many they are. */
function sortSymbols(counts: usize, symbols: i32): i32 {
  // hot: those that do not come are written over by the next. Nobody can foresee which they are.
  let used = USED
  for (let symbol: u32 = 0; symbol < (symbols as u32); symbol++) {
    const weight = load<u32>(counts + ((symbol << 2) as usize))
    store<u32>(used, (weight << 9) | symbol)
    used += select(4, 0, weight !== 0)
  }
  memory.fill(BUCKETS, 0, 4 * (BUCKET_LAST + 1))
  for (let at = USED; at < used; at += 4) {
    const bucket = bucketOf(load<u32>(at) >> 9)
    store<i32>(bucket, load<i32>(bucket) + 1)
  }
  // From here on each bucket says where its next symbol goes.
  let place = 0
  for (let bucket = BUCKETS; bucket <= BUCKETS + 4 * BUCKET_LAST; bucket += 4) {
    const size = load<i32>(bucket)
    store<i32>(bucket, place)
    place += size
  }
  const lastStart = load<i32>(BUCKETS + 4 * BUCKET_LAST)
  for (let at = USED; at < used; at += 4) {
    const weight = load<u32>(at) >> 9
    const bucket = bucketOf(weight)
    let to = load<i32>(bucket)
    store<i32>(bucket, to + 1)
    if (weight >= BUCKET_LAST) {
      for (; to > lastStart && weightAt(to - 1) > weight; to--) put(to, weightAt(to - 1), symbolAt(to - 1))
    }
    put(to, weight, load<u32>(at) & 0x1ff)
  }
  return place
}

function bucketOf(weight: u32): usize {
  return BUCKETS + ((min(weight, BUCKET_LAST) << 2) as usize)
}

function weightAt(place: i32): u32 {
  return load<u32>(WEIGHTS + ((place << 2) as usize))
}

function symbolAt(place: i32): u32 {
  return load<u16>(SYMBOLS + ((place << 1) as usize))
}

function put(place: i32, weight: u32, symbol: u32): void {
  store<u32>(WEIGHTS + ((place << 2) as usize), weight)
  store<u16>(SYMBOLS + ((place << 1) as usize), symbol as u16)
}

/**
 * How many codes of each length are best for weights in their order. The tree is made in the place of the weights: two of the
 * lightest, leaves or nodes, become a node, whose weight is theirs together; nodes come in order of their weight too. Of a node that has
 * a parent only that is kept, then its depth.
 */
function countLengths(used: i32, limit: i32): void {
  let leaf = 0
  let root = 0
  for (let node = 0; node < used - 1; node++) {
    let weight: u32 = 0
    for (let child = 0; child < 2; child++) {
      if (leaf === used || (root < node && weightAt(root) < weightAt(leaf))) {
        weight += weightAt(root)
        setWeight(root++, node as u32)
      } else weight += weightAt(leaf++)
    }
    setWeight(node, weight)
  }
  setWeight(used - 2, 0)
  for (let node = used - 3; node >= 0; node--) setWeight(node, weightAt(weightAt(node) as i32) + 1)
  memory.fill(LENGTH_COUNTS, 0, 4 * LENGTHS)
  // Level by level: of the places on it some are nodes, each of which makes two on the next; the others are leaves.
  let places = 1
  let node = used - 2
  let excess = -(1 << limit)
  for (let depth: i32 = 0; places > 0; depth++) {
    let nodes = 0
    while (node >= 0 && (weightAt(node) as i32) === depth) {
      nodes++
      node--
    }
    const length = min(depth, limit)
    addLengths(length, places - nodes)
    excess += (places - nodes) << (limit - length)
    places = 2 * nodes
  }
  // Leaves that were too deep stand at the limit now, and take more room than there is: each goes beside a leaf further up, which
  // makes room by going one level down.
  for (; excess > 0; excess--) {
    let length = limit - 1
    while (load<i32>(LENGTH_COUNTS + ((length << 2) as usize)) === 0) length--
    addLengths(length, -1)
    addLengths(length + 1, 2)
    addLengths(limit, -1)
  }
}

function setWeight(place: i32, weight: u32): void {
  store<u32>(WEIGHTS + ((place << 2) as usize), weight)
}

function addLengths(length: i32, more: i32): void {
  const at = LENGTH_COUNTS + ((length << 2) as usize)
  store<i32>(at, load<i32>(at) + more)
}

/** From lengths to codes: among those of one length in the order of their symbols, shorter ones first. */
export function makeCodes(lengths: usize, symbols: i32, codes: usize): void {
  memory.fill(LENGTH_COUNTS, 0, 4 * LENGTHS)
  for (let symbol = 0; symbol < symbols; symbol++) addLengths(load<u8>(lengths + (symbol as usize)), 1)
  store<i32>(LENGTH_COUNTS, 0)
  let code = 0
  for (let length = 1; length < LENGTHS; length++) {
    code = (code + load<i32>(LENGTH_COUNTS + ((length << 2) as usize) - 4)) << 1
    store<i32>(NEXT_CODES + ((length << 2) as usize), code)
  }
  for (let symbol = 0; symbol < symbols; symbol++) {
    const length = load<u8>(lengths + (symbol as usize)) as u32
    if (length === 0) continue
    const next = NEXT_CODES + ((length << 2) as usize)
    const own = load<u32>(next)
    store<u32>(next, own + 1)
    const turned = ((load<u8>(TURNED + (own & 0xff)) as u32) << 8) | (load<u8>(TURNED + (own >> 8)) as u32)
    store<u32>(codes + ((symbol << 2) as usize), (turned >> (16 - length)) | (length << 16))
  }
}
