// From addresses to a socket that HTTP can be spoken over: TCP, or a tunnel through a proxy, then TLS.
//
//   addresses ─▶ those that may be connected to ─▶ first ─▶ next … ─▶ socket, or the last failure
//
// The address judged here is the address connected to, so no answer of a name server changed in
// between can lead us into a private network. No timer runs here: whoever watches the deadlines calls
// timeOut() on an attempt that takes too long.

import { readFileSync } from 'node:fs'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import {
  connect as connectTls,
  createSecureContext,
  getCACertificates,
  type SecureContext,
  type TLSSocket,
} from 'node:tls'
import { type FailureCode, Fault } from '../base/index.ts'
import type { Address } from '../dns/index.ts'
import { ClientCertificates } from './client-certificates.ts'
import { detailOf, failureOf, type Phase } from './classify-error.ts'
import type { FetchOptions } from './options.ts'
import { openTunnel, type Proxy } from './proxy.ts'
import { isPrivateHost, isPublicAddress } from './public-address.ts'
import { openSocks } from './socks.ts'

/** Addresses tried for one request. A host with more of them that all fail is down. */
const ADDRESSES_TRIED_MAX = 4

/** What one read takes off a socket at most. */
const READ_BYTES_MAX = 64 * 1024

/** Which HTTP a server is let choose from; 'http/1.1-first': h2 if it refuses that. */
export type Offer = 'http/1.1' | 'http/1.1-first' | 'h2-too'

/** What is said in TLS, the best first. */
const HTTP1_ONLY = ['http/1.1']
const HTTP2_TOO = ['h2', 'http/1.1']

/** The server speaks TLS, but none of the protocols that were offered (RFC 7301). */
const OFFER_REFUSED = 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL'

/** Why there is no connection. */
export class ConnectError {
  readonly code: FailureCode | 'private-address'
  readonly detail: string

  constructor(code: FailureCode | 'private-address', detail: string) {
    this.code = code
    this.detail = detail
  }
}

/** Takes the first `length` bytes, which are overwritten after the call. */
export type Receive = (bytes: Buffer, length: number) => void

export interface Target {
  readonly isSecure: boolean
  /** Name or IP literal, without brackets. */
  readonly hostname: string
  readonly port: number
  /** Speaks HTTP: said in TLS, and where it is not secure an HTTP proxy is asked for whole URLs instead of a tunnel. */
  readonly isHttp: boolean
  /** Which HTTP, over TLS; HTTP/1.1 unless said otherwise. */
  readonly offer?: Offer
  /** A TLS session of the same server to go on with. */
  readonly session?: Buffer
}

interface Connected {
  readonly socket: Socket
  /** The other end: the host's address, or the proxy's. */
  readonly ip: string
  /** Of a secure one that HTTP/2 was agreed on for; then nothing is told to `receive`. */
  readonly http2: TLSSocket | null
}

type Done = (result: Connected | ConnectError) => void

/** What Node calls as bytes come, instead of making a buffer and a stream event of each read. */
interface OnRead {
  readonly buffer: Buffer
  readonly callback: (length: number, bytes: Uint8Array) => boolean
}

export class Connector {
  readonly proxy: Proxy | null
  readonly #allowsPrivate: boolean
  readonly #verifies: boolean
  /** Made when first needed and then shared: making one reads and checks some hundred certificates. */
  #secureContext: SecureContext | null = null
  readonly #certificates: string | null
  /** One for all sockets: each read is dealt with before the next one happens. */
  readonly #readBuffer = Buffer.allocUnsafeSlow(READ_BYTES_MAX)

  readonly #clientCertificates: ClientCertificates | null

  /** Throws a Fault when the CA file or a client certificate cannot be read. */
  constructor(options: FetchOptions, proxy: Proxy | null, env: Readonly<Record<string, string | undefined>> = {}) {
    this.proxy = proxy
    this.#allowsPrivate = options.allowPrivate
    this.#verifies = options.tls === 'verify'
    this.#certificates = options.caFile === '' ? null : readCertificates(options.caFile)
    this.#clientCertificates =
      options.clientCertificates.length === 0 ? null : new ClientCertificates(options, env, this.#trusted())
  }

  /** Starts connecting; `done` is called once, never before this returns. All that comes then goes to `receive`. */
  connect(target: Target, addresses: readonly Address[], receive: Receive, done: Done): ConnectAttempt {
    return new ConnectAttempt(this, target, addresses, receive, done)
  }

  onRead(receive: Receive): OnRead {
    const bytes = this.#readBuffer
    return {
      buffer: bytes,
      callback: (length) => {
        receive(bytes, length)
        return true
      },
    }
  }

  /** The addresses that may be connected to, or null when there are some but none of them may. */
  admit(addresses: readonly Address[]): readonly Address[] | null {
    if (this.#allowsPrivate) return addresses
    const admitted = addresses.filter((address) => isPublicAddress(address.ip))
    return admitted.length === 0 && addresses.length > 0 ? null : admitted
  }

  /** Whether the proxy, which resolves names itself, must not even be asked for this one. */
  refuses({ hostname }: Target): boolean {
    return this.proxy !== null && !this.#allowsPrivate && isPrivateHost(hostname)
  }

  /** TLS to a proxy that wants it. Its certificate is judged as any other. */
  secureProxy(proxy: Proxy, reading: { readonly onread?: OnRead }): TLSSocket {
    const { hostname, port } = proxy
    return this.secure({ isSecure: true, hostname, port, isHttp: true }, { ip: hostname, ...reading })
  }

  /** TLS over a socket or to an address. IP literals have no server name (RFC 6066), nor do names a final dot. */
  secure(
    target: Target,
    over: { readonly socket: Socket } | { readonly ip: string; readonly onread?: OnRead },
  ): TLSSocket {
    const name = target.hostname.endsWith('.') ? target.hostname.slice(0, -1) : target.hostname
    return connectTls({
      ...('ip' in over
        ? { host: over.ip, port: target.port, ...(over.onread && { onread: over.onread }) }
        : { socket: over.socket, host: name }),
      ...(isIP(name) === 0 ? { servername: name } : {}),
      ...(target.session === undefined ? {} : { session: target.session }),
      secureContext: this.#contextFor(name),
      rejectUnauthorized: this.#verifies,
      ...(target.isHttp ? { ALPNProtocols: target.offer === 'h2-too' ? HTTP2_TOO : HTTP1_ONLY } : {}),
    })
  }

  #contextFor(name: string): SecureContext {
    const own = this.#clientCertificates?.contextFor(name) ?? null
    if (own !== null) return own
    const known = this.#secureContext
    if (known !== null) return known
    const ca = this.#trusted()
    this.#secureContext = createSecureContext(ca === undefined ? {} : { ca })
    return this.#secureContext
  }

  /** Whose word is taken; undefined for those the system trusts. */
  #trusted(): string[] | undefined {
    return this.#certificates === null ? undefined : [...getCACertificates('default'), this.#certificates]
  }
}

/** One connection being made. */
export class ConnectAttempt {
  readonly #connector: Connector
  #target: Target
  #addresses: readonly Address[] = []
  #index = -1
  #socket: Socket | null = null
  #phase: Phase = 'connect'
  readonly #receive: Receive
  #done: Done | null

  constructor(connector: Connector, target: Target, addresses: readonly Address[], receive: Receive, done: Done) {
    this.#connector = connector
    this.#target = target
    this.#receive = receive
    this.#done = done
    const { proxy } = connector
    const isNamed = proxy !== null && proxy.kind !== 'socks5'
    const admitted = connector.admit(addresses)
    if (admitted === null) {
      const list = addresses.map((address) => address.ip).join(', ')
      this.#fail('private-address', `${list}: not public, and --allow-private is not set`)
    } else if (isNamed && connector.refuses(target)) {
      this.#fail('private-address', `${target.hostname}: not public, and --allow-private is not set`)
    } else if (isNamed) {
      this.#viaProxy(proxy, target.hostname)
    } else if (admitted.length === 0) {
      this.#fail('DNS_NO_ADDRESS', 'no address to connect to')
    } else {
      this.#addresses = admitted.slice(0, ADDRESSES_TRIED_MAX)
      this.#next()
    }
  }

  /** The address at hand took too long: the next one's turn, or the end. */
  timeOut(): void {
    const where =
      this.#connector.proxy === null ? (this.#addresses[this.#index]?.ip ?? '') : this.#connector.proxy.hostname
    this.#failed(
      'FETCH_CONNECT_TIMEOUT',
      `${where}: no ${this.#phase === 'tls' ? 'TLS handshake' : 'connection'} in time`,
    )
  }

  /** Stops without calling back. */
  cancel(): void {
    this.#done = null
    this.#drop()
  }

  #next(): void {
    const address = this.#addresses[++this.#index] as Address
    this.#phase = 'connect'
    const { ip } = address
    const { port, isSecure, isHttp } = this.#target
    const { proxy } = this.#connector
    if (proxy !== null) return this.#viaProxy(proxy, ip)
    // Other protocols may begin TLS in the middle, which a socket with a read buffer of ours cannot; nor can it be HTTP/2's.
    const reading = isHttp && !this.#mayBeHttp2 ? { onread: this.#connector.onRead(this.#receive) } : {}
    const socket = isSecure
      ? this.#connector.secure(this.#target, { ip, ...reading })
      : connectTcp({ host: ip, port, noDelay: true, ...reading })
    if (!isHttp) this.#receiveFrom(socket)
    if (!isSecure) return this.#watch(socket, ip, 'connect', () => this.#succeed(ip))
    socket.setNoDelay(true)
    socket.once('connect', () => (this.#phase = 'tls'))
    this.#watch(socket, ip, 'secureConnect', () => this.#succeed(ip))
  }

  /** The operator named the proxy, so its own address is not judged, and the system resolves its name. `host` is what it is told. */
  #viaProxy(proxy: Proxy, host: string): void {
    const { isSecure, isHttp, port } = this.#target
    const isSocks = proxy.kind === 'socks5' || proxy.kind === 'socks5h'
    // The way through is first asked for over the same socket, so there the bytes come as events.
    const isDirect = isHttp && !isSecure && !isSocks
    const reading = isDirect ? { onread: this.#connector.onRead(this.#receive) } : {}
    const isEncrypted = proxy.kind === 'https'
    const socket = isEncrypted
      ? this.#connector.secureProxy(proxy, reading)
      : connectTcp({ host: proxy.hostname, port: proxy.port, noDelay: true, ...reading })
    this.#watch(socket, proxy.hostname, isEncrypted ? 'secureConnect' : 'connect', () => {
      const ip = proxy.kind === 'socks5' ? host : (socket.remoteAddress ?? proxy.hostname)
      if (isDirect) return this.#succeed(ip)
      const through = (complaint: string | null): void => {
        // What it said may come after the attempt was given up.
        if (this.#socket !== socket) return
        if (complaint !== null) return this.#failed('FETCH_PROXY_FAILED', `the proxy ${complaint}`)
        if (!isSecure) {
          this.#receiveFrom(socket)
          return this.#succeed(ip)
        }
        this.#phase = 'tls'
        const secured = this.#connector.secure(this.#target, { socket })
        if (!this.#mayBeHttp2) this.#receiveFrom(secured)
        this.#watch(secured, host, 'secureConnect', () => this.#succeed(ip))
      }
      if (isSocks) openSocks(socket, proxy, { host, port }, through)
      else openTunnel(socket, proxy, `${host.includes(':') ? `[${host}]` : host}:${port}`, through)
    })
  }

  #receiveFrom(socket: Socket): void {
    socket.on('data', (piece: Buffer) => this.#receive(piece, piece.length))
  }

  #watch(socket: Socket, name: string, event: 'connect' | 'secureConnect', onEvent: () => void): void {
    this.#socket = socket
    socket.once(event, onEvent)
    socket.on('error', (error) => {
      if (socket !== this.#socket) return
      if (this.#isRefused(error)) return this.#askForHttp2()
      const isProxy = this.#connector.proxy !== null && this.#phase === 'connect'
      this.#failed(isProxy ? 'FETCH_PROXY_FAILED' : failureOf(error, this.#phase), `${name}: ${detailOf(error)}`)
    })
  }

  #succeed(ip: string): void {
    const socket = this.#socket
    const done = this.#done
    if (socket === null || done === null) return
    this.#done = null
    this.#socket = null
    const http2 = this.#mayBeHttp2 && (socket as TLSSocket).alpnProtocol === 'h2' ? (socket as TLSSocket) : null
    if (this.#mayBeHttp2 && http2 === null) this.#receiveFrom(socket)
    done({ socket, ip, http2 })
  }

  get #mayBeHttp2(): boolean {
    return this.#target.offer === 'h2-too' && this.#target.isSecure
  }

  #isRefused(error: Error): boolean {
    const isFirst = this.#target.offer === 'http/1.1-first' && this.#phase === 'tls'
    return isFirst && (error as NodeJS.ErrnoException).code === OFFER_REFUSED
  }

  /** The same address once more. Nothing was asked yet, so it is the same turn, and the time for connecting is that of both. */
  #askForHttp2(): void {
    this.#drop()
    this.#target = { ...this.#target, offer: 'h2-too' }
    this.#phase = 'connect'
    const { proxy } = this.#connector
    if (proxy !== null && this.#index === -1) return this.#viaProxy(proxy, this.#target.hostname)
    this.#index--
    this.#next()
  }

  #failed(code: FailureCode, detail: string): void {
    this.#drop()
    if (this.#done === null) return
    if (this.#index + 1 < this.#addresses.length) this.#next()
    else this.#fail(code, detail)
  }

  #fail(code: FailureCode | 'private-address', detail: string): void {
    const done = this.#done
    this.#done = null
    // The attempt may still be starting.
    if (done !== null) queueMicrotask(() => done(new ConnectError(code, detail)))
  }

  #drop(): void {
    const socket = this.#socket
    this.#socket = null
    // What a dropped socket still has to say interests nobody, but unheard it would end the process.
    socket?.on('error', () => undefined).destroy()
  }
}

function readCertificates(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new Fault('CONFIG_INVALID', `caFile ${path} cannot be read: ${(cause as Error).message}`, cause)
  }
}
