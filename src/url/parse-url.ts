// The long way to a canonical URL, and the definition of it: the WHATWG parser, then what we add to it. Whatever
// shortens the way (plain-href.ts) is proven equal to this.

import { normalisePercent } from './percent.ts'
import { encodeQuery } from './query-encoding.ts'
import { type Refusal, REFUSED } from './refusal.ts'

/** Everything but session ids and the limit of length. `encoding` is the WHATWG name of the page's. */
export function parseUrl(href: string, base: string | undefined, encoding = 'utf-8'): string | Refusal {
  let parsed = URL.parse(href, base)
  if (parsed === null) return REFUSED['invalid-url']
  const { protocol } = parsed
  if (protocol === 'gopher:') return parseUnknownToStandard(parsed, '70')
  if (protocol === 'ftps:') return parseUnknownToStandard(parsed, '990')
  if (protocol === 'file:') return parseFile(parsed)
  if (protocol !== 'http:' && protocol !== 'https:' && protocol !== 'ftp:') return REFUSED.scheme
  if (parsed.username !== '' || parsed.password !== '') return REFUSED.userinfo
  if (encoding !== 'utf-8') {
    const encoded = encodeQuery(href, encoding)
    if (encoded !== href) parsed = URL.parse(encoded, base) ?? parsed
  }
  const whole = parsed.href
  const hash = whole.indexOf('#')
  const url = hash === -1 ? whole : whole.slice(0, hash)
  const authority = protocol.length + 2
  return withoutLastDot(normalisePercent(url, authority), authority, parsed.port)
}

/** `name.` is `name` to the DNS, to TLS and to politeness. Two dots at the end are no name. */
function withoutLastDot(url: string, authority: number, port: string): string | Refusal {
  const path = url.indexOf('/', authority)
  const hostEnd = port === '' ? path : path - port.length - 1
  if (url[hostEnd - 1] !== '.') return url
  if (hostEnd - 1 === authority || url[hostEnd - 2] === '.') return REFUSED['invalid-url']
  return url.slice(0, hostEnd - 1) + url.slice(hostEnd)
}

/**
 * To the URL standard gopher and ftps are unknown schemes: host as written, port kept, path perhaps empty. We
 * read the host as any other's, so that one host has one key, and drop the scheme's own port.
 */
function parseUnknownToStandard(parsed: URL, ownPort: string): string | Refusal {
  if (parsed.username !== '' || parsed.password !== '') return REFUSED.userinfo
  const host = parsed.host === '' ? null : URL.parse(`http://${parsed.hostname}/`)
  if (host === null) return REFUSED['invalid-url']
  const port = parsed.port === ownPort ? '' : parsed.port
  const hash = parsed.href.indexOf('#')
  const question = parsed.href.indexOf('?')
  const hasQuery = question !== -1 && (hash === -1 || question < hash)
  const query = hasQuery ? parsed.href.slice(question, hash === -1 ? undefined : hash) : ''
  const authority = parsed.protocol.length + 2
  const url = `${parsed.protocol}//${host.hostname}${port === '' ? '' : `:${port}`}${parsed.pathname || '/'}${query}`
  return withoutLastDot(normalisePercent(url, authority), authority, port)
}

/** What `file:` URLs name as their host: the standard says none, but everything that waits waits for a host. */
export const FILE_HOST = 'localhost'

/** A file of this machine (RFC 8089 lets it be named so); the files of other hosts are nobody's to ask for. */
function parseFile(parsed: URL): string | Refusal {
  if (parsed.hostname !== '') return REFUSED['invalid-url']
  const authority = 'file://'.length
  return normalisePercent(`file://${FILE_HOST}${parsed.pathname}`, authority)
}
