// The frontier that outgrows memory: a checkpoint on disk of what waited after some batch of the journal, and in memory what
// came since and what is needed next.
//
//    offer ─▶ | hosts at hand: heads of lines, arrivals | ─▶ take
//                 ▲ records, next URLs │ seal, committed
//                 │  (host-reader)     ▼  (checkpoint-writer)
//             | records and blocks of hosts, line of hosts by band |
//
// The journal is the commit. seal(n) fixes what waits in the moment batch n is taken; when the journal holds n, committed(n)
// has it written, beside the crawl. After a crash the batches after the last checkpoint are told again (offer, omit, rest),
// and endReplay() makes the frontier what it was.
//
// take() never waits. A host whose record or next URLs are being read is not ready; when they are there, onReady is called.
// Reading is ahead of need: a host has its next URLs in memory before it runs out of them, as far as the disk keeps up.
//
// Promised beyond the contract: lines keep their order over disk and restarts; no URL is lost or given twice by a crash; a rest is
// never shorter for it. Hosts that do not fit memory wait on disk, first come, first served within a band; the best band's
// come to hand first, and those at hand follow the laws of bands and turns among themselves.
//
// A URL for a host that is known to stand in line on disk, in its band or a better one, does not bring it to hand: it waits in memory
// with an *absent* host for the next checkpoint, which adds it to the record unread. So filing a URL never reads, once its host is in line.
//
// figures(): `waiting` and `hosts` are of all, the others of the hosts at hand.

import { assert, type ClockMs, Fault } from '../base/index.ts'
import type { CanonicalUrl, HostKey } from '../url/index.ts'
import { NO_BAND } from './bench-host.ts'
import { CheckpointWriter, type Seal } from './checkpoint-writer.ts'
import { type DiskFrontierSettings, type DiskFrontierTuning, TUNING } from './disk-frontier-settings.ts'
import { DiskHost, HOST_BYTES } from './disk-host.ts'
import { ROW_BYTES } from './entry-lines.ts'
import type { FrontierEntry, HandedHost, HostState, Turn } from './frontier.ts'
import { FrontierOfHosts } from './frontier-of-hosts.ts'
import type { GuardedStore } from './guarded-store.ts'
import { captureHost } from './host-capture.ts'
import { HostCensus } from './host-census.ts'
import { type HostPage, HostQueue } from './host-queue.ts'
import { HostReader } from './host-reader.ts'
import { decodeHost, type HostOnDisk, type HostRecord, waitingOf } from './host-record.ts'
import { ADDENDA_COUNT_MAX, hostFingerprint, type KnownHosts } from './known-hosts.ts'
import { LevelStore, markAsMade, prepareDirectory } from './level-store.ts'
import type { LineStore } from './line-store.ts'
import { MemoryShares } from './memory-shares.ts'
import { openCheckpoint, type OpenedCheckpoint } from './opened-checkpoint.ts'
import { omitStored, Replay } from './replay.ts'
import type { Segment } from './segment.ts'
import { assertLinesSound } from './sound-lines.ts'

export type { DiskFrontierSettings, DiskFrontierTuning } from './disk-frontier-settings.ts'

/** Records asked for at once; a page of hosts is more than half of it. */
const RECORDS_AHEAD = 400

export class DiskFrontier extends FrontierOfHosts<DiskHost> {
  readonly #store: GuardedStore
  readonly #memory: MemoryShares
  readonly #onReady: () => void
  readonly #known: KnownHosts
  readonly #queue: HostQueue
  readonly #reader: HostReader
  readonly #writer: CheckpointWriter
  readonly #census: HostCensus
  readonly #run: number
  readonly #tuning: DiskFrontierTuning
  /** The stretch between two seals we are in. */
  #epoch = 1
  #changed: DiskHost[] = []
  #pagesRead: number[] = []
  #sealed: Seal | null = null
  #write: Promise<void> | null = null
  #checkpointed: number
  #replay: Replay | null = new Replay()
  #startedMs: number
  /** Pages being read: their hosts are not at hand yet, and they are not in line any more. */
  readonly #pagesOut = new Map<number, HostPage>()
  /** Hosts in memory that are absent. */
  #absent = 0
  #turnsSinceSeal = 0
  /** Turns were asked for since the last seal: otherwise few of the hosts in line need come to hand. */
  #isAsked = false
  #fault: unknown = null
  #pressed: PromiseWithResolvers<void> | null = null

  /** Opens the frontier in a directory of its own, which nobody else uses; makes it where there is none. */
  static async open(settings: DiskFrontierSettings & { readonly directory: string }): Promise<DiskFrontier> {
    const { directory } = settings
    const isNew = await prepareDirectory(directory)
    const store = await LevelStore.open(directory)
    try {
      const frontier = await DiskFrontier.on(store, settings, isNew)
      if (isNew) await markAsMade(directory)
      return frontier
    } catch (fault) {
      await store.close()
      throw fault
    }
  }

  /** Opens the frontier in a store, which is closed with it. */
  static async on(lineStore: LineStore, settings: DiskFrontierSettings, isNew: boolean): Promise<DiskFrontier> {
    return new DiskFrontier(settings, await openCheckpoint(lineStore, isNew))
  }

  private constructor(settings: DiskFrontierSettings, { store, facts, known }: OpenedCheckpoint) {
    super(settings)
    this.#store = store
    this.#memory = new MemoryShares(settings.memoryBytes)
    this.#onReady = settings.onReady ?? (() => undefined)
    this.#known = known
    this.#memory.reserve(known.bytes)
    this.#run = facts.run + 1
    const tuning = settings.tuning ?? TUNING
    const readAhead = Math.max(tuning.readAhead, this.urlsPerTurn)
    this.#tuning = { ...tuning, readAhead, headEntries: Math.max(tuning.headEntries, readAhead) }
    assert(tuning.addendaMax < ADDENDA_COUNT_MAX, `${tuning.addendaMax} addenda cannot be counted`)
    assert(tuning.hostsCalledMin >= tuning.hostsMin, 'hosts that stay at hand would keep others from being called')
    this.#checkpointed = facts.batch
    this.#startedMs = this.clock.nowMs()
    this.waitingCount = facts.waiting
    this.hostsOffered = facts.hosts
    this.#queue = new HostQueue(this.bands)
    for (const page of facts.pages) this.#queue.push(page)
    this.#reader = new HostReader({
      store,
      entriesAtOnce: this.#tuning.headEntries,
      hasRecord: (host, record) => this.#adopt(host, record),
      hasEntries: (host, segment, entries) => this.#append(host, segment, entries),
      hasPage: (page, hosts) => this.#summon(page, hosts),
      onProgress: () => {
        this.#callHosts()
        this.#onReady()
      },
      onFault: (fault) => this.#fail(fault),
    })
    this.#census = new HostCensus({
      store,
      lines: this.lines,
      atHand: this.hosts,
      reader: this.#reader,
      restUntilMs: (host, record) => this.#restUntilMs(host, record),
      checkpointMade: () => this.#write,
    })
    this.#writer = new CheckpointWriter({
      store,
      clock: this.clock,
      lines: this.lines,
      hosts: this.hosts,
      queue: this.#queue,
      known,
      reader: this.#reader,
      run: this.#run,
      nextBlock: facts.nextBlock,
      nextPage: facts.nextPage,
      knownCount: facts.known,
      tuning: this.#tuning,
      excessBytes: () => this.#memory.excess(this.#bytesAtHand, this.#queue.size > 0),
      drop: (host) => this.#drop(host),
      recall: (host) => this.#recall(host),
    })
  }

  // ── The contract ─────────────────────────────────────────────────────────────────────────────

  override offer(entry: FrontierEntry): void {
    if (this.#replay !== null) return this.#replay.offer(entry)
    this.#memory.dirtyBytes += entry.url.length + ROW_BYTES
    super.offer(entry)
  }

  override take(): Turn | null {
    if (this.#fault !== null) throw this.#fault
    const turn = super.take()
    this.#isAsked = true
    if (this.#queue.size > 0) this.#callHosts()
    else if (turn === null && this.waitingCount > 0) this.#assertSomebodyWaits()
    return turn
  }

  override rest(key: HostKey, restMs: number): void {
    if (this.#replay === null) super.rest(key, restMs)
    else this.#replay.rest(key, restMs)
  }

  override setLeastRest(key: HostKey, restMs: number): void {
    const host = this.hostOf(key)
    host.hasLeastRest ||= !host.isAtHand
    super.setLeastRest(key, restMs)
  }

  /** The state of a host that may not be at hand. What waits for an absent one is about right while a checkpoint is being made. */
  async look(key: HostKey): Promise<HostState | null> {
    const host = this.hosts.get(key)
    if (host !== undefined && !host.isAtHand && !host.isAbsent) await this.#reader.idle()
    const arrived = this.hosts.get(key)
    if (arrived !== undefined && !arrived.isAbsent) return this.inspect(key)
    const stored = await this.#store.host(key)
    if (stored === undefined) return null
    const onDisk = decodeHost(key, stored, this.#store.code)
    const { record } = onDisk
    const restUntilMs = this.#restUntilMs(key, record)
    const waiting = waitingOf(onDisk) + (arrived?.waiting ?? 0)
    const isResting = waiting > 0 && restUntilMs > this.clock.nowMs()
    return {
      host: key,
      waiting,
      state: waiting === 0 ? 'idle' : isResting ? 'resting' : 'ready',
      restUntilMs: restUntilMs as ClockMs,
      leastRestMs: Math.max(this.delayOf(key), record.leastRestMs),
      address: null,
    }
  }

  // ── Checkpoints ──────────────────────────────────────────────────────────────────────────────

  /** Everything up to this batch of the journal is on disk; what came after it must be told again. */
  get replayFrom(): number {
    return this.#checkpointed
  }

  /** Whether another checkpoint would help now: much has arrived, or memory is short. */
  wantsSeal(): boolean {
    if (this.#sealed !== null || this.#replay !== null) return false
    const bytes = this.#bytesAtHand
    if (this.#memory.wantsSeal(bytes)) return true
    // Others wait on disk for the places of those that were served.
    const isFull = this.#isAsked && this.#queue.size > 0 && this.#memory.isFull(bytes)
    return (
      isFull && (this.#turnsSinceSeal > this.hosts.size - this.#absent || this.bench.bestBand > this.#queue.bestBand)
    )
  }

  /** Whether seal() may be called: the checkpoint before is written. */
  get canSeal(): boolean {
    return this.#sealed === null && this.#replay === null
  }

  /** Fixes what waits now as what waits after batch n. Cheap: hosts are captured when they change or are written. */
  seal(batch: number): void {
    if (this.#fault !== null) throw this.#fault
    if (!this.canSeal) throw new Fault('ASSERTION', `batch ${batch} is sealed while another checkpoint is being made`)
    this.#sealed = {
      batch,
      epoch: this.#epoch,
      changed: this.#changed,
      waiting: this.waitingCount,
      hosts: this.hostsOffered,
      pages: [...this.#pagesOut.values(), ...this.#queue.pages()],
      pagesRead: this.#pagesRead,
      wasAsked: this.#isAsked,
    }
    this.#epoch++
    this.#changed = []
    this.#pagesRead = []
    this.#turnsSinceSeal = 0
    this.#isAsked = false
    this.#memory.dirtyBytes = 0
  }

  /** The journal holds batch n: what was sealed with it, or before, can be written. */
  committed(batch: number): void {
    if (this.#sealed === null || this.#sealed.batch > batch || this.#write !== null) return
    this.#write = this.#makeCheckpoint(this.#sealed)
  }

  /** Resolves when the checkpoint under way is made. */
  async written(): Promise<void> {
    await this.#write
    if (this.#fault !== null) throw this.#fault
  }

  /** Memory is used up: what to wait for before taking in more. Undefined when there is room, or nothing would help. */
  pressure(): Promise<void> | undefined {
    if (!this.#memory.isUsedUp(this.#bytesAtHand)) return undefined
    this.#pressed ??= Promise.withResolvers()
    return this.#pressed.promise
  }

  /** Nothing is written from then on until the function it gives is called: for copying the directory. */
  async pauseWrites(): Promise<() => void> {
    return await this.#store.pause()
  }

  /** Resolves when nothing is being read. */
  async idle(): Promise<void> {
    await this.#reader.idle()
  }

  /** Waits for what is being read and written. What was not sealed and committed is for the journal to tell again. */
  async close(): Promise<void> {
    await this.#write
    await this.#reader.idle().catch(() => undefined)
    await this.#store.close()
  }

  // ── Replay ───────────────────────────────────────────────────────────────────────────────────

  /** A batch after the checkpoint says that this URL has its verdict. */
  omit(host: HostKey, url: CanonicalUrl, isPage: boolean): void {
    if (this.#replay === null) throw new Fault('ASSERTION', `${url} is omitted, but nothing is being replayed`)
    this.#replay.omit(host, url, isPage)
  }

  /** All batches have been told. From now on turns are given, none before its host has rested since this moment. */
  async endReplay(): Promise<void> {
    const replay = this.#replay
    if (replay === null) return
    for (const key of replay.hosts.keys()) this.hostOf(key)
    await this.#reader.idle()
    for (const [key, { omitted, offered, pages, wasOffered }] of replay.hosts) {
      const host = this.hostOf(key)
      this.willChange(host)
      host.pages += pages
      if (wasOffered && !host.wasOffered) this.offeredFirst(host)
      if (omitted.size > 0) this.waitingCount -= await omitStored(host, omitted, this.lines, this.#reader, this.#store)
      for (const entry of offered.values()) super.offer(entry)
    }
    this.#replay = null
    const openedMs = this.#startedMs
    this.#startedMs = this.clock.nowMs()
    // Hosts that are new to this run have nothing to rest from, but others of their domains may.
    if (this.#checkpointed > 0 || replay.hosts.size > 0) this.bench.restDomains(this.#startedMs + this.domainDelayMs)
    for (const [key, host] of this.hosts) {
      const restMs = replay.hosts.get(key)?.restMs ?? 0
      super.rest(key, Math.max(restMs, this.leastRestMs(key), host.restUntilMs - openedMs))
      this.rank(host)
      this.#readOn(host)
    }
    this.#callHosts()
  }

  // ── Read out, host by host ───────────────────────────────────────────────────────────────────

  /** Every entry without a verdict, waiting or out, host by host, in the order it would be handed out. */
  entries(): AsyncIterable<FrontierEntry> {
    return this.#census.entries()
  }

  /**
   * The same while the crawl goes on, in pieces of one host each, and about right: what comes or goes meanwhile may be in it or not.
   * Nothing is written to disk until it has ended, so that no block goes that is about to be read.
   */
  survey(): AsyncIterable<readonly FrontierEntry[]> {
    return this.#census.survey()
  }

  /** Hosts for which something waits, and how much; about right while the crawl goes on. */
  waitingHosts(): AsyncIterable<{ readonly host: HostKey; readonly waiting: number }> {
    return this.#census.waitingHosts((host) => this.stateOf(host).waiting)
  }

  /** Everything of every host known, for another frontier to take over. Nothing may be offered or taken meanwhile. */
  async *handOver(): AsyncIterable<HandedHost> {
    for await (const host of this.#census.hosts()) {
      const { key, wasOffered, pages, leastRestMs } = host
      const restMs = Math.max(0, host.lastingRestMs - this.clock.nowMs())
      yield { host: key, wasOffered, pages, leastRestMs, restMs, entries: this.#census.entriesOf(host) }
    }
  }

  /** What another frontier knew of a host, which was never offered anything here; its entries are to be offered next. */
  takeOver({ host: key, wasOffered, pages, leastRestMs, restMs }: Omit<HandedHost, 'entries'>): void {
    const host = this.hostOf(key)
    this.willChange(host)
    host.pages += pages
    if (wasOffered && !host.wasOffered) this.offeredFirst(host)
    this.setLeastRest(key, Math.max(host.leastRestMs, leastRestMs))
    this.rest(key, restMs)
  }

  /** The state of every host known. */
  async *hostStates(): AsyncIterable<HostState> {
    this.bench.advance(this.clock.nowMs())
    for await (const { key } of this.#census.hosts()) {
      const state = await this.look(key)
      if (state !== null) yield state
    }
  }

  override assertSound(): void {
    super.assertSound()
    assertLinesSound(this.hosts.values(), this.lines)
  }

  // ── Hooks ────────────────────────────────────────────────────────────────────────────────────

  protected override makeHost(key: HostKey): DiskHost {
    const host = new DiskHost(key)
    host.joined = this.#epoch
    if (this.#known.size > 0 && this.#known.has(hostFingerprint(key))) {
      host.isAtHand = false
      this.#reader.wantRecord(host, this.#known.listing(key)?.addenda ?? null)
    }
    return host
  }

  protected override hostToFile(entry: FrontierEntry): DiskHost {
    return this.#absentFor(entry) ?? this.hostOf(entry.host)
  }

  /** Whoever asks for a host but to file a URL needs all of it. */
  protected override hostOf(key: HostKey): DiskHost {
    const host = super.hostOf(key)
    if (host.isAbsent) this.#recall(host)
    return host
  }

  protected override bandOf(host: DiskHost): number {
    return host.isAtHand && this.#replay === null ? super.bandOf(host) : NO_BAND
  }

  protected override willChange(host: DiskHost): void {
    if (host.epoch !== this.#epoch) this.#noteChange(host)
    host.isStale = true
  }

  /** An arrival does not make a record stale. */
  protected override willArrive(host: DiskHost): void {
    if (host.epoch !== this.#epoch) this.#noteChange(host)
  }

  protected override hasTaken(host: DiskHost): void {
    host.wasServed = true
    // What is out may have arrived since the last record, and stands in no line now.
    host.isStale = true
    this.#turnsSinceSeal++
    this.#readOn(host)
  }

  /** The line it stood in may have ended, and that of the next band may be on disk. */
  protected override hasSettled(host: DiskHost): void {
    // What came back unvisited stands in new rows at the front, and on disk already.
    host.isStale = true
    this.#readOn(host)
  }

  /** Of a host whose record is being read it is not known yet whether it is the first time. */
  protected override offeredFirst(host: DiskHost): void {
    if (host.later !== null) {
      host.wasOfferedLater = true
      return
    }
    host.wasOffered = true
    if (!host.isAtHand) return
    this.hostsOffered++
    host.isStale = true
  }

  // ── Reading ──────────────────────────────────────────────────────────────────────────────────

  /** What is on disk of a host has been read; null when that is nothing. */
  #adopt(host: DiskHost, onDisk: HostOnDisk | null): void {
    const record = onDisk?.record ?? null
    host.isAtHand = true
    if (record === null && (host.isFromPage || host.isStored)) {
      throw this.#store.damaged(`the host ${host.key} waits in line, but its record is missing`)
    }
    const isNew = host.wasOffered && record?.wasOffered !== true
    if (isNew) {
      host.isStale = true
      this.hostsOffered++
      if (this.#sealed !== null && host.epoch === this.#sealed.epoch) this.#sealed.hosts++
    }
    if (onDisk !== null && record !== null) {
      host.wasOffered ||= record.wasOffered
      host.adopt(this.lines, onDisk)
      this.bench.rest(host, this.#restUntilMs(host.key, record), this.clock.nowMs())
    }
    if (host.later !== null) this.#takeInLater(host, host.later)
    const isIdle = host.waiting === 0 && host.epoch === 0 && !host.hasErrand && !host.isParked
    if (host.isFromPage && isIdle) return this.#drop(host)
    this.rank(host)
    this.#readOn(host)
  }

  /** The host is complete as it was at the seal; only now comes what was offered after it. */
  #takeInLater(host: DiskHost, later: readonly FrontierEntry[]): void {
    host.later = null
    host.waiting -= later.length
    this.#noteChange(host)
    if (host.wasOfferedLater && !host.wasOffered) this.offeredFirst(host)
    for (const entry of later) host.push(this.lines, entry)
  }

  /** In this run a rest is remembered to the millisecond; one of an earlier run begins anew, and every host has one. */
  #restUntilMs(key: HostKey, record: HostRecord): number {
    if (record.run === this.#run) return record.restUntilMs
    return this.#startedMs + Math.max(this.delayOf(key), record.leastRestMs, record.restMs)
  }

  #append(host: DiskHost, segment: Segment, entries: readonly FrontierEntry[]): void {
    for (const entry of entries) this.lines.push(segment, entry)
    this.rank(host)
    this.#readOn(host)
  }

  /** Has the next URLs of a host read, if it has few left in memory. */
  #readOn(host: DiskHost): void {
    if (!host.hasBlocks || host.isReading || !host.isAtHand) return
    const segment = host.segmentToRead(this.#tuning.readAhead)
    if (segment !== null) this.#reader.wantSegment(host, segment)
  }

  /** A page of hosts in line has been read: they come to hand. */
  #summon(page: HostPage, keys: readonly HostKey[]): void {
    this.#pagesOut.delete(page.page)
    this.#pagesRead.push(page.page)
    for (const key of keys) {
      const present = this.#call(key)
      if (present === null) continue
      // It has no place in line any more, and keeps the one it has here until it was served.
      present.isFromPage = true
      if (present.page === page.page) present.page = 0
    }
  }

  /** A host on disk comes to hand; the one that is in memory already, if there is one. */
  #call(key: HostKey): DiskHost | null {
    const addenda = this.#known.listing(key)?.addenda ?? null
    this.#known.unlist(key)
    const present = this.hosts.get(key)
    if (present !== undefined) {
      if (present.isAbsent) this.#recall(present)
      return present
    }
    const host = new DiskHost(key)
    host.isAtHand = false
    host.isFromPage = true
    host.joined = this.#epoch
    this.hosts.set(key, host)
    this.#reader.wantRecord(host, addenda)
    return null
  }

  /** The host to file a URL under without having it read: it is on disk, and stands in line there for this band or a better one. */
  #absentFor(entry: FrontierEntry): DiskHost | null {
    const present = this.hosts.get(entry.host)
    if (present !== undefined)
      return present.isAbsent && !present.isRecalled && present.listedBand <= entry.band ? present : null
    const listing = this.#queue.size + this.#pagesOut.size > 0 ? this.#known.listing(entry.host) : null
    if (listing === null || listing.band > entry.band || listing.addenda >= this.#tuning.addendaMax) return null
    const host = new DiskHost(entry.host)
    host.isAtHand = false
    host.isAbsent = true
    host.isStored = true
    host.wasOffered = true
    host.addenda = listing.addenda
    host.listedBand = listing.band
    host.joined = this.#epoch
    this.hosts.set(entry.host, host)
    this.#absent++
    return host
  }

  /** An absent host is needed. What a checkpoint under way adds to its record must be on disk before that is read. */
  #recall(host: DiskHost): void {
    host.isRecalled = true
    this.countParked(host)
    if (this.#sealed !== null && (host.capture !== null || host.epoch === this.#sealed.epoch)) return
    host.isRecalled = false
    host.isAbsent = false
    this.#absent--
    host.joined = this.#epoch
    this.#reader.wantRecord(host, host.addenda)
  }

  /** Brings hosts in line to hand, as far as memory allows. */
  #callHosts(): void {
    if (this.#queue.size === 0 || this.#pagesOut.size > 0 || this.#replay !== null) return
    if (this.#reader.recordsWanted > RECORDS_AHEAD) return
    const isBetter = this.#queue.bestBand < this.bench.bestBand
    const isRoomFor = this.#isAsked && this.#memory.hasRoom(this.#bytesAtHand, isBetter)
    if (this.hosts.size - this.#absent >= this.#tuning.hostsCalledMin && !isRoomFor) return
    const page = this.#queue.shift()
    if (page === null) return
    this.#pagesOut.set(page.page, page)
    this.#reader.wantPage(page)
  }

  /** Nothing is at hand, in line or on the way, and yet something waits: it was lost. */
  #assertSomebodyWaits(): void {
    const { ready, resting, parked, out } = this.figures()
    if (ready + resting + parked + out > 0 || !this.#reader.isIdle || this.#pagesOut.size > 0 || this.#replay !== null)
      return
    // One that was called while a checkpoint adds to its record is read when that is made.
    if (this.#absent > 0 || this.#sealed !== null) return
    throw this.#store.damaged(`${this.waitingCount} URLs wait, but no host has them`)
  }

  // ── Writing ──────────────────────────────────────────────────────────────────────────────────

  #noteChange(host: DiskHost): void {
    const sealed = this.#sealed
    if (sealed !== null && host.epoch === sealed.epoch && host.capture === null) {
      if (!host.isAtHand && !host.isAbsent) {
        host.later ??= []
        return
      }
      host.capture = captureHost(host, this.lines, this.clock.nowMs(), { ...this.#tuning, run: this.#run })
    }
    host.epoch = this.#epoch
    this.#changed.push(host)
  }

  async #makeCheckpoint(sealed: Seal): Promise<void> {
    try {
      await this.#writer.write(sealed)
      this.#checkpointed = sealed.batch
    } catch (fault) {
      // What it had come to is not known: nothing is written any more.
      this.#fail(fault)
      this.#pressed?.resolve()
      return
    }
    this.#sealed = null
    this.#write = null
    this.#memory.reserve(this.#known.bytes)
    this.#memory.hasSettled(this.#bytesAtHand)
    this.#pressed?.resolve()
    this.#pressed = null
    this.#callHosts()
    this.#onReady()
  }

  #drop(host: DiskHost): void {
    this.bench.rank(host, NO_BAND, this.clock.nowMs())
    host.clear(this.lines)
    this.hosts.delete(host.key)
    if (host.isAbsent) this.#absent--
  }

  /** About what hosts at hand, their URLs and the names of all hosts take. */
  get bytesInMemory(): number {
    return this.#bytesAtHand + this.#known.bytes
  }

  get #bytesAtHand(): number {
    return this.lines.bytes + this.hosts.size * HOST_BYTES
  }

  #fail(fault: unknown): void {
    const isUnnamed = fault instanceof Fault && fault.code === 'LEDGER_CORRUPT'
    this.#fault ??= isUnnamed ? this.#store.named(fault) : fault
    this.#onReady()
  }
}
