// Reads one tag by the rules of the WHATWG tokenizer: which quotes count, where it really ends, which
// of two equal attributes holds. Reports positions, never strings.
//
// hot: reading a tag allocates nothing. Attributes that nobody asked for are stepped over; a quoted
// value is crossed by one indexOf. Cost is linear: an unclosed quote swallows the rest of the page,
// as the standard says, so it is searched for once.

import { ATTRIBUTE_COUNT, ATTRIBUTE_NAMES, type AttributeId, findName, hashStep, isNameAt, isSpace, TAG, TAG_NAMES } from './html-names.ts'

const QUOTE = 34
const APOSTROPHE = 39
const SLASH = 47
const EQUALS = 61
const GREATER = 62

export class TagReader {
  readonly text: string
  /** Of the last tag begun: id of its name, and where the name stands. */
  tag = 0
  nameStart = 0
  nameEnd = 0
  /** Whether the last tag crossed ended in `/>`. */
  isSelfClosing = false
  /** Where the value of its first `style` attribute stands; start -1 when it has none. Noted of every tag. */
  styleStart = -1
  styleEnd = -1
  /** Where the value of each attribute of the last tag stands. Valid where `#stamps` equals `#stamp`. */
  readonly #starts = new Int32Array(ATTRIBUTE_COUNT)
  readonly #ends = new Int32Array(ATTRIBUTE_COUNT)
  readonly #stamps = new Int32Array(ATTRIBUTE_COUNT)
  #stamp = 0

  constructor(text: string) {
    this.text = text
  }

  /** Reads the name that begins at `start` (a letter). The attributes follow at `nameEnd`. */
  readName(start: number): void {
    const { text } = this
    let hash = 0
    let position = start
    for (; position < text.length; position++) {
      const code = text.charCodeAt(position)
      if (code <= GREATER && (code === GREATER || code === SLASH || isSpace(code))) break
      hash = hashStep(hash, code)
    }
    this.nameStart = start
    this.nameEnd = position
    const id = findName(TAG_NAMES, text, start, position, hash)
    this.tag = id === -1 ? TAG.other : id
  }

  /** Crosses the attributes without noting them. The position after `>`, or -1 when the text ends inside the tag. */
  skipAttributes(): number {
    if (this.text.charCodeAt(this.nameEnd) === GREATER) {
      this.isSelfClosing = false
      this.styleStart = -1
      return this.nameEnd + 1
    }
    return this.#cross(false)
  }

  /** Crosses the attributes and notes those with an id, the first of each name. Same answer as skipAttributes. */
  readAttributes(): number {
    this.#stamp++
    return this.#cross(true)
  }

  has(attribute: AttributeId): boolean {
    return this.#stamps[attribute] === this.#stamp
  }

  valueStart(attribute: AttributeId): number {
    return this.#starts[attribute] as number
  }

  valueEnd(attribute: AttributeId): number {
    return this.#ends[attribute] as number
  }

  #cross(isNoting: boolean): number {
    const { text } = this
    const length = text.length
    let position = this.nameEnd
    this.isSelfClosing = false
    this.styleStart = -1
    for (;;) {
      // Before an attribute name: white space and slashes mean nothing, save `/>` together.
      let code = text.charCodeAt(position)
      let follows = 0
      while (code === SLASH || isSpace(code)) {
        follows = code
        code = text.charCodeAt(++position)
      }
      if (code === GREATER) {
        this.isSelfClosing = follows === SLASH
        return position + 1
      }
      if (position >= length) return -1

      // The name. Its first character may be anything, even `=`.
      const nameStart = position
      let hash = 0
      do {
        hash = hashStep(hash, code)
        code = text.charCodeAt(++position)
      } while (position < length && !(code <= GREATER && (code === EQUALS || code === GREATER || code === SLASH || isSpace(code))))
      const nameEnd = position

      while (isSpace(code)) code = text.charCodeAt(++position)
      let valueStart = nameEnd
      let valueEnd = nameEnd
      if (code === EQUALS) {
        code = text.charCodeAt(++position)
        while (isSpace(code)) code = text.charCodeAt(++position)
        if (code === QUOTE || code === APOSTROPHE) {
          valueStart = position + 1
          valueEnd = text.indexOf(code === QUOTE ? '"' : "'", valueStart)
          if (valueEnd === -1) return -1
          position = valueEnd + 1
        } else {
          valueStart = position
          while (position < length && code !== GREATER && !isSpace(code)) code = text.charCodeAt(++position)
          valueEnd = position
        }
      }
      if (isNoting) this.#note(nameStart, nameEnd, hash, valueStart, valueEnd)
      if (nameEnd - nameStart === 5 && this.styleStart === -1 && isNameAt(text, nameStart, 'style')) {
        this.styleStart = valueStart
        this.styleEnd = valueEnd
      }
    }
  }

  #note(nameStart: number, nameEnd: number, hash: number, valueStart: number, valueEnd: number): void {
    const id = findName(ATTRIBUTE_NAMES, this.text, nameStart, nameEnd, hash)
    if (id === -1 || this.#stamps[id] === this.#stamp) return
    this.#stamps[id] = this.#stamp
    this.#starts[id] = valueStart
    this.#ends[id] = valueEnd
  }
}
