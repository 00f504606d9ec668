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

export function* kanjiStretches(bytes: Buffer): Generator<Stretch> {
  let start = bytes.indexOf(ESCAPE)
  while (start !== -1) {
    const next = bytes.indexOf(ESCAPE, start + 1)
    if (
      next !== -1 &&
      isEscape(bytes, start, '$B', '$@') &&
      isEscape(bytes, next, '(B', '(J') &&
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
    if (isEscape(bytes, at, '(I', '(J')) return true
  }
  return false
}

function isEscape(bytes: Buffer, at: number, one: string, other: string): boolean {
  const escape = bytes.toString('latin1', at + 1, at + 3)
  return escape === one || escape === other
}

function isKanji(bytes: Buffer, start: number, end: number): boolean {
  for (let index = start; index < end; index++) {
    const byte = bytes[index] as number
    if (byte < 0x21 || byte > 0x7e) return false
  }
  return start < end
}
