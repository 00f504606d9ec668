// Stretches of ISO-2022-JP: kanji between escapes, on one line as RFC 1468 has it.
//
//     ESC $ B  (or $ @)   F|K\8l   ESC ( B  (or ( J)
//                         bytes 21 to 7E, two a character: any of them may look like markup
//
// Linear: every escape is looked at once, and a stretch only as far as the next.

/** Without this byte there is none. */
export const ESCAPE = 0x1b

export interface Stretch {
  readonly start: number
  readonly end: number
}

const DOLLAR = 0x24
const PARENTHESIS = 0x28
const AT = 0x40
const LETTER_B = 0x42
const LETTER_I = 0x49
const LETTER_J = 0x4a

export function* kanjiStretches(bytes: Buffer): Generator<Stretch> {
  let start = bytes.indexOf(ESCAPE)
  while (start !== -1) {
    const next = bytes.indexOf(ESCAPE, start + 1)
    if (
      next !== -1 &&
      isEscape(bytes, start, DOLLAR, LETTER_B, AT) &&
      isEscape(bytes, next, PARENTHESIS, LETTER_B, LETTER_J) &&
      isKanji(bytes, start + 3, next)
    ) {
      yield { start, end: next + 3 }
    }
    start = next
  }
}

/** Whether ISO-2022-JP is used at all: kanji, or JIS Roman or katakana. */
export function hasJapaneseEscape(bytes: Buffer): boolean {
  if (kanjiStretches(bytes).next().done !== true) return true
  for (let at = bytes.indexOf(ESCAPE); at !== -1; at = bytes.indexOf(ESCAPE, at + 1)) {
    if (isEscape(bytes, at, PARENTHESIS, LETTER_I, LETTER_J)) return true
  }
  return false
}

function isEscape(bytes: Buffer, at: number, intermediate: number, final: number, otherFinal: number): boolean {
  return bytes[at + 1] === intermediate && (bytes[at + 2] === final || bytes[at + 2] === otherFinal)
}

function isKanji(bytes: Buffer, start: number, end: number): boolean {
  for (let index = start; index < end; index++) {
    const byte = bytes[index] as number
    if (byte < 0x21 || byte > 0x7e) return false
  }
  return start < end
}
