// Where a page is inside <svg> or <math>. There the rules differ: no element's text is raw, CDATA sections
// exist, `image` is not `img`, and a handful of HTML tags break out.
//
// A tokenizer has no tree, so this keeps the smallest stack that answers the question: the open foreign
// elements, and for each whether its content is HTML again (an integration point). HTML elements inside an
// integration point are not kept; what that costs is listed in html-oracle.test.ts.

/** Browsers stop nesting elements at 512; deeper ones are not kept, so an end tag never searches further. */
const DEPTH_MAX = 512

interface OpenElement {
  readonly name: string
  /** Whether its content is foreign too, or HTML again. */
  readonly content: 'foreign' | 'html'
  readonly space: 'svg' | 'math'
  /** Whether an HTML element was met inside, so that CDATA is no longer sure to be one. */
  hasHtml: boolean
}

const SVG_HTML = new Set(['foreignobject', 'desc', 'title'])
const MATH_HTML = new Set(['mi', 'mo', 'mn', 'ms', 'mtext'])
const HTML_TYPES = new Set(['text/html', 'application/xhtml+xml'])
/** HTML elements that close the foreign content they are met in (WHATWG 13.2.6.5). */
const BREAKOUT = new Set(
  `b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta nobr ol p pre
   ruby s small span strong strike sub sup table tt u ul var`.split(/\s+/),
)

export class ForeignContent {
  readonly #open: OpenElement[] = []

  get depth(): number {
    return this.#open.length
  }

  get isInside(): boolean {
    return this.#open.length > 0
  }

  /** Whether the next tag stands in SVG or MathML itself. */
  get isForeign(): boolean {
    return this.#open.at(-1)?.content === 'foreign'
  }

  get allowsCdata(): boolean {
    const top = this.#open.at(-1)
    return top !== undefined && (top.content === 'foreign' || !top.hasHtml)
  }

  /**
   * Takes notice of a start tag. `encoding` is the attribute of that name, lower-case; `isStyled` whether it has
   * one of color, face and size, by which a font is HTML's.
   * Answers whether the element is foreign; if not, it is HTML's, breakouts included.
   */
  start(name: string, isSelfClosing: boolean, encoding: string, isStyled: boolean): boolean {
    const top = this.#open.at(-1)
    if (top?.content === 'foreign' && !isLetThrough(top, name)) {
      if (!BREAKOUT.has(name) && !(name === 'font' && isStyled)) {
        if (!isSelfClosing) this.#push(name, top.space, encoding)
        return true
      }
      this.#breakOut()
    }
    if (name === 'svg' || name === 'math') {
      if (!isSelfClosing) this.#push(name, name, encoding)
      return true
    }
    const now = this.#open.at(-1)
    if (now !== undefined) now.hasHtml = true
    return false
  }

  /** Takes notice of an end tag. Answers whether it ended something foreign; if not, it is HTML's. */
  end(name: string): boolean {
    const top = this.#open.at(-1)
    if (top === undefined) return false
    if (top.content === 'foreign' && (name === 'p' || name === 'br')) {
      this.#breakOut()
      return false
    }
    // Inside an integration point an end tag belongs to HTML unless it can only mean us.
    if (top.content === 'html' && name !== top.name && name !== 'svg' && name !== 'math') return false
    // A loop: a page of nothing but unmatched end tags asks this for each of them.
    let found = this.#open.length - 1
    while (found >= 0 && this.#open[found]?.name !== name) found--
    if (found >= 0) this.#open.length = found
    return found >= 0
  }

  /** Closes what was opened since the stack had this depth. */
  closeTo(depth: number): void {
    this.#open.length = Math.min(this.#open.length, depth)
  }

  #push(name: string, space: 'svg' | 'math', encoding: string): void {
    if (this.#open.length >= DEPTH_MAX) return
    const isHtml =
      space === 'svg'
        ? SVG_HTML.has(name)
        : MATH_HTML.has(name) || (name === 'annotation-xml' && HTML_TYPES.has(encoding))
    this.#open.push({ name, content: isHtml ? 'html' : 'foreign', space, hasHtml: false })
  }

  #breakOut(): void {
    while (this.isForeign) this.#open.pop()
  }
}

/** An <svg> directly inside annotation-xml begins SVG, whatever the encoding. */
function isLetThrough(top: OpenElement, name: string): boolean {
  return top.name === 'annotation-xml' && name === 'svg'
}
