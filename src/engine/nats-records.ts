// Records as a stream of NATS: one message each, created where its subject has none, never deleted. So the stream's numbers are
// the order of creation, and watching is reading on. Should the check on the subject ever let two through (it is the check that
// races for changes; for what is new it was never seen to), the first in the stream is the record, and the second hears so.
//
// How watchers learn of news: whoever creates says so in a plain message, and in case that is lost,
// watchers look by themselves now and then. No consumer of JetStream is needed, hence none is lost with a server.

import { DiscardPolicy } from '@nats-io/jetstream'
import { headers, nuid } from '@nats-io/transport-node'
import { type ClockMs, systemClock } from '../base/index.ts'
import type { EngineRecord, Records, Stop } from './engine.ts'
import type { Layout } from './layout.ts'
import { checkName, checkSize, hasPrefix } from './names.ts'
import { codeOf, type NatsLink, TryAgain, WRONG_LAST_SEQUENCE } from './nats-link.ts'
import { ID_HEADER, NatsStream, type StoredEntry } from './nats-stream.ts'

/** How often a watcher looks by itself. */
const LOOK_EVERY_MS = 2_000
/** Of a crawl, from its beginning; ENGINE_FULL beyond. */
const RECORDS_MAX = 100_000

export class NatsRecords implements Records {
  readonly #link: NatsLink
  readonly #layout: Layout
  readonly #stream: NatsStream

  private constructor(link: NatsLink, layout: Layout, stream: NatsStream) {
    this.#link = link
    this.#layout = layout
    this.#stream = stream
  }

  static async open(link: NatsLink, layout: Layout, replicas: number): Promise<NatsRecords> {
    const { stream, all } = layout.records
    const opened = await NatsStream.open(link, 'records', {
      name: stream,
      subjects: [all],
      num_replicas: replicas,
      max_msgs: RECORDS_MAX,
      discard: DiscardPolicy.New,
      allow_direct: true,
      deny_delete: true,
      deny_purge: true,
    })
    return new NatsRecords(link, layout, opened)
  }

  async create(name: string, value: Uint8Array): Promise<'created' | 'exists'> {
    checkName(name)
    checkSize(value)
    const id = nuid.next()
    const subject = this.#layout.records.subject(name)
    const answer = await this.#link.ask(`record ${name}`, async () => {
      const head = headers()
      head.set(ID_HEADER, id)
      try {
        await this.#link.jetStream.publish(subject, value, {
          headers: head,
          expect: { lastSubjectSequence: 0, streamName: this.#stream.name },
        })
      } catch (error) {
        if (codeOf(error) !== WRONG_LAST_SEQUENCE) throw error
      }
      // Ours now, or by an earlier try whose answer was lost; or another's.
      const first = await this.#stream.firstOf(subject)
      if (first === null) throw new TryAgain('neither ours nor another is there')
      return first.id === id ? ('created' as const) : ('exists' as const)
    })
    if (answer === 'created' && this.#link.isConnected) this.#link.connection.publish(this.#layout.news)
    return answer
  }

  async get(name: string): Promise<Uint8Array | null> {
    checkName(name)
    return (await this.#stream.firstOf(this.#layout.records.subject(name)))?.bytes ?? null
  }

  async list(prefix: string): Promise<readonly EngineRecord[]> {
    if (prefix !== '') checkName(prefix)
    const last = await this.#stream.last()
    const found = new Map<string, EngineRecord>()
    for await (const entry of this.#stream.entries({ from: 1, to: last })) {
      const record = this.#recordOf(entry)
      if (hasPrefix(record.name, prefix) && !found.has(record.name)) found.set(record.name, record)
    }
    return [...found.values()]
  }

  async watch(prefix: string, hear: (record: EngineRecord) => void): Promise<Stop> {
    if (prefix !== '') checkName(prefix)
    let told = 0
    const names = new Set<string>()
    let isStopped = false
    let isLooking = false
    let isNews = false
    const tell = (entry: StoredEntry): void => {
      told = entry.at
      const record = this.#recordOf(entry)
      if (isStopped || !hasPrefix(record.name, prefix) || names.has(record.name)) return
      names.add(record.name)
      hear(record)
    }
    const readOn = async (): Promise<void> => {
      const last = await this.#stream.last()
      // An engine that lost its newest records has new ones at their places.
      told = Math.min(told, last)
      for await (const entry of this.#stream.entries({ from: told + 1, to: last })) tell(entry)
    }
    const look = async (): Promise<void> => {
      isNews = true
      if (isLooking) return
      isLooking = true
      try {
        for (; isNews; await readOn()) isNews = false
      } catch {
        // Not reachable: looked for again when the connection is there, and by the clock.
      } finally {
        isLooking = false
      }
    }
    const news = this.#link.connection.subscribe(this.#layout.news, { callback: () => void look() })
    const forget = this.#link.onConnection((isConnected) => {
      if (isConnected) void look()
    })
    let cancel = (): void => undefined
    const lookLater = (): void => {
      cancel = systemClock.callAt((systemClock.nowMs() + LOOK_EVERY_MS) as ClockMs, () => {
        if (this.#link.isConnected) void look()
        lookLater()
      })
    }
    const stop = (): void => {
      isStopped = true
      cancel()
      forget()
      news.unsubscribe()
    }
    try {
      isLooking = true
      await this.#link.ask('records', async () => this.#link.connection.flush())
      await readOn()
    } catch (error) {
      stop()
      throw error
    }
    isLooking = false
    lookLater()
    if (isNews) void look()
    return stop
  }

  #recordOf({ subject, bytes }: StoredEntry): EngineRecord {
    return { name: subject.slice(this.#layout.records.subject('').length), value: bytes }
  }
}
