// Links and facts of an HTML page, by a scanner without a tree.
//
// The page is looked at as a one-byte string (one character per byte, whatever the encoding) and crossed by
// indexOf('<'). Only the names of tags are read, only of some are the attributes noted, and only the values
// kept become strings: ASCII ones as they are, others decoded from their bytes. Encodings in which that is not sound
// are decoded first (text-decoding.ts).
//
//     text   …prose…<p class="x">prose <a href="y">…</a> <!-- … --> <script> … </script>
//                   ^ stepped over     ^ read            ^ one jump ^ one jump
//
// hot: nothing is allocated for tags that yield nothing. bench/parse.ts watches the speed.
//
// Always true, held by the tests against parse5 (html-oracle.test.ts):
//   - tokens are WHATWG's: what is a tag, a comment, raw text and an attribute value to a browser is so here;
//   - time is linear in the length of the page, and nothing throws;
//   - of the tree's rules only those are kept that decide over links: svg and math, template, nested
//     forms, frames only in framesets. docs/decisions/0004-html-scanner.md names those left out.

import { isDisproved } from './encoding-evidence.ts'
import { sniffEncoding } from './encoding.ts'
import { ForeignContent } from './foreign-content.ts'
import { HtmlElements } from './html-elements.ts'
import { afterName, mayBeName, nextByte, TAG, TAG_NAMES } from './html-names.ts'
import { afterBogusComment, afterDeclaration, endOfRawText, endOfScript } from './html-passage.ts'
import { TagReader } from './html-tag.ts'
import { HtmlValues } from './html-values.ts'
import { asScannable } from './mixed-text.ts'
import type { ParseOptions } from './options.ts'
import { PageBuilder } from './page-builder.ts'
import type { ParsedPage } from './parsed-page.ts'
import { asBuffer } from './text-decoding.ts'
import { TextSketch } from './text-sketch.ts'

export interface HtmlHints {
  /** The charset parameter of Content-Type; null when absent. */
  readonly charset: string | null
  /** 'xml' for XHTML served as XML: CDATA sections exist and `<script/>` is empty. */
  readonly syntax?: 'html' | 'xml'
}

/** Elements whose content is raw text, and so holds no tags; noscript is none, for we run no scripts. */
const RAW_NAMES: (string | undefined)[] = []
for (const name of [
  'iframe',
  'noembed',
  'noframes',
  'plaintext',
  'script',
  'style',
  'textarea',
  'title',
  'xmp',
] as const) {
  RAW_NAMES[TAG[name]] = name
}

const BANG = 33
const SLASH = 47
const LESS = 60
const GREATER = 62
const QUESTION = 63
const LETTER_F = 102
const LETTER_T = 116

/** Templates kept track of; browsers stop nesting elements at 512. */
const TEMPLATE_DEPTH_MAX = 512

/** Up to here a loop beats the call of indexOf (bench/parse.ts). */
const NEAR_BYTES = 12

/** One for all pages: they are scanned one after the other. */
const theSketch = new TextSketch()

/** Links and facts of a page. Strings in it may be views into the page: keep copies, not them. */
export function scanHtml(bytes: Uint8Array, hints: HtmlHints, options: ParseOptions): ParsedPage {
  const isXml = hints.syntax === 'xml'
  const sniffed = sniffEncoding(bytes, {
    headerCharset: hints.charset,
    mediaType: isXml ? 'application/xhtml+xml' : 'text/html',
  })
  // What a page declares after its first kilobyte still counts, against a mere guess or a prescan that was
  // fooled: the scan starts again, once.
  const mayRedeclare = !isXml && (sniffed.source === 'guess' || sniffed.source === 'declaration')
  const scan = new HtmlScan(bytes, sniffed.encoding, mayRedeclare, isXml, options)
  const page = scan.run()
  if (page !== null) return page
  return new HtmlScan(bytes, scan.redeclared, false, isXml, options).run() as ParsedPage
}

class HtmlScan {
  /** As it came. */
  readonly #page: Uint8Array
  /** As it is scanned: the page, or what became of it in UTF-8. */
  readonly #bytes: Uint8Array
  /** The latin-1 string of the bytes. */
  readonly #text: string
  readonly #encoding: string
  #mayRedeclare: boolean
  readonly #isXml: boolean
  readonly #reader: TagReader
  readonly #elements: HtmlElements
  readonly #foreign = new ForeignContent()
  /** Whether we are outside svg and math, kept beside #foreign because every tag asks. */
  #isPlain = true
  /** Open templates, and how deep in svg or math each was opened. */
  readonly #templates: { readonly isInert: boolean; readonly foreignDepth: number }[] = []
  /** Those open beyond what is kept; they are like the last that is. */
  #deepTemplates = 0
  /** How many of them are inert; nothing in those counts. */
  #inertDepth = 0
  /** The next `<!--` at or after the last script, -1 when none is left: searched once for all scripts. */
  #commentAt = 0
  /** Takes the text between tags; null where nobody wants to know. */
  readonly #sketch: TextSketch | null
  /** The encoding to start again with, where run() answered null. */
  redeclared = ''

  constructor(bytes: Uint8Array, encoding: string, mayRedeclare: boolean, isXml: boolean, options: ParseOptions) {
    // Where bytes are not safe to look at one by one the page becomes UTF-8 first: one scanner for all.
    const decoded = asScannable(bytes, encoding)
    const buffer = decoded ?? asBuffer(bytes)
    this.#page = bytes
    this.#bytes = buffer
    this.#text = buffer.toString('latin1')
    this.#encoding = encoding
    this.#mayRedeclare = mayRedeclare
    this.#isXml = isXml
    this.#reader = new TagReader(buffer, this.#text)
    this.#sketch = options.simhash ? theSketch : null
    this.#sketch?.clear()
    this.#elements = new HtmlElements(
      this.#reader,
      new HtmlValues(this.#text, buffer, decoded === null ? encoding : 'utf-8'),
      new PageBuilder(options, buffer, this.#text),
      options,
    )
  }

  /** The page, or null when it declared another encoding than it was read in. */
  run(): ParsedPage | null {
    const text = this.#text
    const bytes = this.#bytes
    const { length } = bytes
    const sketch = this.#sketch
    let position = text.indexOf('<')
    sketch?.add(bytes, 0, position === -1 ? length : position)
    while (position !== -1 && position + 1 < length) {
      let next = position + 1
      const code = bytes[next] as number
      if (isLetter(code)) next = this.#isPlain ? this.#plainStartTag(next) : this.#startTag(next)
      else if (code === SLASH) next = this.#isPlain ? this.#plainEndTag(next + 1) : this.#endTag(next + 1)
      else if (code === BANG) next = afterDeclaration(text, position, this.#isXml || this.#foreign.allowsCdata)
      else if (code === QUESTION) next = afterBogusComment(text, position)
      if (next === -1) break
      // Often the next tag is near, and a loop is quicker than the call of indexOf.
      const near = nextByte(bytes, LESS, next, NEAR_BYTES)
      position = near >= 0 ? near : text.indexOf('<', next)
      // Most of the text between tags is a line feed or a space, and no word.
      if (sketch !== null && position !== next && position !== next + 1 && this.#inertDepth === 0) {
        sketch.add(bytes, next, position === -1 ? length : position)
      }
    }
    return this.redeclared === '' ? this.#elements.page.build(this.#encoding, sketch?.take()) : null
  }

  /** Nearly every tag: an element of no interest to us, outside svg and math. Else hands on to #startTag. */
  #plainStartTag(start: number): number {
    const bytes = this.#bytes
    const end = afterName(bytes, start + 1)
    if (end >= bytes.length) return -1
    if (mayBeName(TAG_NAMES, bytes[start] as number, end - start)) return this.#startTag(start)
    if (bytes[end] === GREATER) return end + 1
    const next = this.#reader.skipAttributes(end)
    if (next !== -1 && this.#reader.styleStart !== -1 && this.#inertDepth === 0) this.#elements.styleAttribute()
    return next
  }

  /** From the first letter of a start tag to where scanning goes on; -1 to stop. */
  #startTag(start: number): number {
    const reader = this.#reader
    reader.readName(start)
    const next = reader.readAttributes()
    if (next === -1) return -1
    return this.#isPlain ? this.#htmlElement(reader.tag, next) : this.#startTagInForeign(next)
  }

  #startTagInForeign(next: number): number {
    const reader = this.#reader
    const isForeign = this.#foreign.start(
      this.#name(),
      reader.isSelfClosing,
      this.#elements.annotationEncoding(),
      this.#elements.isStyled(),
    )
    this.#isPlain = !this.#foreign.isInside
    if (!isForeign) return this.#htmlElement(reader.tag, next)
    if (this.#inertDepth === 0) this.#elements.foreign(reader.tag)
    return next
  }

  #htmlElement(tag: number, next: number): number {
    if (this.#isPlain && (tag === TAG.svg || tag === TAG.math)) {
      this.#foreign.start(this.#name(), this.#reader.isSelfClosing, '', false)
      this.#isPlain = !this.#foreign.isInside
    } else if (tag === TAG.template && this.#templates.length >= TEMPLATE_DEPTH_MAX) {
      this.#deepTemplates++
    } else if (tag === TAG.template) {
      const isInert = this.#inertDepth > 0 || !this.#elements.isShadowRoot()
      this.#templates.push({ isInert, foreignDepth: this.#foreign.depth })
      if (isInert) this.#inertDepth++
    } else if (tag === TAG.meta && this.#mayRedeclare && this.#inertDepth === 0) {
      const declared = this.#elements.declaredEncoding()
      if (declared !== null && declared !== this.#encoding && !isDisproved(declared, asBuffer(this.#page))) {
        this.redeclared = declared
        return -1
      }
      // The first declaration settles it.
      if (declared !== null) this.#mayRedeclare = false
    }
    if (this.#inertDepth === 0) this.#elements.html(tag)
    const rawName = RAW_NAMES[tag]
    if (rawName === undefined || (this.#isXml && this.#reader.isSelfClosing)) return next
    return this.#rawText(tag, rawName, next)
  }

  /** Crosses the content of a raw text element; the scan goes on at its end tag. */
  #rawText(tag: number, name: string, start: number): number {
    const text = this.#text
    if (tag === TAG.plaintext) return -1
    let end: number
    if (tag === TAG.script) {
      if (this.#commentAt !== -1 && this.#commentAt < start) this.#commentAt = text.indexOf('<!--', start)
      end = endOfScript(text, start, this.#commentAt)
    } else {
      end = endOfRawText(text, start, name)
      if (this.#inertDepth === 0) this.#elements.rawText(tag, start, end)
    }
    return end
  }

  /** From behind `</`. Only the ends of form, frameset and template mean something; others hand on to #endTag too if unusual. */
  #plainEndTag(start: number): number {
    const bytes = this.#bytes
    if (start >= bytes.length) return -1
    const first = (bytes[start] as number) | 32
    if (first === LETTER_F || first === LETTER_T || !isLetter(first)) return this.#endTag(start)
    const end = afterName(bytes, start + 1)
    return end < bytes.length && bytes[end] === GREATER ? end + 1 : this.#endTag(start)
  }

  #endTag(start: number): number {
    const bytes = this.#bytes
    if (start >= bytes.length) return -1
    const first = bytes[start] as number
    if (!isLetter(first)) return first === GREATER ? start + 1 : afterBogusComment(this.#text, start)
    const reader = this.#reader
    reader.readName(start)
    const next = reader.skipAttributes(reader.nameEnd)
    if (next === -1) return -1
    if (this.#isPlain || !this.#foreign.end(this.#name())) this.#htmlEnd(reader.tag)
    this.#isPlain = !this.#foreign.isInside
    return next
  }

  #htmlEnd(tag: number): void {
    if (tag === TAG.template && this.#deepTemplates > 0) this.#deepTemplates--
    else if (tag === TAG.template) {
      const template = this.#templates.pop()
      if (template === undefined) return
      if (template.isInert) this.#inertDepth--
      // Whatever was left open in the template ends with it.
      this.#foreign.closeTo(template.foreignDepth)
    } else if (tag !== TAG.other && this.#inertDepth === 0) this.#elements.end(tag)
  }

  #name(): string {
    return this.#text.slice(this.#reader.nameStart, this.#reader.nameEnd).toLowerCase()
  }
}

function isLetter(code: number): boolean {
  return ((code | 32) - 97) >>> 0 < 26
}
