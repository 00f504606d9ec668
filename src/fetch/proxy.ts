// A proxy: where it is, and how to get through it.
//
//   http, https   for http: URLs it is sent the whole URL; for all else a tunnel (CONNECT), through which TLS goes end to end
//   socks5        is told an address that we resolved and judged ourselves
//   socks5h       is told the name, as the two above are
//
// Between us and an https proxy there is TLS; whoever listens there sees neither names nor passwords.

import type { Socket } from 'node:net'
import { Fault } from '../base/index.ts'
import { basicCredentials } from './basic-credentials.ts'

export interface Proxy {
  readonly kind: 'http' | 'https' | 'socks5' | 'socks5h'
  readonly hostname: string
  readonly port: number
  /** The value of Proxy-Authorization, when an HTTP proxy wants one. */
  readonly credentials?: string
  /** For a SOCKS proxy. */
  readonly login?: { readonly user: string; readonly password: string }
}

const PORT_OF_KIND = { http: 80, https: 443, socks5: 1080, socks5h: 1080 } as const

/** RFC 1929: each is told with its length in one byte. */
const SOCKS_LOGIN_BYTES_MAX = 255

/** The largest answer to CONNECT; more is no proxy. */
const TUNNEL_HEAD_BYTES_MAX = 16 * 1024

/** Null when none is configured; throws a Fault when the text is no address of a proxy. */
export function parseProxy(text: string): Proxy | null {
  if (text === '') return null
  const proxy = readProxy(text)
  if (typeof proxy === 'string') throw new Fault('CONFIG_INVALID', proxy)
  return proxy
}

/** Whether names are left to the proxy: then nobody here resolves any. */
export function proxyResolvesNames(text: string): boolean {
  const proxy = parseProxy(text)
  return proxy !== null && proxy.kind !== 'socks5'
}

/** The proxy, or what is wrong with the text; a complaint never repeats the password. */
export function readProxy(text: string): Proxy | string {
  const url = URL.parse(text)
  const kind = kindOf(url?.protocol ?? '')
  const isBare = url !== null && (url.pathname === '/' || url.pathname === '') && url.search === '' && url.hash === ''
  if (url === null || kind === null || url.hostname === '' || !isBare) {
    const shown = text.replace(/^([^/]*\/\/)?.*@/, '$1…@')
    return `'${shown}' is not a proxy; write it like http://proxy.example:3128 or socks5h://127.0.0.1:9050`
  }
  const hostname = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname
  const port = url.port === '' ? PORT_OF_KIND[kind] : Number(url.port)
  if (url.username === '') return { kind, hostname, port }
  try {
    const user = decodeURIComponent(url.username)
    const password = decodeURIComponent(url.password)
    if (kind === 'http' || kind === 'https') {
      return { kind, hostname, port, credentials: basicCredentials(user, password) }
    }
    const isTooLong = [user, password].some((word) => Buffer.byteLength(word) > SOCKS_LOGIN_BYTES_MAX)
    if (isTooLong) return 'the user name or password is longer than a SOCKS proxy can be told (255 bytes)'
    return { kind, hostname, port, login: { user, password } }
  } catch {
    // decodeURIComponent throws for this alone.
    return 'the user name or password of the proxy has a % that begins no escape; write it as %25'
  }
}

function kindOf(protocol: string): Proxy['kind'] | null {
  const name = protocol.slice(0, -1)
  return name === 'http' || name === 'https' || name === 'socks5' || name === 'socks5h' ? name : null
}

/**
 * Asks for a tunnel over a fresh connection to the proxy. Calls back once, with null when the tunnel
 * stands, or with what the proxy said instead. Bytes after the answer stay on the socket.
 */
export function openTunnel(
  socket: Socket,
  proxy: Proxy,
  target: string,
  done: (complaint: string | null) => void,
): void {
  listen(socket, done, (head) => {
    const end = head.indexOf('\r\n\r\n')
    if (end === -1) return head.length > TUNNEL_HEAD_BYTES_MAX ? 'answered CONNECT with more than a head' : null
    const status = /^HTTP\/1\.[01] (\d{3})/.exec(head.toString('latin1', 0, end))?.[1]
    if (status?.startsWith('2') === true) return end + 4
    return `answered CONNECT with ${status ?? 'something that is not HTTP'}`
  })
  const credentials = proxy.credentials === undefined ? '' : `proxy-authorization: ${proxy.credentials}\r\n`
  socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n${credentials}\r\n`, 'latin1')
}

/**
 * Collects what a proxy says until `read` is content: null asks for more, a number is how many bytes the
 * answer took (the rest stays on the socket), a text is a complaint.
 */
export function listen(
  socket: Socket,
  done: (complaint: string | null) => void,
  read: (bytes: Buffer) => number | string | null,
): void {
  let bytes: Buffer = Buffer.alloc(0)
  const finish = (complaint: string | null): void => {
    socket.off('readable', onReadable)
    socket.off('end', onEnd)
    done(complaint)
  }
  const onEnd = (): void => finish('closed the connection')
  const onReadable = (): void => {
    for (let piece = socket.read() as Buffer | null; piece !== null; piece = socket.read() as Buffer | null) {
      bytes = Buffer.concat([bytes, piece])
      const result = read(bytes)
      if (result === null) continue
      if (typeof result === 'number' && result < bytes.length) socket.unshift(bytes.subarray(result))
      return finish(typeof result === 'number' ? null : result)
    }
  }
  socket.on('readable', onReadable)
  socket.on('end', onEnd)
}
