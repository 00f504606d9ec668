// A code for the bodies of blocks, made of the crawl's own URLs: each byte in as many bits as it deserves after the byte before it.
//
//     'p' after 'h'   seldom   ─▶ 9 bits          [.html] after a digit   often   ─▶ 2 bits
//
// Differences and pieces (entry-block.ts) leave bytes of which few follow upon each other: letters after letters, digits
// after digits, the heads of entries after an ending. A Huffman code for each byte that may come before, 256 of them, takes two
// fifths off, also where zstd has too little to learn from: a host with three URLs. It costs some nanoseconds a byte and no call.
//
// The code is made once, of the first URLs that wait, and stored: what was written with it can be read with nothing else. Every byte
// has a code after every other, so URLs of another kind only take more room.

import { assert } from '../base/index.ts'

const BYTES = 256
/** Longest code: four bits tell it. */
const BITS_MAX = 15
/** How much the frequency of a byte anywhere counts, in bytes seen after one byte. */
const ANYWHERE_WEIGHT = 32
/** Codes up to this length are found in one look. */
const LOOK_BITS = 9
/** What all weights together are rounded to: the least is a code of fifteen bits or a little longer. */
const WEIGHTS_TOTAL = 2 ** 15

/** The codes as they are stored: the length of each, two a byte. */
export const CODE_BYTES = (BYTES * BYTES) / 2

/** Room for what a code is made of, as the class has it; but codes with their lengths from bit 16 on. */
export interface CodeTables {
  readonly codes: Uint32Array
  readonly looks: Uint16Array
  readonly ordered: Uint8Array
  readonly firstCodes: Int32Array
  readonly starts: Int32Array
}

export class BodyCode {
  /** Of byte b after byte a, at 256 a + b. */
  readonly #lengths = new Uint8Array(BYTES * BYTES)
  readonly #codes = new Uint16Array(BYTES * BYTES)
  /** By the byte before and the next nine bits: 16 × byte + length; 0 where the code is longer. */
  readonly #looks = new Uint16Array(BYTES << LOOK_BITS)
  /** By the byte before: bytes by code, and for each length the first code and where its bytes begin. */
  readonly #ordered = new Uint8Array(BYTES * BYTES)
  readonly #firstCodes = new Int32Array(BYTES * (BITS_MAX + 2))
  readonly #starts = new Int32Array(BYTES * (BITS_MAX + 2))

  /** Null unless these are lengths of codes that tell every byte after every other. */
  static of(stored: Uint8Array): BodyCode | null {
    if (stored.length !== CODE_BYTES) return null
    const code = new BodyCode()
    for (let i = 0; i < stored.length; i++) {
      code.#lengths[2 * i] = (stored[i] as number) & 15
      code.#lengths[2 * i + 1] = (stored[i] as number) >> 4
    }
    for (let before = 0; before < BYTES; before++) if (!code.#assign(before)) return null
    return code
  }

  /** A code for bodies like these. */
  static for(bodies: Iterable<Uint8Array>): BodyCode {
    const counts = new Float64Array(BYTES * BYTES)
    const anywhere = new Float64Array(BYTES).fill(1)
    for (const body of bodies) {
      let before = 0
      for (const byte of body) {
        const at = before * BYTES + byte
        counts[at] = (counts[at] as number) + 1
        anywhere[byte] = (anywhere[byte] as number) + 1
        before = byte
      }
    }
    const total = anywhere.reduce((sum, count) => sum + count)
    const code = new BodyCode()
    const lengthsAnywhere = codeLengths(anywhere)
    for (let before = 0; before < BYTES; before++) {
      const weights = counts.subarray(before * BYTES, (before + 1) * BYTES)
      const isMet = weights.some((count) => count > 0)
      for (let byte = 0; byte < BYTES; byte++) {
        weights[byte] = (weights[byte] as number) + (ANYWHERE_WEIGHT * (anywhere[byte] as number)) / total
      }
      code.#lengths.set(isMet ? codeLengths(weights) : lengthsAnywhere, before * BYTES)
      assert(code.#assign(before), 'a Huffman code is not complete')
    }
    return code
  }

  stored(): Uint8Array {
    const stored = new Uint8Array(CODE_BYTES)
    for (let i = 0; i < stored.length; i++) {
      stored[i] = (this.#lengths[2 * i] as number) | ((this.#lengths[2 * i + 1] as number) << 4)
    }
    return stored
  }

  /** Copies all it is made of. */
  tell({ codes, looks, ordered, firstCodes, starts }: CodeTables): void {
    for (let i = 0; i < codes.length; i++) codes[i] = ((this.#lengths[i] as number) << 16) | (this.#codes[i] as number)
    looks.set(this.#looks)
    ordered.set(this.#ordered)
    firstCodes.set(this.#firstCodes)
    starts.set(this.#starts)
  }

  /** How many bytes a body takes. */
  sizeOf(body: Uint8Array): number {
    const lengths = this.#lengths
    let bits = 0
    let before = 0
    for (let i = 0; i < body.length; i++) {
      const byte = body[i] as number
      bits += lengths[before * BYTES + byte] as number
      before = byte
    }
    return (bits + 7) >>> 3
  }

  /** A body in the code: the plain way, which takes bodies of any size. */
  coded(body: Uint8Array): Uint8Array {
    const out = new Uint8Array(this.sizeOf(body))
    const lengths = this.#lengths
    const codes = this.#codes
    let end = 0
    let bits = 0
    let count = 0
    let before = 0
    for (let i = 0; i < body.length; i++) {
      const byte = body[i] as number
      const index = before * BYTES + byte
      const length = lengths[index] as number
      bits = (bits << length) | (codes[index] as number)
      count += length
      while (count >= 8) {
        count -= 8
        out[end++] = (bits >>> count) & 0xff
      }
      bits &= 0xff
      before = byte
    }
    if (count > 0) out[end++] = (bits << (8 - count)) & 0xff
    return out
  }

  /** The body of this length that begins at a place and ends with the bytes; null when they are not as many as it takes. */
  read(bytes: Uint8Array, at: number, length: number): Buffer | null {
    const body = Buffer.allocUnsafe(length)
    const looks = this.#looks
    let next = at
    let bits = 0
    let count = 0
    let before = 0
    for (let i = 0; i < length; i++) {
      while (count < BITS_MAX) {
        // Behind the end there are zeros; that too many were read is seen afterwards.
        bits = ((bits << 8) | (bytes[next++] ?? 0)) & 0x3fffffff
        count += 8
      }
      const look = looks[(before << LOOK_BITS) | ((bits >>> (count - LOOK_BITS)) & ((1 << LOOK_BITS) - 1))] as number
      if (look === 0) {
        const found = this.#longCode(before, (bits >>> (count - BITS_MAX)) & ((1 << BITS_MAX) - 1))
        before = found >>> 4
        count -= found & 15
      } else {
        before = look >>> 4
        count -= look & 15
      }
      body[i] = before
    }
    return next - (count >>> 3) === bytes.length ? body : null
  }

  /** The byte, times 16, and the length of the code that begins these fifteen bits and is longer than a look. */
  #longCode(before: number, bits: number): number {
    const row = before * (BITS_MAX + 2)
    for (let length = LOOK_BITS + 1; length <= BITS_MAX; length++) {
      const code = bits >>> (BITS_MAX - length)
      const start = this.#starts[row + length] as number
      const among = code - (this.#firstCodes[row + length] as number)
      if (among >= 0 && among < (this.#starts[row + length + 1] as number) - start) {
        return ((this.#ordered[before * BYTES + start + among] as number) << 4) | length
      }
    }
    assert(false, 'a Huffman code is not complete')
  }

  /** Gives out the codes after one byte, shorter ones first, by their lengths; false unless they fit exactly. */
  #assign(before: number): boolean {
    const lengths = this.#lengths.subarray(before * BYTES, (before + 1) * BYTES)
    const firsts = this.#firstCodes.subarray(before * (BITS_MAX + 2), (before + 1) * (BITS_MAX + 2))
    const starts = this.#starts.subarray(before * (BITS_MAX + 2), (before + 1) * (BITS_MAX + 2))
    const counts = new Uint16Array(BITS_MAX + 1)
    for (const length of lengths) counts[length] = (counts[length] as number) + 1
    for (let length = 1; length <= BITS_MAX; length++) {
      const codes = counts[length] as number
      starts[length + 1] = (starts[length] as number) + codes
      firsts[length + 1] = ((firsts[length] as number) + codes) << 1
    }
    // As many codes of fifteen bits are used up as there are; none of them by a byte that has no code.
    if (counts[0] !== 0 || firsts[BITS_MAX + 1] !== 2 << BITS_MAX) return false
    const given = new Uint16Array(BITS_MAX + 1)
    for (let byte = 0; byte < BYTES; byte++) {
      const length = lengths[byte] as number
      const among = given[length] as number
      given[length] = among + 1
      const code = (firsts[length] as number) + among
      this.#codes[before * BYTES + byte] = code
      this.#ordered[before * BYTES + (starts[length] as number) + among] = byte
      if (length > LOOK_BITS) continue
      const first = (before << LOOK_BITS) | (code << (LOOK_BITS - length))
      this.#looks.fill((byte << 4) | length, first, first + (1 << (LOOK_BITS - length)))
    }
    return true
  }
}

/** Huffman's lengths for 256 weights, none above BITS_MAX: what is too seldom for that counts as a little more often. */
function codeLengths(weights: Float64Array): Uint8Array {
  let total = 0
  for (const weight of weights) total += weight
  const counted = new Uint32Array(BYTES)
  // Rounded to whole numbers, so that they can be sorted together with their bytes as numbers.
  for (let least = 1; ; least *= 2) {
    for (let byte = 0; byte < BYTES; byte++) {
      counted[byte] = Math.max(least, Math.round(((weights[byte] as number) / total) * WEIGHTS_TOTAL))
    }
    const lengths = huffmanLengths(counted)
    if (Math.max(...lengths) <= BITS_MAX) return lengths
  }
}

/** The two least are joined until one is left: leaves in order of weight, joints in the order they arise, which is the same. */
function huffmanLengths(weights: Uint32Array): Uint8Array {
  const leaves = Float64Array.from(weights, (weight, byte) => weight * BYTES + byte).sort()
  const nodes = 2 * BYTES - 1
  const sums = new Float64Array(nodes)
  const parents = new Int32Array(nodes)
  leaves.forEach((leaf, i) => (sums[i] = Math.floor(leaf / BYTES)))
  let leaf = 0
  let joint = BYTES
  for (let made = BYTES; made < nodes; made++) {
    for (let i = 0; i < 2; i++) {
      const isLeaf = leaf < BYTES && (joint >= made || (sums[leaf] as number) <= (sums[joint] as number))
      const least = isLeaf ? leaf++ : joint++
      sums[made] = (sums[made] as number) + (sums[least] as number)
      parents[least] = made
    }
  }
  const depths = new Uint8Array(nodes)
  for (let node = nodes - 2; node >= 0; node--) depths[node] = (depths[parents[node] as number] as number) + 1
  const lengths = new Uint8Array(BYTES)
  leaves.forEach((leaf, i) => (lengths[leaf % BYTES] = depths[i] as number))
  return lengths
}
