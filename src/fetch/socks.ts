// How to get through a SOCKS5 proxy (RFC 1928, RFC 1929), over a fresh connection to it:
//
//   us     ways to log in ─────────────▶      [login ───▶]        connect to … ─────▶
//   proxy                    ◀── this one                ◀── fine               ◀── done, or why not
//
// Each answer is of a length that it tells itself; what comes behind the last belongs to the target.

import { isIPv4, isIPv6, type Socket } from 'node:net'
import { listen, type Proxy } from './proxy.ts'

const VERSION = 5
const NO_LOGIN = 0
const PASSWORD_LOGIN = 2
const CONNECT = 1
const ADDRESS_V4 = 1
const ADDRESS_NAME = 3
const ADDRESS_V6 = 4

/** RFC 1928, 6. */
const REFUSALS = [
  '',
  'failed',
  'does not allow that connection',
  'says: network unreachable',
  'says: host unreachable',
  'says: connection refused by the host',
  'says: the host is too far away',
  'does not know how to connect',
  'does not know such addresses',
] as const

/** Calls back once: null when bytes go to the target from now on, or what the proxy said instead. */
export function openSocks(
  socket: Socket,
  proxy: Proxy,
  target: { readonly host: string; readonly port: number },
  done: (complaint: string | null) => void,
): void {
  const { login } = proxy
  const connect = (): void => {
    listen(socket, done, readConnected)
    socket.write(connectRequest(target.host, target.port))
  }
  const logIn = (user: string, password: string): void => {
    listen(
      socket,
      (complaint) => (complaint === null ? connect() : done(complaint)),
      (bytes) => (bytes.length < 2 ? null : bytes[1] === 0 ? 2 : 'does not accept the user name and password'),
    )
    const name = Buffer.from(user)
    const word = Buffer.from(password)
    socket.write(Buffer.concat([Buffer.of(1, name.length), name, Buffer.of(word.length), word]))
  }
  let chosen = NO_LOGIN
  listen(
    socket,
    (complaint) => {
      if (complaint !== null) return done(complaint)
      if (chosen === NO_LOGIN) return connect()
      logIn(login?.user ?? '', login?.password ?? '')
    },
    (bytes) => {
      if (bytes.length < 2) return null
      if (bytes[0] !== VERSION) return 'does not speak SOCKS5'
      chosen = bytes[1] as number
      const isOffered = chosen === NO_LOGIN || (chosen === PASSWORD_LOGIN && login !== undefined)
      return isOffered ? 2 : 'wants another way to log in'
    },
  )
  socket.write(login === undefined ? Buffer.of(VERSION, 1, NO_LOGIN) : Buffer.of(VERSION, 2, NO_LOGIN, PASSWORD_LOGIN))
}

function connectRequest(host: string, port: number): Buffer {
  const end = Buffer.of(port >> 8, port & 0xff)
  return Buffer.concat([Buffer.of(VERSION, CONNECT, 0), addressOf(host), end])
}

function addressOf(host: string): Buffer {
  if (isIPv4(host)) return Buffer.of(ADDRESS_V4, ...host.split('.').map(Number))
  if (isIPv6(host)) return Buffer.concat([Buffer.of(ADDRESS_V6), v6Bytes(host)])
  const name = Buffer.from(host, 'latin1').subarray(0, 255)
  return Buffer.concat([Buffer.of(ADDRESS_NAME, name.length), name])
}

function v6Bytes(ip: string): Buffer {
  // As the URL parser writes it, an IPv4 address inside is hexadecimal too.
  const plain = new URL(`http://[${ip}]/`).hostname.slice(1, -1)
  const [left = '', right] = plain.split('::')
  const groups = (text: string): number[] => (text === '' ? [] : text.split(':').map((group) => parseInt(group, 16)))
  const before = groups(left)
  const after = right === undefined ? [] : groups(right)
  const all = [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after]
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]))
}

function readConnected(bytes: Buffer): number | string | null {
  if (bytes.length < 2) return null
  const [version, reply = 0] = bytes
  if (version !== VERSION) return 'does not speak SOCKS5'
  if (reply !== 0) return REFUSALS[reply] ?? `refused with ${reply}`
  if (bytes.length < 5) return null
  const kind = bytes[3]
  const addressBytes =
    kind === ADDRESS_V4 ? 4 : kind === ADDRESS_V6 ? 16 : kind === ADDRESS_NAME ? 1 + (bytes[4] ?? 0) : -1
  if (addressBytes === -1) return 'does not speak SOCKS5'
  const length = 4 + addressBytes + 2
  return bytes.length < length ? null : length
}
