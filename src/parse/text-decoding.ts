// From bytes to text in the encodings of the WHATWG standard.
//
// In UTF-16 and ISO-2022-JP a byte that looks like `<` may be none. All others leave the bytes that matter to HTML alone,
// also behind a broken sequence; the trail bytes of Shift_JIS, Big5 and GB18030 reach down to digits and letters, but not to these.

import { type DecodeText, textDecoder } from '../base/index.ts'

/** Decodes ranges of one page's bytes. Invalid sequences become U+FFFD; a byte order mark inside a range is kept. */
export type RangeDecoder = (bytes: Buffer, start: number, end: number) => string

const UNSAFE = new Set(['utf-16le', 'utf-16be', 'iso-2022-jp', 'replacement'])

/** Whether a byte below 0x80 is that ASCII character wherever it stands, so that a page can be scanned undecoded. */
export function isAsciiSafe(encoding: string): boolean {
  return !UNSAFE.has(encoding)
}

/** WHATWG name by label as met in the wild; at most the 228 labels of the standard in two spellings, so it cannot grow. */
const nameByLabel = new Map<string, string>()

/**
 * Labels of encodings that are dangerous to read (an attacker can hide markup in them): the standard reads
 * them as one U+FFFD, and TextDecoder refuses them.
 */
const REPLACEMENT_LABELS = new Set([
  'replacement',
  'iso-2022-kr',
  'iso-2022-cn',
  'iso-2022-cn-ext',
  'hz-gb-2312',
  'csiso2022kr',
])

/** The lower-case WHATWG name behind a label ('latin1' is 'windows-1252'), or null when no encoding has it. */
export function encodingOf(label: string): string | null {
  const known = nameByLabel.get(label)
  if (known !== undefined) return known
  const key = label.replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, '').toLowerCase()
  if (REPLACEMENT_LABELS.has(key)) return 'replacement'
  if (!/^[a-z0-9_:.-]{1,40}$/.test(key)) return null
  try {
    const name = new TextDecoder(key).encoding
    nameByLabel.set(key, name)
    // The two spellings nearly all pages use; others are few enough to be looked at again.
    nameByLabel.set(key.toUpperCase(), name)
    return name
  } catch (cause) {
    // TextDecoder has no other way to say that it does not know a label.
    if (cause instanceof RangeError) return null
    throw cause
  }
}

const decoders = new Map<string, RangeDecoder>([
  ['utf-8', (bytes, start, end) => bytes.toString('utf8', start, end)],
  ['replacement', (_bytes, start, end) => (start < end ? '\uFFFD' : '')],
])

/** The decoder of an encoding named by `encodingOf`. */
export function rangeDecoder(encoding: string): RangeDecoder {
  const known = decoders.get(encoding)
  if (known !== undefined) return known
  const decodeBytes = textDecoder(encoding)
  const decode: RangeDecoder =
    encoding === 'gbk' || encoding === 'gb18030'
      ? (bytes, start, end) => decodeBeforeDelimiter(decodeBytes, bytes, start, end)
      : (bytes, start, end) => decodeBytes(bytes.subarray(start, end))
  decoders.set(encoding, decode)
  return decode
}

/**
 * GB18030 alone reads a broken sequence differently where the text ends and where a delimiter follows: the
 * latter gives back digits. So the delimiter is decoded too, and dropped.
 */
function decodeBeforeDelimiter(decode: DecodeText, bytes: Buffer, start: number, end: number): string {
  const delimiter = bytes[end] ?? 0xff
  // All bytes that can be part of a character are higher.
  if (start === end || delimiter >= 0x30) return decode(bytes.subarray(start, end))
  return decode(bytes.subarray(start, end + 1)).slice(0, -1)
}

/** All of a text, its byte order mark gone. */
export function decodeText(bytes: Uint8Array, encoding: string): string {
  const text = rangeDecoder(encoding)(asBuffer(bytes), 0, bytes.length)
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}

/** The same bytes as a Buffer, not copied. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
