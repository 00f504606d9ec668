// Brings back what lies on disk: records of hosts, the next URLs of their lines, pages of hosts in line. Many at once, in
// the order lines, records, pages: a host at hand that runs dry is the most urgent.

import type { HostKey } from '../url/index.ts'
import { Breather } from './breather.ts'
import type { DiskHost } from './disk-host.ts'
import { EntryBlock } from './entry-block.ts'
import type { FrontierEntry } from './frontier.ts'
import { blockKey, type GuardedStore, hostKey, pageKey } from './guarded-store.ts'
import type { HostPage } from './host-queue.ts'
import { decodeRecord, type HostRecord } from './host-record.ts'
import type { Segment } from './segment.ts'

const REQUESTS_AT_ONCE = 64

interface Request {
  readonly key: string
  readonly apply: (value: Buffer | undefined) => void
}

export interface HostReaderParts {
  readonly store: GuardedStore
  /** URLs brought back at a time; the rest of a block is left for the next. */
  readonly entriesAtOnce: number
  readonly hasRecord: (host: DiskHost, record: HostRecord | null) => void
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

  wantRecord(host: DiskHost): void {
    this.#want(this.#records, hostKey(host.key), (value) => {
      this.#parts.hasRecord(host, value === undefined ? null : decodeRecord(host.key, value, this.#parts.store.code))
    })
  }

  wantSegment(host: DiskHost, segment: Segment): void {
    host.isReading = true
    this.#want(this.#segments, blockKey(host.key, segment.band, segment.block), (value) => {
      host.isReading = false
      const entries = this.#entriesOf(host.key, segment, value)
      const at = segment.from + segment.count
      this.#parts.hasEntries(host, segment, entries.entries(at, at + this.#parts.entriesAtOnce))
    })
  }

  wantPage(page: HostPage): void {
    this.#want(this.#pages, pageKey(page.page), (value) => {
      if (value === undefined) throw this.#parts.store.damaged(`page ${page.page} of the hosts in line is missing`)
      this.#parts.hasPage(page, value.toString().split('\n') as HostKey[])
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

  #want(line: Request[], key: string, apply: Request['apply']): void {
    line.push({ key, apply })
    this.#run ??= this.#read()
  }

  async #read(): Promise<void> {
    const { store, onProgress, onFault } = this.#parts
    const breather = new Breather()
    try {
      // Not before those who ask have asked for all they want.
      await Promise.resolve()
      for (;;) {
        const line = [this.#segments, this.#records, this.#pages].find((requests) => requests.length > 0)
        if (line === undefined) break
        const requests = line.splice(0, REQUESTS_AT_ONCE)
        const values = await store.getMany(requests.map(({ key }) => key))
        for (const [i, { apply }] of requests.entries()) {
          apply(values[i])
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
