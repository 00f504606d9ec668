// A log as a stream of NATS: its places are the stream's sequence numbers, and an append states the last of them. That one
// check, on the whole stream, was never seen to let two writers win; the same on a subject was (docs/decisions/0037).

import { headers, nuid } from '@nats-io/transport-node'
import { assert, Fault } from '../base/index.ts'
import type { Appended, EngineLog, LogEntry } from './engine.ts'
import type { Layout } from './layout.ts'
import { checkSize } from './names.ts'
import { codeOf, type NatsLink, TryAgain, WRONG_LAST_SEQUENCE } from './nats-link.ts'
import { ID_HEADER, NatsStream } from './nats-stream.ts'

export class NatsLog implements EngineLog {
  readonly #link: NatsLink
  readonly #stream: NatsStream
  readonly #subject: string
  readonly #what: string

  private constructor(link: NatsLink, stream: NatsStream, subject: string, what: string) {
    this.#link = link
    this.#stream = stream
    this.#subject = subject
    this.#what = what
  }

  static async open(link: NatsLink, layout: Layout, name: string, replicas: number): Promise<NatsLog> {
    const { stream, subject } = layout.log(name)
    const what = `log ${name}`
    const opened = await NatsStream.open(link, what, {
      name: stream,
      subjects: [subject],
      num_replicas: replicas,
      allow_direct: true,
      deny_delete: true,
      // Nothing is to be known again by its id within minutes: our ids are read back.
      duplicate_window: 100_000_000,
    })
    return new NatsLog(link, opened, subject, what)
  }

  async append(bytes: Uint8Array, after: number): Promise<Appended> {
    checkSize(bytes)
    const id = nuid.next()
    let tries = 0
    return this.#link.ask(this.#what, async () => {
      // An earlier try may have arrived, though we heard nothing of it.
      const isDoubtful = tries++ > 0
      const head = headers()
      head.set(ID_HEADER, id)
      try {
        const { seq } = await this.#link.jetStream.publish(this.#subject, bytes, {
          headers: head,
          expect: { lastSequence: after, streamName: this.#stream.name },
        })
        assert(seq === after + 1, `${this.#what}: asked for the place after ${after}, told ${seq}`)
        return { kind: 'appended', at: seq }
      } catch (error) {
        if (codeOf(error) === WRONG_LAST_SEQUENCE) return this.#settle(id, after, isDoubtful)
        throw error
      }
    })
  }

  async last(): Promise<number> {
    return this.#stream.last()
  }

  async first(): Promise<number> {
    return (await this.#stream.first()) ?? (await this.#stream.last()) + 1
  }

  async *read(after: number): AsyncGenerator<LogEntry> {
    const last = await this.#stream.last()
    if (last <= after) return
    const first = await this.first()
    if (first > after + 1) {
      throw new Fault('LOG_TRIMMED', `${this.#what}: entries after ${after} are asked for, but it begins at ${first}`)
    }
    for await (const { at, bytes } of this.#stream.entries({ from: after + 1, to: last })) yield { at, bytes }
  }

  async trim(upTo: number): Promise<void> {
    const keepFrom = Math.min(upTo + 1, await this.#stream.last())
    if (keepFrom > (await this.first())) await this.#stream.dropBefore(keepFrom)
  }

  /** The place was taken when we asked for it: by an earlier try of ours, or by another. */
  async #settle(id: string, after: number, isDoubtful: boolean): Promise<Appended> {
    const there = await this.#stream.entry(after + 1)
    if (there?.id === id) return { kind: 'appended', at: after + 1 }
    const last = await this.#stream.last()
    if (there === null && last > after && isDoubtful) {
      throw new Fault(
        'LOG_TRIMMED',
        `${this.#what}: whether entry ${after + 1} is ours cannot be told, it is gone already`,
      )
    }
    // Refused, and yet the last entry is where we want to add: another's was under way that did not stay.
    if (last === after) throw new TryAgain('the place is free again')
    return { kind: 'refused', last }
  }
}
