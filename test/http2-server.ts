// A server of HTTP/2 by Node itself, which keeps the rules: for what a client must get right with honest servers.

import { once } from 'node:events'
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type SecureServerOptions,
  type ServerHttp2Session,
} from 'node:http2'
import type { AddressInfo } from 'node:net'

/** A request as it came: `version` is '2.0' or '1.1'. */
export interface Asked {
  readonly version: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

export class Http2Server implements AsyncDisposable {
  readonly #server: Http2SecureServer
  readonly sessions = new Set<ServerHttp2Session>()
  readonly asked: Asked[] = []
  /** Handshakes that were done. */
  connectionCount = 0
  #wake: (() => void)[] = []

  private constructor(
    options: SecureServerOptions,
    answer: (request: Http2ServerRequest, response: Http2ServerResponse) => void,
  ) {
    this.#server = createSecureServer(options, (request, response) => {
      this.asked.push({ version: request.httpVersion, path: request.url, headers: request.headers })
      answer(request, response)
    })
    this.#server.on('secureConnection', () => this.connectionCount++)
    this.#server.on('session', (session) => {
      this.sessions.add(session)
      session.on('error', () => undefined)
      session.on('close', () => {
        this.sessions.delete(session)
        for (const wake of this.#wake.splice(0)) wake()
      })
    })
    this.#server.on('sessionError', () => undefined)
    this.#server.on('tlsClientError', () => undefined)
  }

  static async open(
    options: SecureServerOptions,
    answer: (request: Http2ServerRequest, response: Http2ServerResponse) => void,
  ): Promise<Http2Server> {
    const server = new Http2Server(options, answer)
    server.#server.listen(0, '127.0.0.1')
    await once(server.#server, 'listening')
    return server
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Resolves when no session is open. */
  async untilAlone(): Promise<void> {
    while (this.sessions.size > 0) await new Promise<void>((resolve) => this.#wake.push(resolve))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const session of this.sessions) session.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
