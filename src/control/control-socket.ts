// Where a process that crawls can be spoken to: a socket in the crawl's directory. Whoever may open it may steer; it needs no token.
//
//   DIR/state/control.sock    or, where that path is too long for a socket, in a directory of its own below the system's temporary one
//   DIR/state/control.json    { "socket": "…", "pid": 1 }, mode 600
//
// Nothing of the API is loaded before somebody knocks: this is a bare server of connections, which hands each to what `serve` loads.
// A crawl never fails because of it: whatever goes wrong here is told, and the crawl goes on without.

import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** The system's bound is 104 to 108 bytes. */
const PATH_BYTES_MAX = 100
/** Who knocks while the rest is being loaded. */
const CONNECTIONS_MAX = 256

/** What connections are handed to. */
export interface ConnectionTaker {
  take(socket: Socket): void
  close(): Promise<void>
}

export class ControlSocket {
  readonly #server: Server
  readonly #socketPath: string
  readonly #notePath: string
  /** Made for the socket alone; null where it stands in the crawl's directory. */
  readonly #folder: string | null
  readonly #load: () => Promise<ConnectionTaker>
  readonly #warn: (fault: unknown) => void
  readonly #sockets = new Set<Socket>()
  #taker: Promise<ConnectionTaker> | null = null
  #isClosed = false

  private constructor(
    paths: { readonly socket: string; readonly note: string; readonly folder: string | null },
    load: () => Promise<ConnectionTaker>,
    warn: (fault: unknown) => void,
  ) {
    this.#socketPath = paths.socket
    this.#notePath = paths.note
    this.#folder = paths.folder
    this.#load = load
    this.#warn = warn
    this.#server = createServer({ pauseOnConnect: true }, (socket) => void this.#welcome(socket))
    this.#server.maxConnections = CONNECTIONS_MAX
  }

  /** Null where it cannot be: that was told. `dir` is ours alone: what an earlier process left there is nobody's. */
  static async open(
    dir: string,
    load: () => Promise<ConnectionTaker>,
    warn: (fault: unknown) => void,
  ): Promise<ControlSocket | null> {
    try {
      const wanted = resolve(dir, 'state/control.sock')
      const note = resolve(dir, 'state/control.json')
      const fits = Buffer.byteLength(wanted) <= PATH_BYTES_MAX
      const folder = fits ? null : await mkdtemp(join(tmpdir(), 'portolan-'))
      const socket = folder === null ? wanted : join(folder, 'control.sock')
      const control = new ControlSocket({ socket, note, folder }, load, warn)
      await rm(note, { force: true })
      await rm(socket, { force: true })
      await control.#listen()
      return control
    } catch (fault) {
      warn(fault)
      return null
    }
  }

  get path(): string {
    return this.#socketPath
  }

  async #listen(): Promise<void> {
    await new Promise<void>((ready, fail) => {
      this.#server.once('error', fail)
      this.#server.listen(this.#socketPath, () => {
        this.#server.off('error', fail)
        ready()
      })
    })
    this.#server.on('error', this.#warn)
    // It must not keep a process alive that has nothing else to do.
    this.#server.unref()
    await chmod(this.#socketPath, 0o600)
    await writeFile(this.#notePath, `${JSON.stringify({ socket: this.#socketPath, pid: process.pid })}\n`, {
      mode: 0o600,
    })
  }

  async #welcome(socket: Socket): Promise<void> {
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
    socket.on('error', () => {})
    try {
      this.#taker ??= this.#load()
      const taker = await this.#taker
      if (this.#isClosed) return void socket.destroy()
      taker.take(socket)
      socket.resume()
    } catch (fault) {
      this.#taker = null
      socket.destroy()
      this.#warn(fault)
    }
  }

  /** Ends all connections, and takes the socket away. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    try {
      const taker = await this.#taker?.catch(() => null)
      const closed = new Promise<void>((done) => void this.#server.close(() => done()))
      await taker?.close()
      for (const socket of this.#sockets) socket.destroy()
      await closed
      await rm(this.#notePath, { force: true })
      await rm(this.#folder ?? this.#socketPath, { recursive: true, force: true })
    } catch (fault) {
      this.#warn(fault)
    }
  }
}
