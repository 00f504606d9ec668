// Turns a stretch of a page into the text it means: decoded from the page's encoding, then its character
// references resolved. hot: a plain ASCII stretch is one look at each character and one slice.

import { decodeAttributeReferences, decodeTextReferences } from './character-references.ts'
import { isSpace } from './html-names.ts'
import { type RangeDecoder, rangeDecoder } from './text-decoding.ts'

const AMPERSAND = 38

export class HtmlValues {
  readonly #text: string
  /** The bytes behind the text, one for each character; null when the text is decoded already. */
  readonly #bytes: Buffer | null
  readonly #decode: RangeDecoder

  constructor(text: string, bytes: Buffer | null, encoding: string) {
    this.#text = text
    this.#bytes = bytes
    this.#decode = rangeDecoder(encoding)
  }

  /** The attribute value at [start, end), white space at its ends gone. */
  attribute(start: number, end: number): string {
    const text = this.#text
    while (start < end && isSpace(text.charCodeAt(start))) start++
    while (end > start && isSpace(text.charCodeAt(end - 1))) end--
    let union = 0
    let isPlain = true
    for (let position = start; position < end; position++) {
      const code = text.charCodeAt(position)
      union |= code
      if (code === AMPERSAND || code === 0) isPlain = false
    }
    if (isPlain && (union < 0x80 || this.#bytes === null)) return text.slice(start, end)
    return trimSpace(decodeAttributeReferences(this.#raw(start, end, union)))
  }

  /** The text at [start, end), references resolved and white space as it is. */
  prose(start: number, end: number): string {
    return decodeTextReferences(this.#raw(start, end, 0xff))
  }

  /** The text at [start, end) where references mean nothing: style sheets. */
  plain(start: number, end: number): string {
    return this.#raw(start, end, 0xff)
  }

  #raw(start: number, end: number, union: number): string {
    const isBytes = union >= 0x80 && this.#bytes !== null
    const raw = isBytes ? this.#decode(this.#bytes as Buffer, start, end) : this.#text.slice(start, end)
    return raw.includes('\0') ? raw.replaceAll('\0', '\uFFFD') : raw
  }
}

/** Without HTML white space at its ends. */
export function trimSpace(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return start === 0 && end === text.length ? text : text.slice(start, end)
}

/** Runs of HTML white space become one space, none at the ends. */
export function collapseSpace(text: string): string {
  return trimSpace(text.replace(/[\t\n\f\r ]+/g, ' '))
}
