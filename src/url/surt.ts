// The key under which an archive files a URL: host reversed, so that a domain's captures stand together, and
// differences dropped that rarely mean another page. For look-up only, never for fetching.
//
//     https://www.Example.org:8443/A//b/?y=2&x=1   →   org,example:8443)/a/b?x=1&y=2
//
// The rules are those of the Wayback machine's key maker (IIPC webarchive-commons), which pywb and other
// replay tools apply to the URL a reader asks for: a key made differently is a page not found.
//   host    without www, www2 …; reversed; an IPv4 address reversed too, an IPv6 one as it is, without brackets
//   both    escapes undone until none is left, then what must be escaped is escaped once; lower case
//   path    runs of '/' become one, dot segments go, ASP.NET session folders go, a last '/' goes
//   query   well-known session parameters go, parameters are sorted, an empty query goes

import type { CanonicalUrl } from './canonical-url.ts'
import { hexValue } from './percent.ts'
import { hostKeyOf, pathEnd, pathStart } from './url-parts.ts'

export function surt(url: CanonicalUrl): string {
  const start = pathStart(url)
  const end = pathEnd(url)
  const host = hostKeyOf(url)
  const port = url.slice(url.indexOf(':') + 3 + host.length, start)
  const query = end < url.length ? surtQuery(url.slice(end + 1)) : ''
  return `${surtHost(host)}${port})${surtPath(url.slice(start, end))}${query === '' ? '' : `?${query}`}`
}

/** Keys of hosts: a crawl asks for page after page of the same ones. Past this many all are made anew. */
const HOSTS_MAX = 1_024
const keyOfHost = new Map<string, string>()

function surtHost(host: string): string {
  const known = keyOfHost.get(host)
  if (known !== undefined) return known
  const key = reversedHost(host)
  if (keyOfHost.size >= HOSTS_MAX) keyOfHost.clear()
  keyOfHost.set(host, key)
  return key
}

function reversedHost(host: string): string {
  if (host.startsWith('[')) return host.slice(1, -1)
  return host
    .replace(/^www\d*\./, '')
    .split('.')
    .reverse()
    .join(',')
}

// One session id per folder or several, each 24 characters, before an .aspx page.
const SESSION_FOLDERS = [/\/\((?:[a-z]\([0-9a-z]{24}\))+\)(?=\/[^?]+\.aspx)/, /\/\([0-9a-z]{24}\)(?=\/[^?]+\.aspx)/]

/** Segments that no rule below changes: nothing to unescape or escape, no dots in front, none empty, lower case. */
const PLAIN_PATH = /^(?:\/[0-9a-z_~-][0-9a-z._~-]*)+$/

function surtPath(path: string): string {
  if (PLAIN_PATH.test(path)) return path
  let key = escapeOnce(joinSegments(unescapeRepeatedly(path))).toLowerCase()
  for (const folder of SESSION_FOLDERS) key = key.replace(folder, '')
  return key.length > 1 && key.endsWith('/') ? key.slice(0, -1) : key
}

/** Drops empty segments and resolves dots, which unescaping may have brought to light. */
function joinSegments(path: string): string {
  if (!path.includes('//') && !path.includes('/.')) return path
  const segments = path.split('/').slice(1)
  const kept: string[] = []
  for (const segment of segments) {
    if (segment === '..' && kept.length > 0) kept.pop()
    else if (segment !== '.') kept.push(segment)
  }
  const last = kept.pop() ?? ''
  return `/${kept
    .filter((segment) => segment !== '')
    .map((segment) => `${segment}/`)
    .join('')}${last}`
}

// Names and shapes of values; each goes once, from the right.
const SESSION_PARAMETERS = [
  'jsessionid=[0-9a-z]{32}',
  'phpsessid=[0-9a-z]{32}',
  'sid=[0-9a-z]{32}',
  'aspsessionid[a-z]{8}=[a-z]{24}',
  'cfid=[^&]+&cftoken=[^&]+',
].map((shape) => new RegExp(`^(.*)${shape}(?:&|$)`))

/** Some of it is in every one of them, and next to no query has it. */
const SESSION_HINT = /sessionid|sid=|cfid=/

/** Nothing to unescape or escape, lower case. */
const PLAIN_QUERY = /^[!"$&-@[-~]*$/

function surtQuery(query: string): string {
  let key = PLAIN_QUERY.test(query) ? query : escapeOnce(unescapeRepeatedly(query)).toLowerCase()
  if (SESSION_HINT.test(key)) {
    for (const parameter of SESSION_PARAMETERS) key = key.replace(parameter, '$1')
  }
  if (!key.includes('&')) return key
  return key.split('&').sort(compareParameters).join('&')
}

/** By name, then by value; a bare name before a name with an empty value. */
function compareParameters(a: string, b: string): number {
  const nameA = a.split('=', 1)[0] ?? ''
  const nameB = b.split('=', 1)[0] ?? ''
  if (nameA !== nameB) return nameA < nameB ? -1 : 1
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** Undoes escapes until there are none; characters stand for bytes. */
function unescapeRepeatedly(text: string): string {
  let result = text
  while (result.includes('%')) {
    const unescaped = result.replace(/%([0-9a-f])([0-9a-f])/gi, (_, high: string, low: string) =>
      String.fromCharCode(hexValue(high.charCodeAt(0)) * 16 + hexValue(low.charCodeAt(0))),
    )
    if (unescaped === result) break
    result = unescaped
  }
  return result
}

/** Escapes bytes outside printable ASCII, the space, '#' and '%'. */
function escapeOnce(text: string): string {
  return text.replace(/[^!-~]|[#%]/g, (char) => `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`)
}
