// What a memory engine keeps: the same memory as NATS keeps, without servers. Everything here happens at once and whole;
// who may reach it, and when, is the business of its clients. Bytes are copied on their way in and out (`slice` of a Buffer is none).

import { Fault } from '../base/index.ts'
import type { Appended, EngineRecord, LogEntry } from './engine.ts'

interface StoredLog {
  /** Those that are still there; the last one always is. */
  entries: LogEntry[]
  last: number
}

export class MemoryStore {
  /** In the order of their creation. */
  readonly records: EngineRecord[] = []
  readonly #recordNames = new Map<string, EngineRecord>()
  readonly #logs = new Map<string, StoredLog>()
  /** The last beat of each name, and its number among all. */
  readonly beats = new Map<string, { readonly value: Uint8Array; readonly number: number }>()
  beatsCount = 0
  readonly objects = new Map<string, Uint8Array>()

  create(name: string, value: Uint8Array): 'created' | 'exists' {
    if (this.#recordNames.has(name)) return 'exists'
    const record = { name, value: Uint8Array.from(value) }
    this.#recordNames.set(name, record)
    this.records.push(record)
    return 'created'
  }

  record(name: string): Uint8Array | null {
    const record = this.#recordNames.get(name)
    return record === undefined ? null : Uint8Array.from(record.value)
  }

  log(name: string): StoredLog {
    let log = this.#logs.get(name)
    if (log === undefined) this.#logs.set(name, (log = { entries: [], last: 0 }))
    return log
  }

  append(name: string, bytes: Uint8Array, after: number): Appended {
    const log = this.log(name)
    if (log.last !== after) return { kind: 'refused', last: log.last }
    log.last = after + 1
    log.entries.push({ at: log.last, bytes: Uint8Array.from(bytes) })
    return { kind: 'appended', at: log.last }
  }

  firstOf(name: string): number {
    const log = this.log(name)
    return log.entries[0]?.at ?? log.last + 1
  }

  /** The entries after this place; refused where they begin later. */
  read(name: string, after: number): LogEntry[] {
    const first = this.firstOf(name)
    if (after + 1 < first && this.log(name).last > after) {
      throw new Fault('LOG_TRIMMED', `log ${name}: entries after ${after} are asked for, but it begins at ${first}`)
    }
    return this.log(name).entries.filter(({ at }) => at > after)
  }

  trim(name: string, upTo: number): void {
    const log = this.log(name)
    log.entries = log.entries.filter(({ at }) => at > upTo || at === log.last)
  }

  /** What an engine does that lost its disk: the last entries are gone, though they were acknowledged. */
  forgetTail(name: string, count: number): void {
    const log = this.log(name)
    log.entries.splice(Math.max(0, log.entries.length - count))
    log.last = Math.max(0, log.last - count)
  }

  beat(name: string, value: Uint8Array): void {
    this.beats.set(name, { value: Uint8Array.from(value), number: ++this.beatsCount })
  }
}
