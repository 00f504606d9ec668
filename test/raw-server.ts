// A server that says exactly what it is told to, byte by byte, on a port of the loopback: the ugly web
// in small, for tests of fetching.

import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'

/** Called with each request's head; `count` numbers the requests of the connection from 1. */
export type Script = (socket: Socket, head: string, count: number) => void

export class RawServer {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** Heads as they came, latin-1, in order. */
  readonly heads: string[] = []
  connectionCount = 0
  /** Called for each connection before anything is read. */
  onConnection: (socket: Socket) => unknown = () => undefined
  /** Called on changes of all that can be waited for. */
  #wake: (() => void)[] = []

  private constructor(script: Script, tls: TlsOptions | null) {
    const serve = (socket: Socket): void => {
      this.connectionCount++
      this.#sockets.add(socket)
      let pending = ''
      let count = 0
      socket.setNoDelay(true)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        this.#sockets.delete(socket)
        this.#notify()
      })
      socket.on('data', (piece: Buffer) => {
        pending += piece.toString('latin1')
        for (let end = pending.indexOf('\r\n\r\n'); end !== -1; end = pending.indexOf('\r\n\r\n')) {
          const head = pending.slice(0, end + 4)
          pending = pending.slice(end + 4)
          this.heads.push(head)
          script(socket, head, ++count)
          this.#notify()
        }
      })
      this.onConnection(socket)
      this.#notify()
    }
    this.#server = tls === null ? createServer(serve) : createTlsServer(tls, serve)
    this.#server.on('tlsClientError', () => undefined)
  }

  static async open(script: Script, tls: TlsOptions | null = null): Promise<RawServer> {
    const server = new RawServer(script, tls)
    server.#server.listen(0, '0.0.0.0')
    await once(server.#server, 'listening')
    return server
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get openConnections(): number {
    return this.#sockets.size
  }

  /** Resolves when the condition holds; it is looked at whenever something happens here. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#wake.push(resolve))
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #notify(): void {
    for (const wake of this.#wake.splice(0)) wake()
  }
}
