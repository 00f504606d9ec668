// The WHATWG prescan: the encoding a page declares of itself within its first 1,024 bytes. A tokenizer
// of its own, looser than the real one, because the standard wants it so.

import { isSpace } from './html-names.ts'
import { encodingOf } from './text-decoding.ts'

/** The standard's own number. Longer waits for a declaration would hold up browsers. */
export const PRESCAN_BYTES = 1024

/** The declared encoding in the head of a page (as latin-1 text), or null. */
export function prescanEncoding(head: string): string | null {
  if (head.startsWith('<\0?\0x\0')) return 'utf-16le'
  if (head.startsWith('\0<\0?\0x')) return 'utf-16be'
  return new Prescan(head).run() ?? xmlDeclarationEncoding(head)
}

/** The encoding named by `<?xml … encoding="…"?>` at the very start, or null. */
export function xmlDeclarationEncoding(head: string): string | null {
  if (!head.startsWith('<?xml')) return null
  const end = head.indexOf('>')
  const match = /encoding[\0-\x20]*=[\0-\x20]*(["'])([^\0-\x20"']*)\1/.exec(end === -1 ? '' : head.slice(0, end))
  return match === null ? null : readable(encodingOf(match[2] as string))
}

/** The encoding a meta element declares by its attributes, or null. `httpEquiv` and the others are null when absent. */
export function metaEncoding(charset: string | null, httpEquiv: string | null, content: string | null): string | null {
  if (charset !== null) return readable(encodingOf(charset))
  if (content === null || httpEquiv?.toLowerCase() !== 'content-type') return null
  const label = charsetIn(content)
  return label === null ? null : readable(encodingOf(label))
}

/** A declaration we could read is not in UTF-16, whatever it says; x-user-defined is a fiction of old pages. */
function readable(encoding: string | null): string | null {
  if (encoding === 'utf-16le' || encoding === 'utf-16be') return 'utf-8'
  return encoding === 'x-user-defined' ? 'windows-1252' : encoding
}

/** The label behind `charset=` in a content attribute, or null. */
function charsetIn(content: string): string | null {
  const match = /charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|([^"'\t\n\f\r ;][^\t\n\f\r ;]*))/i.exec(content)
  return match === null ? null : (match[1] ?? match[2] ?? match[3] ?? null)
}

const BANG = 33
const SLASH = 47
const EQUALS = 61
const GREATER = 62
const QUESTION = 63
/** `meta` and what may follow it; in the prescan `>` may not. */
const META = /^meta[\t\n\f\r /]$/i

class Prescan {
  readonly #head: string
  #position = 0
  #name = ''
  #value = ''

  constructor(head: string) {
    this.#head = head
  }

  run(): string | null {
    const head = this.#head
    for (;;) {
      this.#position = head.indexOf('<', this.#position)
      if (this.#position === -1) return null
      const start = this.#position
      const code = head.charCodeAt(start + 1)
      if (code === BANG && head.startsWith('--', start + 2)) {
        // The dashes that open a comment may also close it.
        if (!this.#goTo('-->', start + 2)) return null
      } else if (isLetter(code) || (code === SLASH && isLetter(head.charCodeAt(start + 2)))) {
        this.#position = start + 1
        while (this.#position < head.length && !isSpace(this.#code()) && this.#code() !== GREATER) this.#position++
        if (META.test(head.slice(start + 1, start + 6))) {
          this.#position = start + 5
          const encoding = this.#meta()
          if (encoding !== null) return encoding
        } else {
          while (this.#attribute());
        }
      } else if (code === BANG || code === SLASH || code === QUESTION) {
        if (!this.#goTo('>', start + 1)) return null
      } else {
        this.#position++
      }
    }
  }

  #code(): number {
    return this.#head.charCodeAt(this.#position)
  }

  #goTo(mark: string, from: number): boolean {
    const found = this.#head.indexOf(mark, from)
    this.#position = found + mark.length
    return found !== -1
  }

  #meta(): string | null {
    let charset: string | null = null
    let httpEquiv: string | null = null
    let content: string | null = null
    while (this.#attribute()) {
      if (this.#name === 'charset') charset ??= this.#value
      else if (this.#name === 'http-equiv') httpEquiv ??= this.#value
      else if (this.#name === 'content') content ??= this.#value
    }
    // A meta cut off by the end of the head does not count.
    return this.#position >= this.#head.length ? null : metaEncoding(charset, httpEquiv, content)
  }

  /** Reads one attribute into name and value; false at the end of the tag or of the head. */
  #attribute(): boolean {
    const head = this.#head
    while (isSpaceOrSlash(this.#code())) this.#position++
    if (this.#position >= head.length || this.#code() === GREATER) return false
    const nameStart = this.#position
    this.#position++
    while (
      this.#position < head.length &&
      this.#code() !== EQUALS &&
      this.#code() !== GREATER &&
      !isSpaceOrSlash(this.#code())
    )
      this.#position++
    this.#name = head.slice(nameStart, this.#position).toLowerCase()
    this.#value = ''
    while (isSpace(this.#code())) this.#position++
    if (this.#code() !== EQUALS) return this.#position < head.length
    this.#position++
    while (isSpace(this.#code())) this.#position++
    const quote = head.charAt(this.#position)
    if (quote === '"' || quote === "'") {
      const start = this.#position + 1
      const end = head.indexOf(quote, start)
      this.#position = end === -1 ? head.length : end + 1
      this.#value = head.slice(start, end === -1 ? head.length : end)
    } else {
      const start = this.#position
      while (this.#position < head.length && this.#code() !== GREATER && !isSpace(this.#code())) this.#position++
      this.#value = head.slice(start, this.#position)
    }
    return this.#position < head.length
  }
}

function isSpaceOrSlash(code: number): boolean {
  return code === SLASH || isSpace(code)
}

function isLetter(code: number): boolean {
  return ((code | 32) - 97) >>> 0 < 26
}
