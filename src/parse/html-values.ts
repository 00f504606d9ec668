// Turns a stretch of a page into the text it means: decoded from the page's encoding, then its character
// references resolved. hot: a plain ASCII stretch is one look at each character and one slice.

import { decodeAttributeReferences, decodeTextReferences } from './character-references.ts'
import { isSpace } from './html-names.ts'
import { valueDecoder } from './mixed-text.ts'
import type { PageBuilder } from './page-builder.ts'
import type { LinkKind } from './parsed-page.ts'
import type { RangeDecoder } from './text-decoding.ts'

const AMPERSAND = 38
/** `url(`, `@import`, `image-set(`, or an escape that could spell them. */
const CSS_LINK = /url|@import|image-set|[\\&]/i

export class HtmlValues {
  readonly #text: string
  readonly #bytes: Buffer
  readonly #decode: RangeDecoder

  /** `text` is the latin-1 string of `bytes`, which are in `encoding`. */
  constructor(text: string, bytes: Buffer, encoding: string) {
    this.#text = text
    this.#bytes = bytes
    this.#decode = valueDecoder(encoding)
  }

  /** The attribute value at [start, end), white space at its ends gone. */
  attribute(start: number, end: number): string {
    const bytes = this.#bytes
    while (start < end && isSpace(bytes[start] as number)) start++
    while (end > start && isSpace(bytes[end - 1] as number)) end--
    return this.#isPlain(start, end) ? this.#text.slice(start, end) : trimSpace(this.exact(start, end))
  }

  /** Adds the attribute value at [start, end) as a link: as its place where it means what it says, else as text. */
  addLink(
    page: PageBuilder,
    start: number,
    end: number,
    kind: LinkKind,
    isNofollow: boolean,
    mayBeEmpty: boolean,
  ): void {
    const bytes = this.#bytes
    while (start < end && isSpace(bytes[start] as number)) start++
    while (end > start && isSpace(bytes[end - 1] as number)) end--
    if (this.#isPlain(start, end)) {
      if (mayBeEmpty || start < end) page.linkAt(start, end, kind, isNofollow)
      return
    }
    const href = trimSpace(this.exact(start, end))
    if (mayBeEmpty || href !== '') page.link(href, kind, isNofollow)
  }

  /** The attribute value at [start, end) with its white space, for words that must match exactly. */
  exact(start: number, end: number): string {
    return this.#isPlain(start, end) ? this.#text.slice(start, end) : decodeAttributeReferences(this.plain(start, end))
  }

  /** Whether the style sheet at [start, end) may hold a link; nearly none does, and reading it properly costs. */
  mayLink(start: number, end: number): boolean {
    return CSS_LINK.test(this.#text.slice(start, end))
  }

  /** The text at [start, end), references resolved and white space as it is. */
  prose(start: number, end: number): string {
    return this.#isPlain(start, end) ? this.#text.slice(start, end) : decodeTextReferences(this.plain(start, end))
  }

  /** The text at [start, end) where references mean nothing: style sheets. */
  plain(start: number, end: number): string {
    const text = this.#decode(this.#bytes, start, end)
    return text.includes('\0') ? withoutNuls(text) : text
  }

  /** Whether the text at [start, end) means what it says: ASCII without references and NUL. */
  #isPlain(start: number, end: number): boolean {
    const bytes = this.#bytes
    for (let position = start; position < end; position++) {
      const code = bytes[position] as number
      if (code >= 0x80 || code === AMPERSAND || code === 0) return false
    }
    return true
  }
}

/** With U+FFFD for each NUL. By its code units: replaceAll needs thirty times the memory where all are NULs. */
function withoutNuls(text: string): string {
  const units = Buffer.from(text, 'utf16le')
  for (let index = 0; index < units.length; index += 2) {
    if (units[index] === 0 && units[index + 1] === 0) units.writeUInt16LE(0xfffd, index)
  }
  return units.toString('utf16le')
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
