// Reads one tag by the rules of the WHATWG tokenizer: which quotes count, where it really ends, which
// of two equal attributes holds. Reports positions, never strings.
//
// hot: reading a tag allocates nothing. Characters are read from the bytes (a load each), long stretches are
// crossed by indexOf on the one-byte string of the same bytes (memchr). Cost is linear: an unclosed quote swallows
// the rest of the page, as the standard says, so it is searched for once.

import {
  afterName,
  ATTRIBUTE_COUNT,
  ATTRIBUTE_NAMES,
  type AttributeId,
  CLASS,
  CLASS_ATTRIBUTE_NAME_END,
  CLASS_SPACE,
  CLASS_SPACE_OR_SLASH,
  CLASS_UNQUOTED_END,
  findName,
  isNameAt,
  nextByte,
  TAG_NAMES,
} from './html-names.ts'

const QUOTE = 34
const APOSTROPHE = 39
const SLASH = 47
const EQUALS = 61
const GREATER = 62

/** The lowest byte that surely belongs to a name: above white space, quotes, `/` and `=`. */
const LOWEST_NAME_END = 63

/** A copy of a plain array is made ten times as fast as a typed one of this size. */
const NO_SLOTS: readonly number[] = Array.from({ length: 3 * ATTRIBUTE_COUNT }, () => 0)

/** Up to here a loop beats the call of indexOf; most attribute values end sooner. */
const NEAR_BYTES = 24

export class TagReader {
  readonly #bytes: Uint8Array
  readonly #text: string
  /** Of the last tag begun: id of its name, and where the name stands. */
  tag = 0
  nameStart = 0
  nameEnd = 0
  /** Whether the last tag crossed ended in `/>`. */
  isSelfClosing = false
  /** Where the value of its first `style` attribute stands; start -1 when it has none. Noted of every tag. */
  styleStart = -1
  styleEnd = -1
  /** By attribute id: the stamp of the tag that had it, and where its value starts and ends. */
  readonly #slots: number[] = [...NO_SLOTS]
  /** Number of the last tag whose attributes were noted. */
  #stamp = 0

  /** `text` is the latin-1 string of `bytes`. */
  constructor(bytes: Uint8Array, text: string) {
    this.#bytes = bytes
    this.#text = text
  }

  /** Reads the name that begins at `start` (a letter). The attributes follow at `nameEnd`. */
  readName(start: number): void {
    const bytes = this.#bytes
    this.nameStart = start
    this.nameEnd = afterName(bytes, start + 1)
    this.tag = findName(TAG_NAMES, bytes, start, this.nameEnd)
  }

  /**
   * Crosses the attributes from `nameEnd` without noting them. The position after `>`, or -1 when the text ends
   * inside the tag. Knows only `name="value"`, which nearly all are; at anything else it leaves the tag to #cross.
   */
  skipAttributes(nameEnd: number): number {
    const bytes = this.#bytes
    const { length } = bytes
    this.styleStart = -1
    for (let position = nameEnd; position < length; position++) {
      const code = bytes[position] as number
      // Letters, the bulk, need one comparison.
      if (code > GREATER) continue
      if (code === GREATER) {
        this.isSelfClosing = bytes[position - 1] === SLASH
        return position + 1
      }
      if (code !== EQUALS && code !== QUOTE && code !== APOSTROPHE) continue
      const quote = code === EQUALS && position + 1 < length ? (bytes[position + 1] as number) : 0
      if ((quote !== QUOTE && quote !== APOSTROPHE) || (bytes[position - 1] as number) < LOWEST_NAME_END) {
        return this.#cross(nameEnd, false)
      }
      const valueEnd = this.#find(quote, position + 2)
      if (valueEnd === -1) return -1
      if (this.#isStyle(position)) {
        this.styleStart = position + 2
        this.styleEnd = valueEnd
      }
      position = valueEnd
    }
    return -1
  }

  /** Whether the attribute whose name ends at `end` is the tag's first `style`. */
  #isStyle(end: number): boolean {
    const bytes = this.#bytes
    if (((bytes[end - 1] as number) | 32) !== 101 || this.styleStart !== -1 || !isNameAt(bytes, end - 5, 'style'))
      return false
    const before = bytes[end - 6] as number
    return before === QUOTE || before === APOSTROPHE || (CLASS[before] as number) !== 0
  }

  /** Crosses the attributes and notes those with an id, the first of each name. Same answer as skipAttributes. */
  readAttributes(): number {
    this.styleStart = -1
    this.#stamp++
    return this.#cross(this.nameEnd, true)
  }

  has(attribute: AttributeId): boolean {
    return this.#slots[3 * attribute] === this.#stamp
  }

  valueStart(attribute: AttributeId): number {
    return this.#slots[3 * attribute + 1] as number
  }

  valueEnd(attribute: AttributeId): number {
    return this.#slots[3 * attribute + 2] as number
  }

  #cross(nameEnd: number, isNoting: boolean): number {
    const bytes = this.#bytes
    const { length } = bytes
    let position = nameEnd
    for (;;) {
      // Before an attribute name: white space and slashes mean nothing, save `/>` together.
      let code = 0
      let before = 0
      for (; ; position++) {
        if (position >= length) return -1
        code = bytes[position] as number
        if (((CLASS[code] as number) & CLASS_SPACE_OR_SLASH) === 0) break
        before = code
      }
      if (code === GREATER) {
        this.isSelfClosing = before === SLASH
        return position + 1
      }

      // The name. Its first character may be anything, even `=`.
      const nameStart = position
      do {
        if (++position >= length) return -1
        code = bytes[position] as number
      } while (code > GREATER || ((CLASS[code] as number) & CLASS_ATTRIBUTE_NAME_END) === 0)
      const attributeEnd = position

      if (((CLASS[code] as number) & CLASS_SPACE) !== 0) {
        position = this.#afterSpace(position)
        if (position >= length) return -1
        code = bytes[position] as number
      }
      let valueStart = attributeEnd
      let valueEnd = attributeEnd
      if (code === EQUALS) {
        position = this.#afterSpace(position + 1)
        if (position >= length) return -1
        code = bytes[position] as number
        if (code === QUOTE || code === APOSTROPHE) {
          valueStart = position + 1
          valueEnd = this.#find(code, valueStart)
          if (valueEnd === -1) return -1
          position = valueEnd + 1
        } else {
          valueStart = position
          while (((CLASS[code] as number) & CLASS_UNQUOTED_END) === 0) {
            if (++position >= length) return -1
            code = bytes[position] as number
          }
          valueEnd = position
        }
      }
      if (isNoting) this.#note(nameStart, attributeEnd, valueStart, valueEnd)
      if (attributeEnd - nameStart === 5 && this.styleStart === -1 && isNameAt(bytes, nameStart, 'style')) {
        this.styleStart = valueStart
        this.styleEnd = valueEnd
      }
    }
  }

  #afterSpace(position: number): number {
    const bytes = this.#bytes
    while (position < bytes.length && ((CLASS[bytes[position] as number] as number) & CLASS_SPACE) !== 0) position++
    return position
  }

  /** Where the quote stands next, -1 when nowhere. */
  #find(quote: number, start: number): number {
    const near = nextByte(this.#bytes, quote, start, NEAR_BYTES)
    return near >= 0 ? near : this.#text.indexOf(quote === QUOTE ? '"' : "'", start)
  }

  #note(nameStart: number, nameEnd: number, valueStart: number, valueEnd: number): void {
    const id = findName(ATTRIBUTE_NAMES, this.#bytes, nameStart, nameEnd)
    if (id === 0 || this.#slots[3 * id] === this.#stamp) return
    this.#slots[3 * id] = this.#stamp
    this.#slots[3 * id + 1] = valueStart
    this.#slots[3 * id + 2] = valueEnd
  }
}
