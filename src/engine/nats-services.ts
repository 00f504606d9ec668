// Questions and answers between nodes, as NATS calls services: whoever runs `nats micro ls` sees the nodes, their versions and
// how often each was asked. Written here (ADR-32 of NATS) because the library for it is not released yet, and it is short.
//
//   $SRV.PING|INFO|STATS[.<service>[.<id>]]    answered by every service that is meant
//   portolan.<crawl>.call.<kind>.<name>        the question itself; of two with one name, one answers

import { errors, headers, type Msg, type NatsConnection, nuid } from '@nats-io/transport-node'
import { Fault, systemClock } from '../base/index.ts'
import type { ServiceInfo, Stop } from './engine.ts'
import type { Layout } from './layout.ts'
import { checkName, checkSize } from './names.ts'
import type { NatsLink } from './nats-link.ts'

const ERROR_HEADER = 'Nats-Service-Error'
const ERROR_CODE_HEADER = 'Nats-Service-Error-Code'
/** Questions of one service that are answered at once; more are told that it is busy. */
const ANSWERS_MAX = 256
const VERBS = ['PING', 'INFO', 'STATS'] as const
const NANOSECONDS = 1e6

interface SaidOfItself {
  readonly name?: string
  readonly version?: string
  readonly metadata?: Readonly<Record<string, string>>
}

export class NatsServices {
  readonly #link: NatsLink
  readonly #layout: Layout

  constructor(link: NatsLink, layout: Layout) {
    this.#link = link
    this.#layout = layout
  }

  async serve(info: ServiceInfo, handler: (question: Uint8Array) => Promise<Uint8Array>): Promise<Stop> {
    checkName(info.kind)
    checkName(info.name)
    const { connection } = this.#link
    const subject = this.#layout.call(info.kind, info.name)
    const self = {
      name: this.#layout.service(info.kind),
      id: nuid.next(),
      version: info.version,
      metadata: { crawl: this.#layout.crawl, kind: info.kind, name: info.name },
    }
    const started = new Date(systemClock.wallMs()).toISOString()
    const figures = { num_requests: 0, num_errors: 0, last_error: '', processing_time: 0, average_processing_time: 0 }
    const endpoint = { name: info.kind, subject, queue_group: 'q' }
    const say = {
      PING: () => ({ type: 'io.nats.micro.v1.ping_response', ...self }),
      INFO: () => ({
        type: 'io.nats.micro.v1.info_response',
        ...self,
        description: `Portolan ${info.kind} ${info.name} of crawl ${this.#layout.crawl}`,
        endpoints: [{ ...endpoint, metadata: {} }],
      }),
      STATS: () => ({
        type: 'io.nats.micro.v1.stats_response',
        ...self,
        started,
        endpoints: [{ ...endpoint, ...figures }],
      }),
    }
    let running = 0
    const answer = async (question: Uint8Array): Promise<Uint8Array> => {
      if (running >= ANSWERS_MAX) throw new Error(`busy with ${ANSWERS_MAX} questions`)
      running++
      const startMs = systemClock.nowMs()
      try {
        const bytes = await handler(question)
        checkSize(bytes)
        return bytes
      } finally {
        running--
        figures.processing_time += Math.round((systemClock.nowMs() - startMs) * NANOSECONDS)
        figures.average_processing_time = Math.round(figures.processing_time / figures.num_requests)
      }
    }
    const hear = (message: Msg): void => {
      figures.num_requests++
      answer(message.data).then(
        (bytes) => respond(connection, message, bytes),
        (error: unknown) => {
          figures.num_errors++
          figures.last_error = error instanceof Error ? error.message : String(error)
          respond(connection, message, null, figures.last_error)
        },
      )
    }
    const subscriptions = VERBS.flatMap((verb) =>
      ['', `.${self.name}`, `.${self.name}.${self.id}`].map((which) =>
        connection.subscribe(`$SRV.${verb}${which}`, {
          callback: (error, message) => {
            if (error === null) respond(connection, message, Buffer.from(JSON.stringify(say[verb]())))
          },
        }),
      ),
    )
    subscriptions.push(
      connection.subscribe(subject, {
        queue: 'q',
        callback: (error, message) => (error === null ? hear(message) : undefined),
      }),
    )
    const stop = (): void => {
      for (const subscription of subscriptions) subscription.unsubscribe()
    }
    try {
      // Known to the server, not only on its way there.
      await this.#link.ask(`service ${info.name}`, async () => connection.flush())
    } catch (error) {
      stop()
      throw error
    }
    return stop
  }

  async call(kind: string, name: string, question: Uint8Array, withinMs: number): Promise<Uint8Array> {
    checkName(kind)
    checkName(name)
    checkSize(question)
    const what = `${kind} ${name}`
    let reply: Msg
    try {
      if (!this.#link.isConnected) throw new Error('the engine is not reachable')
      reply = await this.#link.connection.request(this.#layout.call(kind, name), question, { timeout: withinMs })
    } catch (error) {
      const isNobody = error instanceof errors.RequestError && error.isNoResponders()
      const why = isNobody ? 'is not there' : `did not answer within ${withinMs} ms (${(error as Error).message})`
      throw new Fault('CALL_UNANSWERED', `${what} ${why}`, error)
    }
    if (reply.headers?.has(ERROR_CODE_HEADER) === true) {
      throw new Fault('CALL_FAILED', `${what}: ${reply.headers.get(ERROR_HEADER)}`)
    }
    return reply.data
  }

  async discover(kind: string, withinMs: number): Promise<readonly ServiceInfo[]> {
    const found: ServiceInfo[] = []
    try {
      const answers = await this.#link.connection.requestMany(`$SRV.PING.${this.#layout.service(kind)}`, '', {
        strategy: 'timer',
        maxWait: withinMs,
      })
      for await (const message of answers) {
        const { version = '', metadata = {} } = message.json<SaidOfItself>()
        if (metadata['kind'] === kind) found.push({ kind, name: metadata['name'] ?? '', version })
      }
    } catch {
      // Nobody, or the engine is away: those who answered.
    }
    return found
  }
}

function respond(connection: NatsConnection, message: Msg, bytes: Uint8Array | null, failure = ''): void {
  // Whoever asked hears nothing then, and says so.
  if (connection.isClosed() || connection.isDraining()) return
  if (bytes !== null) {
    message.respond(bytes)
    return
  }
  const head = headers()
  head.set(ERROR_HEADER, failure.replaceAll(/[\r\n]+/g, ' ').slice(0, 1_000))
  head.set(ERROR_CODE_HEADER, '500')
  message.respond(new Uint8Array(), { headers: head })
}
