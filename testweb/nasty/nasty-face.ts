// The face of the web that shows every behaviour: each on an address of its own, so that it has the
// connection from the first byte on, and so that what a crawler holds against one host is held against no other.
//
//   127.126.0.1   an index: a page that links to all of them
//   127.126.0.2…  one behaviour each, at every path but two: /robots.txt is not there, /plain is a plain page
//
// Behaviours of TLS are on the https port of their address; on its http port there is the plain page.

import { createServer, type Server, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Clock } from '../../src/base/index.ts'
import type { Certificates } from '../serve/certificates.ts'
import { answer, type Behaviour, htmlAnswer, says } from './behaviour.ts'
import { BEHAVIOURS } from './behaviours.ts'
import { readHttp2 } from './http2-face.ts'
import { TlsContexts } from './tls-manners.ts'

const PORT_TRIES = 20
/** Request heads kept of each host, the newest. */
const HEADS_KEPT_MAX = 100
/** A request longer than this is none. */
const REQUEST_CHARS_MAX = 65_536

const PLAIN: Behaviour['act'] = says(htmlAnswer('<p>A plain page.'), 'keep')
const MISSING: Behaviour['act'] = says(answer('', 'There is none.\n', 'HTTP/1.1 404 Not Found\r\n'), 'keep')

export interface NastyPlan {
  readonly clock: Clock
  readonly certificates: Certificates
  /** 0 lets the system choose. */
  readonly port?: number
  readonly httpsPort?: number
}

interface NastyHost {
  readonly name: string
  readonly ip: string
  readonly behaviour: Behaviour
  home: string
  plainHome: string
  readonly heads: string[]
}

export class NastyFace {
  readonly #clock: Clock
  readonly #contexts: TlsContexts
  readonly #hosts = new Map<string, NastyHost>()
  readonly #servers: Server[] = []
  readonly #sockets = new Set<Socket>()

  private constructor({ clock, certificates }: NastyPlan) {
    this.#clock = clock
    this.#contexts = new TlsContexts(certificates)
    let n = 2
    for (const [name, behaviour] of BEHAVIOURS) {
      const ip = nastyAddress(n++)
      this.#hosts.set(name, { name, ip, behaviour, home: '', plainHome: '', heads: [] })
    }
  }

  static async open(plan: NastyPlan): Promise<NastyFace> {
    const { port = 0, httpsPort = 0 } = plan
    for (let tries = 1; ; tries++) {
      const face = new NastyFace(plan)
      try {
        await face.#listen(port, httpsPort)
        return face
      } catch (cause) {
        await face.close()
        // A port that was free on one address may be taken on another.
        const isTaken = (cause as NodeJS.ErrnoException).code === 'EADDRINUSE'
        if (!isTaken || tries === PORT_TRIES || port !== 0 || httpsPort !== 0) throw cause
      }
    }
  }

  /** The index. */
  root = ''

  get names(): string[] {
    return [...this.#hosts.keys()]
  }

  /** Where a behaviour is shown. */
  url(name: string, path = '/'): string {
    return this.#host(name).home + path
  }

  urls(): string[] {
    return this.names.map((name) => this.url(name))
  }

  /** Heads of the requests a behaviour was asked with, the newest hundred, as they came. */
  heads(name: string): readonly string[] {
    return this.#host(name).heads
  }

  get openConnections(): number {
    return this.#sockets.size
  }

  async close(): Promise<void> {
    const closed = this.#servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())))
    for (const socket of this.#sockets) socket.destroy()
    await Promise.all(closed)
  }

  #host(name: string): NastyHost {
    const host = this.#hosts.get(name)
    if (host === undefined) throw new RangeError(`there is no behaviour '${name}'`)
    return host
  }

  async #listen(port: number, httpsPort: number): Promise<void> {
    const rootIp = nastyAddress(1)
    const bound = await this.#serve(rootIp, port, (socket) => this.#showIndex(socket))
    this.root = `http://${rootIp}:${bound}/`
    let boundHttps = httpsPort
    for (const host of this.#hosts.values()) {
      const plain = `http://${host.ip}:${bound}`
      host.plainHome = plain
      if (host.behaviour.tls === undefined) {
        await this.#serve(host.ip, bound, (socket) => this.#show(host, socket))
        host.home = plain
        continue
      }
      await this.#serve(host.ip, bound, (socket) => this.#read(socket, socket, host, PLAIN))
      boundHttps = await this.#serve(host.ip, boundHttps, (socket) => this.#show(host, socket))
      host.home = `https://${host.ip}:${boundHttps}`
    }
  }

  async #serve(ip: string, port: number, accept: (socket: Socket) => void): Promise<number> {
    // Half-open: a client that closes its half has not heard the rest yet.
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
      socket.on('error', () => socket.destroy())
      accept(socket)
    })
    this.#servers.push(server)
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host: ip, port, backlog: 1_024 }, resolve)
    })
    const address = server.address()
    return address !== null && typeof address === 'object' ? address.port : port
  }

  #show(host: NastyHost, raw: Socket): void {
    const { atConnect, tls, act, http2 } = host.behaviour
    if (atConnect !== undefined) {
      // Whoever says nothing more is let go of when the other side has.
      raw.on('end', () => raw.end())
      atConnect(raw)
      return
    }
    if (tls === undefined) {
      this.#read(raw, raw, host, act)
      return
    }
    const socket = new TLSSocket(raw, {
      isServer: true,
      secureContext: this.#contexts.of(tls, host.ip),
      ...(http2 === undefined ? {} : { ALPNProtocols: ['h2'] }),
    })
    socket.on('error', () => raw.destroy())
    if (http2 !== undefined) {
      readHttp2(socket, (path, stream) => {
        this.#note(host, `GET ${path}`)
        return path === '/' ? () => http2({ socket, stream, clock: this.#clock }) : null
      })
      return
    }
    this.#read(socket, raw, host, act)
  }

  #read(socket: Socket, raw: Socket, host: NastyHost, act: Behaviour['act']): void {
    let pending = ''
    socket.on('end', () => socket.end())
    socket.on('data', (piece: Buffer) => {
      pending += piece.toString('latin1')
      for (let end = pending.indexOf('\r\n\r\n'); end !== -1; end = pending.indexOf('\r\n\r\n')) {
        const head = pending.slice(0, end + 4)
        pending = pending.slice(end + 4)
        this.#note(host, head)
        const [method = '', path = ''] = head.split(' ', 2)
        const { home, plainHome } = host
        const talk = { socket, raw, method, path, home, plainHome, clock: this.#clock }
        const shown = path === '/robots.txt' ? MISSING : path === '/plain' ? PLAIN : act
        if (!socket.destroyed) shown(talk)
      }
      if (pending.length > REQUEST_CHARS_MAX) socket.destroy()
    })
  }

  #note(host: NastyHost, head: string): void {
    host.heads.push(head)
    if (host.heads.length > HEADS_KEPT_MAX) host.heads.shift()
  }

  #showIndex(socket: Socket): void {
    const rows = [...this.#hosts.values()].map(
      ({ name, home, behaviour }) => `<li><a href="${home}/">${name}</a>: ${behaviour.does}`,
    )
    const page = says(htmlAnswer(`<h1>Nasty hosts</h1><ul>${rows.join('\n')}</ul>`), 'keep')
    const index: Behaviour = { family: 'connection', does: 'lists the others', act: page }
    this.#read(socket, socket, { name: '', ip: '', behaviour: index, home: '', plainHome: '', heads: [] }, page)
  }
}

/** The n-th address from 127.126.0.1 on: far from those of other hosts. */
function nastyAddress(n: number): string {
  return `127.126.${n >> 8}.${n & 255}`
}
