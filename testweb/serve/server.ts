// The faces of the web: one port for http and one for https, on every address a host has.

import { createServer, type Server, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Certificates } from './certificates.ts'
import { Connection, type ServerState } from './connection.ts'

/**
 * Up to here each address has a listener of its own, so that nothing is open to the outside; beyond,
 * one listener on all addresses, which turns away whoever does not come by 127.0.0.0/8.
 */
const LISTENERS_MAX = 2_048
/** Another process may hold the port on one of the addresses; another port is tried then. */
const PORT_TRIES = 20

export interface Face {
  readonly port: number
  close(): Promise<void>
}

/** Binds the port first, so that the web can be made with it, and serves once start() is given the state. */
export class HttpFace implements Face {
  readonly port: number
  readonly #servers: Server[]
  readonly #sockets: Set<Socket>

  private constructor(port: number, servers: Server[], sockets: Set<Socket>) {
    this.port = port
    this.#servers = servers
    this.#sockets = sockets
  }

  static async open(
    addresses: readonly string[],
    port: number,
    certificates: Certificates | null,
    state: () => ServerState,
    nextConnection: () => number,
  ): Promise<HttpFace> {
    const sockets = new Set<Socket>()
    const accept = (raw: Socket): void => {
      const ip = raw.localAddress ?? ''
      if (!ip.startsWith('127.')) {
        raw.destroy()
        return
      }
      raw.setNoDelay(true)
      sockets.add(raw)
      raw.on('close', () => sockets.delete(raw))
      if (certificates === null) {
        void new Connection(raw, state(), nextConnection(), 'http', ip)
        return
      }
      raw.on('error', () => raw.destroy())
      const secure = new TLSSocket(raw, {
        isServer: true,
        secureContext: certificates.contextFor(ip),
        SNICallback: (name, done) => done(null, certificates.contextFor(name)),
        ALPNProtocols: ['http/1.1'],
      })
      void new Connection(secure, state(), nextConnection(), 'https', ip)
    }
    const listened = addresses.length <= LISTENERS_MAX ? addresses : ['0.0.0.0']
    const { servers, bound } = await listenAll(listened, port, accept)
    return new HttpFace(bound, servers, sockets)
  }

  async close(): Promise<void> {
    const closed = this.#servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())))
    for (const socket of this.#sockets) socket.destroy()
    await Promise.all(closed)
  }
}

async function listenAll(
  addresses: readonly string[],
  port: number,
  accept: (socket: Socket) => void,
): Promise<{ servers: Server[]; bound: number }> {
  for (let tries = 1; ; tries++) {
    const servers: Server[] = []
    try {
      let bound = port
      for (const address of addresses) {
        const server = createServer(accept)
        bound = await listen(server, address, bound)
        servers.push(server)
      }
      return { servers, bound }
    } catch (cause) {
      await Promise.all(servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))))
      const isTaken = (cause as NodeJS.ErrnoException).code === 'EADDRINUSE'
      if (port !== 0 || !isTaken || tries === PORT_TRIES) throw cause
    }
  }
}

function listen(server: Server, address: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    // A crawler may open thousands of connections in one tick.
    server.listen({ host: address, port, backlog: 4_096 }, () => {
      server.off('error', reject)
      const bound = server.address()
      resolve(bound !== null && typeof bound === 'object' ? bound.port : port)
    })
  })
}
