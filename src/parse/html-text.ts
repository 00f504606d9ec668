// The text a reader of a page would see, for sketches and search: on demand, not on every page.

import { isSpace, TAG } from './html-names.ts'
import { afterBogusComment, afterDeclaration, endOfRawText, endOfScript } from './html-passage.ts'
import { TagReader } from './html-tag.ts'
import { collapseSpace, HtmlValues } from './html-values.ts'
import { asScannable } from './mixed-text.ts'
import { asBuffer } from './text-decoding.ts'

/** Elements whose raw text is not shown. (Of xmp, textarea and plaintext it is.) */
const HIDDEN: ReadonlyMap<number, string> = new Map([
  [TAG.iframe, 'iframe'],
  [TAG.noembed, 'noembed'],
  [TAG.noframes, 'noframes'],
  [TAG.script, 'script'],
  [TAG.style, 'style'],
  [TAG.title, 'title'],
])
const SHOWN: ReadonlyMap<number, string> = new Map([
  [TAG.textarea, 'textarea'],
  [TAG.xmp, 'xmp'],
])

/** Elements that do not part words: `<b>W</b>ord` is one word, `<td>a<td>b` are two. */
const INLINE = new Set(
  `a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q s samp small span strike strong sub
   sup time tt u var wbr`.split(/\s+/),
)

/** The byte order mark of UTF-8, as latin-1. */
const UTF8_MARK = '\xef\xbb\xbf'

/** Visible text, references resolved, white space collapsed. `encoding` is of the bytes; a string needs none. */
export function visibleText(page: Uint8Array | string, encoding = 'utf-8'): string {
  if (typeof page === 'string') return new TextScan(Buffer.from(page, 'utf8'), 'utf-8').run()
  const decoded = asScannable(page, encoding)
  return new TextScan(decoded ?? asBuffer(page), decoded === null ? encoding : 'utf-8').run()
}

class TextScan {
  readonly #bytes: Buffer
  readonly #text: string
  readonly #reader: TagReader
  readonly #values: HtmlValues
  readonly #parts: string[] = []
  #templates = 0
  #commentAt = 0

  constructor(bytes: Buffer, encoding: string) {
    this.#bytes = bytes
    this.#text = bytes.toString('latin1')
    this.#reader = new TagReader(bytes, this.#text)
    this.#values = new HtmlValues(this.#text, bytes, encoding)
  }

  run(): string {
    const text = this.#text
    let position = text.startsWith(UTF8_MARK) ? UTF8_MARK.length : 0
    /** Where text not yet shown begins; a `<` that opens nothing is part of it. */
    let shown = position
    for (;;) {
      const less = text.indexOf('<', position)
      if (less === -1) break
      const next = this.#after(less)
      if (next === less + 1) {
        position = next
        continue
      }
      this.#show(shown, less)
      if (next === -1) return this.#joined()
      position = next
      shown = next
      const { tag } = this.#reader
      if (/[a-z]/i.test(text.charAt(less + 1))) {
        this.#open()
        if (tag === TAG.plaintext) break
        shown = this.#raw(tag, next)
        position = shown
      } else if (/^<\/[a-z]/i.test(text.slice(less, less + 3))) this.#close()
    }
    this.#show(shown, text.length)
    return this.#joined()
  }

  #joined(): string {
    return collapseSpace(this.#parts.join(''))
  }

  /** After the markup at `less`; one further when it is none; -1 when the page ends inside a tag. */
  #after(less: number): number {
    const text = this.#text
    const next = text.charAt(less + 1)
    if (next === '!') return afterDeclaration(text, less, false)
    if (next === '?') return afterBogusComment(text, less)
    const start = next === '/' ? less + 2 : less + 1
    if (/[a-z]/i.test(text.charAt(start))) {
      this.#reader.readName(start)
      return this.#reader.skipAttributes(this.#reader.nameEnd)
    }
    return next === '/' && start < text.length ? afterBogusComment(text, start) : less + 1
  }

  #open(): void {
    if (this.#reader.tag === TAG.template) this.#templates++
    this.#partWords()
  }

  #close(): void {
    if (this.#reader.tag === TAG.template && this.#templates > 0) this.#templates--
    this.#partWords()
  }

  #partWords(): void {
    const { nameStart, nameEnd } = this.#reader
    if (!INLINE.has(this.#text.slice(nameStart, nameEnd).toLowerCase())) this.#parts.push(' ')
  }

  /** Crosses the raw text of the element just opened, showing it where it is shown. */
  #raw(tag: number, start: number): number {
    const text = this.#text
    const hidden = HIDDEN.get(tag)
    if (hidden === 'script') {
      if (this.#commentAt !== -1 && this.#commentAt < start) this.#commentAt = text.indexOf('<!--', start)
      return endOfScript(text, start, this.#commentAt)
    }
    if (hidden !== undefined) return endOfRawText(text, start, hidden)
    const raw = SHOWN.get(tag)
    if (raw === undefined) return start
    const end = endOfRawText(text, start, raw)
    if (tag === TAG.xmp && this.#templates === 0) this.#parts.push(this.#values.plain(start, end))
    else this.#show(start, end)
    return end
  }

  #show(start: number, end: number): void {
    const bytes = this.#bytes
    if (start >= end || this.#templates > 0) return
    // Space between tags is most of what there is, and needs no decoding.
    let position = start
    while (position < end && isSpace(bytes[position] as number)) position++
    this.#parts.push(position === end ? ' ' : this.#values.prose(start, end))
  }
}
