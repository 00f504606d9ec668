// What servers asked to be told again, host by host. Many sites redirect in circles until a cookie comes back.
//
//   host ─▶ [name=value, domain, path, until, secure] …        a Map in the order of use: the longest unused host goes first
//
// Always true:
//   - a cookie is sent to the host that set it and to no other, whatever its Domain says: the next host of a domain may
//     be another agent's, and a crawler logs in nowhere. Domain is checked all the same, and a foreign one refused;
//   - what RFC 6265bis refuses is refused: public suffixes, Secure over http, names with __Host- and __Secure- that are not;
//   - memory is bounded: cookies per host, and bytes in all. What goes beyond goes first, and is counted;
//   - nothing is written to disk: a run begins without cookies.
// hot: nothing is done for an answer without Set-Cookie, or for a host that never set one, but to see that.

import { isIP } from 'node:net'
import { type HostKey, registrableDomain } from '../url/index.ts'
import { parseSetCookie, type SetCookie } from './set-cookie.ts'

export interface CookieLimits {
  readonly perHost: number
  readonly bytes: number
}

/** The place of a request, as cookies see it. */
export interface CookiePlace {
  /** Without a port: cookies know none. */
  readonly host: string
  readonly isSecure: boolean
  /** Without the query. */
  readonly path: string
}

export interface CookieFigures {
  readonly hosts: number
  readonly cookies: number
  readonly bytes: number
  /** Lines that were not taken. */
  readonly refused: number
  /** Cookies that were forgotten to keep the limits. */
  readonly dropped: number
}

interface Cookie {
  readonly name: string
  readonly value: string
  readonly domain: string
  readonly path: string
  readonly expiresMs: number | null
  readonly isSecure: boolean
}

/** Servers refuse longer header lines, mostly at 8 KiB. */
const HEADER_LENGTH_MAX = 8_190
/** What a cookie costs beside its text. */
const COOKIE_BYTES = 120
const HOST_BYTES = 200

export class CookieJar {
  readonly #limits: CookieLimits
  /** Of a host in the order they were first set. */
  readonly #hosts = new Map<string, Cookie[]>()
  #bytes = 0
  #refused = 0
  #dropped = 0

  constructor(limits: CookieLimits) {
    this.#limits = limits
  }

  get isEmpty(): boolean {
    return this.#hosts.size === 0
  }

  get figures(): CookieFigures {
    let cookies = 0
    for (const all of this.#hosts.values()) cookies += all.length
    return { hosts: this.#hosts.size, cookies, bytes: this.#bytes, refused: this.#refused, dropped: this.#dropped }
  }

  /** What to send, without the name of the header; '' for nothing. */
  header(host: string, url: string, nowMs: number): string {
    const cookies = this.#hosts.get(host)
    if (cookies === undefined) return ''
    this.#touch(host, cookies)
    const { isSecure, path } = placeOf(host, url)
    const sent = cookies.filter((one) => isSentTo(one, isSecure, path, nowMs))
    // Those of longer paths first, then the older ones, as they stand.
    if (sent.length > 1) sent.sort((a, b) => b.path.length - a.path.length)
    let header = ''
    for (const { name, value } of sent) {
      const pair = name === '' ? value : `${name}=${value}`
      if (header.length + 2 + pair.length > HEADER_LENGTH_MAX) break
      header += header === '' ? pair : `; ${pair}`
    }
    return header
  }

  /** Takes the Set-Cookie lines of an answer. True where the next request will say something else. */
  take(host: string, url: string, lines: readonly string[], nowMs: number): boolean {
    const place = placeOf(host, url)
    let isChanged = false
    for (const line of lines) {
      const said = parseSetCookie(line, nowMs)
      const cookie = said === null ? null : this.#accepted(said, place)
      if (cookie === null) this.#refused++
      else if (this.#put(host, cookie, nowMs)) isChanged = true
    }
    return isChanged
  }

  /** RFC 6265bis §5.7, as far as there are no scripts and no frames. */
  #accepted(said: SetCookie, place: CookiePlace): Cookie | null {
    const { name, value, expiresMs, isSecure } = said
    const { host } = place
    const isHostOnly = said.domain === '' || (said.domain === host && registrableDomain(host as HostKey) === host)
    if (!isHostOnly && !coversHost(said.domain, host)) return null
    if (isSecure && !place.isSecure) return null
    const path = said.path === '' ? defaultPath(place.path) : said.path
    // The prefix in any case; a value without a name must not look like one.
    const lower = (name === '' ? value : name).toLowerCase()
    const isHostNamed = lower.startsWith('__host-')
    if (isHostNamed || lower.startsWith('__secure-')) {
      if (name === '' || !isSecure) return null
      if (isHostNamed && (said.domain !== '' || said.path !== '/')) return null
    }
    const cookie = { name, value, domain: isHostOnly ? '' : said.domain, path, expiresMs, isSecure }
    const isShadowing =
      !place.isSecure &&
      (this.#hosts.get(host) ?? []).some((one) => one.isSecure && one.name === name && isPathWithin(path, one.path))
    return isShadowing ? null : cookie
  }

  /** Whether anything is different now. */
  #put(host: string, cookie: Cookie, nowMs: number): boolean {
    const cookies = this.#hosts.get(host) ?? []
    const at = cookies.findIndex(
      (one) => one.name === cookie.name && one.path === cookie.path && one.domain === cookie.domain,
    )
    const before = cookies[at]
    if (cookie.expiresMs !== null && cookie.expiresMs <= nowMs) {
      if (before === undefined) return false
      this.#bytes -= bytesOf(before)
      cookies.splice(at, 1)
      if (cookies.length === 0) this.#forget(host)
      return true
    }
    if (!this.#hosts.has(host)) this.#bytes += HOST_BYTES
    if (before === undefined) cookies.push(cookie)
    else cookies[at] = cookie
    this.#bytes += bytesOf(cookie) - (before === undefined ? 0 : bytesOf(before))
    this.#touch(host, cookies)
    this.#shrink(cookies, nowMs)
    return before?.value !== cookie.value
  }

  /** Back within the limits: of the host what has expired, then what is not secure, then the oldest; then other hosts. */
  #shrink(cookies: Cookie[], nowMs: number): void {
    while (cookies.length > this.#limits.perHost) {
      let at = cookies.findIndex(({ expiresMs }) => expiresMs !== null && expiresMs <= nowMs)
      // Never the newest, which stands last.
      if (at === -1) at = cookies.findIndex(({ isSecure }, place) => !isSecure && place < cookies.length - 1)
      const [gone] = cookies.splice(Math.max(0, at), 1)
      if (gone !== undefined) this.#bytes -= bytesOf(gone)
      this.#dropped++
    }
    for (const [host, others] of this.#hosts) {
      if (this.#bytes <= this.#limits.bytes || others === cookies) return
      this.#dropped += others.length
      for (const one of others) this.#bytes -= bytesOf(one)
      this.#forget(host)
    }
  }

  #forget(host: string): void {
    this.#hosts.delete(host)
    this.#bytes -= HOST_BYTES
  }

  #touch(host: string, cookies: Cookie[]): void {
    this.#hosts.delete(host)
    this.#hosts.set(host, cookies)
  }
}

function placeOf(host: string, url: string): CookiePlace {
  const isSecure = url.startsWith('https:')
  const pathAt = url.indexOf('/', 8)
  const queryAt = url.indexOf('?', pathAt)
  return { host, isSecure, path: pathAt === -1 ? '/' : url.slice(pathAt, queryAt === -1 ? undefined : queryAt) }
}

function isSentTo(cookie: Cookie, isSecure: boolean, path: string, nowMs: number): boolean {
  if (cookie.isSecure && !isSecure) return false
  if (cookie.expiresMs !== null && cookie.expiresMs <= nowMs) return false
  return isPathWithin(path, cookie.path)
}

/** Whether a domain is the host's own or one that somebody registered above it. */
function coversHost(domain: string, host: string): boolean {
  if (isIP(host.replace(/^\[|\]$/g, '')) !== 0) return domain === host
  if (domain !== host && !host.endsWith(`.${domain}`)) return false
  const registered = registrableDomain(host as HostKey)
  // Above what is registered there are only public suffixes.
  return domain === registered || domain.endsWith(`.${registered}`)
}

function isPathWithin(path: string, within: string): boolean {
  if (!path.startsWith(within)) return false
  return path.length === within.length || within.endsWith('/') || path[within.length] === '/'
}

function defaultPath(path: string): string {
  const slash = path.lastIndexOf('/')
  return slash <= 0 ? '/' : path.slice(0, slash)
}

function bytesOf({ name, value, domain, path }: Cookie): number {
  return COOKIE_BYTES + name.length + value.length + domain.length + path.length
}
