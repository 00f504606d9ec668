// The SimHash of a page's text: 64 bits that are nearly the same where texts are nearly the same (Charikar; Manku et al.).
//
// Every pair of neighbouring words is hashed to 64 bits; bit by bit the majority wins. Changing one word of a
// hundred turns a bit or two, another text turns half of them. It is fed with the stretches between tags, as bytes in
// the encoding of the page: nothing is decoded, and no string is made.
//
//     <p>the quick brown <b>fox</b>     words   the  quick  brown  fox
//        └───────────────┘  └─┘         pairs     ·────·  ·────·  ·────·   each a vote of 64 bits
//
// Where words are not parted by spaces (Chinese, Japanese, Thai) a character is a word: one that begins with a byte from 0xE0
// on, as all of these do in UTF-8. In other encodings the same rule cuts somewhere, and always at the same place of
// the same text, which is all that is needed.
//
// hot: the loop over the bytes has no branch that depends on them (a wrongly guessed one costs as much as four bytes), and
// votes are counted in upright bit planes, eight at a time (Harley and Seal): 3 ns a pair instead of 64 additions. bench/simhash.ts
// watches the figure.

/** By byte what a word's hash takes from it, in 31 bits; 0 parts words. The sign says that a word ends before it. */
const MEANING = new Int32Array(256)
/** Bytes from here on begin a word. */
const FIRST_OF_CHARACTER = 0xe0
const VALUE = 0x7fffffff

for (let code = 0; code < 256; code++) {
  const isLetter = (code >= 97 && code <= 122) || (code >= 65 && code <= 90)
  const isDigit = code >= 48 && code <= 57
  // Letters lose their case.
  const folded = isLetter ? code | 32 : isDigit || code >= 0x80 ? code : 0
  const value = folded === 0 ? 0 : spread(folded) & VALUE
  MEANING[code] = folded === 0 || code >= FIRST_OF_CHARACTER ? value | ~VALUE : value
}

const PAIR_FACTOR = 0x9e3779b1
const LOW_FACTOR = 0x85ebca6b
const HIGH_FACTOR = 0xc2b2ae35
/** Words kept before they are counted; a multiple of eight. */
const WORDS_KEPT = 4_096
/** Planes of the counters: more words than a page of any size has. */
const PLANES = 32

/** What a page's text comes to. */
export interface Sketch {
  readonly high: number
  readonly low: number
  /** Pairs of words that voted. Of few, the bits say little. */
  readonly votes: number
}

export class TextSketch {
  readonly #words = new Int32Array(WORDS_KEPT + 1)
  #kept = 0
  /** Words that were counted already, and the last of them. */
  #counted = 0
  #before = 0
  readonly #low = new Int32Array(PLANES)
  readonly #high = new Int32Array(PLANES)

  /** The stretch of text at [start, end). A word does not go on in the next one. */
  add(bytes: Uint8Array, start: number, end: number): void {
    for (let from = start; from < end; from += WORDS_KEPT) {
      const to = Math.min(end, from + WORDS_KEPT)
      // There are no more words than bytes.
      if (this.#kept + to - from > WORDS_KEPT) this.#count(this.#kept & ~7)
      if (this.#kept + to - from > WORDS_KEPT) this.#addHalves(bytes, from, to)
      else this.#add(bytes, from, to)
    }
  }

  /** Where the few words that wait for their group leave too little room for a whole stretch. */
  #addHalves(bytes: Uint8Array, start: number, end: number): void {
    const middle = (start + end) >>> 1
    this.#add(bytes, start, middle)
    this.#count(this.#kept & ~7)
    this.#add(bytes, middle, end)
  }

  #add(bytes: Uint8Array, start: number, end: number): void {
    const words = this.#words
    let kept = this.#kept
    let word = 0
    for (let position = start; position < end; position++) {
      const meaning = MEANING[bytes[position] as number] as number
      const cut = meaning >> 31
      words[kept] = word
      // One more where a word ends here and there is one.
      kept += cut & ((-word | word) >>> 31)
      word &= ~cut
      word = ((word << 5) | (word >>> 27)) ^ (meaning & VALUE)
    }
    words[kept] = word
    this.#kept = kept + ((-word | word) >>> 31)
  }

  /** The sketch of all that was added; null where there was no word. It is empty again then. */
  take(): Sketch | null {
    this.#count(this.#kept & ~7)
    for (let at = 0; at < this.#kept; at++) this.#countOne(this.#words[at] as number)
    const votes = this.#counted + this.#kept
    const sketch = votes === 0 ? null : { high: majority(this.#high, votes), low: majority(this.#low, votes), votes }
    this.clear()
    return sketch
  }

  clear(): void {
    this.#low.fill(0)
    this.#high.fill(0)
    this.#kept = 0
    this.#counted = 0
    this.#before = 0
  }

  /** Counts the first words, a multiple of eight; the others move up. */
  #count(many: number): void {
    const words = this.#words
    const low = this.#low
    const high = this.#high
    let before = this.#before
    for (let at = 0; at < many; at += 8) {
      const a = pairOf(before, words[at] as number)
      const b = pairOf(words[at] as number, words[at + 1] as number)
      const c = pairOf(words[at + 1] as number, words[at + 2] as number)
      const d = pairOf(words[at + 2] as number, words[at + 3] as number)
      const e = pairOf(words[at + 3] as number, words[at + 4] as number)
      const f = pairOf(words[at + 4] as number, words[at + 5] as number)
      const g = pairOf(words[at + 5] as number, words[at + 6] as number)
      const h = pairOf(words[at + 6] as number, words[at + 7] as number)
      before = words[at + 7] as number
      addEight(low, a, b, c, d, e, f, g, h)
      addEight(high, other(a), other(b), other(c), other(d), other(e), other(f), other(g), other(h))
    }
    words.copyWithin(0, many, this.#kept)
    this.#before = before
    this.#counted += many
    this.#kept -= many
  }

  #countOne(word: number): void {
    const vote = pairOf(this.#before, word)
    addEight(this.#low, vote, 0, 0, 0, 0, 0, 0, 0)
    addEight(this.#high, other(vote), 0, 0, 0, 0, 0, 0, 0)
    this.#before = word
  }
}

/** The vote of two words that stand side by side: 32 bits, of which `other` makes 32 more. */
function pairOf(before: number, word: number): number {
  const pair = Math.imul(before, PAIR_FACTOR) ^ word
  const vote = Math.imul(pair ^ (pair >>> 16), LOW_FACTOR)
  return vote ^ (vote >>> 15)
}

function other(vote: number): number {
  const bits = Math.imul(vote, HIGH_FACTOR)
  return bits ^ (bits >>> 13)
}

/** Every bit into every bit (the end of Murmur3). */
function spread(hash: number): number {
  const half = Math.imul(hash ^ (hash >>> 16) ^ 0x2545f491, 0x85ebca6b)
  const whole = Math.imul(half ^ (half >>> 13), 0xc2b2ae35)
  return whole ^ (whole >>> 16)
}

/** Adds eight words to 32 counters that stand upright: plane p holds bit p of each. */
function addEight(
  planes: Int32Array,
  a: number,
  b: number,
  c: number,
  d: number,
  e: number,
  f: number,
  g: number,
  h: number,
): void {
  let ones = planes[0] as number
  let twos = planes[1] as number
  let fours = planes[2] as number
  let mixed = ones ^ a
  let twosA = (ones & a) | (mixed & b)
  ones = mixed ^ b
  mixed = ones ^ c
  let twosB = (ones & c) | (mixed & d)
  ones = mixed ^ d
  mixed = twos ^ twosA
  const foursA = (twos & twosA) | (mixed & twosB)
  twos = mixed ^ twosB
  mixed = ones ^ e
  twosA = (ones & e) | (mixed & f)
  ones = mixed ^ f
  mixed = ones ^ g
  twosB = (ones & g) | (mixed & h)
  ones = mixed ^ h
  mixed = twos ^ twosA
  const foursB = (twos & twosA) | (mixed & twosB)
  twos = mixed ^ twosB
  mixed = fours ^ foursA
  let carry = (fours & foursA) | (mixed & foursB)
  fours = mixed ^ foursB
  planes[0] = ones
  planes[1] = twos
  planes[2] = fours
  for (let plane = 3; carry !== 0 && plane < PLANES; plane++) {
    const held = planes[plane] as number
    planes[plane] = held ^ carry
    carry &= held
  }
}

/** The bits for which more than half have voted. Compared from the highest plane down, all counters at once. */
function majority(planes: Int32Array, votes: number): number {
  const half = votes >>> 1
  let above = 0
  let equal = -1
  for (let plane = PLANES - 1; plane >= 0; plane--) {
    const held = planes[plane] as number
    if (((half >>> plane) & 1) === 0) {
      above |= equal & held
      equal &= ~held
    } else equal &= held
  }
  return above
}

/** In how many bits two sketches differ: 0 for the same text, about 32 for two that have nothing in common. */
export function distance(one: Pick<Sketch, 'high' | 'low'>, two: Pick<Sketch, 'high' | 'low'>): number {
  return bitCount(one.high ^ two.high) + bitCount(one.low ^ two.low)
}

function bitCount(bits: number): number {
  bits -= (bits >>> 1) & 0x55555555
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333)
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/** Sixteen hexadecimal digits, the high half first. */
export function formatSketch({ high, low }: Pick<Sketch, 'high' | 'low'>): string {
  return hex(high) + hex(low)
}

function hex(half: number): string {
  return (half >>> 0).toString(16).padStart(8, '0')
}
