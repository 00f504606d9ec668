// Brings back what lies on disk: records of hosts and what was added to them, the next URLs of their lines, pages of hosts in line. Many
// at once, in the order lines, records, pages: a host at hand that runs dry is the most urgent.

import type { HostKey } from '../url/index.ts'
import { Breather } from './breather.ts'
import type { DiskHost } from './disk-host.ts'
import { EntryBlock } from './entry-block.ts'
import type { FrontierEntry } from './frontier.ts'
import { addendumKey, blockKey, type GuardedStore, hostKey, pageKey, type StoredHost } from './guarded-store.ts'
import { decodePage, type HostPage } from './host-queue.ts'
import { decodeHost, type HostOnDisk } from './host-record.ts'
import type { Segment } from './segment.ts'

const REQUESTS_AT_ONCE = 64
/** Of a host to whose record nobody knows how much was added, so many values are asked for first, and so many times as many each time. */
const SEARCHED_FIRST = 2
const SEARCHED_MORE = 4

interface Request {
  readonly keys: readonly string[]
  readonly apply: (values: readonly (Buffer | undefined)[]) => void
}

export interface HostReaderParts {
  readonly store: GuardedStore
  /** URLs brought back at a time; the rest of a block is left for the next. */
  readonly entriesAtOnce: number
  /** Null when it has no record. */
  readonly hasRecord: (host: DiskHost, onDisk: HostOnDisk | null) => void
  readonly hasEntries: (host: DiskHost, segment: Segment, entries: readonly FrontierEntry[]) => void
  readonly hasPage: (page: HostPage, hosts: readonly HostKey[]) => void
  /** Some answers have been given. */
  readonly onProgress: () => void
  readonly onFault: (fault: unknown) => void
}

export class HostReader {
  readonly #parts: HostReaderParts
  readonly #segments: Request[] = []
  readonly #records: Request[] = []
  readonly #pages: Request[] = []
  #run: Promise<void> | null = null
  #progress: PromiseWithResolvers<void> | null = null
  #fault: unknown = null

  constructor(parts: HostReaderParts) {
    this.#parts = parts
  }

  get isIdle(): boolean {
    return this.#run === null
  }

  /** Records asked for and not given. */
  get recordsWanted(): number {
    return this.#records.length
  }

  /** Resolves when nothing is being read. */
  async idle(): Promise<void> {
    while (this.#run !== null) await this.#run
    if (this.#fault !== null) throw this.#fault
  }

  /** Resolves when more has been read. */
  async progress(): Promise<void> {
    if (this.#fault !== null) throw this.#fault
    this.#progress ??= Promise.withResolvers()
    await this.#progress.promise
    if (this.#fault !== null) throw this.#fault
  }

  /** `addenda` is how often something was added to its record; null when nobody knows. */
  wantRecord(host: DiskHost, addenda: number | null): void {
    const { store, hasRecord } = this.#parts
    const has = (stored: StoredHost | undefined): void => {
      hasRecord(host, stored === undefined ? null : decodeHost(host.key, stored, store.code))
    }
    if (addenda === null) return this.#search(host.key, [], SEARCHED_FIRST, has)
    const keys = [hostKey(host.key)]
    for (let i = 0; i < addenda; i++) keys.push(addendumKey(host.key, i))
    this.#want(this.#records, keys, ([record, ...added]) => {
      const missing = added.indexOf(undefined)
      if (missing !== -1)
        throw store.damaged(`addendum ${missing} of ${addenda} to the record of ${host.key} is missing`)
      has(record === undefined ? undefined : { record, addenda: added as Buffer[] })
    })
  }

  /** Most have nothing added: further keys are asked for only where those before them are there. A range of keys costs several times as much. */
  #search(host: HostKey, found: readonly Buffer[], more: number, has: (stored: StoredHost | undefined) => void): void {
    const keyOf = (place: number): string => (place === 0 ? hostKey(host) : addendumKey(host, place - 1))
    const keys = Array.from({ length: more }, (_, i) => keyOf(found.length + i))
    this.#want(this.#records, keys, (values) => {
      const there = values.filter((value) => value !== undefined)
      const all = [...found, ...there]
      const missing = values.indexOf(undefined)
      // Only the next step tells whether anything comes after a last one that is missing.
      const isOpen = missing === -1 || (missing === more - 1 && found.length > 0)
      if (isOpen) return this.#search(host, all, SEARCHED_MORE * more, has)
      if (missing < there.length)
        throw this.#parts.store.damaged(`${JSON.stringify(keys[missing])} is missing, but not what comes after it`)
      const [record, ...addenda] = all
      has(record === undefined ? undefined : { record, addenda })
    })
  }

  wantSegment(host: DiskHost, segment: Segment): void {
    host.isReading = true
    this.#want(this.#segments, [blockKey(host.key, segment.band, segment.block)], ([value]) => {
      host.isReading = false
      const entries = this.#entriesOf(host.key, segment, value)
      const at = segment.from + segment.count
      this.#parts.hasEntries(host, segment, entries.entries(at, at + this.#parts.entriesAtOnce))
    })
  }

  wantPage(page: HostPage): void {
    this.#want(this.#pages, [pageKey(page.page)], ([value]) => {
      if (value === undefined) throw this.#parts.store.damaged(`page ${page.page} of the hosts in line is missing`)
      const hosts = decodePage(value)
      if (hosts === null) throw this.#parts.store.damaged(`page ${page.page} of the hosts in line cannot be unpacked`)
      this.#parts.hasPage(page, hosts)
    })
  }

  /** All that waits of a segment, in memory or not. */
  async readWhole(host: HostKey, segment: Segment): Promise<FrontierEntry[]> {
    if (segment.inline !== null) return segment.inline.entries(host, segment.stored, segment.from)
    const [value] = await this.#parts.store.getMany([blockKey(host, segment.band, segment.block)])
    return this.#entriesOf(host, segment, value).entries(segment.from)
  }

  #entriesOf(host: HostKey, segment: Segment, value: Buffer | undefined): EntryBlock {
    const { store } = this.#parts
    if (value === undefined) throw store.damaged(`block ${segment.block} of ${host} is missing`)
    const block = EntryBlock.open(host, value, store.code)
    if (block.count !== segment.stored) {
      throw store.damaged(
        `block ${segment.block} of ${host} has ${block.count} URLs, its record says ${segment.stored}`,
      )
    }
    return block
  }

  #want(line: Request[], keys: readonly string[], apply: Request['apply']): void {
    line.push({ keys, apply })
    this.#run ??= this.#read()
  }

  async #read(): Promise<void> {
    const { store, onProgress, onFault } = this.#parts
    const breather = new Breather()
    try {
      // Not before those who ask have asked for all they want.
      await Promise.resolve()
      for (;;) {
        const line = [this.#segments, this.#records, this.#pages].find((some) => some.length > 0)
        if (line === undefined) break
        const requests = line.splice(0, REQUESTS_AT_ONCE)
        const values = await store.getMany(requests.flatMap(({ keys }) => keys))
        let at = 0
        for (const { keys, apply } of requests) {
          apply(values.slice(at, at + keys.length))
          at += keys.length
          if (breather.isDue) await breather.pause()
        }
        this.#tellProgress()
        onProgress()
      }
    } catch (fault) {
      this.#fault = fault
      this.#tellProgress()
      onFault(fault)
    } finally {
      this.#run = null
    }
  }

  #tellProgress(): void {
    this.#progress?.resolve()
    this.#progress = null
  }
}
