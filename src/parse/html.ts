// Links and facts of an HTML page, by a scanner without a tree.
//
// A kernel crosses the bytes of the page, whatever the encoding (page-walk.ts): it reads every tag, and stops at those that mean something.
// What they mean is decided here. Only the values kept become strings: ASCII ones as they are, others decoded from their bytes. Encodings
// in which that is not sound are decoded first (text-decoding.ts).
//
//     text   …prose…<p class="x">prose <a href="y">…</a> <!-- … --> <title>…</title> <form action="z">
//                   ^ crossed          ^ kept            ^ crossed  ^ stopped at     ^ stopped at
//
// hot: nothing is called for tags that yield nothing, nor for plain links. bench/parse.ts watches the speed.
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
import { TAG } from './html-names.ts'
import { HtmlValues } from './html-values.ts'
import { asScannable } from './mixed-text.ts'
import type { ParseOptions } from './options.ts'
import { PageBuilder } from './page-builder.ts'
import { FOUND, type PageWalk, WALK, walkOver } from './page-walk.ts'
import type { ParsedPage } from './parsed-page.ts'
import { asBuffer } from './text-decoding.ts'

export interface HtmlHints {
  /** The charset parameter of Content-Type; null when absent. */
  readonly charset: string | null
  /** 'xml' for XHTML served as XML: CDATA sections exist and `<script/>` is empty. */
  readonly syntax?: 'html' | 'xml'
}

/** Elements whose content is raw text, and so holds no tags; noscript is none, for we run no scripts. */
const RAW: ReadonlySet<number> = new Set([
  TAG.iframe,
  TAG.noembed,
  TAG.noframes,
  TAG.plaintext,
  TAG.script,
  TAG.style,
  TAG.textarea,
  TAG.title,
  TAG.xmp,
])

/** Templates kept track of; browsers stop nesting elements at 512. */
const TEMPLATE_DEPTH_MAX = 512

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
  readonly #encoding: string
  #mayRedeclare: boolean
  readonly #isXml: boolean
  readonly #isSketched: boolean
  readonly #walk: PageWalk
  readonly #values: HtmlValues
  readonly #elements: HtmlElements
  readonly #foreign = new ForeignContent()
  /** Open templates, and how deep in svg or math each was opened. */
  readonly #templates: { readonly isInert: boolean; readonly foreignDepth: number }[] = []
  /** Those open beyond what is kept; they are like the last that is. */
  #deepTemplates = 0
  /** How many of them are inert; nothing in those counts. */
  #inertDepth = 0
  /** The encoding to start again with, where run() answered null. */
  redeclared = ''

  constructor(bytes: Uint8Array, encoding: string, mayRedeclare: boolean, isXml: boolean, options: ParseOptions) {
    // Where bytes are not safe to look at one by one the page becomes UTF-8 first: one scanner for all.
    const decoded = asScannable(bytes, encoding)
    const buffer = decoded ?? asBuffer(bytes)
    this.#page = bytes
    this.#encoding = encoding
    this.#mayRedeclare = mayRedeclare
    this.#isXml = isXml
    this.#isSketched = options.simhash
    this.#walk = walkOver(buffer)
    this.#values = new HtmlValues(buffer, decoded === null ? encoding : 'utf-8')
    this.#elements = new HtmlElements(this.#walk, this.#values, new PageBuilder(options, buffer), options)
  }

  /** The page, or null when it declared another encoding than it was read in. */
  run(): ParsedPage | null {
    const walk = this.#walk
    const { page } = this.#elements
    for (;;) {
      const found = walk.next(this.#how())
      walk.takeLinks(page)
      if (found === FOUND.pageEnd) break
      const tag = found & FOUND.element
      if ((found & FOUND.endTag) === 0) this.#startTag(tag, (found & FOUND.selfClosing) !== 0)
      else this.#endTag(tag)
      if (this.redeclared !== '') return null
    }
    return page.build(this.#encoding, this.#isSketched ? walk.sketch() : null)
  }

  /** How the walk goes on from here. */
  #how(): number {
    const foreign = this.#foreign
    const isInert = this.#inertDepth > 0
    if (!foreign.isInside) return (isInert ? WALK.inert : WALK.keep) | (this.#isXml ? WALK.cdata : 0)
    return WALK.every | (isInert ? WALK.inert : 0) | (this.#isXml || foreign.allowsCdata ? WALK.cdata : 0)
  }

  #startTag(tag: number, isSelfClosing: boolean): void {
    const foreign = this.#foreign
    if (!foreign.isInside) return this.#htmlElement(tag, isSelfClosing)
    const elements = this.#elements
    if (!foreign.start(this.#name(), isSelfClosing, elements.annotationEncoding(), elements.isStyled()))
      return this.#htmlElement(tag, isSelfClosing)
    if (this.#inertDepth === 0) elements.foreign(tag)
  }

  #htmlElement(tag: number, isSelfClosing: boolean): void {
    if (tag === TAG.svg || tag === TAG.math) {
      if (!this.#foreign.isInside) this.#foreign.start(this.#name(), isSelfClosing, '', false)
    } else if (tag === TAG.template) {
      this.#openTemplate()
    } else if (tag === TAG.meta && this.#mayRedeclare && this.#inertDepth === 0) {
      this.#declare(this.#elements.declaredEncoding())
      if (this.redeclared !== '') return
    }
    if (this.#inertDepth === 0) this.#elements.html(tag)
    if (RAW.has(tag) && !(this.#isXml && isSelfClosing)) this.#rawText(tag)
  }

  #openTemplate(): void {
    if (this.#templates.length >= TEMPLATE_DEPTH_MAX) this.#deepTemplates++
    else {
      const isInert = this.#inertDepth > 0 || !this.#elements.isShadowRoot()
      this.#templates.push({ isInert, foreignDepth: this.#foreign.depth })
      if (isInert) this.#inertDepth++
    }
  }

  #declare(encoding: string | null): void {
    if (encoding === null) return
    // The first declaration settles it.
    this.#mayRedeclare = false
    if (encoding !== this.#encoding && !isDisproved(encoding, asBuffer(this.#page))) this.redeclared = encoding
  }

  /** Crosses the content of a raw text element; the scan goes on at its end tag. */
  #rawText(tag: number): void {
    const walk = this.#walk
    if (tag === TAG.plaintext) return walk.crossAll()
    const start = walk.end
    const end = walk.crossRawText(tag)
    if (tag !== TAG.script && this.#inertDepth === 0) this.#elements.rawText(tag, start, end)
  }

  #endTag(tag: number): void {
    if (this.#foreign.isInside && this.#foreign.end(this.#name())) return
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
    return this.#values.name(this.#walk.nameStart, this.#walk.nameEnd)
  }
}
