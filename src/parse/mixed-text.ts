// Several encodings in one page. Pages put together from mails and includes have stretches in another encoding than
// the rest; Japanese ones most of all. Two things can be done without guessing:
//
//     <title>[EUC-JP]</title> … ESC $ B 8@ ESC ( B … <a href="[Shift_JIS]">
//            |                  `-- ISO-2022-JP between its escapes says itself what it is, and its bytes may look
//            |                      like markup: such a page becomes UTF-8 before it is scanned
//            `-- a value that is broken in the page's encoding and whole in another Japanese one is read in that
//
// cost: one search for the byte 1B per page (0.5 µs for 14 kB); the second look is at broken values of Japanese pages only.

import { ESCAPE, kanjiStretches } from './kanji-stretch.ts'
import { asBuffer, decodeText, isAsciiSafe, type RangeDecoder, rangeDecoder } from './text-decoding.ts'

/** The page as UTF-8 where its bytes cannot be looked at one by one; null where they can. */
export function asScannable(bytes: Uint8Array, encoding: string): Buffer | null {
  if (!isAsciiSafe(encoding)) return Buffer.from(decodeText(bytes, encoding), 'utf8')
  const buffer = asBuffer(bytes)
  if (!buffer.includes(ESCAPE)) return null
  const pieces: string[] = []
  let end = 0
  for (const stretch of kanjiStretches(buffer)) {
    pieces.push(rangeDecoder(encoding)(buffer, end, stretch.start))
    pieces.push(rangeDecoder('iso-2022-jp')(buffer, stretch.start, stretch.end))
    end = stretch.end
  }
  if (end === 0) return null
  pieces.push(rangeDecoder(encoding)(buffer, end, buffer.length))
  return Buffer.from(pieces.join(''), 'utf8')
}

const BESIDE: Readonly<Record<string, readonly string[]>> = {
  shift_jis: ['utf-8', 'euc-jp'],
  'euc-jp': ['utf-8', 'shift_jis'],
}

/** The decoder of single values of a page in this encoding. */
export function valueDecoder(encoding: string): RangeDecoder {
  const decode = rangeDecoder(encoding)
  const others = BESIDE[encoding]
  if (others === undefined) return decode
  return (bytes, start, end) => {
    const text = decode(bytes, start, end)
    if (!text.includes('\uFFFD')) return text
    for (const other of others) {
      const otherText = rangeDecoder(other)(bytes, start, end)
      if (!otherText.includes('\uFFFD')) return otherText
    }
    return text
  }
}
