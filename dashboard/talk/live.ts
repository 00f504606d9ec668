// One crawl, as it changes: its figures once a second and its events, over one stream that is opened again when it breaks.
//
//   visible ─▶ connecting ─▶ live ──breaks, or 60 s of silence──▶ waiting 1, 2, 4 … 15 s ─▶ connecting
//   hidden  ─▶ nothing at all; on return everything is asked for anew

import type { CrawlEvent, CrawlInfo, sampleSchema } from '../../src/control/api.ts'
import type { z } from 'zod'
import { type ApiError, asApiError, call, live } from './client.ts'
import { token } from './session.ts'
import { Store } from './store.ts'

export type Sample = z.infer<typeof sampleSchema>
export type Connection = 'connecting' | 'live' | 'broken' | 'resting'

const SILENCE_MS = 60_000
const PATIENCE_MS = [1_000, 2_000, 4_000, 8_000, 15_000]
/** Ten minutes by the second; by then the timeline has them too. */
const SAMPLES_MAX = 600
const EVENTS_MAX = 500

export class LiveCrawl {
  readonly id: string
  readonly info = new Store<CrawlInfo | null>(null)
  readonly error = new Store<ApiError | null>(null)
  readonly connection = new Store<Connection>('connecting')
  /** The newest first. */
  readonly events = new Store<readonly CrawlEvent[]>([])
  /** Since this page is open, the oldest first. */
  readonly samples = new Store<readonly Sample[]>([])
  #abort = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined
  #tries = 0
  #isClosed = false
  readonly #onVisible = (): void => (document.hidden ? this.#rest() : this.again())
  readonly #stopListening: () => void

  constructor(id: string) {
    this.id = id
    document.addEventListener('visibilitychange', this.#onVisible)
    // Another token: everything again.
    this.#stopListening = token.subscribe(() => this.again())
    this.again()
  }

  close(): void {
    this.#isClosed = true
    document.removeEventListener('visibilitychange', this.#onVisible)
    this.#stopListening()
    this.#rest()
  }

  /** Connects now, whatever was. */
  again(): void {
    this.#rest()
    if (this.#isClosed || document.hidden) return
    this.connection.set('connecting')
    this.#abort = new AbortController()
    void this.#run(this.#abort.signal)
  }

  #rest(): void {
    clearTimeout(this.#timer)
    this.#abort.abort()
    this.connection.set('resting')
  }

  async #run(signal: AbortSignal): Promise<void> {
    try {
      this.#hear(await call('crawl', { crawl: this.id }, undefined, signal))
      await this.#listen(signal)
    } catch (error) {
      if (signal.aborted) return
      this.error.set(asApiError(error))
    }
    if (signal.aborted) return
    this.connection.set('broken')
    const wait = PATIENCE_MS[Math.min(this.#tries++, PATIENCE_MS.length - 1)] ?? 0
    this.#timer = setTimeout(() => this.again(), wait)
  }

  async #listen(signal: AbortSignal): Promise<void> {
    const silence = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const onSign = (): void => {
      this.connection.set('live')
      this.#tries = 0
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(), SILENCE_MS)
    }
    const listener = {
      onSign,
      onInfo: (info: CrawlInfo) => this.#hear(info),
      onEvent: (event: CrawlEvent) => this.#add(event),
    }
    try {
      await live(this.id, listener, AbortSignal.any([signal, silence.signal]))
    } catch (error) {
      // It fell silent, and is asked again.
      if (!silence.signal.aborted) throw error
    } finally {
      clearTimeout(timer)
    }
  }

  #hear(info: CrawlInfo): void {
    this.error.set(null)
    this.info.set(info)
    const { figures, now } = info
    const last = this.samples.value.at(-1)
    if (now === null || (last !== undefined && figures.seconds <= last.t)) return
    const skipped = Object.values(figures.skipped).reduce((sum, one) => sum + one, 0)
    const { pages, bytes, failed, waiting, hosts, cpuSeconds } = figures
    const sample = { t: figures.seconds, pages, bytes, failed, skipped, waiting, hosts, cpuSeconds }
    this.samples.set([
      ...this.samples.value.slice(1 - SAMPLES_MAX),
      { ...sample, active: now.active, rssBytes: now.rssBytes },
    ])
  }

  #add(event: CrawlEvent): void {
    const { value } = this.events
    if (value.some((one) => one.number === event.number)) return
    this.events.set([event, ...value].slice(0, EVENTS_MAX))
  }
}
