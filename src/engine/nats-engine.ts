// The engine on NATS JetStream: one connection, a stream for each kind of memory and each log, plain messages for the rest.
//
// connectNats() refuses at once what would fail later: no JetStream, servers older than what was measured, messages too small.
// checkEngine() (check-engine.ts) looks closer and costs more.

import { type Engine, type EngineLog, type Objects, type Records, type ServiceInfo, type Stop } from './engine.ts'
import { type Layout, layoutOf } from './layout.ts'
import { checkName, checkPattern, checkSize } from './names.ts'
import { NatsBeats } from './nats-beats.ts'
import { connectLink, type EngineSettings, requireFitness } from './nats-connect.ts'
import type { NatsLink } from './nats-link.ts'
import { NatsLog } from './nats-log.ts'
import { NatsObjects } from './nats-objects.ts'
import { NatsRecords } from './nats-records.ts'
import { NatsServices } from './nats-services.ts'

/** Opens what a crawl has in the engine, or makes it. */
export async function connectNats(settings: EngineSettings): Promise<Engine> {
  const layout = layoutOf(settings.crawl)
  const link = await connectLink(settings)
  try {
    const replicas = await requireFitness(link, layout, settings.replicas ?? 'auto')
    const [records, beats, objects] = await Promise.all([
      NatsRecords.open(link, layout, replicas),
      NatsBeats.open(link, layout, replicas),
      NatsObjects.open(link, layout, replicas),
    ])
    // By nodes, which put; not by whoever only looks. Nobody waits for it, and the next one tries again.
    if (settings.node !== undefined) objects.sweep().catch(() => undefined)
    return new NatsEngine(link, layout, replicas, records, beats, objects)
  } catch (error) {
    await link.close()
    throw error
  }
}

class NatsEngine implements Engine {
  readonly records: Records
  readonly objects: Objects
  readonly #link: NatsLink
  readonly #layout: Layout
  readonly #replicas: number
  readonly #beats: NatsBeats
  readonly #services: NatsServices
  readonly #logs = new Map<string, Promise<EngineLog>>()
  readonly #stops = new Set<Stop>()

  constructor(
    link: NatsLink,
    layout: Layout,
    replicas: number,
    records: NatsRecords,
    beats: NatsBeats,
    objects: NatsObjects,
  ) {
    this.#link = link
    this.#layout = layout
    this.#replicas = replicas
    this.records = {
      create: async (name, value) => records.create(name, value),
      get: async (name) => records.get(name),
      list: async (prefix) => records.list(prefix),
      watch: async (prefix, hear) => this.#stopOnce(await records.watch(prefix, hear)),
    }
    this.objects = objects
    this.#beats = beats
    this.#services = new NatsServices(link, layout)
  }

  get isConnected(): boolean {
    return this.#link.isConnected
  }

  async log(name: string): Promise<EngineLog> {
    checkName(name)
    let opening = this.#logs.get(name)
    if (opening === undefined) {
      opening = NatsLog.open(this.#link, this.#layout, name, this.#replicas)
      this.#logs.set(name, opening)
      // What could not be opened is tried anew by the next who asks.
      opening.catch(() => this.#logs.delete(name))
    }
    return opening
  }

  async beat(name: string, value: Uint8Array, withinMs: number): Promise<void> {
    await this.#beats.beat(name, value, withinMs)
  }

  async lastBeat(name: string): Promise<Uint8Array | null> {
    return this.#beats.last(name)
  }

  async watchBeats(hear: (name: string, value: Uint8Array, isPast: boolean) => void): Promise<Stop> {
    return this.#stopOnce(await this.#beats.watch(hear))
  }

  publish(subject: string, bytes: Uint8Array): void {
    checkName(subject)
    checkSize(bytes)
    // The library would keep it until the connection is there again, however many there are.
    if (!this.#link.isConnected || this.#link.connection.isClosed() || this.#link.connection.isDraining()) return
    this.#link.connection.publish(this.#layout.message(subject), bytes)
  }

  subscribe(subject: string, hear: (bytes: Uint8Array, subject: string) => void): Stop {
    checkPattern(subject)
    const start = this.#layout.message('').length
    const subscription = this.#link.connection.subscribe(this.#layout.message(subject), {
      callback: (error, message) => {
        if (error === null) hear(message.data, message.subject.slice(start))
      },
    })
    return this.#stopOnce(() => subscription.unsubscribe())
  }

  async serve(info: ServiceInfo, handler: (question: Uint8Array) => Promise<Uint8Array>): Promise<Stop> {
    return this.#stopOnce(await this.#services.serve(info, handler))
  }

  async call(kind: string, name: string, question: Uint8Array, withinMs: number): Promise<Uint8Array> {
    return this.#services.call(kind, name, question, withinMs)
  }

  async discover(kind: string, withinMs: number): Promise<readonly ServiceInfo[]> {
    return this.#services.discover(kind, withinMs)
  }

  onConnection(listener: (isConnected: boolean) => void): Stop {
    return this.#stopOnce(this.#link.onConnection(listener))
  }

  async close(): Promise<void> {
    for (const stop of [...this.#stops]) stop()
    await this.#link.close()
  }

  #stopOnce(stop: Stop): Stop {
    const once = (): void => {
      if (!this.#stops.delete(once) || this.#link.connection.isClosed()) return
      stop()
    }
    this.#stops.add(once)
    return once
  }
}
