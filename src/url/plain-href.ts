// The short way: a link made only of characters that every step of canonicalisation leaves alone is
// resolved by cutting and joining, without the WHATWG parser.
//
// On the links of real documentation 99 % take this way, at a quarter of the parser's cost
// (bench/url.ts). It may answer null at any time ("take the long way"), but where it answers, the answer
// is the parser's: canonicalise.fuzz.ts compares both on generated links, the bench on those of real pages.
//
// What makes a link plain:
//   - before any '#', only unreserved characters and ! $ & ( ) * + , ; = : @ / ?, and escapes in their one form;
//   - no segment '.' or '..' except leading './' and '../';
//   - an authority, if it has one, that equals the base's, or is a name of [a-z0-9._-] that the host parser
//     returns unchanged: no '--' (Punycode is checked), last label not beginning with a digit (may be IPv4), no dot at the end;
//     or one that the parser was seen to return unchanged (settled-origins.ts).
//
// Results are joined, never sliced: a slice would keep the whole text of the page alive for as long as the URL
// waits in the frontier. A joined string lets go of its pieces when it is first read through, by the fingerprint.

import type { BaseUrl } from './base-url.ts'
import { isSettledEscape } from './percent.ts'
import { PLAIN_CLASS, PLAIN_CLASSES } from './plain-classes.ts'
import { isSettledOrigin } from './settled-origins.ts'

const CODE_DOT = 46
const CODE_SLASH = 47
const CODE_DASH = 45

/** Whether a segment that begins with the '.' at `dot` might be '.' or '..'. */
function mayBeDotSegment(href: string, dot: number): boolean {
  let next = dot + 1
  if (href.charCodeAt(next) === CODE_DOT) next++
  if (next >= href.length) return true
  const kind = PLAIN_CLASSES[href.charCodeAt(next)]
  return kind !== PLAIN_CLASS.plain && kind !== PLAIN_CLASS.percent
}

/**
 * Where the part of `href` that counts ends (at a '#' or at the end), if everything from `from`, the
 * beginning of a path segment, a '/' or a '?', to there is plain; else -1.
 */
function plainEnd(href: string, from: number): number {
  const length = href.length
  if (href.charCodeAt(from) === CODE_DOT && mayBeDotSegment(href, from)) return -1
  let inQuery = false
  for (let i = from; i < length; i++) {
    const code = href.charCodeAt(i)
    const kind = code < 128 ? PLAIN_CLASSES[code] : PLAIN_CLASS.other
    if (kind === PLAIN_CLASS.plain) continue
    if (kind === PLAIN_CLASS.slash) {
      if (!inQuery && href.charCodeAt(i + 1) === CODE_DOT && mayBeDotSegment(href, i + 1)) return -1
    } else if (kind === PLAIN_CLASS.question) inQuery = true
    else if (kind === PLAIN_CLASS.hash) return i
    else if (kind === PLAIN_CLASS.percent && isSettledEscape(href, i)) i += 2
    else return -1
  }
  return length
}

/** Where a plain authority that begins at `from` ends, at a '/'; else -1. */
function plainAuthorityEnd(href: string, from: number): number {
  let labelStart = from
  for (let i = from; i < href.length; i++) {
    const code = href.charCodeAt(i)
    if ((code >= 97 && code <= 122) || (code >= 48 && code <= 57) || code === 95) continue
    if (code === CODE_DASH) {
      if (href.charCodeAt(i + 1) === CODE_DASH) return -1
    } else if (code === CODE_DOT) {
      if (i === labelStart) return -1
      labelStart = i + 1
    } else if (code === CODE_SLASH) {
      const first = href.charCodeAt(labelStart)
      return i > labelStart && !(first >= 48 && first <= 57) ? i : -1
    } else return -1
  }
  return -1
}

/** A link with a scheme of http: or https:, `schemeEnd` after its colon. */
export function joinAbsolute(href: string, schemeEnd: number, base: BaseUrl | null): string | null {
  if (base !== null && base.isPlain && href.startsWith(base.origin)) {
    const start = base.origin.length
    if (href.charCodeAt(start) === CODE_SLASH) {
      const end = plainEnd(href, start)
      return end === -1 ? null : base.origin + href.slice(start, end)
    }
  }
  if (href.charCodeAt(schemeEnd) !== CODE_SLASH || href.charCodeAt(schemeEnd + 1) !== CODE_SLASH) return null
  let start = plainAuthorityEnd(href, schemeEnd + 2)
  if (start === -1) {
    start = href.indexOf('/', schemeEnd + 2)
    if (start === -1 || !isSettledOrigin(href.slice(0, start))) return null
  }
  const end = plainEnd(href, start)
  if (end === -1) return null
  return (schemeEnd === 5 ? 'http:' : 'https:') + href.slice(schemeEnd, end)
}

/** A link without a scheme. */
export function joinRelative(href: string, base: BaseUrl): string | null {
  if (!base.isPlain) return null
  const first = href.charCodeAt(0)
  if (first === CODE_SLASH) {
    if (href.charCodeAt(1) !== CODE_SLASH) {
      const end = plainEnd(href, 0)
      return end === -1 ? null : base.origin + href.slice(0, end)
    }
    let start = plainAuthorityEnd(href, 2)
    if (start === -1) {
      start = href.indexOf('/', 2)
      if (start === -1 || !isSettledOrigin(base.protocol + href.slice(0, start))) return null
    }
    const end = plainEnd(href, start)
    return end === -1 ? null : base.protocol + href.slice(0, end)
  }
  const kind = first < 128 ? PLAIN_CLASSES[first] : PLAIN_CLASS.other
  if (href.length === 0 || kind === PLAIN_CLASS.hash) return base.href
  if (kind === PLAIN_CLASS.question) {
    const end = plainEnd(href, 0)
    return end === -1 ? null : base.file + href.slice(0, end)
  }
  if (first !== CODE_DOT) {
    const end = plainEnd(href, 0)
    return end === -1 ? null : base.directory + href.slice(0, end)
  }
  return joinUpward(href, base)
}

/** A link that begins with '.': './a', '../../a', or a name like '.a'. */
function joinUpward(href: string, base: BaseUrl): string | null {
  const root = base.origin.length
  let from = 0
  let directoryEnd = base.directory.length
  while (href.charCodeAt(from) === CODE_DOT) {
    const second = href.charCodeAt(from + 1)
    if (second === CODE_SLASH) from += 2
    else if (second === CODE_DOT && href.charCodeAt(from + 2) === CODE_SLASH) {
      from += 3
      // There is no way above the root: its '/' stays.
      if (directoryEnd - 1 > root) directoryEnd = base.directory.lastIndexOf('/', directoryEnd - 2) + 1
    } else break
  }
  const end = plainEnd(href, from)
  return end === -1 ? null : base.directory.slice(0, directoryEnd) + href.slice(from, end)
}
