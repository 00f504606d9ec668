// What a Content-Type says, by the rules of WHATWG "extract a MIME type": of several values the last
// that makes sense wins, and a charset survives a later value of the same type that has none.
//
// Scanned by hand, once from left to right: a pattern with quoted strings in it goes back and forth
// over hostile input, and this input is whatever a server sends.

import { headerValues } from './headers.ts'

export interface ContentType {
  /** Bare and lower-case: 'text/html'. */
  readonly mediaType: string
  /** Lower-case and as written otherwise: 'utf8' stays 'utf8'. */
  readonly charset: string | null
}

const NAME = 'content-type'

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/

/** Where the quoted string that begins at `start` ends, closing quote included; the end of the text if it is never closed. */
function quotedEnd(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === '"') return i + 1
  }
  return text.length
}

/** Cuts at a separator, but not inside quoted strings. */
function split(text: string, separator: ',' | ';'): string[] {
  if (!text.includes(separator)) return [text]
  const parts: string[] = []
  let start = 0
  for (let i = 0; i < text.length;) {
    if (text[i] === '"') i = quotedEnd(text, i)
    else if (text[i++] === separator) {
      parts.push(text.slice(start, i - 1))
      start = i
    }
  }
  parts.push(text.slice(start))
  return parts
}

/** The value of a parameter, quotes and what follows them gone. */
function parameterValue(text: string): string {
  if (!text.startsWith('"')) return text.trim()
  const end = quotedEnd(text, 0)
  const isClosed = end > 1 && text[end - 1] === '"'
  return text
    .slice(1, isClosed ? end - 1 : end)
    .replaceAll(/\\([^])/g, '$1')
    .trim()
}

/** One value, without commas between types. Null when it is nonsense. */
function parseOne(value: string): ContentType | null {
  const [essence = '', ...parameters] = split(value, ';')
  const mediaType = essence.trim().toLowerCase()
  const slash = mediaType.indexOf('/')
  if (slash === -1 || !TOKEN.test(mediaType.slice(0, slash)) || !TOKEN.test(mediaType.slice(slash + 1))) return null
  for (const parameter of parameters) {
    const equals = parameter.indexOf('=')
    // No blank may stand before the equals sign: 'charset = utf-8' names no charset, in browsers too.
    if (equals === -1 || parameter.slice(0, equals).trimStart().toLowerCase() !== 'charset') continue
    const charset = parameterValue(parameter.slice(equals + 1)).toLowerCase()
    // The first charset counts, also before another that differs; an empty one is none.
    if (charset !== '') return { mediaType, charset }
  }
  return { mediaType, charset: null }
}

/** What the Content-Type of one answer after another says. Most say the same as the one before, and are not read again. */
export class ContentTypes {
  #value: string | null = null
  #parsed: ContentType | null = null

  /** Null when there is none that makes sense. */
  of(rawHeaders: readonly string[]): ContentType | null {
    let value: string | null = null
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const name = rawHeaders[i] as string
      if (name.length !== NAME.length || name.toLowerCase() !== NAME) continue
      // Several are rare, and not remembered.
      if (value !== null) return parseContentType(headerValues(rawHeaders, NAME))
      value = rawHeaders[i + 1] as string
    }
    if (value === null) return null
    if (value !== this.#value) {
      this.#parsed = parseContentType([value])
      this.#value = value
    }
    return this.#parsed
  }
}

/** Judges all Content-Type values of an answer, in order; null when none makes sense. */
export function parseContentType(values: readonly string[]): ContentType | null {
  let best = null as ContentType | null
  for (const value of values) {
    for (const part of split(value, ',')) {
      const parsed = parseOne(part)
      if (parsed === null || parsed.mediaType === '*/*') continue
      const isCharsetKept = parsed.charset === null && best?.mediaType === parsed.mediaType
      best = isCharsetKept ? best : parsed
    }
  }
  return best
}
