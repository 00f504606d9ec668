// Time, an engine and its wires, without any of them: events in a queue. Each node has a clock of its own speed; it can be
// frozen (time passes, nothing runs), put to sleep (its monotonic clock stands still as well), cut off, slowed down.
//
// The engine keeps the laws of src/engine/engine.ts. What is on its way may be lost in either direction: an operation whose
// answer is lost was done.

import { type Clock, type ClockMs, Fault, type Random } from '../../src/base/index.ts'
import type { Engine, EngineRecord, Stop } from '../../src/engine/index.ts'

/** Nobody may be taken for dead who was not silent for this time: the shortest lease on the quickest clock. */
export const SILENCE_MS = 14_000

interface Event {
  readonly atMs: number
  readonly order: number
  readonly run: () => void
}

/** Real time of the simulation: a heap of what is to come. */
export class World {
  nowMs = 0
  #order = 0
  readonly #heap: Event[] = []

  at(atMs: number, run: () => void): void {
    const heap = this.#heap
    heap.push({ atMs: Math.max(atMs, this.nowMs), order: this.#order++, run })
    let child = heap.length - 1
    while (child > 0) {
      const parent = (child - 1) >> 1
      if (!isBefore(heap[child], heap[parent])) break
      ;[heap[child], heap[parent]] = [heap[parent] as Event, heap[child] as Event]
      child = parent
    }
  }

  /** Runs the next event; false when there is none up to then. */
  next(endMs: number): boolean {
    const heap = this.#heap
    const [first] = heap
    if (first === undefined || first.atMs > endMs) {
      this.nowMs = Math.max(this.nowMs, endMs)
      return false
    }
    const last = heap.pop() as Event
    if (heap.length > 0) {
      heap[0] = last
      for (let parent = 0; ;) {
        let least = parent
        for (const child of [2 * parent + 1, 2 * parent + 2]) {
          if (child < heap.length && isBefore(heap[child], heap[least])) least = child
        }
        if (least === parent) break
        ;[heap[least], heap[parent]] = [heap[parent] as Event, heap[least] as Event]
        parent = least
      }
    }
    this.nowMs = first.atMs
    first.run()
    return true
  }
}

function isBefore(a: Event | undefined, b: Event | undefined): boolean {
  if (a === undefined || b === undefined) return false
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)
}

/** The machine a node runs on: its clocks, and whether anything runs at all. */
export class Machine implements Clock {
  readonly #world: World
  readonly #rate: number
  readonly #offsetMs: number
  #sleptMs = 0
  #asleepSinceMs: number | null = null
  /** Added to real time it is what its wall clock says. */
  wallOffsetMs = 0
  #isFrozen = false
  readonly #inbox: (() => void)[] = []
  #isWorkingOff = false
  isGone = false

  constructor(world: World, random: Random) {
    this.#world = world
    this.#rate = random.pick([0.97, 1, 1.03])
    this.#offsetMs = random.below(1_000_000)
  }

  nowMs(): ClockMs {
    const nowMs = this.#asleepSinceMs ?? this.#world.nowMs
    return (this.#offsetMs + (nowMs - this.#sleptMs) * this.#rate) as ClockMs
  }

  wallMs(): number {
    return this.#world.nowMs + this.wallOffsetMs
  }

  callAt(atMs: ClockMs, callback: () => void): () => void {
    let isCancelled = false
    const arm = (): void => {
      const leftMs = (atMs - this.nowMs()) / this.#rate
      this.#world.at(this.#world.nowMs + Math.max(leftMs, 0.001), () => {
        if (isCancelled || this.isGone) return
        if (this.#asleepSinceMs === null && this.nowMs() < atMs) return arm()
        this.receive(() => {
          if (isCancelled) return
          if (this.nowMs() < atMs) arm()
          else callback()
        })
      })
    }
    arm()
    return () => {
      isCancelled = true
    }
  }

  /** Runs it now, or when the machine runs again. */
  receive(run: () => void): void {
    if (this.isGone) return
    if (this.#isFrozen || this.#inbox.length > 0) this.#inbox.push(run)
    else run()
  }

  get isFrozen(): boolean {
    return this.#isFrozen
  }

  /** `isAsleep`: its monotonic clock stands still as well. */
  freeze(isAsleep: boolean): void {
    if (this.#isFrozen) return
    this.#isFrozen = true
    if (isAsleep) this.#asleepSinceMs = this.#world.nowMs
  }

  /** What had come meanwhile is run in turn, and what comes now after it. */
  wake(random: Random): void {
    if (!this.#isFrozen) return
    this.#isFrozen = false
    if (this.#asleepSinceMs !== null) this.#sleptMs += this.#world.nowMs - this.#asleepSinceMs
    this.#asleepSinceMs = null
    this.#workOff(random)
  }

  #workOff(random: Random): void {
    if (this.#isFrozen || this.#inbox.length === 0 || this.#isWorkingOff) return
    this.#isWorkingOff = true
    this.#world.at(this.#world.nowMs + random.fraction() * 3, () => {
      this.#isWorkingOff = false
      if (this.#isFrozen || this.isGone) return
      this.#inbox.shift()?.()
      this.#workOff(random)
    })
  }
}

/** What all nodes share. */
export class EngineState {
  readonly records: EngineRecord[] = []
  readonly byName = new Map<string, Uint8Array>()
  readonly beats = new Map<string, { number: number; value: Uint8Array; atMs: number; returnedMs: number }>()
  beatsCount = 0
  readonly links = new Set<SimulatedEngine>()
  onCreate: (name: string, value: Uint8Array) => void = () => undefined

  create(name: string, value: Uint8Array): 'created' | 'exists' {
    if (this.byName.has(name)) return 'exists'
    this.onCreate(name, value)
    this.byName.set(name, value)
    this.records.push({ name, value })
    for (const link of this.links) link.push()
    return 'created'
  }

  /** `returnedMs`: when it was last heard of after a silence of this length. */
  beat(name: string, value: Uint8Array, nowMs: number, silenceMs: number): void {
    const before = this.beats.get(name)
    const isBack = before !== undefined && nowMs - before.atMs >= silenceMs
    const returnedMs = isBack ? nowMs : (before?.returnedMs ?? -Infinity)
    this.beats.set(name, { number: ++this.beatsCount, value, atMs: nowMs, returnedMs })
    for (const link of this.links) link.push()
  }
}

interface Watch {
  /** What was stored since it was last told, and the place up to which that is. */
  readonly news: (cursor: number) => { cursor: number; tell: () => void } | null
  cursor: number
  isOnItsWay: boolean
}

/** How the wire between a node and the engine is. */
export interface Wire {
  delayMs: number
  /** Of what is sent, in either direction, this part is lost. */
  loss: number
  /** What is watched comes later than answers by up to this. */
  watchLagMs: number
}

/** One node's connection. Only what a membership uses. */
export class SimulatedEngine implements Pick<
  Engine,
  'records' | 'beat' | 'lastBeat' | 'watchBeats' | 'publish' | 'subscribe' | 'serve' | 'onConnection' | 'isConnected'
> {
  readonly #world: World
  readonly #state: EngineState
  readonly #machine: Machine
  readonly #random: Random
  readonly wire: Wire = { delayMs: 2, loss: 0, watchLagMs: 0 }
  readonly #watches: Watch[] = []
  #listeners: ((isConnected: boolean) => void)[] = []
  #isUp = true
  #isConnected = true
  /** Counts cuts: what was on its way when the wire was cut does not arrive when it is whole again. */
  #cuts = 0
  readonly records: Engine['records']

  constructor(world: World, state: EngineState, machine: Machine, random: Random) {
    this.#world = world
    this.#state = state
    this.#machine = machine
    this.#random = random
    state.links.add(this)
    this.records = {
      create: async (name, value) => this.ask(() => state.create(name, value)),
      get: async (name) => this.ask(() => state.byName.get(name) ?? null),
      list: async (prefix) => this.ask(() => state.records.filter(({ name }) => name.startsWith(`${prefix}.`))),
      watch: async (prefix, hear) =>
        this.#watch((cursor) => {
          const end = state.records.length
          if (cursor === end) return null
          const news = state.records.slice(cursor, end).filter(({ name }) => name.startsWith(`${prefix}.`))
          return { cursor: end, tell: () => news.forEach(hear) }
        }),
    }
  }

  get isConnected(): boolean {
    return this.#isConnected
  }

  /** An operation: there, done, and back; or it fails in its time. */
  async ask<T>(act: () => T, withinMs = 5_000): Promise<T> {
    return new Promise((resolve, reject) => {
      let isOver = false
      const cancel = this.#machine.callAt((this.#machine.nowMs() + withinMs) as ClockMs, () => {
        isOver = true
        reject(new Fault('ENGINE_UNREACHABLE', 'no answer'))
      })
      this.#travel(() => {
        const result = act()
        this.#travel(() =>
          this.#machine.receive(() => {
            if (isOver) return
            cancel()
            resolve(result)
          }),
        )
      })
    })
  }

  #travel(arrive: () => void): void {
    const cuts = this.#cuts
    if (!this.#isUp || this.#random.fraction() < this.wire.loss) return
    this.#world.at(this.#world.nowMs + this.#delayMs(), () => {
      if (this.#isUp && cuts === this.#cuts) arrive()
    })
  }

  #delayMs(): number {
    return this.wire.delayMs * (0.5 + this.#random.fraction())
  }

  async beat(name: string, value: Uint8Array, withinMs: number): Promise<void> {
    return this.ask(() => this.#state.beat(name, value, this.#world.nowMs, SILENCE_MS), withinMs)
  }

  async lastBeat(name: string): Promise<Uint8Array | null> {
    return this.ask(() => this.#state.beats.get(name)?.value ?? null)
  }

  async watchBeats(hear: (name: string, value: Uint8Array, isPast: boolean) => void): Promise<Stop> {
    let isPast = true
    return this.#watch((cursor) => {
      if (cursor === this.#state.beatsCount) return null
      const news = [...this.#state.beats]
        .filter(([, { number }]) => number > cursor)
        .sort(([, a], [, b]) => a.number - b.number)
      const wasPast = isPast
      isPast = false
      return {
        cursor: this.#state.beatsCount,
        tell: () => news.forEach(([name, { value }]) => hear(name, value, wasPast)),
      }
    })
  }

  async #watch(news: Watch['news']): Promise<Stop> {
    await this.ask(() => undefined)
    const watch: Watch = { news, cursor: 0, isOnItsWay: false }
    this.#watches.push(watch)
    this.push()
    return () => void this.#watches.splice(this.#watches.indexOf(watch) >>> 0, 1)
  }

  /** Something was stored: it is sent to whoever watches, in order, what belongs together at once. */
  push(): void {
    for (const watch of this.#watches) {
      if (watch.isOnItsWay || !this.#isUp) continue
      const news = watch.news(watch.cursor)
      if (news === null) continue
      watch.isOnItsWay = true
      const cuts = this.#cuts
      const lagMs = this.wire.watchLagMs * this.#random.fraction()
      this.#world.at(this.#world.nowMs + this.#delayMs() + lagMs, () => {
        if (!this.#isUp || cuts !== this.#cuts) return
        watch.isOnItsWay = false
        watch.cursor = news.cursor
        this.#machine.receive(news.tell)
        this.push()
      })
    }
  }

  cut(): void {
    if (!this.#isUp) return
    this.#isUp = false
    const cuts = ++this.#cuts
    for (const watch of this.#watches) watch.isOnItsWay = false
    // Pings are unanswered for two or three seconds before a client says so.
    this.#world.at(this.#world.nowMs + 2_000 + this.#random.below(1_000), () => {
      if (!this.#isUp && cuts === this.#cuts) this.#machine.receive(() => this.#say(false))
    })
  }

  restore(): void {
    if (this.#isUp) return
    this.#isUp = true
    this.#world.at(this.#world.nowMs + this.#random.below(1_500), () => {
      if (!this.#isUp) return
      this.#machine.receive(() => this.#say(true))
      this.push()
    })
  }

  #say(isConnected: boolean): void {
    if (this.#isConnected === isConnected) return
    this.#isConnected = isConnected
    for (const listener of this.#listeners) listener(isConnected)
  }

  close(): void {
    this.#state.links.delete(this)
    this.#watches.length = 0
    this.#listeners = []
  }

  onConnection(listener: (isConnected: boolean) => void): Stop {
    this.#listeners.push(listener)
    return () => undefined
  }

  // Hints and calls: nothing may depend on them.
  publish(): void {}

  subscribe(): Stop {
    return () => undefined
  }

  async serve(): Promise<Stop> {
    return () => undefined
  }
}
