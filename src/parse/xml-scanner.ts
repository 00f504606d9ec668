// A tolerant scanner over XML text: elements, text and nothing else. No tree, no namespaces beyond the
// prefix as written, no DTD: entities are the five of XML and numbers, whatever a document declares, so
// nothing can be expanded or fetched. Broken documents are read as far as they make sense.
//
// Linear: every search starts where the last one ended, and what does not end in the document ends it.

export type XmlToken = 'open' | 'close' | 'text' | 'end'

export class XmlScanner {
  /** Of an open or close token: the name as written, with its prefix. */
  name = ''
  /** Of a text token: references resolved, CDATA taken as it is. */
  text = ''
  /** Of an open token: `<x/>`, which no close follows. */
  isEmpty = false
  /** Elements open after this token; never below 0, however broken the document. */
  depth = 0
  readonly #source: string
  #position = 0
  #attributesStart = 0
  #attributesEnd = 0

  constructor(source: string) {
    this.#source = source
  }

  /**
   * The next token. Text that runs to the end of the document without a tag behind it is not given: it
   * may be half of something.
   */
  next(): XmlToken {
    const source = this.#source
    for (;;) {
      const start = this.#position
      if (source.charCodeAt(start) !== LESS_THAN) {
        const end = source.indexOf('<', start)
        if (end < 0) return this.#end()
        this.#position = end
        this.text = decodeReferences(source.slice(start, end))
        return 'text'
      }
      if (source.startsWith('<!--', start)) {
        if (!this.#skipPast('-->', start + 4)) return this.#end()
      } else if (source.startsWith('<![CDATA[', start)) {
        const end = source.indexOf(']]>', start + 9)
        if (end < 0) return this.#end()
        this.#position = end + 3
        this.text = source.slice(start + 9, end)
        return 'text'
      } else if (source.startsWith('<!', start)) {
        if (!this.#skipDeclaration(start + 2)) return this.#end()
      } else if (source.startsWith('<?', start)) {
        if (!this.#skipPast('?>', start + 2)) return this.#end()
      } else if (source.startsWith('</', start)) {
        const end = source.indexOf('>', start)
        if (end < 0) return this.#end()
        this.#position = end + 1
        this.name = source.slice(start + 2, end).trim()
        if (this.depth > 0) this.depth--
        return 'close'
      } else {
        return this.#open(start)
      }
    }
  }

  /** Of an open token: an attribute by its name as written, references resolved; null when absent. */
  attribute(name: string): string | null {
    const source = this.#source
    const end = this.#attributesEnd
    let position = this.#attributesStart
    while (position < end) {
      while (position < end && isSpaceOrSlash(source.charCodeAt(position))) position++
      const nameStart = position
      while (position < end && !isSpaceOrSlash(source.charCodeAt(position)) && source[position] !== '=') position++
      const found = source.slice(nameStart, position)
      while (position < end && isSpace(source.charCodeAt(position))) position++
      if (source[position] !== '=' || position >= end) continue
      position++
      while (position < end && isSpace(source.charCodeAt(position))) position++
      const quote = source[position]
      let valueStart = position
      if (quote === '"' || quote === "'") {
        valueStart++
        position = source.indexOf(quote, valueStart)
        if (position < 0 || position > end) position = end
      } else {
        while (position < end && !isSpace(source.charCodeAt(position))) position++
      }
      if (found === name) return decodeReferences(source.slice(valueStart, position))
      if (quote === '"' || quote === "'") position++
    }
    return null
  }

  #open(start: number): XmlToken {
    const source = this.#source
    // `>` inside quotes does not end a tag. A quote that is never closed ends the document.
    let end = start + 1
    for (;;) {
      const code = source.charCodeAt(end)
      if (Number.isNaN(code)) return this.#end()
      if (code === GREATER_THAN) break
      if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) {
        end = source.indexOf(code === DOUBLE_QUOTE ? '"' : "'", end + 1)
        if (end < 0) return this.#end()
      }
      end++
    }
    this.#position = end + 1
    this.isEmpty = source.charCodeAt(end - 1) === SLASH
    let nameEnd = start + 1
    while (nameEnd < end && !isSpaceOrSlash(source.charCodeAt(nameEnd))) nameEnd++
    this.name = source.slice(start + 1, nameEnd)
    this.#attributesStart = nameEnd
    this.#attributesEnd = this.isEmpty ? end - 1 : end
    if (!this.isEmpty) this.depth++
    return 'open'
  }

  #skipPast(mark: string, from: number): boolean {
    const end = this.#source.indexOf(mark, from)
    this.#position = end + mark.length
    return end >= 0
  }

  /** `<!DOCTYPE …>` with whatever stands in its brackets and quotes. */
  #skipDeclaration(from: number): boolean {
    const source = this.#source
    let isInBrackets = false
    for (let i = from; i < source.length; i++) {
      const code = source.charCodeAt(i)
      if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) {
        i = source.indexOf(code === DOUBLE_QUOTE ? '"' : "'", i + 1)
        if (i < 0) return false
      } else if (isInBrackets && code === LESS_THAN && source.startsWith('<!--', i)) {
        i = source.indexOf('-->', i + 4)
        if (i < 0) return false
      } else if (code === OPEN_BRACKET) {
        isInBrackets = true
      } else if (code === CLOSE_BRACKET) {
        isInBrackets = false
      } else if (code === GREATER_THAN && !isInBrackets) {
        this.#position = i + 1
        return true
      }
    }
    return false
  }

  #end(): XmlToken {
    this.#position = this.#source.length
    return 'end'
  }
}

/** The name without its prefix, lower-case: feeds and sitemaps in the wild write `pubdate` and `lastMod`. */
export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1).toLowerCase()
}

export function prefixOf(name: string): string {
  const colon = name.indexOf(':')
  return colon < 0 ? '' : name.slice(0, colon)
}

const LESS_THAN = 0x3c
const GREATER_THAN = 0x3e
const SLASH = 0x2f
const DOUBLE_QUOTE = 0x22
const SINGLE_QUOTE = 0x27
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x09 || code === 0x0d
}

function isSpaceOrSlash(code: number): boolean {
  return isSpace(code) || code === SLASH
}

const NAMED: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
])

/** A bare `&`, as in unescaped query strings, stays. A name only a DTD could explain becomes nothing. */
function decodeReferences(text: string): string {
  if (!text.includes('&')) return text
  return text.replaceAll(/&(?:#[xX]([0-9a-fA-F]{1,8})|#([0-9]{1,9})|([A-Za-z_][\w.-]{0,63}));/g, decodeReference)
}

function decodeReference(
  _: string,
  hex: string | undefined,
  decimal: string | undefined,
  name: string | undefined,
): string {
  if (name !== undefined) return NAMED.get(name) ?? ''
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
  const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
  return isCharacter ? String.fromCodePoint(code) : ''
}
