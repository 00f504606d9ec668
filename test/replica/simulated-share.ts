// A share that lives on one simulated machine after another: real journal, frontier, sets and files, a memory engine, and what happens
// to it drawn from a seed. Beside it the twin, which is only told the batches that count, and never moves.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { Books } from '../../src/agent/books.ts'
import { copyCrawl } from '../../src/agent/checkpoint.ts'
import { Closers } from '../../src/agent/closers.ts'
import { type CrawlState, openCrawlState } from '../../src/agent/crawl-state.ts'
import { CrawlFigures, REPLICA_FILES, type StateCopy, type StateKeeper } from '../../src/agent/index.ts'
import { failureVerdict } from '../../src/agent/verdict.ts'
import { type Clock, NO_FAULTS, type Random, systemClock } from '../../src/base/index.ts'
import type { MemoryClient } from '../../src/engine/index.ts'
import type { FrontierEntry } from '../../src/frontier/index.ts'
import { type Journal, type LedgerBatch, SegmentedJournal } from '../../src/ledger/index.ts'
import { ShareReplica, type SnapshotFigures } from '../../src/replica/index.ts'
import type { FailureRecord, PageRecord } from '../../src/store/index.ts'
import type { HostKey } from '../../src/url/index.ts'
import { newBatch } from '../../src/url-seen/index.ts'
import { settingsOf } from '../crawl/run-crawl.ts'
import { entryOf } from '../frontier-entry.ts'
import { IDENTITY, takeShare } from './moved-crawl.ts'

const SETTINGS = settingsOf({ 'allow-private': true, delay: '0ms', warc: 'off', memory: '400MiB' })
const SEGMENT_BYTES = 1_500
const SPENT = { ms: 0, cpuMs: 0, peakRssBytes: 0 }
/** What waits a moment waits no time. */
const hasty: Clock = { ...systemClock, callAt: (_, callback) => systemClock.callAt(systemClock.nowMs(), callback) }

/** A batch that was to be committed, with what its files held. */
export interface Attempt {
  readonly number: number
  readonly batch: LedgerBatch
  readonly files: ReadonlyMap<string, Buffer>
}

export class Machine {
  readonly dir: string
  readonly replica: ShareReplica
  readonly client: MemoryClient
  readonly #state: CrawlState
  readonly #books: Books
  readonly #closers: Closers
  readonly #random: Random
  readonly #fence: { isFenced: boolean }

  private constructor(
    client: MemoryClient,
    dir: string,
    replica: ShareReplica,
    state: CrawlState,
    books: Books,
    closers: Closers,
    random: Random,
    fence: { isFenced: boolean },
  ) {
    this.#fence = fence
    this.client = client
    this.dir = dir
    this.replica = replica
    this.#state = state
    this.#books = books
    this.#closers = closers
    this.#random = random
  }

  /** Takes the share and opens it. `onAttempt` hears of a batch before it is committed. */
  static async open(
    engine: MemoryClient,
    node: string,
    incarnation: string,
    dir: string,
    random: Random,
    onAttempt: (attempt: Attempt) => void,
  ): Promise<Machine> {
    const held = await takeShare(engine, node, incarnation)
    const plan = { engine, held, dir, crawlDir: dir, identity: IDENTITY, files: REPLICA_FILES, clock: hasty, random }
    const fence = { isFenced: false }
    const replica = await ShareReplica.open({ ...plan, isFenced: () => fence.isFenced })
    const keeper: StateKeeper = {
      // Segments of a few batches, so that some are forgotten.
      openJournal: (options) => replica.openJournal({ ...options, segmentBytes: SEGMENT_BYTES }),
      statesHere: (number, said) => replica.statesHere(number, said),
    }
    const { state, closers } = await openState(dir, random, keeper)
    const journal = new AttemptedJournal(state.journal, dir, onAttempt)
    const books = booksOf(state, journal)
    return new Machine(engine, dir, replica, state, books, closers, random, fence)
  }

  get last(): number {
    return this.#state.journal.lastNumber
  }

  /** Something happens: pages, failures, rests, seeds, verdicts taken back; then a batch. */
  async work(): Promise<void> {
    const random = this.#random
    if (this.#state.journal.lastNumber === 0) this.#admit(entryOf('seed.test', 'start', { isSeed: true }))
    for (let visits = random.below(6); visits > 0; visits--) this.#visit()
    if (random.below(8) === 0) this.#admit(entryOf(this.#anyHost(), `seed-${random.next32()}`, { isSeed: true }))
    if (random.below(5) === 0) {
      this.#books.rest({ host: this.#anyHost() as HostKey, restMs: 1 + random.below(3), why: 'asked' })
    }
    if (random.below(6) === 0) await this.#takeBack()
    this.#books.noted()
    await this.#books.commit()
  }

  /** The same, by a node that may not act any more once the engine has failed to answer. */
  async workUntilFenced(): Promise<void> {
    this.#fence.isFenced = true
    await this.work()
  }

  async snapshot(): Promise<SnapshotFigures | null> {
    if (this.last === 0) return null
    return this.replica.snapshot({ copyState: (to, onHeld) => this.#copyState(to, onHeld) })
  }

  /** Stops in order, and gives the share up. */
  async leave(): Promise<void> {
    this.#books.noted()
    await this.#books.close()
    await this.#closers.closeAll()
    await this.replica.release()
  }

  /** Is no more. What was written and in no batch is on disk, as after a kill. */
  async die(): Promise<void> {
    if (!this.#books.isBroken) this.#visit()
    await this.#closers.closeAll().catch(() => {})
    this.replica.close()
  }

  async #copyState(to: string, onHeld: () => void): Promise<StateCopy> {
    const { frontier, heldElsewhere, writeDown } = this.#state
    if (this.#random.below(2) === 0) {
      await writeDown()
      this.#books.noted()
      await this.#books.commit()
      await frontier.written()
    }
    let copied: StateCopy | null = null
    await copyCrawl({
      dir: this.dir,
      to,
      hold: async () => {
        const release = await this.#books.hold()
        const releaseStore = await frontier.pauseWrites()
        copied = { identity: IDENTITY, states: this.#books.states, partsHold: heldElsewhere() }
        onHeld()
        return () => {
          releaseStore()
          release()
        }
      },
      states: () => this.#books.states,
      nowMs: () => systemClock.nowMs(),
      archive: { from: this.dir, to, isOurs: () => false },
    })
    if (copied === null) throw new Error('not held')
    return copied
  }

  #anyHost(): string {
    return `h${this.#random.below(4)}.test`
  }

  #admit(entry: FrontierEntry): void {
    const { seen, fingerprinter } = this.#state
    fingerprinter.compute(entry.url)
    if (seen.has(fingerprinter.high, fingerprinter.low)) return
    const met = newBatch(1)
    met.high[0] = fingerprinter.high
    met.low[0] = fingerprinter.low
    met.count = 1
    if (seen.meet(met) !== undefined) throw new Error('a set this small answers at once')
    this.#books.admitted(entry)
  }

  #visit(): void {
    const { frontier, files, contentSeen } = this.#state
    const random = this.#random
    const turn = frontier.take()
    if (turn === null) return
    for (const entry of turn.entries) {
      const { url, depth, via } = entry
      if (random.below(4) === 0) this.#books.failed(entry, 'DNS_NO_NAME', 'gone')
      else {
        const digest = Buffer.alloc(32, random.next32().toString(16))
        const page = pageOf(url, depth, via, digest)
        const verdict = { url, kind: 'page', status: 200, bytes: page.bytes, wireBytes: page.wireBytes } as const
        const position = this.#books.settle({
          entry,
          verdict,
          page,
          failure: null,
          admitted: [],
          abroad: [],
          held: [],
          refused: [],
        })
        const claimed = contentSeen.claim(digest)
        if (claimed === null) contentSeen.keep(digest, { url, fetchedAtMs: 0, payloadDigest: null }, position)
        for (let links = random.below(4); links > 0; links--) {
          this.#admit(entryOf(this.#anyHost(), `p${random.below(400)}`, { via: url, depth: depth + 1, band: 4 }))
        }
        if (random.below(3) === 0) files.held.append(entry)
      }
    }
    frontier.settle(turn, { restMs: 0 })
  }

  /** Some verdicts are taken back: failures.jsonl has a new edition. */
  async #takeBack(): Promise<void> {
    await this.#books.commit()
    const isWanted = ({ url }: FailureRecord): boolean => url.length % 2 === 0
    for (const record of await this.#state.files.failures.takeBack(isWanted, 3)) {
      const { host, pathname } = new URL(record.url)
      const entry = entryOf(host, pathname.slice(1), {
        via: record.via as FrontierEntry['via'],
        depth: record.depth,
        band: 4,
      })
      this.#books.requeued(entry, failureVerdict(record))
    }
  }
}

/** The journal, telling of each batch before it is committed. */
class AttemptedJournal implements Journal {
  readonly #journal: Journal
  readonly #dir: string
  readonly #onAttempt: (attempt: Attempt) => void

  constructor(journal: Journal, dir: string, onAttempt: (attempt: Attempt) => void) {
    this.#journal = journal
    this.#dir = dir
    this.#onAttempt = onAttempt
  }

  get identity(): Journal['identity'] {
    return this.#journal.identity
  }

  get firstNumber(): number {
    return this.#journal.firstNumber
  }

  get lastNumber(): number {
    return this.#journal.lastNumber
  }

  get bytes(): number {
    return this.#journal.bytes
  }

  bytesAfter(number: number): number {
    return this.#journal.bytesAfter(number)
  }

  history(after: number): ReturnType<Journal['history']> {
    return this.#journal.history(after)
  }

  commit(batch: LedgerBatch): Promise<number> {
    const files = filesOf(this.#dir, batch.files)
    this.#onAttempt({ number: this.lastNumber + 1, batch: structuredClone(batch), files })
    return this.#journal.commit(batch)
  }

  forget(upTo: number): Promise<void> {
    return this.#journal.forget(upTo)
  }

  close(): Promise<void> {
    return this.#journal.close()
  }
}

/** What counts of each file. */
function filesOf(dir: string, states: LedgerBatch['files']): Map<string, Buffer> {
  const contents = new Map<string, Buffer>()
  for (const file of REPLICA_FILES) {
    const state = file.stateOf(states[file.name])
    if (state === null) continue
    contents.set(file.name, readFileSync(join(dir, file.pathOf(dir, state.edition))).subarray(0, state.length))
  }
  return contents
}

/** A share as anybody can compare it. */
export interface Image {
  readonly files: ReadonlyMap<string, string>
  readonly waiting: readonly string[]
  readonly seen: readonly string[]
  readonly originals: readonly string[]
  readonly totals: unknown
}

/** Where a share ends that was told these batches one after the other, in one place, with all its parts made from them. */
export async function imageOfTwin(dir: string, attempts: readonly Attempt[], random: Random): Promise<Image> {
  const twin = join(dir, 'twin')
  const journal = await SegmentedJournal.open({
    directory: join(twin, 'state/journal'),
    random,
    create: () => IDENTITY,
  })
  const { writeFileSync, mkdirSync } = await import('node:fs')
  mkdirSync(join(twin, 'state'), { recursive: true })
  for (const { batch } of attempts) {
    const { seen: _, contents: __, ...files } = batch.files
    await journal.commit({ ...batch, files })
  }
  await journal.close()
  for (const file of REPLICA_FILES) {
    const content = attempts.at(-1)?.files.get(file.name)
    if (content !== undefined)
      writeFileSync(join(twin, file.newPathOf(0).replace('state/failures-0', 'failures')), content)
  }
  return imageOf(twin, random)
}

/** Opens a directory as a run would, and looks at all of it. */
export async function imageOf(dir: string, random: Random): Promise<Image> {
  const { state, closers } = await openState(dir, random)
  try {
    const waiting: string[] = []
    for await (const { url, depth, via } of state.frontier.entries()) waiting.push(`${url} ${depth} ${via}`)
    const seen: string[] = []
    state.seen.visit((high, low) => void seen.push(`${high} ${low}`))
    const files = new Map<string, string>()
    for (const [name, content] of filesOf(dir, state.past.states)) files.set(name, content.toString('latin1'))
    const originals: string[] = []
    for (const line of (files.get('pages') ?? '').split('\n').filter((one) => one !== '')) {
      const { digest } = JSON.parse(line) as PageRecord
      const original = await state.contentSeen.claim(Buffer.from(digest.slice('sha256:'.length), 'hex'))
      originals.push(`${digest} ${original?.url ?? 'nobody'}`)
    }
    const { hosts: _, ...totals } = state.figures.totals(0, SPENT)
    return { files, waiting: waiting.sort(), seen: seen.sort(), originals, totals }
  } finally {
    await closers.closeAll()
  }
}

export function expectSame(image: Image, twin: Image): void {
  expect(image.totals).toEqual(twin.totals)
  expect(image.waiting).toEqual(twin.waiting)
  expect(image.seen).toEqual(twin.seen)
  expect(image.originals).toEqual(twin.originals)
  for (const [name, content] of twin.files) expect(image.files.get(name), name).toBe(content)
}

async function openState(
  dir: string,
  random: Random,
  keeper?: StateKeeper,
): Promise<{ state: CrawlState; closers: Closers }> {
  const closers = new Closers()
  const plan = {
    dir,
    isLocked: true,
    share: null,
    keeper,
    seeds: [],
    settings: SETTINGS,
    clock: systemClock,
    random,
    newIdentity: () => IDENTITY,
    software: 'test',
    environment: {},
    cpuMs: () => 0,
    peakRssBytes: () => 1,
  }
  try {
    return { state: await openCrawlState(plan, closers, { ring: () => {} }), closers }
  } catch (fault) {
    await closers.closeAll().catch(() => {})
    throw fault
  }
}

function booksOf(state: CrawlState, journal: Journal): Books {
  const { files, frontier, figures, past, committed, heldElsewhere, writeOut } = state
  return new Books({
    clock: { ...systemClock, callAt: () => () => {} },
    journal,
    frontier,
    figures: figures ?? new CrawlFigures(),
    files: committed,
    otherFiles: past.states,
    writePage: (record) => files.pages.append(record),
    writeFailure: (record) => files.failures.append(record),
    writeHeld: (entry) => void files.held.append(entry),
    writeSeed: ({ url, via }) => void files.seeds.append({ url, via }),
    heldElsewhere,
    beforeLast: writeOut,
    onDurable: () => {},
    pressureAbroad: () => undefined,
    spent: () => SPENT,
    tickMs: 1_000,
    faults: NO_FAULTS,
    onFault: () => {},
  })
}

function pageOf(url: string, depth: number, via: string | null, digest: Buffer): PageRecord {
  return {
    url,
    status: 200,
    type: 'text/html',
    bytes: 10,
    wireBytes: 10,
    depth,
    digest: `sha256:${digest.toString('hex')}`,
    fetchedAt: '2026-01-01T00:00:00.000Z',
    via,
    firstByteMs: 1,
    durationMs: 1,
    warc: null,
  } as PageRecord
}
