// The name server of the test web: UDP, and TCP on the same port for answers that were truncated.

import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { createServer, type Server, type Socket } from 'node:net'
import type { Clock, ClockMs } from '../../src/base/index.ts'
import { type HostTable, ODD_DOMAIN } from '../content/host.ts'
import { CODE, type Question, readQuestion, type Reply, TYPE, writeReply } from './message.ts'
import { type Oddity, oddityOf } from './oddities.ts'

/** UDP and TCP must share a port that the system chose for one of them; another is tried if it is taken. */
const PORT_TRIES = 20

export class DnsServer {
  readonly address = '127.0.0.1'
  readonly port: number
  readonly #udp: UdpSocket
  readonly #tcp: Server
  readonly #connections = new Set<Socket>()
  readonly #hosts: () => HostTable
  readonly #ttlS: number
  readonly #clock: Clock
  /** Questions per name and type. */
  readonly #asked = new Map<string, number>()
  readonly #timers = new Set<() => void>()

  private constructor(udp: UdpSocket, tcp: Server, hosts: () => HostTable, ttlS: number, clock: Clock) {
    this.#udp = udp
    this.#tcp = tcp
    this.#hosts = hosts
    this.#ttlS = ttlS
    this.#clock = clock
    this.port = udp.address().port
    udp.on('message', (message, peer) => {
      this.#reply(message, true, (bytes) => udp.send(bytes, peer.port, peer.address))
    })
    tcp.on('connection', (socket) => this.#serve(socket))
  }

  static async open(hosts: () => HostTable, ttlS: number, clock: Clock): Promise<DnsServer> {
    for (let tries = 1; ; tries++) {
      const udp = createSocket('udp4')
      const tcp = createServer()
      await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve))
      const isBound = await new Promise<boolean>((resolve, reject) => {
        tcp.once('error', (cause: NodeJS.ErrnoException) => {
          if (cause.code === 'EADDRINUSE' && tries < PORT_TRIES) resolve(false)
          else reject(cause)
        })
        tcp.listen(udp.address().port, '127.0.0.1', () => resolve(true))
      })
      if (isBound) return new DnsServer(udp, tcp, hosts, ttlS, clock)
      await new Promise<void>((resolve) => udp.close(() => resolve()))
    }
  }

  /** How often a name was asked for, by type. */
  queries(name: string, type: 'A' | 'AAAA' = 'A'): number {
    return this.#asked.get(`${name} ${TYPE[type]}`) ?? 0
  }

  async close(): Promise<void> {
    for (const cancel of this.#timers) cancel()
    for (const socket of this.#connections) socket.destroy()
    await Promise.all([
      new Promise<void>((resolve) => this.#udp.close(() => resolve())),
      new Promise<void>((resolve) => this.#tcp.close(() => resolve())),
    ])
  }

  #serve(socket: Socket): void {
    this.#connections.add(socket)
    socket.on('close', () => this.#connections.delete(socket))
    socket.on('error', () => socket.destroy())
    let pending = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      pending = Buffer.concat([pending, chunk])
      while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
        const end = 2 + pending.readUInt16BE(0)
        this.#reply(pending.subarray(2, end), false, (bytes) => {
          const length = Buffer.alloc(2)
          length.writeUInt16BE(bytes.length)
          socket.write(Buffer.concat([length, bytes]))
        })
        pending = pending.subarray(end)
      }
    })
  }

  #reply(message: Buffer, isUdp: boolean, send: (bytes: Buffer) => void): void {
    const question = readQuestion(message)
    if (question === null) return
    const key = `${question.name} ${question.type}`
    const count = this.#asked.get(key) ?? 0
    this.#asked.set(key, count + 1)
    const oddity = this.#lookUp(question, count)
    const bytes = writeReply(question, replyOf(question, oddity, isUdp))
    if (oddity.delayMs === 0) send(bytes)
    else if (oddity.delayMs < Number.POSITIVE_INFINITY) this.#later(oddity.delayMs, () => send(bytes))
  }

  #lookUp(question: Question, count: number): Oddity {
    if (question.name.endsWith(`.${ODD_DOMAIN}`)) return oddityOf(question.name, count)
    const host = this.#hosts().find(question.name)
    const ordinary = { ttlS: this.#ttlS, delayMs: 0, isTruncatedOverUdp: false }
    if (host === null) return { ...ordinary, code: CODE.noName, data: [] }
    return { ...ordinary, code: CODE.ok, data: [{ type: 'A', address: host.ip }] }
  }

  #later(delayMs: number, act: () => void): void {
    const cancel = this.#clock.callAt((this.#clock.nowMs() + delayMs) as ClockMs, () => {
      this.#timers.delete(cancel)
      act()
    })
    this.#timers.add(cancel)
  }
}

function replyOf(question: Question, oddity: Oddity, isUdp: boolean): Reply {
  // The owner of a record after a CNAME is the alias's target.
  let name = question.name
  const answers = []
  for (const data of oddity.data) {
    if (data.type === 'CNAME' || TYPE[data.type] === question.type) answers.push({ name, ttlS: oddity.ttlS, data })
    if (data.type === 'CNAME') name = data.target
  }
  return {
    code: oddity.code,
    answers,
    isTruncated: isUdp && oddity.isTruncatedOverUdp,
    negativeTtlS: answers.length === 0 && (oddity.code === CODE.ok || oddity.code === CODE.noName) ? oddity.ttlS : null,
  }
}
