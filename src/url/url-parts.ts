// The parts of a canonical URL, read off the string by position. Hot: no URL object is made.
//
//     https://example.org:8443/a/b/c.html?q
//     |scheme||  authority    ||  path     |
//             |host key| port
//
// Always true of a canonical URL, and relied upon here: it is `scheme://authority/…`, the authority holds
// no user name, an IPv6 literal stands in brackets, and the path begins with the first '/' after '://'.

import type { CanonicalUrl, HostKey, Origin } from './canonical-url.ts'

export type Scheme = 'http' | 'https' | 'ftp' | 'ftps' | 'gopher' | 'file'

const SLASH = 47
const COLON = 58
const BRACKET_CLOSE = 93
const LETTER_G = 103

/** Where the authority begins. */
function authorityStart(url: CanonicalUrl): number {
  return url.indexOf(':') + 3
}

/** Where the path begins: the end of the origin. */
export function pathStart(url: CanonicalUrl): number {
  return url.indexOf('/', authorityStart(url))
}

/** Where the path ends: at the '?' of the query or at the end. */
export function pathEnd(url: CanonicalUrl): number {
  const question = url.indexOf('?')
  return question === -1 ? url.length : question
}

export function schemeOf(url: CanonicalUrl): Scheme {
  return url.slice(0, url.indexOf(':')) as Scheme
}

/** Host name or IP literal; an IPv6 literal keeps its brackets, as in `new URL().hostname`. */
export function hostKeyOf(url: CanonicalUrl): HostKey {
  const start = authorityStart(url)
  let end = url.indexOf('/', start)
  // A port has at most five digits, so its colon stands near the end; a colon inside '[…]' is none.
  for (let i = end - 1; i > start && end - i <= 6; i--) {
    const code = url.charCodeAt(i)
    if (code === BRACKET_CLOSE) break
    if (code === COLON) {
      end = i
      break
    }
  }
  return url.slice(start, end) as HostKey
}

/** `scheme://host[:port]`, without a slash at its end. */
export function originOf(url: CanonicalUrl): Origin {
  return url.slice(0, pathStart(url)) as Origin
}

/** Path and query, as a request line and robots.txt rules have it. Begins with '/'. */
export function pathOf(url: CanonicalUrl): string {
  return url.slice(pathStart(url))
}

/** Where the rules for robots stand. Gopher's first character of the path says what is asked for: '0' is a text. */
export function robotsUrlOf(origin: Origin): CanonicalUrl {
  return `${origin}${origin.startsWith('gopher:') ? '/0' : ''}/robots.txt` as CanonicalUrl
}

/** What those rules speak of: path and query; on gopher without the type in front, which is no part of a name. */
export function robotsPathOf(url: CanonicalUrl): string {
  const path = pathOf(url)
  if (url.charCodeAt(0) !== LETTER_G || path.length < 2) return path
  return path.charCodeAt(2) === SLASH ? path.slice(2) : `/${path.slice(2)}`
}

/** How many directories the path goes down: 0 for '/' and '/a', 2 for '/a/b/' and '/a/b/c'. */
export function directoryDepthOf(url: CanonicalUrl): number {
  const end = pathEnd(url)
  let depth = -1
  for (let i = pathStart(url); i < end; i++) if (url.charCodeAt(i) === SLASH) depth++
  return depth
}

/** The URL up to and with the last '/' of its path. */
export function directoryOf(url: CanonicalUrl): string {
  return url.slice(0, url.lastIndexOf('/', pathEnd(url) - 1) + 1)
}
