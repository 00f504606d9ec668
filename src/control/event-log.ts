// state/events.jsonl: what happened to a crawl, for people, over all its runs: starts, stops, pauses, warnings, agents that broke. The
// last ten thousand are kept, half of them at least.

import { join } from 'node:path'
import type { Clock } from '../base/index.ts'
import type { CrawlEvent } from './api.ts'
import { LineLog, type LogPage, readLog } from './line-log.ts'

export type EventKind = 'crawl' | 'agent' | 'node' | 'share' | 'change' | 'warning' | 'fault' | 'trace'

export const EVENTS_MAX = 10_000
/** A line is for people. */
const TEXT_MAX = 2_000

export class EventLog {
  readonly #clock: Clock
  readonly #onFault: (fault: unknown) => void
  readonly #watchers = new Set<(event: CrawlEvent) => void>()
  /** Null where it cannot be written: then events are told, and not kept. */
  #log: LineLog<CrawlEvent> | null
  #unkept = 0

  private constructor(log: LineLog<CrawlEvent> | null, clock: Clock, onFault: (fault: unknown) => void) {
    this.#log = log
    this.#clock = clock
    this.#onFault = onFault
  }

  /** A crawl does not fail for its diary: `onFault` is told, once. */
  static async open(dir: string, clock: Clock, onFault: (fault: unknown) => void): Promise<EventLog> {
    try {
      return new EventLog(await LineLog.open(eventsPath(dir), EVENTS_MAX), clock, onFault)
    } catch (fault) {
      onFault(fault)
      return new EventLog(null, clock, onFault)
    }
  }

  add(kind: EventKind, text: string): void {
    const short = text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text
    const make = (number: number): CrawlEvent => ({
      number,
      at: new Date(this.#clock.wallMs()).toISOString(),
      kind,
      text: short,
    })
    const appended = this.#log?.append(make, false)
    appended?.written.catch((fault: unknown) => {
      if (this.#log !== null) this.#onFault(fault)
      this.#log = null
    })
    const event = appended?.record ?? make(++this.#unkept)
    for (const watcher of this.#watchers) {
      try {
        watcher(event)
      } catch {
        // What happened to the crawl has happened, whether or not somebody can be told of it.
      }
    }
  }

  /** Called with each event from now on, until the function it gives is called. */
  watch(onEvent: (event: CrawlEvent) => void): () => void {
    this.#watchers.add(onEvent)
    return () => void this.#watchers.delete(onEvent)
  }

  async close(): Promise<void> {
    await this.#log?.close().catch((fault: unknown) => this.#onFault(fault))
    this.#log = null
  }
}

function eventsPath(dir: string): string {
  return join(dir, 'state/events.jsonl')
}

/** What happened to a crawl, the newest first. */
export function readEvents(dir: string, after: string | undefined, limit: number): Promise<LogPage<CrawlEvent>> {
  return readLog<CrawlEvent>(eventsPath(dir), after, limit)
}
