// One stream of NATS, as little of it as is needed: open it or make it, where it begins and ends, an entry by its place.
//
// Where a stream begins and ends is asked for by its first and last entry, not by its state: for a second after a server was
// started again, that server answers for the state of streams it does not lead, from before (seen in every one of 12 restarts;
// docs/decisions/0037). An entry is handed out by the leader only.

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
  /** All that is in it. */
  readonly #subject: string

  private constructor(link: NatsLink, name: string, subject: string, what: string) {
    this.#link = link
    this.name = name
    this.#subject = subject
    this.#what = what
  }

  /** Opens it, or makes it as stated. One that is there stays as it is. */
  static async open(
    link: NatsLink,
    what: string,
    config: Partial<StreamConfig> & { readonly name: string; readonly subjects: [string] },
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
        // Being made by another: it is found in the next try.
        if ([NAME_IN_USE, STREAM_NOT_FOUND].includes(codeOf(error))) throw new TryAgain('made by another')
        throw error
      }
    })
    return new NatsStream(link, config.name, config.subjects[0], what)
  }

  /** The place of the last entry, 0 where there is none. */
  async last(): Promise<number> {
    return (await this.lastOf(this.#subject))?.at ?? 0
  }

  /** The place of the first entry that is still there; null where there is none. */
  async first(): Promise<number | null> {
    return (await this.firstOf(this.#subject))?.at ?? null
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

  /** The first of a subject that is still there, at this place or after it. */
  async firstOf(subject: string, from = 1): Promise<StoredEntry | null> {
    return this.#link.ask(this.#what, async () => {
      // The types of the library know this question for direct reads only; servers since 2.9 answer it here too.
      const query: MsgRequest & NextMsgRequest = { seq: from, next_by_subj: subject }
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

  /** All of a subject, one after the other. For few and small ones. */
  async *walk(subject: string): AsyncGenerator<StoredEntry> {
    let entry = await this.firstOf(subject)
    while (entry !== null) {
      yield entry
      entry = await this.firstOf(subject, entry.at + 1)
    }
  }

  /** Subjects in it, as a server knows them that may be behind. */
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
      throw new Fault('LOG_TRIMMED', `${this.#what}: entry ${at} is gone`)
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
