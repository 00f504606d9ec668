// What we send besides the path: made once per origin, so that a request costs no header work of ours.
// A password is sent to its host only, and never written down: the recorded head, which goes into
// archives that people share, says that a line was there and not what it said.

import { basicCredentials } from './basic-credentials.ts'
import type { Validators } from './fetcher.ts'
import { readLogins } from './logins.ts'
import type { FetchOptions } from './options.ts'
import { userAgentOf } from './user-agent.ts'
import type { Proxy } from './proxy.ts'

const WITHHELD = '[withheld]'

export interface RequestHead {
  /** All after the start line as it goes over the wire, ending with an empty line. */
  readonly sent: string
  /** The same, passwords withheld; the same string where there are none. */
  readonly recorded: string
}

/** The same with the cookies of a site, which it gave us and which are no secret, and with what is asked about an earlier answer. */
export function headWith({ sent, recorded }: RequestHead, cookies: string, validators?: Validators): RequestHead {
  let more = cookies === '' ? '' : `Cookie: ${cookies}\r\n`
  if (validators?.etag !== undefined) more += `If-None-Match: ${validators.etag}\r\n`
  if (validators?.lastModified !== undefined) more += `If-Modified-Since: ${validators.lastModified}\r\n`
  // Before the empty line at the end.
  const withMore = (head: string): string => `${head.slice(0, -2)}${more}\r\n`
  const text = withMore(sent)
  return { sent: text, recorded: recorded === sent ? text : withMore(recorded) }
}

export class RequestHeads {
  readonly #common: readonly (readonly [name: string, value: string])[]
  readonly #credentials = new Map<string, string>()
  readonly #proxy: Proxy | null
  readonly #connection: 'keep-alive' | 'close'

  /** Throws a Fault when a password is missing from the environment. What headers may hold the options' schema has checked. */
  constructor(options: FetchOptions, proxy: Proxy | null, env: Readonly<Record<string, string | undefined>>) {
    this.#proxy = proxy
    this.#connection = options.keepAlive > 0 ? 'keep-alive' : 'close'
    const headers = new Map<string, readonly [string, string]>()
    const set = (name: string, value: string): void => {
      if (value === '') headers.delete(name.toLowerCase())
      else headers.set(name.toLowerCase(), [name, value])
    }
    set('User-Agent', userAgentOf(options))
    set('Accept', options.accept)
    set('Accept-Language', options.acceptLanguage)
    set('Accept-Encoding', 'gzip, deflate, br, zstd')
    for (const [name, value] of Object.entries(options.headers)) set(name, value)
    this.#common = [...headers.values()]
    for (const { host, user, password } of readLogins(options, env)) {
      for (const origin of originsOf(host)) this.#credentials.set(origin, basicCredentials(user, password))
    }
  }

  /** `authority` is the host with its port if that is not the scheme's own, as in URLs. */
  of(authority: string, isSecure: boolean): RequestHead {
    let sent = `host: ${authority}\r\nconnection: ${this.#connection}\r\n`
    for (const [name, value] of this.#common) sent += `${name}: ${value}\r\n`
    let recorded = sent
    const credentials = this.#credentials.get(`${isSecure ? 'https' : 'http'}://${authority}`)
    if (credentials !== undefined) {
      sent += `Authorization: ${credentials}\r\n`
      recorded += `Authorization: ${WITHHELD}\r\n`
    }
    // Through a tunnel the proxy sees only its CONNECT, which carries its own credentials.
    if (this.#proxy?.credentials !== undefined && !isSecure) {
      sent += `Proxy-Authorization: ${this.#proxy.credentials}\r\n`
      recorded += `Proxy-Authorization: ${WITHHELD}\r\n`
    }
    return { sent: `${sent}\r\n`, recorded: `${recorded}\r\n` }
  }
}

/**
 * Where a login may be sent. Without a port, or with that of https, over https alone: any page can link to http: and so
 * have the password sent in the clear. Whoever means that writes `host:80`, or another port, where the scheme cannot be told.
 */
function originsOf(host: string): string[] {
  // Of FTP, where it is said with its scheme.
  if (host.includes('://')) return []
  const authority = host.toLowerCase()
  if (authority.endsWith(':80')) return [`http://${authority.slice(0, -3)}`]
  if (authority.endsWith(':443')) return [`https://${authority.slice(0, -4)}`]
  return /:\d+$/.test(authority) ? [`http://${authority}`, `https://${authority}`] : [`https://${authority}`]
}
