// A small language for saying which URLs are wanted, as data: it can stand in a JSON file, be checked before
// the crawl starts and be shown back to the user.
//
//     { "all": [{ "domain": "example.org" }, { "not": { "any": [{ "extension": "zip" }, { "pattern": "/print/" }] } }] }

import { boundPattern } from '../base/index.ts'
import type { CanonicalUrl } from './canonical-url.ts'
import { canonicalise } from './canonicalise.ts'
import { hostKeyOf, pathEnd, pathStart } from './url-parts.ts'

export type UrlFilter =
  /** The host is this name or ends in it. */
  | { readonly domain: string }
  | { readonly host: string }
  /** The canonical URL begins with the canonical form of this one. */
  | { readonly prefix: string }
  | { readonly protocol: 'http' | 'https' | 'ftp' | 'gopher' }
  /** The last segment of the path ends in a dot and this, in any case; `""` for segments without a dot. */
  | { readonly extension: string }
  /** A regular expression, found anywhere in the URL. */
  | { readonly pattern: string }
  | { readonly all: readonly UrlFilter[] }
  | { readonly any: readonly UrlFilter[] }
  | { readonly not: UrlFilter }

/** A host name as the URL parser writes it: lower case, IDN in ASCII; null if it is none. */
export function canonicalHost(text: string): string | null {
  if (!/^(?:\[[^\]]*\]|[^:/?#@\\]+)$/.test(text)) return null
  const url = canonicalise(`http://${text}/`)
  return typeof url === 'string' ? hostKeyOf(url) : null
}

export type UrlPredicate = (url: CanonicalUrl) => boolean

/** Compiles a filter that passed the schema. An empty `all` admits everything, an empty `any` nothing. */
export function compileUrlFilter(filter: UrlFilter): UrlPredicate {
  if ('domain' in filter) {
    const domain = canonicalHost(filter.domain) ?? filter.domain
    return (url) => {
      const host = hostKeyOf(url)
      return host === domain || host.endsWith(`.${domain}`)
    }
  }
  if ('host' in filter) {
    const wanted = canonicalHost(filter.host) ?? filter.host
    return (url) => hostKeyOf(url) === wanted
  }
  if ('prefix' in filter) {
    const canonical = canonicalise(filter.prefix)
    const prefix = typeof canonical === 'string' ? canonical : filter.prefix
    return (url) => url.startsWith(prefix)
  }
  if ('protocol' in filter) {
    const start = `${filter.protocol}:`
    return (url) => url.startsWith(start)
  }
  if ('extension' in filter) {
    const wanted = filter.extension.toLowerCase()
    return (url) => extensionOf(url) === wanted
  }
  if ('pattern' in filter) {
    const pattern = boundPattern(new RegExp(filter.pattern))
    return (url) => pattern.test(url)
  }
  if ('all' in filter) {
    const predicates = filter.all.map(compileUrlFilter)
    return (url) => predicates.every((predicate) => predicate(url))
  }
  if ('any' in filter) {
    const predicates = filter.any.map(compileUrlFilter)
    return (url) => predicates.some((predicate) => predicate(url))
  }
  const predicate = compileUrlFilter(filter.not)
  return (url) => !predicate(url)
}

/** After the last dot of the last segment, in lower case; '' without one. */
function extensionOf(url: CanonicalUrl): string {
  const end = pathEnd(url)
  const segment = Math.max(url.lastIndexOf('/', end - 1), pathStart(url))
  const dot = url.lastIndexOf('.', end - 1)
  return dot > segment ? url.slice(dot + 1, end).toLowerCase() : ''
}
