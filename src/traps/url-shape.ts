// What URLs of one make have in common. All of it is read off the canonical text.
//
//   http://h/news/2026/05/p7.html?a=1     pattern  h/news/0/0/*?     numbers and names with numbers are any
//   http://h/docs/v1.2/                   pattern  h/docs/~/*        a directory's own page is a file of it
//   http://h/docs/v1.2/x.html             directory h/docs/v1.2/     name  x.html

import type { CanonicalUrl } from '../url/index.ts'

const SLASH = 47
/** Directories of a pattern; of deeper paths the rest counts as one. */
const DEPTH_MAX = 8

/** Where host and port begin; the end is the first '/' behind. */
export function authorityStart(url: string): number {
  return url.indexOf('://') + 3
}

/** Where the directory of a URL ends, its slash included. */
export function directoryEnd(url: CanonicalUrl): number {
  const question = url.indexOf('?')
  return url.lastIndexOf('/', question === -1 ? url.length : question) + 1
}

/** A directory, and what its name says of the URLs in it. */
interface Place {
  /** Host and literal directory, with the slash at its end. */
  readonly directory: string
  /** The directory above; null above the root. */
  readonly parent: string | null
  /** Host and path with what varies taken out: URLs that one program answers, most likely. With a query and without. */
  readonly pattern: string
  readonly patternOfQueries: string
}

/** A power of two, several times the directories that are asked for in turn: each has one place where it may stand. */
const PLACES_KEPT = 8_192

/**
 * The directories that were met last, so that most URLs cost no new text: what is made of one is the same text each time, whose hash
 * is known to whatever table it is looked up in. Who comes later takes the place of whoever stood there.
 */
export class Places {
  readonly #kept: (Place | undefined)[] = Array.from({ length: PLACES_KEPT }, () => undefined)

  /** Several detectors look at one URL. */
  #lastUrl = ''
  #last: Place | undefined

  of(url: CanonicalUrl): Place {
    if (this.#last !== undefined && url === this.#lastUrl) return this.#last
    this.#lastUrl = url
    this.#last = this.#find(url)
    return this.#last
  }

  #find(url: CanonicalUrl): Place {
    const start = authorityStart(url)
    const end = directoryEnd(url)
    const at = hashRange(url, start, end, 0) & (PLACES_KEPT - 1)
    const known = this.#kept[at]
    if (known !== undefined && known.directory.length === end - start && url.startsWith(known.directory, start)) {
      return known
    }
    const place = placeFor(flat(url.slice(start, end)))
    this.#kept[at] = place
    return place
  }

  patternOf(url: CanonicalUrl): string {
    const place = this.of(url)
    return url.includes('?') ? place.patternOfQueries : place.pattern
  }
}

/** A text of its own: a slice would keep the whole URL, and takes longer to compare. */
function flat(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}

function placeFor(directory: string): Place {
  const above = directory.lastIndexOf('/', directory.length - 2)
  const pattern = patternFor(directory)
  return {
    directory,
    parent: above === -1 ? null : directory.slice(0, above + 1),
    pattern: `${pattern}/*`,
    patternOfQueries: `${pattern}/*?`,
  }
}

function patternFor(directory: string): string {
  const root = directory.indexOf('/')
  let pattern = directory.slice(0, root)
  let from = root + 1
  let hasDigit = false
  let hasOther = false
  let depth = 0
  for (let position = from; position < directory.length; position++) {
    const code = directory.charCodeAt(position)
    if (code === SLASH) {
      if (depth++ < DEPTH_MAX) pattern += hasDigit ? (hasOther ? '/~' : '/0') : `/${directory.slice(from, position)}`
      from = position + 1
      hasDigit = false
      hasOther = false
    } else if (code >= 48 && code <= 57) hasDigit = true
    else hasOther = true
  }
  return depth > DEPTH_MAX ? `${pattern}/…` : pattern
}

/** Host, port and path, without the query. */
export function placeOf(url: CanonicalUrl): string {
  const question = url.indexOf('?')
  return url.slice(authorityStart(url), question === -1 ? url.length : question)
}

/** 32 bits of what a page is called within its directory: the last name of the path that is not empty, and the query. */
export function nameOf(url: CanonicalUrl): number {
  const question = url.indexOf('?')
  let end = question === -1 ? url.length : question
  if (url.charCodeAt(end - 1) === SLASH) end--
  return hashRange(url, url.lastIndexOf('/', end - 1) + 1, url.length, 0)
}

/** 32 bits of the characters at [start, end). */
export function hashRange(text: string, start: number, end: number, seed: number): number {
  let hash = seed ^ 0x811c9dc5
  for (let position = start; position < end; position++) {
    hash = Math.imul(hash ^ text.charCodeAt(position), 0x01000193)
  }
  return Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) ^ hash
}

export interface Parameter {
  readonly name: string
  readonly value: string
  /** Where it stands in the URL. */
  readonly start: number
  readonly end: number
}

/** Parameters looked at in one URL. */
const PARAMETERS_MAX = 12
/** Longer names are nobody's: they would only be kept. */
const NAME_LENGTH_MAX = 64

/** Of the query, and path parameters (`;name=value`), in their order. */
export function parametersOf(url: CanonicalUrl): Parameter[] {
  const found: Parameter[] = []
  const question = url.indexOf('?')
  const pathEnd = question === -1 ? url.length : question
  for (let at = url.indexOf(';'); at !== -1 && at < pathEnd; at = url.indexOf(';', at + 1)) {
    const end = firstOf(url, [';', '/'], at + 1, pathEnd)
    add(found, url, at + 1, end)
  }
  if (question === -1) return found
  for (let start = question + 1; start < url.length && found.length < PARAMETERS_MAX;) {
    const ampersand = url.indexOf('&', start)
    const end = ampersand === -1 ? url.length : ampersand
    add(found, url, start, end)
    start = end + 1
  }
  return found
}

function add(found: Parameter[], url: string, start: number, end: number): void {
  const equals = url.indexOf('=', start)
  if (equals === -1 || equals >= end || equals === start || found.length >= PARAMETERS_MAX) return
  if (equals - start > NAME_LENGTH_MAX) return
  found.push({ name: url.slice(start, equals), value: url.slice(equals + 1, end), start, end })
}

function firstOf(text: string, marks: readonly string[], start: number, end: number): number {
  let first = end
  for (const mark of marks) {
    const at = text.indexOf(mark, start)
    if (at !== -1 && at < first) first = at
  }
  return first
}
