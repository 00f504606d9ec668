// A page's links carry their query in the page's own encoding: on a Shift_JIS page `?q=日本` asks for
// `?q=%93%FA%96{`. The URL standard says so, `new URL` cannot; so the query is percent-encoded here, and
// the parser then finds only ASCII in it.

import { type EncodeCharacter, legacyEncoder } from './legacy-encoder.ts'

/**
 * The link with its query in the given encoding. Unchanged where that makes no difference: UTF-8, an
 * encoding we do not know, no query, or an ASCII one.
 */
export function encodeQuery(href: string, encoding: string): string {
  const question = href.indexOf('?')
  const hash = href.indexOf('#')
  if (question === -1 || (hash !== -1 && hash < question)) return href
  const raw = href.slice(question + 1, hash === -1 ? href.length : hash)
  // Shift controls are ASCII, but mean something else to ISO-2022-JP.
  if (!/[^\0-\x7f]|[\x0e\x0f\x1b]/.test(raw)) return href
  const encode = legacyEncoder(encoding)
  if (encode === null) return href
  // What the parser would drop must not stand between two characters of a stateful encoding.
  const plain = raw.replace(/[\t\n\r]/g, '')
  const query = hash === -1 ? withoutEnd(plain) : plain
  const encoded = encoding === 'iso-2022-jp' ? encodeStateful(query, encode) : encodeStateless(query, encode)
  return `${href.slice(0, question)}?${encoded}${hash === -1 ? '' : href.slice(hash)}`
}

/** Without controls and blanks at its end. Not by a pattern: one would begin anew at each blank of a long row in the middle. */
function withoutEnd(text: string): string {
  let end = text.length
  while (end > 0 && text.charCodeAt(end - 1) <= 0x20) end--
  return text.slice(0, end)
}

/** A byte as the special-query percent-encode set has it. */
function percentEncode(byte: number): string {
  // Double quote, number sign, apostrophe, less and greater than, and all outside printable ASCII.
  const isKept =
    byte > 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x23 && byte !== 0x27 && byte !== 0x3c && byte !== 0x3e
  return isKept ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
}

function percentEncodeAll(bytes: number): string {
  let text = ''
  for (let rest = bytes; rest > 0; rest = Math.floor(rest / 256)) text = percentEncode(rest % 256) + text
  return text
}

/** What a form would send for a character the encoding lacks: its number as an HTML reference, escaped. */
function percentEncodeReference(codePoint: number): string {
  return `%26%23${codePoint}%3B`
}

function encodeStateless(query: string, encode: EncodeCharacter): string {
  let text = ''
  for (const char of query.toWellFormed()) {
    const codePoint = char.codePointAt(0) ?? 0
    if (codePoint < 0x80) {
      text += char
      continue
    }
    const bytes = encode(codePoint)
    text += bytes === -1 ? percentEncodeReference(codePoint) : percentEncodeAll(bytes)
  }
  return text
}

type Iso2022JpState = 'ascii' | 'roman' | 'kanji'
const ESCAPES: Readonly<Record<Iso2022JpState, string>> = { ascii: '%1B(B', roman: '%1B(J', kanji: '%1B$B' }

/** ISO-2022-JP: escape sequences switch between ASCII, JIS Roman (yen, overline) and JIS X 0208; it ends in ASCII. */
function encodeStateful(query: string, encode: EncodeCharacter): string {
  let text = ''
  let state = 'ascii' as Iso2022JpState
  const switchTo = (next: Iso2022JpState): void => {
    if (state !== next) text += ESCAPES[next]
    state = next
  }
  for (const char of query.toWellFormed()) {
    const codePoint = char.codePointAt(0) ?? 0
    if (codePoint === 0x0e || codePoint === 0x0f || codePoint === 0x1b) {
      // They would be read as shifts: encoded as the replacement character, which JIS lacks.
      if (state === 'kanji') switchTo('ascii')
      text += percentEncodeReference(0xfffd)
    } else if (codePoint < 0x80) {
      // JIS Roman has yen and overline in the places of these two; the rest is common to both.
      if (state === 'kanji' || codePoint === 0x5c || codePoint === 0x7e) switchTo('ascii')
      text += percentEncode(codePoint)
    } else if (codePoint === 0xa5 || codePoint === 0x203e) {
      switchTo('roman')
      text += codePoint === 0xa5 ? '\\' : '~'
    } else {
      const bytes = encode(codePoint)
      if (bytes === -1) {
        if (state === 'kanji') switchTo('ascii')
        text += percentEncodeReference(codePoint)
      } else {
        switchTo('kanji')
        text += percentEncodeAll(bytes)
      }
    }
  }
  switchTo('ascii')
  return text
}
