// The links of a style sheet: url(…), @import and the strings of image-set(). By the tokens of CSS Syntax
// Level 3, so that comments, strings and functions that only end in `url` are not mistaken for links.
//
// Linear: the scan only moves forward, and what does not end in the sheet ends it.

const QUOTE = 0x22
const APOSTROPHE = 0x27
const SLASH = 0x2f
const STAR = 0x2a
const AT = 0x40
const OPEN = 0x28
const CLOSE = 0x29
const BACKSLASH = 0x5c
const SEMICOLON = 0x3b
const OPEN_BRACE = 0x7b

/** In order, not deduplicated, escapes resolved. `data:` URLs are given too; the url room refuses them by name. */
export function cssLinks(text: string): string[] {
  return new CssReader(text).read()
}

class CssReader {
  readonly #text: string
  readonly #links: string[] = []
  #position = 0
  /** The next string is the target of an @import. */
  #isAfterImport = false
  /** url() names a namespace here, not a resource. */
  #isInNamespace = false
  /** Parentheses open; and the depth right inside an image-set(), or 0. */
  #depth = 0
  #imageSetDepth = 0

  constructor(text: string) {
    this.#text = text
  }

  read(): string[] {
    const text = this.#text
    while (this.#position < text.length) {
      const code = text.charCodeAt(this.#position)
      if (code === SLASH && text.charCodeAt(this.#position + 1) === STAR) {
        const end = text.indexOf('*/', this.#position + 2)
        this.#position = end < 0 ? text.length : end + 2
      } else if (code === QUOTE || code === APOSTROPHE) {
        const value = this.#string(code)
        const isLink = this.#isAfterImport || (this.#imageSetDepth > 0 && this.#depth === this.#imageSetDepth)
        if (isLink && value !== null) this.#add(value)
        this.#isAfterImport = false
      } else if (code === AT) {
        this.#position++
        const name = this.#identifier()
        this.#isAfterImport = name === 'import'
        this.#isInNamespace = name === 'namespace'
      } else if (isIdentifierStart(code)) {
        this.#identifierOrFunction()
      } else {
        this.#position++
        if (code === OPEN) this.#depth++
        else if (code === CLOSE) this.#closeParenthesis()
        else if (code === SEMICOLON || code === OPEN_BRACE) this.#endStatement()
      }
    }
    return this.#links
  }

  #add(href: string): void {
    const trimmed = href.trim()
    if (trimmed !== '' && !this.#isInNamespace) this.#links.push(trimmed)
  }

  #closeParenthesis(): void {
    if (this.#depth > 0) this.#depth--
    if (this.#depth < this.#imageSetDepth) this.#imageSetDepth = 0
  }

  /** A forgotten parenthesis must not swallow the rest of the sheet. */
  #endStatement(): void {
    this.#isAfterImport = false
    this.#isInNamespace = false
    this.#depth = 0
    this.#imageSetDepth = 0
  }

  #identifierOrFunction(): void {
    const name = this.#identifier()
    if (this.#text.charCodeAt(this.#position) !== OPEN) {
      this.#isAfterImport = false
      return
    }
    this.#position++
    if (name === 'url' || name === 'src') {
      this.#url(name === 'url')
      this.#isAfterImport = false
      return
    }
    this.#depth++
    if (name === 'image-set' || name === '-webkit-image-set') this.#imageSetDepth = this.#depth
  }

  /** Behind `url(`. Only url() may hold its address without quotes. */
  #url(mayBeBare: boolean): void {
    const text = this.#text
    this.#skipSpace()
    const code = text.charCodeAt(this.#position)
    if (code === QUOTE || code === APOSTROPHE) {
      const value = this.#string(code)
      if (value !== null) this.#add(value)
      this.#depth++
      return
    }
    if (!mayBeBare) {
      this.#depth++
      return
    }
    let value = ''
    let start = this.#position
    let isBad = false
    for (;;) {
      const next = text.charCodeAt(this.#position)
      if (Number.isNaN(next)) return
      if (next === CLOSE) break
      if (next === BACKSLASH) {
        value += text.slice(start, this.#position) + this.#escape()
        start = this.#position
      } else if (isSpace(next)) {
        this.#skipSpace()
        // Space may only stand before the end.
        if (text.charCodeAt(this.#position) !== CLOSE) isBad = true
      } else {
        if (next === QUOTE || next === APOSTROPHE || next === OPEN) isBad = true
        this.#position++
      }
    }
    value += text.slice(start, this.#position)
    this.#position++
    if (!isBad) this.#add(value)
  }

  /** The string that starts here; null when a line end breaks it off. */
  #string(quote: number): string | null {
    const text = this.#text
    this.#position++
    let value = ''
    let start = this.#position
    while (this.#position < text.length) {
      const code = text.charCodeAt(this.#position)
      if (code === quote) {
        value += text.slice(start, this.#position++)
        return value
      }
      if (code === 0x0a || code === 0x0d || code === 0x0c) return null
      if (code === BACKSLASH) {
        value += text.slice(start, this.#position) + this.#escape()
        start = this.#position
      } else {
        this.#position++
      }
    }
    // The sheet ends inside a string; it may be half an address.
    return null
  }

  /** Lower-case; escapes resolved, so that `u\72l(` is seen for what it is. */
  #identifier(): string {
    const text = this.#text
    let name = ''
    while (this.#position < text.length) {
      const code = text.charCodeAt(this.#position)
      if (code === BACKSLASH) name += this.#escape()
      else if (isIdentifierStart(code) || (code >= 0x30 && code <= 0x39)) name += text[this.#position++]
      else break
    }
    return name.toLowerCase()
  }

  /** The character behind a backslash: by its number, or itself; nothing for a line end. */
  #escape(): string {
    const text = this.#text
    const start = this.#position + 1
    let end = start
    while (end < start + 6 && /[0-9a-fA-F]/.test(text[end] ?? '')) end++
    if (end > start) {
      const code = Number.parseInt(text.slice(start, end), 16)
      if (text.startsWith('\r\n', end)) end++
      this.#position = isSpace(text.charCodeAt(end)) ? end + 1 : end
      const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
      return String.fromCodePoint(isCharacter ? code : 0xfffd)
    }
    if (text.startsWith('\r\n', start)) {
      this.#position = start + 2
      return ''
    }
    this.#position = start + 1
    const character = text[start] ?? ''
    return character === '\n' || character === '\r' || character === '\f' ? '' : character
  }

  #skipSpace(): void {
    while (isSpace(this.#text.charCodeAt(this.#position))) this.#position++
  }
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x09 || code === 0x0d || code === 0x0c
}

function isIdentifierStart(code: number): boolean {
  const lower = code | 0x20
  return (lower >= 0x61 && lower <= 0x7a) || code === 0x2d || code === 0x5f || code === BACKSLASH || code >= 0x80
}
