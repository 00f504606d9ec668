// A crawl that crashes at any moment, and at any write of the store, goes on with exactly what the journal says: the last
// checkpoint, and what happened after it, told again. The journal here is a list of batches; what was in a batch that was
// not committed is lost, as it would be. The model keeps what waits in plain arrays.

import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { ManualClock } from '../base/index.ts'
import type { CanonicalUrl, HostKey } from '../url/index.ts'
import { DiskFrontier, type DiskFrontierSettings } from './disk-frontier.ts'
import type { FrontierEntry, Turn } from './frontier.ts'
import { MemoryLineStore } from './memory-line-store.ts'

const RUNS = Number(process.env['PORTOLAN_FUZZ_RUNS'] ?? 400)

type Step =
  | { readonly kind: 'offer'; readonly host: number; readonly band: number; readonly count: number }
  | { readonly kind: 'take' | 'batch' | 'seal' | 'commit' | 'idle' | 'breathe' | 'crash' | 'requeue' }
  | { readonly kind: 'conclude'; readonly turn: number; readonly count: number }
  | { readonly kind: 'settle'; readonly turn: number; readonly restMs: number; readonly again: boolean }
  | { readonly kind: 'rest' | 'leastRest'; readonly host: number; readonly ms: number }
  | { readonly kind: 'errand' | 'park' | 'unpark'; readonly host: number }
  | { readonly kind: 'checkpoint' | 'serve' }
  | { readonly kind: 'tick'; readonly count: number }
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'doom'; readonly writes: number; readonly happens: boolean }

const host = fc.nat({ max: 5 })
const turn = fc.nat({ max: 3 })
const ms = fc.constantFrom(0, 10, 5_000)
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('offer' as const),
      host,
      band: fc.nat({ max: 2 }),
      count: fc.integer({ min: 1, max: 9 }),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('take' as const) }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('conclude' as const), turn, count: fc.integer({ min: 1, max: 3 }) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('settle' as const), turn, restMs: ms, again: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('rest' as const, 'leastRest'), host, ms }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('errand' as const, 'park', 'unpark', 'unpark'), host }) },
  { weight: 12, arbitrary: fc.record({ kind: fc.constantFrom('batch' as const, 'seal', 'seal', 'commit', 'commit') }) },
  { weight: 9, arbitrary: fc.record({ kind: fc.constantFrom('checkpoint' as const, 'checkpoint', 'serve') }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('tick' as const), count: fc.integer({ min: 1, max: 12 }) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('idle' as const, 'requeue', 'breathe', 'breathe') }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('advance' as const), ms }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('doom' as const), writes: fc.nat({ max: 3 }), happens: fc.boolean() }),
  },
)

type Event =
  | { readonly kind: 'offer'; readonly entry: FrontierEntry }
  | { readonly kind: 'omit'; readonly entry: FrontierEntry; readonly isPage: boolean }
  | { readonly kind: 'rest'; readonly host: HostKey; readonly ms: number; readonly untilMs: number }

/** What waits, by host and band, and what is known of hosts. */
class Books {
  readonly lines = new Map<string, FrontierEntry[]>()
  readonly offered = new Set<HostKey>()
  readonly pages = new Map<HostKey, number>()
  readonly restUntilMs = new Map<HostKey, number>()

  lineOf(host: string, band: number): FrontierEntry[] {
    const name = `${host} ${band}`
    let line = this.lines.get(name)
    if (line === undefined) {
      line = []
      this.lines.set(name, line)
    }
    return line
  }

  tell(event: Event): void {
    switch (event.kind) {
      case 'offer':
        this.offered.add(event.entry.host)
        this.lineOf(event.entry.host, event.entry.band).push(event.entry)
        break
      case 'omit': {
        const { host, band, url } = event.entry
        const line = this.lineOf(host, band)
        const at = line.findIndex((entry) => entry.url === url)
        expect(at, `${url} has its verdict, but did not wait`).toBeGreaterThanOrEqual(0)
        line.splice(at, 1)
        if (event.isPage) this.pages.set(host, (this.pages.get(host) ?? 0) + 1)
        break
      }
      case 'rest':
        this.restUntilMs.set(event.host, Math.max(this.restUntilMs.get(event.host) ?? 0, event.untilMs))
        break
    }
  }

  copy(): Books {
    const copy = new Books()
    for (const [name, line] of this.lines) copy.lines.set(name, [...line])
    for (const host of this.offered) copy.offered.add(host)
    for (const [host, pages] of this.pages) copy.pages.set(host, pages)
    for (const [host, untilMs] of this.restUntilMs) copy.restUntilMs.set(host, untilMs)
    return copy
  }

  get waiting(): number {
    return [...this.lines.values()].reduce((sum, line) => sum + line.length, 0)
  }
}

interface Store {
  open(settings: DiskFrontierSettings): Promise<DiskFrontier>
  /** From now on the frontier sees what a crash would have left. */
  crash(frontier: DiskFrontier): Promise<void>
  doom?(writes: number, happens: boolean): void
  blocksLeft?(): string[]
}

class MemoryCrashes implements Store {
  readonly #slowness: number
  #store = new MemoryLineStore()
  #isNew = true

  constructor(slowness: number) {
    this.#slowness = slowness
  }

  async open(settings: DiskFrontierSettings): Promise<DiskFrontier> {
    this.#store.slowness = this.#slowness
    const frontier = await DiskFrontier.on(this.#store, settings, this.#isNew)
    this.#isNew = false
    return frontier
  }

  async crash(): Promise<void> {
    const dead = this.#store
    this.#store = new MemoryLineStore(dead.values)
    dead.diesAtWrite = 0
    dead.happensWhenDying = false
  }

  /** Blocks, and what was added to records. */
  blocksLeft(): string[] {
    const isAddendum = (key: string): boolean => key.startsWith('h') && key.includes('\0')
    return [...this.#store.values.keys()].filter((key) => key.startsWith('b') || isAddendum(key))
  }

  doom(writes: number, happens: boolean): void {
    this.#store.diesAtWrite = this.#store.writes + 1 + writes
    this.#store.happensWhenDying = happens
  }
}

class LevelCrashes implements Store {
  readonly #root: string
  #count = 0

  constructor(root: string) {
    this.#root = root
  }

  get #directory(): string {
    return join(this.#root, String(this.#count))
  }

  open(settings: DiskFrontierSettings): Promise<DiskFrontier> {
    return DiskFrontier.open({ ...settings, directory: this.#directory })
  }

  async crash(frontier: DiskFrontier): Promise<void> {
    const goOn = await frontier.pauseWrites()
    const before = this.#directory
    this.#count++
    await cp(before, this.#directory, { recursive: true, filter: (path) => !path.endsWith('LOCK') })
    goOn()
    await frontier.close()
  }
}

class CrashingCrawl {
  readonly #clock = new ManualClock()
  readonly #store: Store
  readonly #settings: DiskFrontierSettings
  #frontier: DiskFrontier
  /** What waits now, those that are out not among them. */
  #live = new Books()
  #turns: Turn[] = []
  #concluded = new Set<CanonicalUrl>()
  readonly #batches: Event[][] = []
  #events: Event[] = []
  #committed = 0
  /** What waited when a batch was sealed, those that were out in front. */
  readonly #seals = new Map<number, Books>([[0, new Books()]])
  #made = 0
  #done: FrontierEntry[] = []
  #restsPromised = new Map<HostKey, number>()

  private constructor(store: Store, settings: DiskFrontierSettings, clock: ManualClock, frontier: DiskFrontier) {
    this.#store = store
    this.#settings = settings
    this.#clock = clock
    this.#frontier = frontier
  }

  static async start(store: Store, chosen: Omit<DiskFrontierSettings, 'clock'>): Promise<CrashingCrawl> {
    const clock = new ManualClock()
    const settings = { ...chosen, clock }
    const frontier = await store.open(settings)
    await frontier.endReplay()
    return new CrashingCrawl(store, settings, clock, frontier)
  }

  async run(step: Step): Promise<void> {
    try {
      await this.#run(step)
    } catch (cause) {
      if (!(cause instanceof Error) || !cause.message.includes('the store has died')) throw cause
      await this.crash()
    }
  }

  async #run(step: Step): Promise<void> {
    const frontier = this.#frontier
    switch (step.kind) {
      case 'offer':
        for (let i = 0; i < step.count; i++) this.#offer(this.#entry(step.host, step.band))
        break
      case 'requeue': {
        const entry = this.#done.pop()
        if (entry !== undefined) this.#offer({ ...entry, tries: entry.tries + 1 })
        break
      }
      case 'take':
        this.#take()
        break
      case 'conclude': {
        const turn = this.#turns[step.turn % Math.max(1, this.#turns.length)]
        for (const entry of this.#openOf(turn).slice(0, step.count)) this.#conclude(entry)
        break
      }
      case 'settle':
        this.#settle(step)
        break
      case 'rest':
        this.#rest(`h${step.host}` as HostKey, step.ms, () => frontier.rest(`h${step.host}` as HostKey, step.ms))
        break
      case 'leastRest':
        frontier.setLeastRest(`h${step.host}` as HostKey, step.ms)
        break
      case 'errand': {
        const key = `h${step.host}` as HostKey
        frontier.sendErrand({ url: `http://${key}/robots.txt` as CanonicalUrl, host: key, purpose: null })
        break
      }
      case 'park':
      case 'unpark':
        frontier[step.kind](`h${step.host}` as HostKey)
        break
      case 'batch':
        this.#takeBatch()
        break
      case 'checkpoint':
        await this.#checkpoint()
        break
      case 'serve':
        while (this.#turns.length > 0) {
          for (const entry of this.#openOf(this.#turns[0])) this.#conclude(entry)
          this.#settle({ kind: 'settle', turn: 0, restMs: 0, again: false })
        }
        break
      case 'seal':
        this.#takeBatch()
        if (frontier.canSeal) this.#seal()
        break
      case 'commit':
        this.#committed = this.#batches.length
        frontier.committed(this.#committed)
        break
      case 'tick':
        for (let i = 0; i < step.count; i++) await Promise.resolve()
        break
      case 'idle':
        await frontier.written()
        await frontier.idle()
        break
      case 'breathe':
        await setImmediate()
        break
      case 'advance':
        this.#clock.advance(step.ms)
        break
      case 'doom':
        this.#store.doom?.(step.writes, step.happens)
        break
      case 'crash':
        await this.crash()
        break
    }
    this.#frontier.assertSound()
  }

  /** Memory is gone, and what the journal did not commit. */
  async crash(): Promise<void> {
    await this.#store.crash(this.#frontier)
    this.#batches.length = this.#committed
    const frontier = await this.#store.open(this.#settings)
    const from = frontier.replayFrom
    expect(from).toBeLessThanOrEqual(this.#committed)
    const live = (this.#seals.get(from) as Books).copy()
    for (const event of this.#batches.slice(from).flat()) {
      live.tell(event)
      if (event.kind === 'offer') frontier.offer(event.entry)
      else if (event.kind === 'omit') frontier.omit(event.entry.host, event.entry.url, event.isPage)
      else frontier.rest(event.host, event.ms)
    }
    await frontier.endReplay()
    for (const batch of this.#seals.keys()) if (batch > this.#committed) this.#seals.delete(batch)
    this.#frontier = frontier
    this.#live = live
    this.#turns = []
    this.#concluded = new Set()
    this.#events = []
    this.#done = []
    await this.#compare()
    // Nobody is asked before a rest, and none of those that were promised is shorter for the crash.
    expect(frontier.take()).toBeNull()
    this.#restsPromised = new Map(live.restUntilMs)
  }

  /** Everything is given out, each once, in the order of its line. */
  async drain(): Promise<void> {
    await this.crash()
    for (let idle = 0; idle < 3;) {
      await this.#frontier.idle()
      const before = this.#turns.length
      this.#take()
      const turn = this.#turns.at(-1)
      if (turn === undefined || this.#turns.length === before) {
        idle++
        this.#clock.advance(10_000)
        // Others wait for the places of those that were served.
        await this.#checkpoint()
        continue
      }
      idle = 0
      for (const entry of turn.entries) this.#conclude(entry)
      this.#settle({ kind: 'settle', turn: 0, restMs: 0, again: false })
      if (this.#made++ % 5 === 0 && this.#frontier.canSeal) {
        this.#takeBatch()
        this.#seal()
        this.#committed = this.#batches.length
        this.#frontier.committed(this.#committed)
      }
    }
    expect(this.#live.waiting).toBe(0)
    expect(this.#frontier.figures().waiting).toBe(0)
    await this.#frontier.written()
    this.#takeBatch()
    this.#frontier.seal(this.#batches.length)
    this.#frontier.committed(this.#batches.length)
    await this.#frontier.written()
    expect(this.#store.blocksLeft?.() ?? []).toEqual([])
    await this.#frontier.close()
  }

  async #checkpoint(): Promise<void> {
    this.#takeBatch()
    if (this.#frontier.canSeal) this.#seal()
    this.#committed = this.#batches.length
    this.#frontier.committed(this.#committed)
    await this.#frontier.written()
  }

  async #compare(): Promise<void> {
    const found = new Books()
    for await (const entry of this.#frontier.entries()) found.lineOf(entry.host, entry.band).push(entry)
    const shown = (books: Books): string[] =>
      [...books.lines]
        .filter(([, line]) => line.length > 0)
        .map(([name, line]) => `${name}: ${line.map(({ url, tries }) => `${url}#${tries}`).join(' ')}`)
        .sort()
    expect(shown(found)).toEqual(shown(this.#live))
    const { waiting, hosts } = this.#frontier.figures()
    expect({ waiting, hosts }).toEqual({ waiting: this.#live.waiting, hosts: this.#live.offered.size })
    this.#frontier.assertSound()
  }

  #take(): void {
    const turn = this.#frontier.take()
    if (turn === null) return
    expect(this.#clock.nowMs(), `${turn.host} is asked too early`).toBeGreaterThanOrEqual(
      this.#restsPromised.get(turn.host) ?? 0,
    )
    expect(this.#frontier.pagesOf(turn.host)).toBe(this.#live.pages.get(turn.host) ?? 0)
    for (const entry of turn.entries) {
      expect(this.#live.lineOf(entry.host, entry.band).shift()).toEqual(entry)
    }
    this.#turns.push(turn)
  }

  #offer(entry: FrontierEntry): void {
    this.#frontier.offer(entry)
    this.#tell({ kind: 'offer', entry })
  }

  #conclude(entry: FrontierEntry): void {
    const isPage = this.#made++ % 2 === 0
    this.#frontier.conclude(entry, isPage)
    this.#concluded.add(entry.url)
    this.#events.push({ kind: 'omit', entry, isPage })
    if (isPage) this.#live.pages.set(entry.host, (this.#live.pages.get(entry.host) ?? 0) + 1)
    this.#done.push(entry)
  }

  #settle({ turn: place, restMs, again }: Step & { kind: 'settle' }): void {
    const [turn] = this.#turns.splice(place % Math.max(1, this.#turns.length), 1)
    if (turn === undefined) return
    const open = this.#openOf(turn)
    const repeated = again ? open.slice(0, 1).map((entry) => ({ ...entry, tries: entry.tries + 1 })) : []
    const unvisited = open.slice(repeated.length)
    this.#rest(turn.host, restMs, () => this.#frontier.settle(turn, { restMs, unvisited, again: repeated }))
    for (const entry of unvisited.toReversed()) this.#live.lineOf(entry.host, entry.band).unshift(entry)
    for (const entry of repeated) this.#live.lineOf(entry.host, entry.band).push(entry)
    for (const entry of turn.entries) this.#concluded.delete(entry.url)
  }

  #rest(host: HostKey, ms: number, doIt: () => void): void {
    doIt()
    const untilMs = this.#clock.nowMs() + ms
    this.#restsPromised.set(host, Math.max(this.#restsPromised.get(host) ?? 0, untilMs))
    if (ms > 10) this.#tell({ kind: 'rest', host, ms, untilMs })
  }

  #tell(event: Event): void {
    this.#live.tell(event)
    this.#events.push(event)
  }

  #takeBatch(): void {
    this.#batches.push(this.#events)
    this.#events = []
  }

  #seal(): void {
    const seal = this.#live.copy()
    for (const turn of this.#turns) {
      for (const entry of this.#openOf(turn).toReversed()) seal.lineOf(entry.host, entry.band).unshift(entry)
    }
    this.#seals.set(this.#batches.length, seal)
    this.#frontier.seal(this.#batches.length)
  }

  #openOf(turn: Turn | undefined): FrontierEntry[] {
    return (turn?.entries ?? []).filter(({ url }) => !this.#concluded.has(url))
  }

  #entry(host: number, band: number): FrontierEntry {
    const number = this.#made++
    return {
      url: `http://h${host}/${number}` as CanonicalUrl,
      host: `h${host}` as HostKey,
      via: number % 3 === 0 ? null : ('http://elsewhere/' as CanonicalUrl),
      depth: number % 7,
      hops: 0,
      band,
      isSeed: number % 3 === 0,
      tries: 0,
      pauses: 0,
    }
  }
}

const settings = fc.record({
  delayMs: fc.constantFrom(1, 1, 1_000),
  urlsPerTurn: fc.constantFrom(1, 3),
  memoryBytes: fc.constantFrom(1, 1, 1, 5_000, 1e9),
  tuning: fc
    .record({
      headEntries: fc.integer({ min: 1, max: 4 }),
      readAhead: fc.integer({ min: 1, max: 3 }),
      blockEntriesMin: fc.integer({ min: 1, max: 9 }),
      hostsMin: fc.constantFrom(0, 0, 3, 64),
      addendaMax: fc.constantFrom(1, 3, 16),
      hostsCalledMin: fc.constantFrom(1, 64),
      codeEntriesMin: fc.constantFrom(3, Infinity, Infinity),
      // A busy machine has others come in between at every chance.
      stepMs: fc.constantFrom(4, -1),
    })
    .map((chosen) => ({ ...chosen, hostsMin: Math.min(chosen.hostsMin, chosen.hostsCalledMin === 1 ? 0 : 64) })),
})

const sequences = (maxLength: number): fc.Arbitrary<Step[]> => fc.array(steps, { maxLength, size: 'max' })

const FIXED = { ipDelayMs: 0, ipConnections: 100, bands: 3 }

test('a crawl that crashes goes on with what its journal says', async () => {
  await fc.assert(
    fc.asyncProperty(settings, fc.constantFrom(0, 5, 40), sequences(120), async (chosen, slowness, sequence) => {
      const crawl = await CrashingCrawl.start(new MemoryCrashes(slowness), { ...FIXED, ...chosen })
      for (const step of sequence) await crawl.run(step)
      await crawl.drain()
    }),
    { numRuns: RUNS },
  )
})

test('so it does on LevelDB', async () => {
  const root = await mkdtemp(join(tmpdir(), 'portolan-frontier-'))
  let runs = 0
  try {
    await fc.assert(
      fc.asyncProperty(settings, sequences(80), async (chosen, sequence) => {
        const crawl = await CrashingCrawl.start(new LevelCrashes(join(root, `run${runs++}`)), { ...FIXED, ...chosen })
        for (const step of sequence) await crawl.run(step)
        await crawl.drain()
      }),
      { numRuns: 15 },
    )
  } finally {
    await rm(root, { recursive: true, force: true })
  }
})
