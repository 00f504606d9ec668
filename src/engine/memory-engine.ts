// The engine's twin for tests: several clients of one memory, without servers and without real time. It keeps the laws of
// engine.ts (the conformance suite runs on it as on real servers) and breaks on request whatever a real one may break:
//
//   client.cut(), restore()         nothing gets through; operations fail in their time, watches catch up
//   client.slowMs                   how long each operation takes
//   client.failNext(what, how)      the next append, create or beat is not answered: it did, did not, or will happen later
//   engine.weather                  messages and calls are lost or late
//   engine.forgetTail(log, n)       entries are gone that were acknowledged
//
// With a ManualClock nothing that has to wait goes on until the clock is moved; what need not wait takes microtasks only.

import { type Clock, type ClockMs, Fault, Random, systemClock } from '../base/index.ts'
import {
  type Appended,
  type Engine,
  type EngineLog,
  type EngineRecord,
  type LogEntry,
  type Objects,
  type Records,
  type ServiceInfo,
  type Stop,
} from './engine.ts'
import { MemoryMessages, type MessageWeather } from './memory-messages.ts'
import { MemoryStore } from './memory-store.ts'
import { checkName, checkPattern, checkSize, hasPrefix } from './names.ts'

/** How long an operation is tried, unless it says so itself. */
const OPERATION_MS = 10_000

export interface MemoryEngineOptions {
  readonly clock?: Clock
  readonly random?: Random
  readonly operationMs?: number
}

type Doing = 'append' | 'create' | 'beat' | 'put'

/**
 * What became of an operation that was not answered: it never arrived, it was done, or it is done only after its caller was
 * told ENGINE_UNREACHABLE. `retried`: it was done, and done again in time: an append finds itself, a create finds its own record.
 */
export type Unanswered = 'not-done' | 'done' | 'done-later' | 'retried'

interface MemoryService {
  readonly info: ServiceInfo
  readonly client: MemoryClient
  readonly handler: (question: Uint8Array) => Promise<Uint8Array>
}

/** What all clients of one engine have in common. */
interface Common {
  readonly store: MemoryStore
  readonly messages: MemoryMessages
  readonly clients: Set<MemoryClient>
  readonly services: Set<MemoryService>
  readonly clock: Clock
  readonly operationMs: number
}

export class MemoryEngine {
  readonly #common: Common

  private constructor(options: MemoryEngineOptions) {
    const clock = options.clock ?? systemClock
    this.#common = {
      store: new MemoryStore(),
      messages: new MemoryMessages(clock, options.random ?? new Random(1)),
      clients: new Set(),
      services: new Set(),
      clock,
      operationMs: options.operationMs ?? OPERATION_MS,
    }
  }

  static create(options: MemoryEngineOptions = {}): MemoryEngine {
    return new MemoryEngine(options)
  }

  /** One more that takes part. Each node of a test has its own. */
  client(): MemoryClient {
    const client = new MemoryClient(this.#common)
    this.#common.clients.add(client)
    return client
  }

  /** How messages and calls fare; may be changed at any time. */
  get weather(): MessageWeather {
    return this.#common.messages.weather
  }

  get messagesLost(): number {
    return this.#common.messages.lost
  }

  /** The last entries of a log vanish, though they were acknowledged. */
  forgetTail(log: string, count: number): void {
    this.#common.store.forgetTail(log, count)
  }
}

export class MemoryClient implements Engine {
  readonly records: Records
  readonly objects: Objects
  /** How long every operation takes on the clock. */
  slowMs = 0
  readonly #common: Common
  readonly #logs = new Map<string, EngineLog>()
  readonly #listeners = new Set<(isConnected: boolean) => void>()
  readonly #watches = new Set<() => void>()
  readonly #stops = new Set<Stop>()
  readonly #failures = new Map<Doing, Unanswered>()
  #isCut = false
  #isConnected = true
  #isClosed = false
  /** Operations that wait for the engine to be there again. */
  #whenReachable = new Set<() => void>()

  constructor(common: Common) {
    this.#common = common
    this.records = {
      create: async (name, value) => {
        checkName(name)
        checkSize(value)
        return this.#write('create', `record ${name}`, () => {
          const answer = common.store.create(name, value)
          tellWatches(common)
          return answer
        })
      },
      get: async (name) => {
        checkName(name)
        return this.#operate(`record ${name}`, () => common.store.record(name))
      },
      list: async (prefix) => {
        if (prefix !== '') checkName(prefix)
        return this.#operate(`records ${prefix}`, () =>
          common.store.records
            .filter(({ name }) => hasPrefix(name, prefix))
            .map(({ name, value }) => ({ name, value: Uint8Array.from(value) })),
        )
      },
      watch: async (prefix, hear) => this.#watchRecords(prefix, hear),
    }
    this.objects = {
      put: async (name, bytes) => {
        checkName(name)
        const whole = await gather(bytes)
        await this.#write('put', `object ${name}`, () => {
          if (!common.store.objects.has(name)) common.store.objects.set(name, whole)
        })
      },
      get: (name) => this.#getObject(name),
      has: async (name) => this.#operate(`object ${name}`, () => common.store.objects.has(name)),
      delete: async (name) => this.#operate(`object ${name}`, () => void common.store.objects.delete(name)),
      list: async (prefix) =>
        this.#operate('objects', () =>
          [...common.store.objects.keys()].filter((name) => name.startsWith(prefix)).sort(),
        ),
    }
  }

  // ---- What a test does to it ----

  /** Nothing gets through any more. `isNoticed` false: the connection looks as if it were there, as a dead wire does. */
  cut({ isNoticed = true }: { readonly isNoticed?: boolean } = {}): void {
    this.#isCut = true
    if (isNoticed) this.#setConnected(false)
  }

  restore(): void {
    this.#isCut = false
    this.#setConnected(true)
    const waiting = [...this.#whenReachable]
    this.#whenReachable.clear()
    for (const goOn of waiting) goOn()
    for (const tell of this.#watches) tell()
  }

  /** The next of these is not answered in its time. */
  failNext(doing: Doing, how: Unanswered): void {
    this.#failures.set(doing, how)
  }

  // ---- The engine ----

  get isConnected(): boolean {
    return this.#isConnected
  }

  async log(name: string): Promise<EngineLog> {
    checkName(name)
    let log = this.#logs.get(name)
    if (log === undefined) {
      await this.#operate(`log ${name}`, () => this.#common.store.log(name))
      log = this.#logs.get(name) ?? this.#makeLog(name)
      this.#logs.set(name, log)
    }
    return log
  }

  async beat(name: string, value: Uint8Array, withinMs: number): Promise<void> {
    checkName(name)
    checkSize(value)
    await this.#write(
      'beat',
      `beat of ${name}`,
      () => {
        this.#common.store.beat(name, value)
        tellWatches(this.#common)
      },
      withinMs,
    )
  }

  async lastBeat(name: string): Promise<Uint8Array | null> {
    checkName(name)
    return this.#operate(`last beat of ${name}`, () => this.#common.store.beats.get(name)?.value.slice() ?? null)
  }

  async watchBeats(hear: (name: string, value: Uint8Array, isPast: boolean) => void): Promise<Stop> {
    const { store } = this.#common
    let told = 0
    const tell = (isPast: boolean): void => {
      const news = [...store.beats]
        .filter(([, { number }]) => number > told)
        .sort(([, a], [, b]) => a.number - b.number)
      told = store.beatsCount
      for (const [name, { value }] of news) hear(name, Uint8Array.from(value), isPast)
    }
    await this.#operate('beats', () => tell(true))
    return this.#keepTelling(() => tell(false))
  }

  publish(subject: string, bytes: Uint8Array): void {
    checkName(subject)
    checkSize(bytes)
    if (this.#isCut || this.#isClosed) return
    this.#common.messages.send(this, subject, bytes)
  }

  subscribe(subject: string, hear: (bytes: Uint8Array, subject: string) => void): Stop {
    checkPattern(subject)
    return this.#stopOnce(
      this.#common.messages.listen({ pattern: subject, hear, isReachable: () => !this.#isCut && !this.#isClosed }),
    )
  }

  async serve(info: ServiceInfo, handler: (question: Uint8Array) => Promise<Uint8Array>): Promise<Stop> {
    checkName(info.kind)
    checkName(info.name)
    const service: MemoryService = { info, client: this, handler }
    await this.#operate(`service ${info.name}`, () => this.#common.services.add(service))
    return this.#stopOnce(() => this.#common.services.delete(service))
  }

  async call(kind: string, name: string, question: Uint8Array, withinMs: number): Promise<Uint8Array> {
    checkName(kind)
    checkName(name)
    checkSize(question)
    const what = `${kind} ${name}`
    const { services, messages } = this.#common
    return new Promise((resolve, reject) => {
      const unanswered = (why: string) => (): void => reject(new Fault('CALL_UNANSWERED', `${what} ${why}`))
      const cancel = this.#after(withinMs, unanswered(`did not answer within ${withinMs} ms`))
      if (this.#isCut || this.#isClosed || messages.isLost()) return
      messages.deliver(this, () => {
        const service = [...services].find(({ info }) => info.kind === kind && info.name === name)
        if (service === undefined) {
          cancel()
          unanswered('is not there')()
          return
        }
        if (!service.client.isReachable) return
        const answer = (settle: () => void): void => {
          if (!service.client.isReachable || messages.isLost()) return
          messages.deliver(service.client, () => {
            if (!this.isReachable) return
            cancel()
            settle()
          })
        }
        service.handler(Uint8Array.from(question)).then(
          (bytes) => answer(() => resolve(Uint8Array.from(bytes))),
          (error: unknown) => answer(() => reject(new Fault('CALL_FAILED', `${what}: ${messageOf(error)}`))),
        )
      })
    })
  }

  async discover(kind: string, withinMs: number): Promise<readonly ServiceInfo[]> {
    const { services, messages } = this.#common
    if (this.#isCut || this.#isClosed) {
      await new Promise<void>((resolve) => void this.#after(withinMs, resolve))
      return []
    }
    return new Promise((resolve) => {
      messages.deliver(this, () =>
        resolve(
          [...services]
            .filter((one) => one.info.kind === kind && one.client.isReachable)
            .map((one) => ({ ...one.info })),
        ),
      )
    })
  }

  onConnection(listener: (isConnected: boolean) => void): Stop {
    this.#listeners.add(listener)
    return this.#stopOnce(() => this.#listeners.delete(listener))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const stop of this.#stops) stop()
    this.#common.clients.delete(this)
    this.#setConnected(false)
  }

  get isReachable(): boolean {
    return !this.#isCut && !this.#isClosed
  }

  /** Something was written: whoever watches hears of it when a message of the engine would arrive. */
  tellWatches(): void {
    for (const tell of this.#watches) queueMicrotask(tell)
  }

  // ---- How it is done ----

  async #watchRecords(prefix: string, hear: (record: EngineRecord) => void): Promise<Stop> {
    if (prefix !== '') checkName(prefix)
    const { store } = this.#common
    let told = 0
    const tell = (): void => {
      // Told before it is heard: a listener that creates must not hear anything twice.
      while (told < store.records.length) {
        const record = store.records[told++]
        if (record !== undefined && hasPrefix(record.name, prefix))
          hear({ name: record.name, value: Uint8Array.from(record.value) })
      }
    }
    await this.#operate(`records ${prefix}`, tell)
    return this.#keepTelling(tell)
  }

  #keepTelling(tell: () => void): Stop {
    const tellIfReachable = (): void => {
      if (this.isReachable && this.#watches.has(tellIfReachable)) tell()
    }
    this.#watches.add(tellIfReachable)
    queueMicrotask(tellIfReachable)
    return this.#stopOnce(() => this.#watches.delete(tellIfReachable))
  }

  #makeLog(name: string): EngineLog {
    const { store } = this.#common
    const what = `log ${name}`
    return {
      append: async (bytes, after): Promise<Appended> => {
        checkSize(bytes)
        return this.#write('append', what, () => store.append(name, bytes, after))
      },
      last: async () => this.#operate(what, () => store.log(name).last),
      first: async () => this.#operate(what, () => store.firstOf(name)),
      read: (after) => this.#readLog(name, after),
      trim: async (upTo) => this.#operate(what, () => store.trim(name, upTo)),
    }
  }

  async *#readLog(name: string, after: number): AsyncGenerator<LogEntry> {
    const entries = await this.#operate(`log ${name}`, () => this.#common.store.read(name, after))
    // Each is asked for: a read can be cut in the middle.
    for (const { at, bytes } of entries) {
      yield await this.#operate(`log ${name}`, () => ({ at, bytes: Uint8Array.from(bytes) }))
    }
  }

  async *#getObject(name: string): AsyncGenerator<Uint8Array> {
    const bytes = await this.#operate(`object ${name}`, () => this.#common.store.objects.get(name))
    if (bytes === undefined) throw new Fault('OBJECT_MISSING', `the engine has no object ${name}`)
    const piece = 128 * 1024
    for (let from = 0; from < bytes.length; from += piece) {
      yield await this.#operate(`object ${name}`, () => bytes.slice(from, from + piece))
    }
  }

  /** A write, unless a test asked for its answer to be lost. */
  async #write<T>(doing: Doing, what: string, act: () => T, withinMs = this.#common.operationMs): Promise<T> {
    const how = this.#failures.get(doing)
    if (how === undefined) return this.#operate(what, act, withinMs)
    this.#failures.delete(doing)
    if (how === 'retried') {
      const first = await this.#operate(what, act, withinMs)
      return doing === 'create' ? this.#operate(what, act, withinMs) : first
    }
    if (how === 'done') await this.#operate(what, act, withinMs)
    await new Promise<void>((resolve) => void this.#after(withinMs, resolve))
    if (how === 'done-later') queueMicrotask(act)
    throw unreachable(what, withinMs)
  }

  /** Asks the engine: done when a question would arrive, told when an answer would, failed when that takes too long. */
  async #operate<T>(what: string, act: () => T, withinMs = this.#common.operationMs): Promise<T> {
    if (this.#isClosed) throw new Fault('ENGINE_UNREACHABLE', `${what}: the connection to the engine was closed`)
    return new Promise<T>((resolve, reject) => {
      let isOver = false
      const cancel = this.#after(withinMs, () => {
        isOver = true
        this.#whenReachable.delete(ask)
        reject(unreachable(what, withinMs))
      })
      const tell = (settle: () => void): void => {
        if (isOver) return
        // The answer waits as the question did.
        if (this.#isCut) {
          this.#whenReachable.add(() => tell(settle))
          return
        }
        cancel()
        settle()
      }
      const travel = (arrive: () => void): void => {
        if (this.slowMs > 0) this.#after(this.slowMs / 2, arrive)
        else queueMicrotask(arrive)
      }
      const ask = (): void => {
        if (isOver) return
        if (this.#isCut) {
          this.#whenReachable.add(ask)
          return
        }
        try {
          const result = act()
          travel(() => tell(() => resolve(result)))
        } catch (error) {
          travel(() => tell(() => reject(error)))
        }
      }
      travel(ask)
    })
  }

  #after(ms: number, callback: () => void): () => void {
    return this.#common.clock.callAt((this.#common.clock.nowMs() + ms) as ClockMs, callback)
  }

  #setConnected(isConnected: boolean): void {
    if (this.#isConnected === isConnected) return
    this.#isConnected = isConnected
    for (const listener of this.#listeners) listener(isConnected)
  }

  #stopOnce(stop: () => void): Stop {
    const once = (): void => {
      if (this.#stops.delete(once)) stop()
    }
    this.#stops.add(once)
    return once
  }
}

function tellWatches(common: Common): void {
  for (const client of common.clients) client.tellWatches()
}

function unreachable(what: string, withinMs: number): Fault {
  return new Fault('ENGINE_UNREACHABLE', `${what}: the engine did not answer within ${withinMs} ms`)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

async function gather(bytes: AsyncIterable<Uint8Array> | Uint8Array): Promise<Uint8Array> {
  if (bytes instanceof Uint8Array) return Uint8Array.from(bytes)
  const pieces: Uint8Array[] = []
  // Copies: whoever hands them out may use one buffer for all.
  for await (const piece of bytes) pieces.push(Uint8Array.from(piece))
  return Buffer.concat(pieces)
}
