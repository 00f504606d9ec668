// The crawl of a directory, whoever works in it: asked of the process that runs it, or answered from its files when nobody does.
//
//   lock held, socket there ─▶ RemoteCrawl          else ─▶ RestingCrawl
//
// Who works there is looked up for every question, so that a crawl may be started, stopped or killed by anybody at any time.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../base/index.ts'
import { whoHolds } from '../disk/index.ts'
import type { CrawlEvent, CrawlInfo } from './api.ts'
import { ControlError } from './client.ts'
import { controlSocketOf } from './control-note.ts'
import type { Asker, CrawlAnswers, CrawlRoute, CrawlSource } from './crawl-source.ts'
import { renderMetrics } from './metrics.ts'
import { PATHS } from './paths.ts'
import { RemoteCrawl } from './remote-crawl.ts'
import { type AtRest, RestingCrawl } from './resting-crawl.ts'
import { answersBy } from './route-answers.ts'

/** How often a crawl that does not run is looked at by those who watch it. */
const LOOK_EVERY_MS = 2_000

interface Watcher {
  readonly onInfo: (info: CrawlInfo) => void
  readonly onEvent: (event: CrawlEvent) => void
}

export interface DirectoryCrawl extends CrawlSource {
  close(): Promise<void>
}

export function directoryCrawl(at: AtRest, lookEveryMs = LOOK_EVERY_MS): DirectoryCrawl {
  const crawl = new Watched(at, lookEveryMs)
  return {
    ...answersBy((name, asked, asker) => crawl.ask(name, asked, asker)),
    id: at.id,
    watch: (onInfo, onEvent) => crawl.watch({ onInfo, onEvent }),
    metrics: () => crawl.metrics(),
    close: () => crawl.close(),
  }
}

class Watched {
  readonly #at: AtRest
  readonly #lookEveryMs: number
  /** One at a time: each has a catalogue of its own. */
  #resting: RestingCrawl | null = null
  #remote: { readonly pid: number; readonly crawl: RemoteCrawl } | null = null
  readonly #watchers = new Set<Watcher>()
  #watching: AbortController | null = null

  constructor(at: AtRest, lookEveryMs: number) {
    this.#at = at
    this.#lookEveryMs = lookEveryMs
  }

  async ask(name: CrawlRoute, asked: Readonly<Record<string, unknown>>, asker: Asker): Promise<unknown> {
    const remote = await this.#running()
    if (remote !== null) {
      try {
        return await answer(remote.answers, name, asked, asker)
      } catch (cause) {
        if (!(cause instanceof ControlError && cause.code === 'UNREACHABLE')) throw cause
        this.#remote = null
        // It ended between the look and the question, or is just ending: its files tell as much, and nothing is done to it twice.
        const isEnding = (await whoHolds(join(this.#at.dir, 'state'))) !== null
        if (isEnding && PATHS[name].method !== 'GET') {
          throw new Fault('CONTROL_REFUSED', 'the crawl is being opened or closed; ask again in a moment', cause)
        }
      }
    }
    return answer(this.#atRest(), name, asked, asker)
  }

  async metrics(): Promise<string> {
    const remote = await this.#running()
    return remote === null ? renderMetrics([{ info: await this.#atRest().crawl() }]) : remote.metrics()
  }

  async #running(): Promise<RemoteCrawl | null> {
    const holder = await whoHolds(join(this.#at.dir, 'state'))
    if (holder === null) {
      this.#remote = null
      return null
    }
    if (this.#remote?.pid === holder.pid) return this.#remote.crawl
    const transport = await controlSocketOf(this.#at.dir, holder.pid)
    if (transport === null) return null
    // Its process reads the same files from now on.
    await this.#resting?.close()
    this.#resting = null
    this.#remote = { pid: holder.pid, crawl: new RemoteCrawl(this.#at.id, transport) }
    return this.#remote.crawl
  }

  #atRest(): RestingCrawl {
    this.#resting ??= new RestingCrawl(this.#at)
    return this.#resting
  }

  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher)
    if (this.#watching === null) {
      this.#watching = new AbortController()
      void this.#look(this.#watching.signal)
    }
    return () => {
      this.#watchers.delete(watcher)
      if (this.#watchers.size > 0) return
      this.#watching?.abort()
      this.#watching = null
    }
  }

  /** One look for all who watch. Whatever goes wrong is looked at again. */
  async #look(signal: AbortSignal): Promise<void> {
    let told = ''
    const tell = (info: CrawlInfo): void => {
      const text = JSON.stringify(info)
      if (text === told) return
      told = text
      for (const { onInfo } of this.#watchers) onInfo(info)
    }
    const tellEvent = (event: CrawlEvent): void => {
      for (const { onEvent } of this.#watchers) onEvent(event)
    }
    while (!signal.aborted) {
      try {
        const remote = await this.#running()
        if (remote === null) tell(await this.#atRest().crawl())
        else await remote.live(tell, tellEvent, signal)
      } catch {
        // Being opened, being closed, damaged: whoever asks is told.
      }
      await sleep(this.#lookEveryMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  async close(): Promise<void> {
    this.#watching?.abort()
    this.#watching = null
    await this.#resting?.close()
    this.#resting = null
  }
}

function answer(
  answers: CrawlAnswers,
  name: CrawlRoute,
  asked: Readonly<Record<string, unknown>>,
  asker: Asker,
): Promise<unknown> {
  return (
    (answers as unknown as Record<string, (...all: unknown[]) => Promise<unknown>>)[name]?.(asked, asker) ??
    Promise.resolve()
  )
}
