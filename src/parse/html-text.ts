// The text a reader of a page would see, for sketches and search: on demand, not on every page.

import { isSpace, TAG } from './html-names.ts'
import { collapseSpace, HtmlValues } from './html-values.ts'
import { asScannable } from './mixed-text.ts'
import { FOUND, type PageWalk, WALK, walkOver } from './page-walk.ts'
import { asBuffer } from './text-decoding.ts'

/** Elements whose raw text is not shown. (Of xmp, textarea and plaintext it is.) */
const HIDDEN: ReadonlySet<number> = new Set([TAG.iframe, TAG.noembed, TAG.noframes, TAG.script, TAG.style, TAG.title])

/** Elements that do not part words: `<b>W</b>ord` is one word, `<td>a<td>b` are two. */
const INLINE = new Set(
  `a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q s samp small span strike strong sub
   sup time tt u var wbr`.split(/\s+/),
)

/** The byte order mark of UTF-8. */
const UTF8_MARK = Buffer.from('\uFEFF')

/** Visible text, references resolved, white space collapsed. `encoding` is of the bytes; a string needs none. */
export function visibleText(page: Uint8Array | string, encoding = 'utf-8'): string {
  if (typeof page === 'string') return new TextScan(Buffer.from(page, 'utf8'), 'utf-8').run()
  const decoded = asScannable(page, encoding)
  return new TextScan(decoded ?? asBuffer(page), decoded === null ? encoding : 'utf-8').run()
}

class TextScan {
  readonly #bytes: Buffer
  readonly #walk: PageWalk
  readonly #values: HtmlValues
  readonly #parts: string[] = []
  #templates = 0

  constructor(bytes: Buffer, encoding: string) {
    this.#bytes = bytes
    this.#walk = walkOver(bytes)
    this.#values = new HtmlValues(bytes, encoding)
  }

  run(): string {
    const walk = this.#walk
    const bytes = this.#bytes
    /** Where text not yet shown begins. */
    let shown = bytes.subarray(0, UTF8_MARK.length).equals(UTF8_MARK) ? UTF8_MARK.length : 0
    for (;;) {
      const found = walk.next(WALK.every | WALK.others)
      this.#show(shown, walk.start)
      if (found === FOUND.pageEnd) break
      shown = walk.end
      if ((found & FOUND.noTag) !== 0) continue
      const tag = found & FOUND.element
      const isEnd = (found & FOUND.endTag) !== 0
      if (tag === TAG.template) this.#templates = Math.max(0, this.#templates + (isEnd ? -1 : 1))
      this.#partWords()
      if (isEnd) continue
      if (tag === TAG.plaintext) {
        this.#show(shown, bytes.length)
        break
      }
      shown = this.#raw(tag, shown)
    }
    return collapseSpace(this.#parts.join(''))
  }

  #partWords(): void {
    const { nameStart, nameEnd } = this.#walk
    if (!INLINE.has(this.#values.name(nameStart, nameEnd))) this.#parts.push(' ')
  }

  /** Crosses the raw text of the element just opened, showing it where it is shown. */
  #raw(tag: number, start: number): number {
    const isHidden = HIDDEN.has(tag)
    if (!isHidden && tag !== TAG.textarea && tag !== TAG.xmp) return start
    const end = this.#walk.crossRawText(tag)
    if (isHidden) return end
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
