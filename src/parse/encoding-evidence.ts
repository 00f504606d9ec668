// What the bytes themselves say about their encoding: whether they bear out a declaration, and what they look like
// where nobody declared anything.
//
// A declaration is believed unless the bytes disprove it, which needs more than a broken character here and there:
//
//     declared utf-8          more sequences are broken than whole: it is none, and never was
//     declared western or     the bytes are whole UTF-8, or read as Japanese in another encoding: a tenth more of the characters
//     Japanese                are kana than are broken (prose has a third and more; Chinese and Korean next to none)
//
// Browsers believe every declaration, so a page judged here differs from theirs: they show U+FFFD or noise in its title, and send such
// in its links (docs/decisions/0026-decoding.md). cost: ASCII and UTF-8 pages are crossed once by the platform (1 µs for 14 kB).

import { isAscii, isUtf8 } from 'node:buffer'
import { hasJapaneseEscape } from './kanji-stretch.ts'

/** Enough to tell encodings apart; more would only cost. */
const EVIDENCE_BYTES = 64 * 1024
/** For the pattern of UTF-16: what a prescan looks at. */
const UTF16_BYTES = 1024

/** Fewer kana may be chance. */
const KANA_MIN = 4
const KANA_SHARE = 0.1

/** Fewer whole sequences of UTF-8 may be chance. */
const UTF8_MIN = 4

/** Declarations that other bytes can disprove: the Japanese ones, and what servers put on every page they have. */
const GIVES_WAY: ReadonlySet<string> = new Set(['windows-1252', 'shift_jis', 'euc-jp', 'iso-2022-jp'])

/** Whether the bytes are surely not in the encoding they are said to be in. */
export function isDisproved(encoding: string, bytes: Buffer): boolean {
  if (encoding === 'utf-8') return !isUtf8(bytes) && utf8Balance(bytes) < 0
  if (!GIVES_WAY.has(encoding) || isAscii(bytes)) return false
  if (isSurelyUtf8(bytes)) return true
  // Among several encodings in one page the declared one stands.
  const own = READERS[encoding]
  if (own !== undefined && hasKana(own(head(bytes)))) return false
  const looks = japaneseEncoding(bytes)
  return looks !== null && looks !== encoding
}

/** Whether all sequences are whole, and there are enough of them that this is no chance. */
function isSurelyUtf8(bytes: Buffer): boolean {
  if (!isUtf8(withoutCutCharacter(bytes))) return false
  let leads = 0
  for (const byte of head(bytes)) if (byte >= 0xc2 && ++leads === UTF8_MIN) return true
  return false
}

/** A guess from the bytes alone. Pure ASCII is windows-1252, the standard's default: nothing speaks for another. */
export function guessEncoding(bytes: Buffer): string {
  const wide = utf16Encoding(bytes)
  if (wide !== null) return wide
  if (isAscii(bytes)) return hasJapaneseEscape(bytes) ? 'iso-2022-jp' : 'windows-1252'
  // Before the Japanese ones: UTF-8 with a broken character looks like Shift_JIS, never the other way round.
  if (isUtf8(withoutCutCharacter(bytes)) || utf8Balance(bytes) > 0) return 'utf-8'
  return japaneseEncoding(bytes) ?? 'windows-1252'
}

function head(bytes: Buffer): Buffer {
  return bytes.subarray(0, EVIDENCE_BYTES)
}

/** A body cut at a limit may end inside a character; that must not decide. */
function withoutCutCharacter(bytes: Buffer): Buffer {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] as number
    if (byte >= 0xc0) return bytes.subarray(0, bytes.length - back)
    if (byte < 0x80) break
  }
  return bytes
}

/**
 * UTF-16 without a byte order mark, by the NULs that the ASCII of markup brings into every other byte: at least
 * a quarter of them, and next to none in the others. (Noise of NULs has them in both.)
 */
function utf16Encoding(bytes: Buffer): string | null {
  const length = Math.min(bytes.length, UTF16_BYTES) & ~1
  const first = bytes.indexOf(0)
  if (first === -1 || first >= length || length < 8) return null
  const nuls: [even: number, odd: number] = [0, 0]
  for (let index = first; index < length; index++) if (bytes[index] === 0) nuls[index & 1] = (nuls[index & 1] ?? 0) + 1
  const [even, odd] = nuls
  const many = length / 8
  const few = length / 128
  if (odd >= many && even <= few) return 'utf-16le'
  return even >= many && odd <= few ? 'utf-16be' : null
}

/** How many more sequences of UTF-8 are whole than broken. A page of several hands may have both. */
function utf8Balance(page: Buffer): number {
  const bytes = withoutCutCharacter(head(page))
  let whole = 0
  let broken = 0
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] as number
    if (byte < 0x80) continue
    const trails =
      byte >= 0xf0 && byte <= 0xf4 ? 3 : byte >= 0xe0 && byte < 0xf0 ? 2 : byte >= 0xc2 && byte < 0xe0 ? 1 : 0
    let found = 0
    while (found < trails && ((bytes[index + found + 1] ?? 0) & 0xc0) === 0x80) found++
    if (trails > 0 && found === trails) whole++
    else broken++
    index += found
  }
  return whole - broken
}

/** What is counted of bytes read as one of the Japanese encodings. */
interface Reading {
  readonly characters: number
  readonly broken: number
  readonly kana: number
}

const READERS: Readonly<Record<string, (bytes: Buffer) => Reading>> = { 'euc-jp': readEucJp, shift_jis: readShiftJis }

/** The Japanese encoding the bytes are in by all appearance, or null. Where both appear, the one that more of the page is in. */
function japaneseEncoding(bytes: Buffer): string | null {
  const part = head(bytes)
  const euc = evidence(readEucJp(part))
  const shift = evidence(readShiftJis(part))
  if (euc === 0 && shift === 0) return null
  return euc >= shift ? 'euc-jp' : 'shift_jis'
}

/** Kana for it, broken characters against it; 0 where that may be chance. */
function evidence(reading: Reading): number {
  const { characters, broken, kana } = reading
  return hasKana(reading) && kana - broken > characters * KANA_SHARE ? kana - broken : 0
}

function hasKana({ characters, kana }: Reading): boolean {
  return kana >= KANA_MIN && kana > characters * KANA_SHARE
}

function readEucJp(bytes: Buffer): Reading {
  let characters = 0
  let broken = 0
  let kana = 0
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] as number
    if (byte < 0x80) continue
    characters++
    // 8F introduces three bytes, 8E half-width katakana, all others two bytes.
    if (byte === 0x8f && (bytes[index + 1] ?? 0) >= 0xa1) index++
    else if (byte !== 0x8e && (byte < 0xa1 || byte === 0xff)) {
      broken++
      continue
    }
    const trail = bytes[index + 1] ?? 0xa1
    if (trail < 0xa1 || trail === 0xff) {
      broken++
      continue
    }
    index++
    if ((byte === 0xa4 && trail <= 0xf3) || (byte === 0xa5 && trail <= 0xf6)) kana++
  }
  return { characters, broken, kana }
}

function readShiftJis(bytes: Buffer): Reading {
  let characters = 0
  let broken = 0
  let kana = 0
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] as number
    if (byte < 0x80) continue
    characters++
    // Half-width katakana stand alone.
    if (byte >= 0xa1 && byte <= 0xdf) continue
    const trail = bytes[index + 1] ?? 0x40
    if (byte === 0x80 || byte === 0xa0 || byte > 0xfc || trail < 0x40 || trail === 0x7f || trail > 0xfc) {
      broken++
      continue
    }
    index++
    if ((byte === 0x82 && trail >= 0x9f && trail <= 0xf1) || (byte === 0x83 && trail <= 0x96)) kana++
  }
  return { characters, broken, kana }
}
