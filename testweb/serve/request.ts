// Reads the heads of HTTP/1.x requests from text that may hold several of them, or part of one.
// Lenient where a test client may be sloppy, strict about nothing: it is the crawler that is tested.

export interface Request {
  readonly method: string
  /** Path with query. */
  readonly path: string
  readonly isHttp10: boolean
  /** Lower case, without port; null when the request names none. */
  readonly host: string | null
  /** Lower case. */
  readonly connection: string
  readonly acceptEncoding: string
  readonly ifNoneMatch: string | null
  readonly ifModifiedSince: string | null
  readonly bodyBytes: number
  /** Where the next request begins. */
  readonly end: number
}

/** A head longer than this is answered with 431. */
export const HEAD_CHARS_MAX = 65_536

/** 'partial': more has to come. 'bad': not a request. */
export function readRequest(text: string, start: number): Request | 'partial' | 'bad' {
  const headEnd = text.indexOf('\r\n\r\n', start)
  if (headEnd < 0) return 'partial'
  const lineEnd = text.indexOf('\r\n', start)
  const methodEnd = text.indexOf(' ', start)
  const targetEnd = text.lastIndexOf(' ', lineEnd)
  if (methodEnd < 0 || methodEnd >= targetEnd) return 'bad'
  const version = text.slice(targetEnd + 1, lineEnd)
  if (version !== 'HTTP/1.1' && version !== 'HTTP/1.0') return 'bad'

  let host: string | null = null
  let connection = ''
  let acceptEncoding = ''
  let ifNoneMatch: string | null = null
  let ifModifiedSince: string | null = null
  let bodyBytes = 0
  let at = lineEnd + 2
  while (at < headEnd) {
    let end = text.indexOf('\r\n', at)
    if (end > headEnd) end = headEnd
    const colon = text.indexOf(':', at)
    if (colon < 0 || colon > end) return 'bad'
    // Only names of these lengths matter; comparing lengths first spares most of the work.
    switch (colon - at) {
      case 4:
        if (nameIs(text, at, 'host')) host = withoutPort(text.slice(colon + 1, end).trim())
        break
      case 10:
        if (nameIs(text, at, 'connection'))
          connection = text
            .slice(colon + 1, end)
            .trim()
            .toLowerCase()
        break
      case 13:
        if (nameIs(text, at, 'if-none-match')) ifNoneMatch = text.slice(colon + 1, end).trim()
        break
      case 14:
        if (nameIs(text, at, 'content-length')) bodyBytes = Number(text.slice(colon + 1, end)) || 0
        break
      case 15:
        if (nameIs(text, at, 'accept-encoding')) acceptEncoding = text.slice(colon + 1, end).toLowerCase()
        break
      case 17:
        if (nameIs(text, at, 'if-modified-since')) ifModifiedSince = text.slice(colon + 1, end).trim()
        break
    }
    at = end + 2
  }

  let path = text.slice(methodEnd + 1, targetEnd)
  if (!path.startsWith('/')) {
    // The absolute form names the host itself, and wins over the header (RFC 9112, 3.2.2).
    const absolute = /^https?:\/\/([^/?#]+)(.*)$/i.exec(path)
    if (absolute === null) return 'bad'
    host = withoutPort(absolute[1] ?? '')
    path = (absolute[2] ?? '').startsWith('/') ? (absolute[2] ?? '') : `/${absolute[2] ?? ''}`
  }
  return {
    method: text.slice(start, methodEnd),
    path,
    isHttp10: version === 'HTTP/1.0',
    host,
    connection,
    acceptEncoding,
    ifNoneMatch,
    ifModifiedSince,
    bodyBytes,
    end: headEnd + 4 + bodyBytes,
  }
}

function nameIs(text: string, at: number, name: string): boolean {
  for (let i = 0; i < name.length; i++) {
    // Setting bit 5 lowers letters and leaves the hyphen alone.
    if ((text.charCodeAt(at + i) | 0x20) !== name.charCodeAt(i)) return false
  }
  return true
}

function withoutPort(authority: string): string {
  const colon = authority.lastIndexOf(':')
  const isIpv6 = authority.endsWith(']')
  const host = colon < 0 || isIpv6 ? authority : authority.slice(0, colon)
  return host.toLowerCase()
}
