// An FTP server of a few files that says exactly what it is told to: polite unless a test has it otherwise.

import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'

/** What a command is answered with: a text, or something done. `reply` sends a text. */
export type FtpAnswer =
  | string
  | ((said: { argument: string; socket: Socket; readonly reply: (text: string) => void }) => void)

export interface FtpScript {
  readonly greeting?: FtpAnswer
  readonly files?: Readonly<Record<string, string | Buffer>>
  /** Listings by the paths of directories; MLSD and LIST give the same. */
  readonly directories?: Readonly<Record<string, string>>
  /** Lines of FEAT. */
  readonly features?: readonly string[]
  /** Instead of what a polite server does, by command. */
  readonly answers?: Readonly<Record<string, FtpAnswer>>
  /** What comes over the data connection, instead of the file or listing. */
  readonly send?: (data: Socket, content: Buffer, control: Socket) => void
}

export class ScriptedFtp {
  readonly commands: string[] = []
  connectionCount = 0
  dataCount = 0
  readonly #server: Server
  readonly #script: FtpScript
  readonly #sockets = new Set<Socket>()
  readonly #dataServers = new Set<Server>()
  #wake: (() => void)[] = []

  private constructor(script: FtpScript) {
    this.#script = script
    this.#server = createServer((socket) => this.#serve(socket))
  }

  static async open(script: FtpScript = {}): Promise<ScriptedFtp> {
    const server = new ScriptedFtp(script)
    server.#server.listen(0, '127.0.0.1')
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
    for (const server of this.#dataServers) server.close()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #adopt(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      this.#sockets.delete(socket)
      this.#notify()
    })
    this.#notify()
  }

  #serve(socket: Socket): void {
    this.connectionCount++
    this.#adopt(socket)
    const { files = {}, directories = { '/': '' }, features = ['SIZE', 'MDTM', 'MLST type*;', 'EPSV'] } = this.#script
    let here = '/'
    let data: Promise<Socket> | null = null
    const reply = (text: string): void => void (socket.destroyed || socket.write(`${text}\r\n`, 'latin1'))
    const listen = (tell: (port: number) => string): void => {
      const server = createServer()
      this.#dataServers.add(server)
      data = new Promise((resolve) => {
        server.on('connection', (connection: Socket) => {
          this.dataCount++
          this.#adopt(connection)
          server.close()
          this.#dataServers.delete(server)
          resolve(connection)
        })
      })
      server.listen(0, '127.0.0.1', () => reply(tell((server.address() as AddressInfo).port)))
    }
    const transfer = (content: string | Buffer | undefined): void => {
      if (content === undefined) return reply('550 No such thing')
      reply('150 Here it comes')
      const bytes = typeof content === 'string' ? Buffer.from(content, 'latin1') : content
      void data?.then((connection) => {
        if (this.#script.send !== undefined) return this.#script.send(connection, bytes, socket)
        connection.end(bytes, () => reply('226 Done'))
      })
    }
    const isDirectory = (path: string): boolean => path in directories
    const polite: Record<string, (argument: string) => void> = {
      USER: () => reply('331 Who are you?'),
      PASS: () => reply('230-Welcome\r\n 230 is no end of this\r\n230 In'),
      TYPE: () => reply('200 Bytes'),
      FEAT: () => reply(`211-Features\r\n${features.map((line) => ` ${line}\r\n`).join('')}211 End`),
      PWD: () => reply(`257 "${here}" is where you are`),
      EPSV: () => listen((port) => `229 Entering (|||${port}|)`),
      // Another machine's address: whoever believes it goes astray.
      PASV: () => listen((port) => `227 Entering (192,0,2,99,${port >> 8},${port & 255})`),
      CWD: (argument) => {
        if (!isDirectory(argument)) return reply('550 No such directory')
        here = argument
        reply('250 There')
      },
      SIZE: (argument) => reply(argument in files ? `213 ${Buffer.from(files[argument] ?? '').length}` : '550 None'),
      MDTM: (argument) => reply(argument in files ? '213 20200102030405' : '550 None'),
      RETR: (argument) => transfer(files[argument]),
      MLSD: () => transfer(directories[here]),
      LIST: () => transfer(directories[here]),
      QUIT: () => reply('221 Bye'),
    }
    const answer = (given: FtpAnswer, argument: string): void =>
      typeof given === 'string' ? reply(given) : given({ argument, socket, reply })
    let pending = ''
    socket.on('data', (piece: Buffer) => {
      pending += piece.toString('latin1')
      for (let end = pending.indexOf('\r\n'); end !== -1; end = pending.indexOf('\r\n')) {
        const command = pending.slice(0, end)
        pending = pending.slice(end + 2)
        this.commands.push(command)
        const [verb = ''] = command.split(' ', 1)
        const argument = command.slice(verb.length + 1)
        const own = this.#script.answers?.[verb]
        if (own !== undefined) answer(own, argument)
        else if (polite[verb] === undefined) reply('502 What?')
        else polite[verb](argument)
        this.#notify()
      }
    })
    answer(this.#script.greeting ?? '220-Hello\r\n220 Ready', '')
  }

  #notify(): void {
    for (const wake of this.#wake.splice(0)) wake()
  }
}
