// What each element of a page yields. The scanner has just read the tag; this looks at its attributes.
//
// The rule is what a browser would load or let the reader follow. So: the body's background, a poster and a GET form,
// but not cite, longdesc, ping or the form of a POST. docs/decisions/0004-html-scanner.md argues the doubtful ones.

import { cssLinks } from './css.ts'
import { ATTRIBUTE, type AttributeId, TAG } from './html-names.ts'
import { collapseSpace, type HtmlValues } from './html-values.ts'
import { metaEncoding } from './meta-prescan.ts'
import { refreshUrl } from './meta-refresh.ts'
import { robotsMeta } from './meta-robots.ts'
import type { ParseOptions } from './options.ts'
import type { PageBuilder } from './page-builder.ts'
import type { PageWalk } from './page-walk.ts'
import type { LinkKind } from './parsed-page.ts'
import { srcsetUrls } from './srcset.ts'

const NOFOLLOW = /(?:^|[\t\n\f\r ])nofollow(?:$|[\t\n\f\r ])/i
const NOFOLLOW_LENGTH = 'nofollow'.length
const CANONICAL = /(?:^|[\t\n\f\r ])canonical(?:$|[\t\n\f\r ])/i
/** A title is read no further than this many times its kept length: room for references and white space. */
const TITLE_SLACK = 16

export class HtmlElements {
  readonly page: PageBuilder
  readonly #walk: PageWalk
  readonly #values: HtmlValues
  readonly #titleMax: number
  #isInForm = false
  #hasBackground = false
  #lang: string | null = null
  #xmlLang: string | null = null
  #framesets = 0

  constructor(walk: PageWalk, values: HtmlValues, page: PageBuilder, options: ParseOptions) {
    this.#walk = walk
    this.#values = values
    this.#titleMax = options.titleLength
    this.page = page
  }

  /** A start tag of HTML. */
  html(tag: number): void {
    this.#styleAttribute()
    switch (tag) {
      case TAG.a:
        return this.#anchor('a')
      case TAG.area:
        return this.#anchor('area')
      case TAG.link:
        return this.#linkElement()
      case TAG.img:
      case TAG.image:
        this.#source('img')
        return this.#srcset(ATTRIBUTE.srcset)
      case TAG.script:
        return this.#source('script')
      case TAG.iframe:
        return this.#source('iframe')
      case TAG.frame:
        return this.#framesets > 0 ? this.#source('frame') : undefined
      case TAG.frameset:
        this.#framesets++
        return
      case TAG.source:
        this.#source('media')
        return this.#srcset(ATTRIBUTE.srcset)
      case TAG.video:
        this.#source('media')
        return this.#nonEmpty(ATTRIBUTE.poster, 'img')
      case TAG.audio:
      case TAG.track:
        return this.#source('media')
      case TAG.embed:
        return this.#source('object')
      case TAG.object:
        return this.#nonEmpty(ATTRIBUTE.data, 'object')
      case TAG.input:
        return this.#word(ATTRIBUTE.type) === 'image' ? this.#source('img') : undefined
      case TAG.form:
        return this.#form()
      case TAG.meta:
        return this.#meta()
      case TAG.base:
        if (this.page.baseHref === null) this.page.baseHref = this.#get(ATTRIBUTE.href)
        return
      case TAG.body:
        return this.#body()
      case TAG.html:
        return this.#language()
      default:
    }
  }

  /** A start tag of SVG or MathML. An href without prefix wins over the old xlink:href. */
  foreign(tag: number): void {
    this.#styleAttribute()
    const href = this.#get(ATTRIBUTE.href) ?? this.#get(ATTRIBUTE['xlink:href'])
    if (href === null) return
    if (tag === TAG.a) this.page.link(href, 'a', this.#isNofollow())
    else if (tag === TAG.script && href !== '') this.page.link(href, 'script')
    // `use` mostly points into its own page, which is no link.
    else if ((tag === TAG.image || tag === TAG.use) && href !== '' && !href.startsWith('#')) this.page.link(href, 'img')
  }

  end(tag: number): void {
    if (tag === TAG.form) this.#isInForm = false
    else if (tag === TAG.frameset && this.#framesets > 0) this.#framesets--
  }

  /** The raw text of an element, at [start, end). */
  rawText(tag: number, start: number, end: number): void {
    if (tag === TAG.title && this.page.title === null) {
      const cut = Math.min(end, start + this.#titleMax * TITLE_SLACK)
      this.page.title = collapseSpace(this.#values.prose(start, cut)).slice(0, this.#titleMax)
    } else if (tag === TAG.style) {
      if (this.#values.mayLink(start, end)) this.#css(this.#values.plain(start, end))
    }
  }

  #styleAttribute(): void {
    const walk = this.#walk
    if (!walk.has(ATTRIBUTE.style)) return
    const start = walk.valueStart(ATTRIBUTE.style)
    const end = walk.valueEnd(ATTRIBUTE.style)
    if (this.#values.mayLink(start, end)) this.#css(this.#values.attribute(start, end))
  }

  /** Whether the template just read is content to see (declarative shadow DOM), not a pattern to copy. */
  isShadowRoot(): boolean {
    const mode = this.#word(ATTRIBUTE.shadowrootmode)
    return mode === 'open' || mode === 'closed'
  }

  /** The encoding declared by the meta just read, or null. */
  declaredEncoding(): string | null {
    return metaEncoding(this.#get(ATTRIBUTE.charset), this.#word(ATTRIBUTE['http-equiv']), this.#get(ATTRIBUTE.content))
  }

  annotationEncoding(): string {
    return this.#word(ATTRIBUTE.encoding)
  }

  isStyled(): boolean {
    const walk = this.#walk
    return walk.has(ATTRIBUTE.color) || walk.has(ATTRIBUTE.face) || walk.has(ATTRIBUTE.size)
  }

  #anchor(kind: 'a' | 'area'): void {
    const walk = this.#walk
    if (!walk.has(ATTRIBUTE.href)) return
    const start = walk.valueStart(ATTRIBUTE.href)
    const end = walk.valueEnd(ATTRIBUTE.href)
    this.#values.addLink(this.page, start, end, kind, this.#isNofollow(), true)
  }

  #linkElement(): void {
    const walk = this.#walk
    if (walk.has(ATTRIBUTE.href)) {
      const start = walk.valueStart(ATTRIBUTE.href)
      const end = walk.valueEnd(ATTRIBUTE.href)
      this.#values.addLink(this.page, start, end, 'link', this.#isNofollow(), false)
      if (this.page.canonical === null && this.#mayHaveWord(ATTRIBUTE.rel, NOFOLLOW_LENGTH)) {
        const href = this.#get(ATTRIBUTE.href)
        if (href !== '' && CANONICAL.test(this.#get(ATTRIBUTE.rel) ?? '')) this.page.canonical = href
      }
    }
    this.#srcset(ATTRIBUTE.imagesrcset)
  }

  /** Of several bodies the first to have an attribute gives it to the one body there is. */
  #body(): void {
    if (this.#hasBackground || !this.#walk.has(ATTRIBUTE.background)) return
    this.#hasBackground = true
    this.#nonEmpty(ATTRIBUTE.background, 'img')
  }

  #form(): void {
    // A form inside a form is dropped by every parser, and with it its action.
    if (this.#isInForm) return
    this.#isInForm = true
    const method = this.#word(ATTRIBUTE.method)
    if (method !== 'post' && method !== 'dialog') this.#nonEmpty(ATTRIBUTE.action, 'form')
  }

  #meta(): void {
    const content = this.#get(ATTRIBUTE.content)
    if (content === null) return
    if (this.#word(ATTRIBUTE['http-equiv']) === 'refresh') {
      const url = refreshUrl(content)
      if (url !== null && url !== '') this.page.link(url, 'refresh')
    }
    const robots = robotsMeta((this.#get(ATTRIBUTE.name) ?? '').toLowerCase(), content)
    if (robots !== null) this.page.robots(robots)
  }

  /** As with the body: of several html the first to have an attribute gives it. An empty one says that the language is unknown. */
  #language(): void {
    this.#lang ??= this.#get(ATTRIBUTE.lang)
    this.#xmlLang ??= this.#get(ATTRIBUTE['xml:lang'])
    this.page.language = (this.#lang ?? this.#xmlLang)?.toLowerCase() || null
  }

  #source(kind: LinkKind): void {
    this.#nonEmpty(ATTRIBUTE.src, kind)
  }

  /** Of these elements an empty attribute loads nothing (only <a> and <area> lead to the page itself by it). */
  #nonEmpty(attribute: AttributeId, kind: LinkKind): void {
    const walk = this.#walk
    if (!walk.has(attribute)) return
    this.#values.addLink(this.page, walk.valueStart(attribute), walk.valueEnd(attribute), kind, false, false)
  }

  #srcset(attribute: AttributeId): void {
    const value = this.#get(attribute)
    if (value !== null) for (const url of srcsetUrls(value)) this.page.link(url, 'img')
  }

  #css(text: string): void {
    for (const url of cssLinks(text)) if (url !== '' && !url.startsWith('#')) this.page.link(url, 'css')
  }

  #isNofollow(): boolean {
    return this.#mayHaveWord(ATTRIBUTE.rel, NOFOLLOW_LENGTH) && NOFOLLOW.test(this.#get(ATTRIBUTE.rel) ?? '')
  }

  /** Whether the tag has the attribute, long enough for a word of this length. Most rels are shorter than those we look for. */
  #mayHaveWord(attribute: AttributeId, length: number): boolean {
    const walk = this.#walk
    return walk.has(attribute) && walk.valueEnd(attribute) - walk.valueStart(attribute) >= length
  }

  /** The value of an attribute; null when the tag has it not. */
  #get(attribute: AttributeId): string | null {
    const walk = this.#walk
    return walk.has(attribute) ? this.#values.attribute(walk.valueStart(attribute), walk.valueEnd(attribute)) : null
  }

  /** The word in an enumerated attribute, in lower case; empty when the tag has it not. White space makes it another word. */
  #word(attribute: AttributeId): string {
    const walk = this.#walk
    if (!walk.has(attribute)) return ''
    return this.#values.exact(walk.valueStart(attribute), walk.valueEnd(attribute)).toLowerCase()
  }
}
