// The SimHash of a page's text: 64 bits that are nearly the same where texts are nearly the same (Charikar; Manku et al.).
//
// Every three words in a row are hashed to 64 bits; bit by bit the majority wins. Changing one word of a
// thousand turns a bit or two, another text turns half of them. It is made by the kernel (kernel/parse/sketch.ts) of what stands between
// tags, as bytes in the encoding of the page: nothing is decoded, and no string is made.
//
//     <p>the quick brown <b>fox</b>     words   the  quick  brown  fox
//        └───────────────┘  └─┘                   └──────────────┘
//                                                      └─────────────┘     each a vote of 64 bits
//
// Where words are not parted by spaces (Chinese, Japanese, Thai) a character is a word: one that begins with a byte from 0xE0
// on, as all of these do in UTF-8. In other encodings the same rule cuts somewhere, and always at the same place of
// the same text, which is all that is needed.

/** What a page's text comes to. */
export interface Sketch {
  readonly high: number
  readonly low: number
  /** Words, each of which voted with the two before it. Of few, the bits say little. */
  readonly votes: number
  /** Of the sum of all votes: the same for the same words in the same order, and hardly ever for others. */
  readonly sum: number
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

/** Digit by digit: toString(16) of what is no small integer takes several times as long (bench/settle.ts). */
function hex(half: number): string {
  return String.fromCharCode(
    digit(half >>> 28),
    digit((half >>> 24) & 15),
    digit((half >>> 20) & 15),
    digit((half >>> 16) & 15),
    digit((half >>> 12) & 15),
    digit((half >>> 8) & 15),
    digit((half >>> 4) & 15),
    digit(half & 15),
  )
}

/** The code of a hexadecimal digit. */
function digit(value: number): number {
  return value < 10 ? 48 + value : 87 + value
}
