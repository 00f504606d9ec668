// Which encoding a page is in: byte order mark, then the Content-Type header, then what the page declares,
// then a look at the bytes. The first that answers wins.

import { isAscii, isUtf8 } from 'node:buffer'
import { PRESCAN_BYTES, prescanEncoding, xmlDeclarationEncoding } from './meta-prescan.ts'
import { asBuffer, encodingOf } from './text-decoding.ts'

export interface EncodingHints {
  /** The charset parameter of Content-Type, any case; null when absent. */
  readonly headerCharset: string | null
  /** Bare media type; XML types go by their declaration and default to UTF-8. */
  readonly mediaType?: string | null
}

export interface Encoding {
  /** WHATWG name in lower case, or 'replacement' for those that must not be read. */
  readonly encoding: string
  /** Who said so. Only a guess gives way to a declaration found later in the page. */
  readonly source: 'bom' | 'header' | 'declaration' | 'guess'
}

/** Enough to tell the Japanese encodings apart; more would only cost. */
const GUESS_BYTES = 64 * 1024

export function sniffEncoding(bytes: Uint8Array, hints: EncodingHints): Encoding {
  const marked = bomEncoding(bytes)
  if (marked !== null) return { encoding: marked, source: 'bom' }
  const header = hints.headerCharset === null ? null : encodingOf(hints.headerCharset)
  if (header !== null) return { encoding: header, source: 'header' }
  const buffer = asBuffer(bytes)
  const head = buffer.toString('latin1', 0, Math.min(buffer.length, PRESCAN_BYTES))
  const isXml = isXmlType(hints.mediaType ?? null)
  const declared = isXml ? xmlDeclarationEncoding(head) : prescanEncoding(head)
  if (declared !== null) return { encoding: declared, source: 'declaration' }
  return { encoding: isXml ? 'utf-8' : guessEncoding(buffer), source: 'guess' }
}

export function isXmlType(mediaType: string | null): boolean {
  return (
    mediaType !== null && (mediaType.endsWith('+xml') || mediaType === 'text/xml' || mediaType === 'application/xml')
  )
}

function bomEncoding(bytes: Uint8Array): string | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  return null
}

/** A guess from the bytes alone. Pure ASCII is windows-1252, the standard's default: nothing speaks for another. */
function guessEncoding(bytes: Buffer): string {
  if (isAscii(bytes)) return hasJapaneseEscape(bytes) ? 'iso-2022-jp' : 'windows-1252'
  if (isUtf8(withoutCutCharacter(bytes))) return 'utf-8'
  const head = bytes.subarray(0, GUESS_BYTES)
  if (looksLikeEucJp(head)) return 'euc-jp'
  return looksLikeShiftJis(head) ? 'shift_jis' : 'windows-1252'
}

/** ESC $ B, ESC $ @ (kanji), ESC ( J, ESC ( I: the escapes that only ISO-2022-JP uses. */
function hasJapaneseEscape(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(0x1b); at !== -1; at = bytes.indexOf(0x1b, at + 1)) {
    const escape = bytes.toString('latin1', at + 1, Math.min(at + 3, bytes.length))
    if (escape === '$B' || escape === '$@' || escape === '(J' || escape === '(I') return true
  }
  return false
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

/** Japanese prose is a third kana or more; a tenth keeps out Chinese and Korean, where those cells are rare. */
const KANA_SHARE = 0.1

function looksLikeEucJp(bytes: Buffer): boolean {
  let pairs = 0
  let kana = 0
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] as number
    if (byte < 0x80) continue
    // 8F introduces three bytes, 8E half-width katakana, all others two bytes.
    if (byte === 0x8f) index++
    else if (byte !== 0x8e && (byte < 0xa1 || byte === 0xff)) return false
    const trail = bytes[++index] ?? 0xa1
    if (trail < 0xa1 || trail === 0xff) return false
    pairs++
    if (byte === 0xa4 || byte === 0xa5) kana++
  }
  return kana > pairs * KANA_SHARE
}

function looksLikeShiftJis(bytes: Buffer): boolean {
  let characters = 0
  let kana = 0
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] as number
    if (byte < 0x80) continue
    characters++
    if (byte >= 0xa1 && byte <= 0xdf) continue
    if (byte === 0x80 || byte === 0xa0 || byte > 0xfc) return false
    const trail = bytes[++index] ?? 0x40
    if (trail < 0x40 || trail === 0x7f || trail > 0xfc) return false
    if ((byte === 0x82 && trail >= 0x9f && trail <= 0xf1) || (byte === 0x83 && trail <= 0x96)) kana++
  }
  return kana > characters * KANA_SHARE
}
