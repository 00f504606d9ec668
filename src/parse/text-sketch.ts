// The SimHash of a page's text: 64 bits that are nearly the same where texts are nearly the same (Charikar; Manku et al.).
//
// Every three words in a row are hashed to 64 bits; bit by bit the majority wins. Changing one word of a
// thousand turns a bit or two, another text turns half of them. It is fed with the stretches between tags, as bytes in
// the encoding of the page: nothing is decoded, and no string is made.
//
//     <p>the quick brown <b>fox</b>     words   the  quick  brown  fox
//        └───────────────┘  └─┘                   └──────────────┘
//                                                      └─────────────┘     each a vote of 64 bits
//
// Where words are not parted by spaces (Chinese, Japanese, Thai) a character is a word: one that begins with a byte from 0xE0
// on, as all of these do in UTF-8. In other encodings the same rule cuts somewhere, and always at the same place of
// the same text, which is all that is needed.
//
// hot: the loop over the bytes has no branch that depends on them (a wrongly guessed one costs as much as four bytes), and
// votes are counted in upright bit planes, eight at a time (Harley and Seal): some 7 ns a word instead of 64 additions. bench/simhash.ts
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

const TRIPLE_FACTOR = 0x9e3779b1
const LOW_FACTOR = 0x85ebca6b
const HIGH_FACTOR = 0xc2b2ae35
/** Words kept before they are counted, and how much is looked at in one go. */
const WORDS_KEPT = 4_096
const PIECE_BYTES = 2_048
/** Planes of the counters: more words than a page of any size has. */
const PLANES = 32

/** What a page's text comes to. */
export interface Sketch {
  readonly high: number
  readonly low: number
  /** Words, each of which voted with the two before it. Of few, the bits say little. */
  readonly votes: number
  /** The sum of all votes: the same for the same words in the same order, and hardly ever for others. */
  readonly sum: number
}

export class TextSketch {
  readonly #words = new Int32Array(WORDS_KEPT)
  readonly #votes = new Int32Array(WORDS_KEPT)
  #kept = 0
  /** Words that were counted already, and the last two of them. */
  #counted = 0
  #sum = 0
  #before = 0
  #last = 0
  readonly #low = new Int32Array(PLANES)
  readonly #high = new Int32Array(PLANES)

  /** The stretch of text at [start, end). A word does not go on in the next one. */
  add(bytes: Uint8Array, start: number, end: number): void {
    let word = 0
    for (let from = start; from < end; from += PIECE_BYTES) {
      // There are no more words than bytes, and one that goes on from before.
      if (this.#kept > WORDS_KEPT - PIECE_BYTES - 1) this.#count()
      word = this.#add(bytes, from, Math.min(end, from + PIECE_BYTES), word)
    }
    this.#words[this.#kept] = word
    this.#kept += (-word | word) >>> 31
  }

  /** Returns what there is of a word that has not ended. */
  #add(bytes: Uint8Array, start: number, end: number, begun: number): number {
    const words = this.#words
    let kept = this.#kept
    let word = begun
    for (let position = start; position < end; position++) {
      const meaning = MEANING[bytes[position] as number] as number
      const cut = meaning >> 31
      words[kept] = word
      // One more where a word ends here and there is one.
      kept += cut & ((-word | word) >>> 31)
      word &= ~cut
      word = ((word << 5) | (word >>> 27)) ^ (meaning & VALUE)
    }
    this.#kept = kept
    return word
  }

  /** The sketch of all that was added; null where there was no word. It is empty again then. */
  take(): Sketch | null {
    this.#count()
    const votes = this.#counted
    const [high, low] = [majority(this.#high, votes), majority(this.#low, votes)]
    const sketch = votes === 0 ? null : { high, low, votes, sum: this.#sum }
    this.clear()
    return sketch
  }

  clear(): void {
    this.#low.fill(0)
    this.#high.fill(0)
    this.#kept = 0
    this.#counted = 0
    this.#sum = 0
    this.#before = 0
    this.#last = 0
  }

  /** Has all words vote that wait. */
  #count(): void {
    const words = this.#words
    const votes = this.#votes
    const kept = this.#kept
    let before = this.#before
    let last = this.#last
    let sum = this.#sum
    for (let at = 0; at < kept; at++) {
      const word = words[at] as number
      const vote = voteOf(before, last, word)
      votes[at] = vote
      sum = (sum + vote) | 0
      before = last
      last = word
    }
    this.#before = before
    this.#last = last
    this.#sum = sum
    this.#counted += kept
    this.#kept = 0
    // Up to the next eight: no vote for anything.
    const many = (kept + 7) & ~7
    votes.fill(0, kept, many)
    addVotes(this.#low, votes, many)
    for (let at = 0; at < kept; at++) votes[at] = other(votes[at] as number)
    addVotes(this.#high, votes, many)
  }
}

/** The vote of three words in a row: 32 bits, of which `other` makes 32 more. */
function voteOf(one: number, two: number, three: number): number {
  const triple = Math.imul(Math.imul(one, TRIPLE_FACTOR) ^ two, TRIPLE_FACTOR) ^ three
  const vote = Math.imul(triple ^ (triple >>> 16), LOW_FACTOR)
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

/** Adds votes, a multiple of eight, to 32 counters that stand upright: plane p holds bit p of each. */
function addVotes(planes: Int32Array, votes: Int32Array, many: number): void {
  let ones = planes[0] as number
  let twos = planes[1] as number
  let fours = planes[2] as number
  for (let at = 0; at < many; at += 8) {
    // Two at a time: the sum stays, the carry goes one up; two carries make the next.
    let vote = votes[at + 1] as number
    let half = ones ^ (votes[at] as number)
    let twosA = (ones & (votes[at] as number)) | (half & vote)
    ones = half ^ vote
    vote = votes[at + 3] as number
    half = ones ^ (votes[at + 2] as number)
    let twosB = (ones & (votes[at + 2] as number)) | (half & vote)
    ones = half ^ vote
    half = twos ^ twosA
    const foursA = (twos & twosA) | (half & twosB)
    twos = half ^ twosB
    vote = votes[at + 5] as number
    half = ones ^ (votes[at + 4] as number)
    twosA = (ones & (votes[at + 4] as number)) | (half & vote)
    ones = half ^ vote
    vote = votes[at + 7] as number
    half = ones ^ (votes[at + 6] as number)
    twosB = (ones & (votes[at + 6] as number)) | (half & vote)
    ones = half ^ vote
    half = twos ^ twosA
    const foursB = (twos & twosA) | (half & twosB)
    twos = half ^ twosB
    half = fours ^ foursA
    let carry = (fours & foursA) | (half & foursB)
    fours = half ^ foursB
    for (let plane = 3; carry !== 0 && plane < PLANES; plane++) {
      const held = planes[plane] as number
      planes[plane] = held ^ carry
      carry &= held
    }
  }
  planes[0] = ones
  planes[1] = twos
  planes[2] = fours
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
