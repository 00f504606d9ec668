// Turns a stretch of a page into the text it means: decoded from the page's encoding, then its character
// references resolved. hot: a plain ASCII stretch is one look at each character and one slice.

import { decodeAttributeReferences, decodeTextReferences } from './character-references.ts'
import { isSpace, trimSpace } from './html-names.ts'
import { valueDecoder } from './mixed-text.ts'
import type { PageBuilder } from './page-builder.ts'
import type { LinkKind } from './parsed-page.ts'
import type { RangeDecoder } from './text-decoding.ts'

const SPACE = 32
const AMPERSAND = 38
/** `amp;`, the first byte lowest. */
const AMP = 0x3b70_6d61
/** `url(`, `@import`, `image-set(`, or an escape that could spell them. */
const CSS_LINK = /url|@import|image-set|[\\&]/i

export class HtmlValues {
  readonly #bytes: Buffer
  readonly #decode: RangeDecoder

  /** `bytes` are in `encoding`. */
  constructor(bytes: Buffer, encoding: string) {
    this.#bytes = bytes
    this.#decode = valueDecoder(encoding)
  }

  /** The attribute value at [start, end), white space at its ends gone. */
  attribute(start: number, end: number): string {
    const bytes = this.#bytes
    while (start < end && isSpace(bytes[start] as number)) start++
    while (end > start && isSpace(bytes[end - 1] as number)) end--
    return this.#isPlain(start, end) ? this.#bytes.toString('latin1', start, end) : trimSpace(this.exact(start, end))
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
    const hasAmpersands = this.#hasAmpersands(start, end)
    if (hasAmpersands !== null) {
      if (mayBeEmpty || start < end) page.linkAt(start, end, kind, isNofollow, hasAmpersands)
      return
    }
    const href = trimSpace(this.exact(start, end))
    if (mayBeEmpty || href !== '') page.link(href, kind, isNofollow)
  }

  /** The attribute value at [start, end) with its white space, for words that must match exactly. */
  exact(start: number, end: number): string {
    return this.#isPlain(start, end)
      ? this.#bytes.toString('latin1', start, end)
      : decodeAttributeReferences(this.plain(start, end))
  }

  /** The name of an element that stands at [start, end), in lower case. */
  name(start: number, end: number): string {
    return this.#bytes.toString('latin1', start, end).toLowerCase()
  }

  /** Whether the style sheet at [start, end) may hold a link; nearly none does, and reading it properly costs. */
  mayLink(start: number, end: number): boolean {
    return CSS_LINK.test(this.#bytes.toString('latin1', start, end))
  }

  /** The text at [start, end), references resolved and white space as it is. */
  prose(start: number, end: number): string {
    return this.#isPlain(start, end)
      ? this.#bytes.toString('latin1', start, end)
      : decodeTextReferences(this.plain(start, end))
  }

  /** The text at [start, end) where references mean nothing: style sheets. */
  plain(start: number, end: number): string {
    const text = this.#decode(this.#bytes, start, end)
    return text.includes('\0') ? withoutNuls(text) : text
  }

  /** Whether `&amp;` is in the text at [start, end), and else nothing that does not mean what it says; null where something is. */
  #hasAmpersands(start: number, end: number): boolean | null {
    const bytes = this.#bytes
    let hasAmpersands = false
    for (let position = start; position < end; position++) {
      const code = bytes[position] as number
      if (code >= 0x80 || code === 0) return null
      if (code !== AMPERSAND) continue
      if (position + 4 >= end || bytes.readInt32LE(position + 1) !== AMP) return null
      hasAmpersands = true
    }
    return hasAmpersands
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

/** Runs of HTML white space become one space, none at the ends. Most titles have nothing but single spaces, and nothing is made anew. */
export function collapseSpace(text: string): string {
  return trimSpace(isCollapsed(text) ? text : text.replace(/[\t\n\f\r ]+/g, ' '))
}

function isCollapsed(text: string): boolean {
  let before = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (isSpace(code) && (code !== SPACE || before === SPACE)) return false
    before = code
  }
  return true
}
