// Characters → bytes of the encodings that pages used before UTF-8. There is only a decoder, so the tables are
// its answers turned round: every byte pair is decoded once, on first use of an encoding (a few ms, then a
// map of at most 24,000 characters). The rules that differ between the two directions are those of the
// Encoding Standard and stand below, each beside its encoding.
//
// Tables are pure functions of the encoding's name and kept for the life of the process; there are forty names.

import { type DecodeText, textDecoder } from '../base/index.ts'

/** Bytes of one character as a number, big end first, at most four; -1 if the encoding has none for it. */
export type EncodeCharacter = (codePoint: number) => number

const REPLACEMENT = 0xfffd

function decoderOf(encoding: string): DecodeText | null {
  try {
    return textDecoder(encoding)
  } catch {
    // Not a name of the standard; the caller falls back to UTF-8, as for an unknown charset in general.
    return null
  }
}

/** The one code point a text is, or -1. */
function onlyCodePoint(text: string): number {
  const codePoint = text.codePointAt(0) ?? REPLACEMENT
  const isAlone = text.length === (codePoint > 0xffff ? 2 : 1)
  return isAlone && codePoint !== REPLACEMENT ? codePoint : -1
}

/** The high half of a single-byte encoding. Of two bytes with one meaning the first counts. */
function singleByteTable(decode: DecodeText): Map<number, number> {
  const table = new Map<number, number>()
  for (let byte = 0x80; byte <= 0xff; byte++) {
    const codePoint = onlyCodePoint(decode(Uint8Array.of(byte)))
    if (codePoint !== -1 && !table.has(codePoint)) table.set(codePoint, byte)
  }
  return table
}

/**
 * All pairs with a lead in the given rows. Of two pairs with one meaning the first counts, unless `lastWins`
 * names it. Private code points, which stand for pairs without a character, are left out unless they are kept.
 */
function doubleByteTable(
  decode: DecodeText,
  leadFirst: number,
  leadLast: number,
  trailFirst: number,
  { lastWins = '', keepsPrivate = false } = {},
): Map<number, number> {
  const table = new Map<number, number>()
  const trails = 0xff - trailFirst
  // One text for all pairs: a line end is part of no pair, and a decoder is called once instead of 24,000 times.
  const bytes = new Uint8Array(3 * trails * (leadLast - leadFirst + 1))
  for (let at = 0, lead = leadFirst; lead <= leadLast; lead++) {
    for (let trail = trailFirst; trail <= 0xfe; trail++, at += 3) bytes.set([lead, trail, 0x0a], at)
  }
  for (const [index, text] of decode(bytes).split('\n').entries()) {
    const codePoint = onlyCodePoint(text)
    if (codePoint < 0x80 || (!keepsPrivate && codePoint >= 0xe000 && codePoint <= 0xf8ff)) continue
    if (!table.has(codePoint) || lastWins.includes(String.fromCodePoint(codePoint))) {
      table.set(codePoint, (leadFirst + Math.floor(index / trails)) * 256 + trailFirst + (index % trails))
    }
  }
  return table
}

function lookup(table: Map<number, number>): EncodeCharacter {
  return (codePoint) => table.get(codePoint) ?? -1
}

/** What the Japanese encoders have in common: minus sign and halfwidth forms, then JIS X 0208. */
function japanese(table: Map<number, number>, encodeKatakana: (codePoint: number) => number): EncodeCharacter {
  return (codePoint) => {
    if (codePoint === 0xa5) return 0x5c
    if (codePoint === 0x203e) return 0x7e
    if (codePoint >= 0xff61 && codePoint <= 0xff9f) return encodeKatakana(codePoint)
    return table.get(codePoint === 0x2212 ? 0xff0d : codePoint) ?? -1
  }
}

function shiftJis(decoder: DecodeText): EncodeCharacter {
  // The NEC selection of IBM extensions (rows ED to EF) decodes but does not encode; the IBM rows themselves do.
  const table = doubleByteTable(decoder, 0x81, 0xec, 0x40)
  for (const [codePoint, bytes] of doubleByteTable(decoder, 0xfa, 0xfc, 0x40)) {
    if (!table.has(codePoint)) table.set(codePoint, bytes)
  }
  table.set(0x80, 0x80)
  return japanese(table, (codePoint) => codePoint - 0xff61 + 0xa1)
}

function eucJp(decoder: DecodeText): EncodeCharacter {
  return japanese(doubleByteTable(decoder, 0xa1, 0xfe, 0xa1), (codePoint) => 0x8e00 + codePoint - 0xff61 + 0xa1)
}

/** Hong Kong's additions in rows 81 to A0 decode but do not encode; six box drawings and numerals take their last pair. */
function big5(decoder: DecodeText): EncodeCharacter {
  return lookup(doubleByteTable(decoder, 0xa1, 0xfe, 0x40, { lastWins: '═╞╡╪十卅' }))
}

// Two-byte code points that the 2022 edition of GB 18030 gave to other characters, with the pairs they keep when encoded.
const GB18030_KEPT: readonly (readonly [first: number, last: number, bytes: number])[] = [
  [0xe78d, 0xe793, 0xa6d9],
  [0xe794, 0xe795, 0xa6ec],
  [0xe796, 0xe796, 0xa6f3],
  [0xe81e, 0xe81e, 0xfe59],
  [0xe826, 0xe826, 0xfe61],
  [0xe82b, 0xe82c, 0xfe66],
  [0xe832, 0xe832, 0xfe6d],
  [0xe843, 0xe843, 0xfe7e],
  [0xe854, 0xe854, 0xfe90],
  [0xe864, 0xe864, 0xfea0],
]

function gb18030(decoder: DecodeText, isGbk: boolean): EncodeCharacter {
  const table = doubleByteTable(decoder, 0x81, 0xfe, 0x40, { keepsPrivate: true })
  for (const [first, last, bytes] of GB18030_KEPT) {
    for (let codePoint = first; codePoint <= last; codePoint++) table.set(codePoint, bytes + codePoint - first)
  }
  table.delete(0xe5e5)
  if (isGbk) {
    table.set(0x20ac, 0x80)
    return lookup(table)
  }
  // The replacement character is a character too, but a decoder's answer cannot tell it from an error.
  table.set(REPLACEMENT, 0x8431a437)
  // Every other character of the basic plane has four bytes, counted up in the order of Unicode.
  const fourByteIndexes = new Map<number, number>()
  return (codePoint) => {
    const pair = table.get(codePoint)
    if (pair !== undefined) return pair
    if (codePoint === 0xe5e5) return -1
    if (codePoint > 0xffff) return fourBytes(189_000 + codePoint - 0x10000)
    if (fourByteIndexes.size === 0) indexFourByteCharacters(decoder, fourByteIndexes)
    const index = fourByteIndexes.get(codePoint)
    return index === undefined ? -1 : fourBytes(index)
  }
}

function fourBytes(index: number): number {
  const a = Math.floor(index / 12_600) + 0x81
  const b = (Math.floor(index / 1_260) % 10) + 0x30
  const c = (Math.floor(index / 10) % 126) + 0x81
  const d = (index % 10) + 0x30
  return ((a * 256 + b) * 256 + c) * 256 + d
}

function indexFourByteCharacters(decoder: DecodeText, indexes: Map<number, number>): void {
  const bytes = new Uint8Array(4)
  for (let index = 0; index < 39_420; index++) {
    new DataView(bytes.buffer).setUint32(0, fourBytes(index))
    const codePoint = onlyCodePoint(decoder(bytes))
    if (codePoint !== -1) indexes.set(codePoint, index)
  }
}

/** Halfwidth katakana become the usual ones; everything else is EUC-JP without the high bits. */
function iso2022Jp(): EncodeCharacter {
  const decoder = textDecoder('euc-jp')
  const table = doubleByteTable(decoder, 0xa1, 0xfe, 0xa1)
  const encode = (codePoint: number): number => {
    const bytes = table.get(codePoint === 0x2212 ? 0xff0d : codePoint)
    return bytes === undefined ? -1 : bytes & 0x7f7f
  }
  return (codePoint) => {
    if (codePoint < 0xff61 || codePoint > 0xff9f) return encode(codePoint)
    // The sound marks alone have no compatibility mapping to the spacing forms.
    if (codePoint >= 0xff9e) return encode(codePoint - 0xff9e + 0x309b)
    return encode(String.fromCharCode(codePoint).normalize('NFKC').charCodeAt(0))
  }
}

const encoders = new Map<string, EncodeCharacter | null>()

function makeEncoder(encoding: string): EncodeCharacter | null {
  if (encoding.startsWith('utf-') || encoding === 'replacement') return null
  if (encoding === 'iso-2022-jp') return iso2022Jp()
  if (encoding === 'x-user-defined') {
    return (codePoint) => (codePoint >= 0xf780 && codePoint <= 0xf7ff ? codePoint - 0xf780 + 0x80 : -1)
  }
  const decoder = decoderOf(encoding)
  if (decoder === null) return null
  switch (encoding) {
    case 'shift_jis':
      return shiftJis(decoder)
    case 'euc-jp':
      return eucJp(decoder)
    case 'euc-kr':
      return lookup(doubleByteTable(decoder, 0x81, 0xfe, 0x41))
    case 'big5':
      return big5(decoder)
    case 'gbk':
    case 'gb18030':
      return gb18030(decoder, encoding === 'gbk')
    default:
      return lookup(singleByteTable(decoder))
  }
}

/**
 * The encoder of a WHATWG encoding name for characters above U+007F; null where the standard encodes in
 * UTF-8 (utf-8, utf-16, replacement) and for names it does not know.
 */
export function legacyEncoder(encoding: string): EncodeCharacter | null {
  let encoder = encoders.get(encoding)
  if (encoder === undefined) {
    encoder = makeEncoder(encoding)
    // Names come from pages: only those that led to an encoder are remembered, so the map stays small.
    if (encoder !== null) encoders.set(encoding, encoder)
  }
  return encoder
}
