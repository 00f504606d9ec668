// A way between a node and the engine that can be cut, delayed and mended. While it is cut connections stay open and nothing comes
// through, as behind a switch that lost its power: neither side is told. What was sent meanwhile is lost with the connection.
//
//   node ──▶ proxy ──▶ nats-server           cut(): silence    delay(ms): everything later, in order    mend(): new connections pass

import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { natsAddress } from '../nats-servers.ts'

export class TcpProxy implements AsyncDisposable {
  readonly url: string
  readonly #server: Server
  readonly #pairs = new Set<readonly [Socket, Socket]>()
  #isCut = false
  #delayMs = 0

  private constructor(server: Server, url: string) {
    this.#server = server
    this.url = url
  }

  /** To a server by its URL. */
  static async open(target: string): Promise<TcpProxy> {
    const { hostname, port } = new URL(target.replace('nats:', 'http:'))
    const server = createServer()
    await new Promise<void>((resolve) => void server.listen(0, natsAddress(), resolve))
    const { address, port: own } = server.address() as AddressInfo
    const proxy = new TcpProxy(server, `nats://${address}:${own}`)
    server.on('connection', (socket) => proxy.#join(socket, connect(Number(port), hostname)))
    return proxy
  }

  /** Silence from now on; connections made meanwhile are taken and never answered. */
  cut(): void {
    this.#isCut = true
  }

  /** Those that were cut are over; new ones pass. */
  mend(): void {
    this.#isCut = false
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy()
    this.#pairs.clear()
  }

  /** Every byte comes so much later, both ways. */
  delay(ms: number): void {
    this.#delayMs = ms
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.mend()
    await new Promise((resolve) => void this.#server.close(resolve))
  }

  #join(near: Socket, far: Socket): void {
    const pair = [near, far] as const
    this.#pairs.add(pair)
    for (const [from, to] of [pair, [far, near] as const]) {
      from.setNoDelay(true)
      from.on('data', (chunk: Buffer) => {
        if (this.#isCut) return
        if (this.#delayMs === 0) to.write(chunk)
        else setTimeout(() => void (this.#isCut || to.destroyed || to.write(chunk)), this.#delayMs)
      })
      from.on('error', () => from.destroy())
      from.on('close', () => {
        if (this.#isCut) return
        to.destroy()
        this.#pairs.delete(pair)
      })
    }
  }
}
