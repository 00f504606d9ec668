// One stream of NATS, as little of it as is needed: open it or make it, where it begins and ends, an entry by its place.

import {
  type MsgRequest,
  type NextMsgRequest,
  StorageType,
  type StoredMsg,
  type StreamConfig,
} from '@nats-io/jetstream'
import { Fault } from '../base/index.ts'
import type { LogEntry } from './engine.ts'
import { codeOf, type NatsLink, STREAM_NOT_FOUND, TryAgain } from './nats-link.ts'

/** Entries that are asked for before the first of them is taken: memory at most this often ENTRY_BYTES_MAX. */
const READ_AHEAD = 16
/** JetStream's answer when another has made the stream with other settings meanwhile. */
const NAME_IN_USE = 10_058

/** Who wrote an entry, and which of its entries it is: how a writer knows its own again. */
export const ID_HEADER = 'Portolan-Id'

export interface StreamSpan {
  readonly first: number
  readonly last: number
}

export interface StoredEntry extends LogEntry {
  readonly subject: string
  /** When the server took it, by its clock, in milliseconds since 1970. */
  readonly wallMs: number
  readonly id: string
}

export class NatsStream {
  readonly name: string
  readonly #link: NatsLink
  readonly #what: string

  private constructor(link: NatsLink, name: string, what: string) {
    this.#link = link
    this.name = name
    this.#what = what
  }

  /** Opens it, or makes it as stated. One that is there stays as it is. */
  static async open(
    link: NatsLink,
    what: string,
    config: Partial<StreamConfig> & { readonly name: string; readonly subjects: string[] },
  ): Promise<NatsStream> {
    await link.ask(what, async () => {
      try {
        await link.manager.streams.info(config.name)
        return
      } catch (error) {
        if (codeOf(error) !== STREAM_NOT_FOUND) throw error
      }
      try {
        await link.manager.streams.add({ storage: StorageType.File, ...config })
      } catch (error) {
        // Made by another meanwhile: it is found in the next try.
        if (codeOf(error) === NAME_IN_USE) throw new TryAgain('made by another')
        throw error
      }
    })
    return new NatsStream(link, config.name, what)
  }

  /** As the leader of the stream knows it. `first` is `last` + 1 where nothing is left. */
  async span(): Promise<StreamSpan> {
    return this.#link.ask(this.#what, async () => this.#spanNow())
  }

  /** Inside of a question that is asked again by itself. */
  async #spanNow(): Promise<StreamSpan> {
    const { state } = await this.#link.manager.streams.info(this.name)
    return { first: state.messages === 0 ? state.last_seq + 1 : state.first_seq, last: state.last_seq }
  }

  /** The entry at this place, as the leader of the stream knows it; null where there is none. */
  async entry(at: number): Promise<StoredEntry | null> {
    return this.#link.ask(this.#what, async () => {
      const found = await this.#link.manager.streams.getMessage(this.name, { seq: at })
      return found === null ? null : entryOf(found)
    })
  }

  async lastOf(subject: string): Promise<StoredEntry | null> {
    return this.#link.ask(this.#what, async () => {
      const found = await this.#link.manager.streams.getMessage(this.name, { last_by_subj: subject })
      return found === null ? null : entryOf(found)
    })
  }

  /** The first of a subject that is still there. */
  async firstOf(subject: string): Promise<StoredEntry | null> {
    return this.#link.ask(this.#what, async () => {
      // The types of the library know this question for direct reads only; servers since 2.9 answer it here too.
      const query: MsgRequest & NextMsgRequest = { seq: 1, next_by_subj: subject }
      const found = await this.#link.manager.streams.getMessage(this.name, query)
      return found === null ? null : entryOf(found)
    })
  }

  /** Entries of these places, each asked for before it is taken. Fails with LOG_TRIMMED where one is gone. */
  async *entries(
    places: readonly number[] | { readonly from: number; readonly to: number },
  ): AsyncGenerator<StoredEntry> {
    const count = 'from' in places ? places.to - places.from + 1 : places.length
    const placeAt = (index: number): number => ('from' in places ? places.from + index : (places[index] ?? 0))
    const ahead: Promise<StoredEntry>[] = []
    for (let asked = 0, taken = 0; taken < count; taken++) {
      while (asked < count && ahead.length < READ_AHEAD) {
        const asking = this.#known(placeAt(asked++))
        // Whoever stops in the middle does not wait for these.
        asking.catch(() => undefined)
        ahead.push(asking)
      }
      yield (await ahead.shift()) as StoredEntry
    }
  }

  /** Where messages of a subject stand whose names are known to the stream. */
  async subjects(filter: string): Promise<string[]> {
    return this.#link.ask(this.#what, async () => {
      const { state } = await this.#link.manager.streams.info(this.name, { subjects_filter: filter })
      return Object.keys(state.subjects ?? {})
    })
  }

  /** Entries before this place go. */
  async dropBefore(place: number): Promise<void> {
    // 2.9 takes a place of 1 (nothing is before it) for "everything".
    if (place <= 1) return
    await this.#link.ask(this.#what, async () => this.#link.manager.streams.purge(this.name, { seq: place }))
  }

  async dropSubject(subject: string): Promise<void> {
    await this.#link.ask(this.#what, async () => this.#link.manager.streams.purge(this.name, { filter: subject }))
  }

  /**
   * An entry of which it is known that it was there. Any replica may give it: entries never change, and one that has not got it
   * yet says so. That costs half of asking the leader, which packs it in base64.
   */
  async #known(at: number): Promise<StoredEntry> {
    return this.#link.ask(this.#what, async () => {
      const found =
        (await this.#link.manager.direct.getMessage(this.name, { seq: at }).catch(() => null)) ??
        (await this.#link.manager.streams.getMessage(this.name, { seq: at }))
      if (found !== null) return entryOf(found)
      const { first } = await this.#spanNow()
      if (first > at)
        throw new Fault('LOG_TRIMMED', `${this.#what}: entry ${at} is asked for, but it begins at ${first}`)
      throw new TryAgain(`entry ${at} is not there yet`)
    })
  }
}

function entryOf(message: Pick<StoredMsg, 'seq' | 'data' | 'subject' | 'header' | 'timestamp'>): StoredEntry {
  return {
    at: message.seq,
    bytes: message.data,
    subject: message.subject,
    wallMs: Date.parse(message.timestamp),
    id: message.header?.get(ID_HEADER) ?? '',
  }
}
