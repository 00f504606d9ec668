// An HTTP proxy: where it is, and how to ask it for a tunnel. For http: URLs it is sent the whole URL;
// for https: URLs a tunnel (CONNECT), through which TLS goes end to end.

import type { Socket } from 'node:net'
import { Fault } from '../base/index.ts'
import { basicCredentials } from './basic-credentials.ts'

export interface Proxy {
  readonly hostname: string
  readonly port: number
  /** The value of Proxy-Authorization, when it wants one. */
  readonly credentials?: string
}

/** The largest answer to CONNECT; more is no proxy. */
const TUNNEL_HEAD_BYTES_MAX = 16 * 1024

/** Null when none is configured; throws a Fault when the text is no address of an HTTP proxy. */
export function parseProxy(text: string): Proxy | null {
  if (text === '') return null
  const proxy = readProxy(text)
  if (typeof proxy === 'string') throw new Fault('CONFIG_INVALID', proxy)
  return proxy
}

/** The proxy, or what is wrong with the text; a complaint never repeats the password. */
export function readProxy(text: string): Proxy | string {
  const url = URL.parse(text)
  if (url === null || url.protocol !== 'http:' || url.hostname === '' || url.pathname !== '/') {
    const shown = text.replace(/^([^/]*\/\/)?.*@/, '$1…@')
    return `'${shown}' is not an HTTP proxy; write it like http://proxy.example:3128`
  }
  const hostname = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname
  const port = url.port === '' ? 80 : Number(url.port)
  if (url.username === '') return { hostname, port }
  try {
    const credentials = basicCredentials(decodeURIComponent(url.username), decodeURIComponent(url.password))
    return { hostname, port, credentials }
  } catch {
    // decodeURIComponent throws for this alone.
    return 'the user name or password of the proxy has a % that begins no escape; write it as %25'
  }
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
  let head = Buffer.alloc(0)
  const finish = (complaint: string | null): void => {
    socket.off('readable', onReadable)
    socket.off('end', onEnd)
    done(complaint)
  }
  const onEnd = (): void => finish('closed the connection')
  const onReadable = (): void => {
    for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null) {
      head = Buffer.concat([head, chunk])
      const end = head.indexOf('\r\n\r\n')
      if (end === -1) {
        if (head.length > TUNNEL_HEAD_BYTES_MAX) return finish('answered CONNECT with more than a head')
        continue
      }
      if (end + 4 < head.length) socket.unshift(head.subarray(end + 4))
      const status = /^HTTP\/1\.[01] (\d{3})/.exec(head.toString('latin1', 0, end))?.[1]
      return finish(
        status?.startsWith('2') === true ? null : `answered CONNECT with ${status ?? 'something that is not HTTP'}`,
      )
    }
  }
  socket.on('readable', onReadable)
  socket.on('end', onEnd)
  const credentials = proxy.credentials === undefined ? '' : `proxy-authorization: ${proxy.credentials}\r\n`
  socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n${credentials}\r\n`, 'latin1')
}
