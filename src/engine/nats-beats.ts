// Signs of life: published to a stream that keeps the last of each name, heard by everybody as plain messages on their way
// there. One that was heard and not kept only makes its observers wait longer; its sender hears that it was not acknowledged.

import { headers, type Msg, nuid } from '@nats-io/transport-node'
import type { Stop } from './engine.ts'
import type { Layout } from './layout.ts'
import { checkName, checkSize } from './names.ts'
import type { NatsLink } from './nats-link.ts'
import { ID_HEADER, NatsStream } from './nats-stream.ts'

/** Names the engine remembers; the longest silent is forgotten first. */
const BEAT_NAMES_MAX = 10_000

type Hear = (name: string, value: Uint8Array, isPast: boolean) => void

export class NatsBeats {
  readonly #link: NatsLink
  readonly #layout: Layout
  readonly #stream: NatsStream
  /** This client and its beats, so that one which comes twice, or late, is known. */
  readonly #id = nuid.next()
  #count = 0

  private constructor(link: NatsLink, layout: Layout, stream: NatsStream) {
    this.#link = link
    this.#layout = layout
    this.#stream = stream
  }

  static async open(link: NatsLink, layout: Layout, replicas: number): Promise<NatsBeats> {
    const { stream, all } = layout.beats
    const opened = await NatsStream.open(link, 'beats', {
      name: stream,
      subjects: [all],
      num_replicas: replicas,
      max_msgs_per_subject: 1,
      max_msgs: BEAT_NAMES_MAX,
      allow_direct: false,
    })
    return new NatsBeats(link, layout, opened)
  }

  async beat(name: string, value: Uint8Array, withinMs: number): Promise<void> {
    checkName(name)
    checkSize(value)
    await this.#link.ask(
      `beat of ${name}`,
      async () => {
        const head = headers()
        head.set(ID_HEADER, `${this.#id}.${++this.#count}`)
        await this.#link.jetStream.publish(this.#layout.beats.subject(name), value, {
          headers: head,
          timeout: withinMs,
        })
      },
      withinMs,
    )
  }

  /** Asked of who leads the stream: never an older one than was acknowledged. */
  async last(name: string): Promise<Uint8Array | null> {
    checkName(name)
    return (await this.#stream.lastOf(this.#layout.beats.subject(name)))?.bytes ?? null
  }

  async watch(hear: Hear): Promise<Stop> {
    const { beats } = this.#layout
    /** The newest beat told of each name, as `sender.number`. */
    const told = new Map<string, string>()
    let isStopped = false
    /** Those that come while the past is read; null afterwards. */
    let early: Msg[] | null = []
    const tell = (subject: string, value: Uint8Array, id: string, isPast: boolean): void => {
      const name = subject.slice(beats.subject('').length)
      if (isStopped || isNotNewer(id, told.get(name))) return
      if (!told.has(name) && told.size >= BEAT_NAMES_MAX) told.clear()
      told.set(name, id)
      hear(name, value, isPast)
    }
    const hearNow = (message: Msg): void =>
      tell(message.subject, message.data, message.headers?.get(ID_HEADER) ?? '', false)
    const subscription = this.#link.connection.subscribe(beats.all, {
      callback: (error, message) => {
        if (error !== null) return
        if (early === null) hearNow(message)
        else early.push(message)
      },
    })
    const tellKept = async (isPast: boolean): Promise<void> => {
      for await (const entry of this.#stream.walk(beats.all)) tell(entry.subject, entry.bytes, entry.id, isPast)
    }
    const forget = this.#link.onConnection((isConnected) => {
      // What cannot be read now is told by the next beat of its sender.
      if (isConnected) tellKept(false).catch(() => undefined)
    })
    const stop = (): void => {
      isStopped = true
      forget()
      subscription.unsubscribe()
    }
    try {
      await this.#link.ask('beats', async () => this.#link.connection.flush())
      await tellKept(true)
    } catch (error) {
      stop()
      throw error
    }
    const waiting = early
    early = null
    for (const message of waiting) hearNow(message)
    return stop
  }
}

/** Of one sender, whether this one is the told one or an earlier one; of another sender, never. */
function isNotNewer(id: string, told: string | undefined): boolean {
  if (told === undefined) return false
  const [sender, number] = id.split('.')
  const [toldSender, toldNumber] = told.split('.')
  return sender === toldSender && Number(number) <= Number(toldNumber)
}
