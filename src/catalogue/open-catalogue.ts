// A catalogue as those who ask it see it: SQLite waits for the disk, so it has a thread, and neither the crawl nor its agents wait.

import { stat } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import { Fault } from '../base/index.ts'
import type {
  BrokenLink,
  BrokenQuery,
  CataloguedFailure,
  CataloguedHost,
  CataloguedPage,
  FailuresQuery,
  HostFacts,
  HostsQuery,
  Listed,
  PagesQuery,
  ReadShare,
  Statistics,
} from './answers.ts'
import type { FromCatalogue, Question, ToCatalogue } from './messages.ts'

export interface OpenCatalogueOptions {
  /** How much of a core it may take to read on, while nobody waits for it: little beside a crawl that runs, 1 where nothing else is done. */
  readonly cpuShare?: number
}

export interface CatalogueDesk {
  /** Reads on for so long at most, as fast as it can; returns the share that is read. */
  advance(ms?: number): Promise<number>
  /** As it was when the catalogue last answered. */
  readonly readShare: number
  pages(query: PagesQuery): Promise<Listed<CataloguedPage> & ReadShare>
  failures(query: FailuresQuery): Promise<Listed<CataloguedFailure> & ReadShare>
  broken(query: BrokenQuery): Promise<Listed<BrokenLink>>
  hosts(query: HostsQuery): Promise<Listed<CataloguedHost>>
  /** Null where no page and no failure of it is known. */
  host(name: string): Promise<HostFacts | null>
  statistics(): Promise<Statistics>
  close(): Promise<void>
}

export const CPU_SHARE_USUAL = 0.03
const ADVANCE_MS_USUAL = 50
/** Enough for lists on their way to the disk; past it something is wrong, and the thread ends alone. */
const OLD_GENERATION_MB = 512

const THREAD = new URL(import.meta.url.endsWith('.ts') ? 'catalogue-thread.ts' : 'catalogue-thread.js', import.meta.url)

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (fault: Fault) => void
}

/** Opens the catalogue of a crawl's directory, or begins one; reads on by itself until it is closed. */
export async function openCatalogue(dir: string, options: OpenCatalogueOptions = {}): Promise<CatalogueDesk> {
  if (!(await stat(dir).catch(() => null))?.isDirectory()) throw new Fault('CONFIG_INVALID', `${dir} is no directory`)
  return new Desk(dir, options.cpuShare ?? CPU_SHARE_USUAL)
}

class Desk implements CatalogueDesk {
  readonly #dir: string
  readonly #cpuShare: number
  /** Null before the first question, and after the thread has broken: the next question begins another. */
  #worker: Worker | null = null
  #number = 0
  readonly #waiting = new Map<number, Waiting>()
  #readShare = 0
  #isClosed = false

  constructor(dir: string, cpuShare: number) {
    this.#dir = dir
    this.#cpuShare = cpuShare
  }

  get readShare(): number {
    return this.#readShare
  }

  advance(ms = ADVANCE_MS_USUAL): Promise<number> {
    return this.#ask({ ask: 'advance', ms })
  }

  pages(query: PagesQuery): Promise<Listed<CataloguedPage> & ReadShare> {
    return this.#ask({ ask: 'pages', query })
  }

  failures(query: FailuresQuery): Promise<Listed<CataloguedFailure> & ReadShare> {
    return this.#ask({ ask: 'failures', query })
  }

  broken(query: BrokenQuery): Promise<Listed<BrokenLink>> {
    return this.#ask({ ask: 'broken', query })
  }

  hosts(query: HostsQuery): Promise<Listed<CataloguedHost>> {
    return this.#ask({ ask: 'hosts', query })
  }

  host(name: string): Promise<HostFacts | null> {
    return this.#ask({ ask: 'host', host: name })
  }

  statistics(): Promise<Statistics> {
    return this.#ask({ ask: 'statistics' })
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    const worker = this.#worker
    if (worker !== null) await this.#ask({ ask: 'close' }).catch(() => {})
    this.#isClosed = true
    await worker?.terminate()
  }

  /** The shapes of answers are those of the questions: catalogue-thread.ts. */
  #ask<T>(question: Question): Promise<T> {
    if (this.#isClosed) return Promise.reject(new Fault('ASSERTION', 'a catalogue was asked after it was closed'))
    this.#worker ??= this.#start()
    const number = ++this.#number
    const message: ToCatalogue = { ...question, number }
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(number, { resolve: resolve as (value: unknown) => void, reject })
      // Whoever waits for an answer keeps the process; the catalogue itself does not.
      this.#worker?.ref()
      this.#worker?.postMessage(message)
    })
  }

  #start(): Worker {
    const worker = new Worker(THREAD, {
      workerData: { dir: this.#dir, cpuShare: this.#cpuShare },
      name: 'catalogue',
      resourceLimits: { maxOldGenerationSizeMb: OLD_GENERATION_MB },
    })
    let why = 'its thread ended'
    worker.on('message', (message: FromCatalogue) => {
      this.#readShare = message.readShare
      const waiting = this.#waiting.get(message.number)
      this.#waiting.delete(message.number)
      if (this.#waiting.size === 0) worker.unref()
      if ('fault' in message) waiting?.reject(new Fault(message.fault.code, message.fault.message))
      else waiting?.resolve(message.value)
    })
    worker.on('error', (error: unknown) => {
      why = error instanceof Error ? error.message : String(error)
    })
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = null
      for (const { reject } of this.#waiting.values())
        reject(new Fault('DISK_FAILED', `the catalogue of ${this.#dir}: ${why}`))
      this.#waiting.clear()
    })
    return worker
  }
}
