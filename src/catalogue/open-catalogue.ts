// A catalogue as those who ask it see it: SQLite waits for the disk, so it has a thread, and neither the crawl nor its agents wait. A
// node of a cluster has a catalogue for each of its shares, and one thread for all of them.

import { stat } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import { assert, Fault } from '../base/index.ts'
import type {
  BrokenLink,
  BrokenQuery,
  Catalogued,
  CataloguedFailure,
  CataloguedHost,
  CataloguedPage,
  FailuresQuery,
  HostFacts,
  HostsQuery,
  PagesQuery,
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
  pages(query: PagesQuery): Promise<Catalogued<CataloguedPage>>
  failures(query: FailuresQuery): Promise<Catalogued<CataloguedFailure>>
  broken(query: BrokenQuery): Promise<Catalogued<BrokenLink>>
  hosts(query: HostsQuery): Promise<Catalogued<CataloguedHost>>
  /** Null where no page and no failure of it is known. */
  host(name: string): Promise<HostFacts | null>
  statistics(): Promise<Statistics>
  close(): Promise<void>
}

/** Of a core, beside a crawl: some 800 pages a second are followed with it. */
const CPU_SHARE_USUAL = 0.015
const ADVANCE_MS_USUAL = 50
/** Twice what lists on their way to the disk take; past it something is wrong, and the thread ends alone. */
const OLD_GENERATION_MB = 128
/** Lines that are read and thrown away at once: as much as V8 takes by itself, said so that it stays. */
const YOUNG_GENERATION_MB = 48

/** Of this code: `ts` as sources, `js` compiled, `cjs` in a bundle. */
const ENDING = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
const IS_SOURCE = ENDING === '.ts'
/** Beside the launcher: two folders up from the sources, three where this file is compiled or in a bundle. */
const THREAD = new URL(IS_SOURCE ? '../../bin/catalogue.js' : '../../../bin/catalogue.js', import.meta.url)
/** The code of the thread, from where this code is. */
const CODE = new URL(IS_SOURCE ? './catalogue-thread.ts' : `../catalogue/catalogue-thread${ENDING}`, import.meta.url)

interface Waiting {
  readonly resolve: (answer: { readonly value: unknown; readonly readShare: number }) => void
  readonly reject: (fault: Fault) => void
}

/** Opens the catalogue of a crawl's directory, or begins one; reads on by itself until it is closed. */
export function openCatalogue(dir: string, options: OpenCatalogueOptions = {}): Promise<CatalogueDesk> {
  return new CatalogueThread(options).open(dir)
}

/** Catalogues of several directories, which have its share of a core together. */
export class CatalogueThread {
  readonly #cpuShare: number
  readonly #open = new Set<string>()
  /** Null before the first question, after the thread has broken, and when the last catalogue was closed: the next question begins another. */
  #running: Running | null = null

  constructor({ cpuShare = CPU_SHARE_USUAL }: OpenCatalogueOptions = {}) {
    this.#cpuShare = cpuShare
  }

  async open(dir: string): Promise<CatalogueDesk> {
    if (!(await stat(dir).catch(() => null))?.isDirectory()) throw new Fault('CONFIG_INVALID', `${dir} is no directory`)
    assert(!this.#open.has(dir), 'a catalogue is opened once')
    this.#open.add(dir)
    return new Desk(
      (question) => (this.#running ??= this.#start()).ask(dir, question),
      () => this.#close(dir),
    )
  }

  async #close(dir: string): Promise<void> {
    this.#open.delete(dir)
    const running = this.#running
    if (running === null) return
    // Whoever opens one from now on has another thread.
    if (this.#open.size === 0) this.#running = null
    await running.ask(dir, { ask: 'close' }).catch(() => {})
    if (this.#open.size === 0) await running.end()
  }

  #start(): Running {
    const running = new Running(this.#cpuShare, () => {
      if (this.#running === running) this.#running = null
    })
    return running
  }
}

/** A thread that runs. */
class Running {
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting>()
  #number = 0

  constructor(cpuShare: number, onEnd: () => void) {
    const worker = new Worker(THREAD, {
      workerData: { cpuShare },
      argv: [CODE.href],
      name: 'catalogue',
      resourceLimits: { maxOldGenerationSizeMb: OLD_GENERATION_MB, maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    })
    this.#worker = worker
    let why = 'its thread ended'
    worker.on('message', (message: FromCatalogue) => {
      const waiting = this.#waiting.get(message.number)
      this.#waiting.delete(message.number)
      if (this.#waiting.size === 0) worker.unref()
      if ('fault' in message) waiting?.reject(new Fault(message.fault.code, message.fault.message))
      else waiting?.resolve(message)
    })
    worker.on('error', (error: unknown) => {
      why = error instanceof Error ? error.message : String(error)
    })
    worker.on('exit', () => {
      onEnd()
      for (const { reject } of this.#waiting.values()) reject(new Fault('DISK_FAILED', `the catalogue: ${why}`))
      this.#waiting.clear()
    })
  }

  ask(dir: string, question: Question): Promise<{ readonly value: unknown; readonly readShare: number }> {
    const number = ++this.#number
    return new Promise((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject })
      // Whoever waits for an answer keeps the process; the catalogue itself does not.
      this.#worker.ref()
      this.#worker.postMessage({ ...question, number, dir } satisfies ToCatalogue)
    })
  }

  async end(): Promise<void> {
    await this.#worker.terminate()
  }
}

class Desk implements CatalogueDesk {
  readonly #put: (question: Question) => Promise<{ readonly value: unknown; readonly readShare: number }>
  readonly #letGo: () => Promise<void>
  #readShare = 0
  #isClosed = false

  constructor(
    put: (question: Question) => Promise<{ readonly value: unknown; readonly readShare: number }>,
    letGo: () => Promise<void>,
  ) {
    this.#put = put
    this.#letGo = letGo
  }

  get readShare(): number {
    return this.#readShare
  }

  advance(ms = ADVANCE_MS_USUAL): Promise<number> {
    return this.#ask({ ask: 'advance', ms })
  }

  pages(query: PagesQuery): Promise<Catalogued<CataloguedPage>> {
    return this.#ask({ ask: 'pages', query })
  }

  failures(query: FailuresQuery): Promise<Catalogued<CataloguedFailure>> {
    return this.#ask({ ask: 'failures', query })
  }

  broken(query: BrokenQuery): Promise<Catalogued<BrokenLink>> {
    return this.#ask({ ask: 'broken', query })
  }

  hosts(query: HostsQuery): Promise<Catalogued<CataloguedHost>> {
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
    this.#isClosed = true
    await this.#letGo()
  }

  /** The shapes of answers are those of the questions: catalogue-thread.ts. */
  async #ask<T>(question: Question): Promise<T> {
    if (this.#isClosed) throw new Fault('ASSERTION', 'a catalogue was asked after it was closed')
    const { value, readShare } = await this.#put(question)
    this.#readShare = readShare
    return value as T
  }
}
