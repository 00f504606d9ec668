// Writes what a seal has fixed, while the crawl goes on: blocks first, which nobody names yet, then in one batch all records that
// changed, the line of hosts, and the word that the checkpoint is made. A crash before that batch leaves the checkpoint
// before, and blocks that the store removes when it is opened.
//
// With it some hosts leave memory, if it is short or if others wait on disk: first those that were served since they came, then
// those that came by a link, and of them those first that are written anyway. They go to the end of their band's line. Who came from that line and
// was not served stays while turns are asked for, so every host in line comes to hand and is served. While nobody asks, they return to the
// front of the line, the last to come first.
//
// What arrived for a host that is absent, on disk and in line, is added to its record under a key of its own: nothing is read for it, and
// nothing is written anew. With its next record, when it was at hand, the addenda go.

import type { Clock } from '../base/index.ts'
import type { HostKey } from '../url/index.ts'
import { BodyCode } from './body-code.ts'
import { Breather } from './breather.ts'
import type { HostCapture, NewBlock } from './captured.ts'
import { type DiskHost, HOST_BYTES } from './disk-host.ts'
import { bodyOf, encodeEntries } from './entry-block.ts'
import type { EntryLines } from './entry-lines.ts'
import { addendumKey, blockKey, type GuardedBatch, type GuardedStore, hostKey, pageKey } from './guarded-store.ts'
import { captureHost, inlineEntriesMin, newBlocksOf, releaseSegment, storedLinesOf } from './host-capture.ts'
import { encodePage, type HostPage, type HostQueue, PAGE_HOSTS_MAX } from './host-queue.ts'
import type { HostReader } from './host-reader.ts'
import { encodeAddendum, encodeRecord } from './host-record.ts'
import { INLINE, InlineBlock } from './inline-block.ts'
import { hostFingerprint, type KnownHosts } from './known-hosts.ts'

/** Blocks are written in batches of about this size. */
const BATCH_BYTES = 2 ** 20
/** About what a URL takes in a block. */
const PACKED_ENTRY_BYTES = 40

/** 1 knew neither a code nor blocks in records, 2 no addenda, 3 no packed pages; what they wrote can still be read. */
export const CHECKPOINT_VERSION = 4

/** A code is made as soon as so many URLs wait. */
const CODE_ENTRIES_MIN = 8_192
/** Of so many bytes of bodies at most. */
const CODE_SAMPLE_BYTES = 2 ** 21

/** Who leaves first. */
const LEAVING_ORDER: readonly ((host: DiskHost, seal: Seal) => boolean)[] = [
  (host) => host.wasServed || host.waiting === 0,
  (host, seal) => !host.isFromPage && host.epoch === seal.epoch,
  (host) => !host.isFromPage,
]

/** What a checkpoint says of the whole. */
export interface CheckpointFacts {
  readonly version: number
  /** Everything up to this batch of the journal is in it. */
  readonly batch: number
  /** How often the frontier was opened. */
  readonly run: number
  readonly waiting: number
  readonly hosts: number
  /** Hosts that have a record. */
  readonly known: number
  readonly nextBlock: number
  readonly nextPage: number
  readonly pages: readonly HostPage[]
  /** Blocks may be written in a code: one without it has lost it. */
  readonly hasCode?: boolean
}

/** The moment of a seal: what is true of everything but the hosts, and the hosts that changed since the one before. */
export interface Seal {
  readonly batch: number
  readonly epoch: number
  readonly changed: readonly DiskHost[]
  readonly waiting: number
  /** Grows until it is written, by those of whom it was not known whether they were new. */
  hosts: number
  readonly pages: readonly HostPage[]
  /** Pages whose hosts have all come to hand. */
  readonly pagesRead: readonly number[]
  /** Turns were asked for since the seal before. */
  readonly wasAsked: boolean
}

export interface CheckpointWriterParts {
  readonly store: GuardedStore
  readonly clock: Clock
  readonly lines: EntryLines
  readonly hosts: ReadonlyMap<HostKey, DiskHost>
  readonly queue: HostQueue
  readonly known: KnownHosts
  readonly reader: HostReader
  readonly run: number
  readonly nextBlock: number
  readonly nextPage: number
  readonly knownCount: number
  readonly tuning: {
    readonly headEntries: number
    readonly blockEntriesMin: number
    readonly hostsMin: number
    readonly hostsCalledMin: number
    readonly addendaMax: number
    readonly codeEntriesMin?: number
    readonly stepMs?: number
  }
  /** How many bytes ought to leave memory. */
  readonly excessBytes: () => number
  /** Takes a host out of memory. */
  readonly drop: (host: DiskHost) => void
  /** Has the record of a host read that was absent. */
  readonly recall: (host: DiskHost) => void
}

export class CheckpointWriter {
  readonly #parts: CheckpointWriterParts
  #nextBlock: number
  #nextPage: number
  #knownCount: number
  /** The pages of the last checkpoint that name the hosts at hand. */
  #atHandPages: number[] = []
  #breather = new Breather()

  constructor(parts: CheckpointWriterParts) {
    this.#parts = parts
    this.#nextBlock = parts.nextBlock
    this.#nextPage = parts.nextPage
    this.#knownCount = parts.knownCount
  }

  async write(seal: Seal): Promise<void> {
    const { store, queue, lines, known, drop } = this.#parts
    this.#breather = new Breather(this.#parts.tuning.stepMs)
    if (store.code === null) await this.#makeCode(seal)
    const batch = store.batch()
    const chosen = await this.#chooseLeaving(seal)
    // The crawl went on meanwhile: who was asked or offered something since stays, and is listed with those at hand.
    const mayStillLeave = (host: DiskHost): boolean => mayLeaveWith(seal, host)
    const returning = chosen.returning.filter(mayStillLeave)
    const going = chosen.going.filter(mayStillLeave)
    const leaving = new Set([...returning, ...going])
    // A host that leaves and changed is written with the others; one that did not is written for the page it goes to.
    const unchanged = [...leaving].filter((host) => host.epoch === 0)
    for (const host of unchanged) host.epoch = seal.epoch
    // Its record says which page names it.
    for (const host of leaving) host.isStale = true
    const returned = this.#listLeaving(returning, batch)
    const left = this.#listLeaving(going, batch)
    const atHand = await this.#listAtHand(seal, leaving, batch)
    const { written, added } = await this.#writeHosts(seal, [...seal.changed, ...unchanged], batch)

    for (const page of [...seal.pagesRead, ...this.#atHandPages]) batch.delete(pageKey(page))
    const facts: CheckpointFacts = {
      version: CHECKPOINT_VERSION,
      batch: seal.batch,
      run: this.#parts.run,
      waiting: seal.waiting,
      hosts: seal.hosts,
      known: this.#knownCount,
      nextBlock: this.#nextBlock,
      nextPage: this.#nextPage,
      pages: [...atHand, ...returned, ...seal.pages, ...left],
      hasCode: store.code !== null,
    }
    await store.writeCheckpoint(batch, JSON.stringify(facts))

    this.#atHandPages = atHand.map(({ page }) => page)
    queue.putBack(returned)
    for (const page of left) queue.push(page)
    for (const { host, blocks } of written) {
      for (const block of blocks) nameBlock(host, block, lines)
      if (this.#breather.isDue) await this.#breather.pause()
    }
    for (const host of leaving) {
      const page = queue.get(host.page)
      const isFound = host.waiting === 0 || page !== undefined
      const isAsWritten = host.epoch === 0 && host.lastingRestMs === host.capturedRestMs
      if (isFound && isAsWritten && mayLeave(host)) {
        if (page === undefined) known.unlist(host.key)
        else known.list(host.key, page.band)
        drop(host)
      }
      if (this.#breather.isDue) await this.#breather.pause()
    }
    for (const { host, capture } of added) {
      this.#hasAdded(seal, host, capture)
      if (this.#breather.isDue) await this.#breather.pause()
    }
    await this.#trim(written.map(({ host }) => host))
    store.merge()
  }

  /** Makes the code of bodies of what waits in memory, if that is enough to tell what the URLs of this crawl are like. */
  async #makeCode(seal: Seal): Promise<void> {
    const { store, lines, tuning } = this.#parts
    if (lines.count < (tuning.codeEntriesMin ?? CODE_ENTRIES_MIN)) return
    const bodies: Buffer[] = []
    let bytes = 0
    for (const host of seal.changed) {
      for (const segment of host.segments()) {
        const entries = [...lines.entries(segment, host.key)]
        if (entries.length === 0) continue
        const body = bodyOf(host.key, entries)
        bodies.push(body)
        bytes += body.length
      }
      if (bytes > CODE_SAMPLE_BYTES) break
      if (this.#breather.isDue) await this.#breather.pause()
    }
    await store.writeCode(BodyCode.for(bodies))
  }

  /** Hosts that can go, and are enough to free what is too much: to the end of the line, or back to its front, in the order they stand in then. */
  async #chooseLeaving(
    seal: Seal,
  ): Promise<{ readonly going: readonly DiskHost[]; readonly returning: readonly DiskHost[] }> {
    const { hosts, lines, queue, tuning, excessBytes } = this.#parts
    const going = new Set<DiskHost>()
    const returning: DiskHost[] = []
    const entryBytes = (lines.bytes - lines.charged) / Math.max(1, lines.count)
    const freedBy = (host: DiskHost): number => HOST_BYTES + host.packedBytes + host.inMemory * entryBytes
    // Where others wait on disk, nobody keeps a place for good, however few there are.
    const hostsMin = queue.size > 0 ? tuning.hostsMin / 2 : tuning.hostsMin
    let excess = excessBytes()
    if (excess <= 0) return { going: [], returning }
    const { bytes, absent } = await this.#willBeFree(seal, entryBytes)
    excess -= bytes
    for (const isNext of LEAVING_ORDER) {
      for (const host of hosts.values()) {
        if (excess <= 0 || hosts.size - absent - going.size <= hostsMin) return { going: [...going], returning }
        if (this.#breather.isDue) await this.#breather.pause()
        if (!isNext(host, seal) || going.has(host) || !mayLeaveWith(seal, host)) continue
        going.add(host)
        excess -= freedBy(host)
      }
    }
    if (seal.wasAsked) return { going: [...going], returning }
    // As many stay as would be called at once if they did not.
    const staying = Math.max(hostsMin, tuning.hostsCalledMin)
    for (const host of [...hosts.values()].reverse()) {
      if (excess <= 0 || hosts.size - absent - going.size - returning.length <= staying) break
      if (this.#breather.isDue) await this.#breather.pause()
      if (going.has(host) || !mayLeaveWith(seal, host)) continue
      returning.push(host)
      excess -= freedBy(host)
    }
    return { going: [...going], returning: returning.reverse() }
  }

  /** What is free when the checkpoint is made and nobody leaves: rows that are packed by then, and hosts that are absent. */
  async #willBeFree(seal: Seal, entryBytes: number): Promise<{ readonly bytes: number; readonly absent: number }> {
    const { hosts, tuning } = this.#parts
    const inlineMin = inlineEntriesMin(tuning.blockEntriesMin)
    const packedBytes = Math.max(0, entryBytes - PACKED_ENTRY_BYTES)
    let bytes = 0
    let absent = 0
    for (const host of hosts.values()) {
      absent += host.isAbsent ? 1 : 0
      // What arrives after the seal stays.
      if (host.isAbsent && host.joined > seal.epoch) continue
      if (host.isAbsent) bytes += HOST_BYTES + host.packedBytes + host.inMemory * entryBytes
      else if (host.epoch === seal.epoch) {
        for (const { block, count } of host.segments()) {
          if (block === 0 && count >= inlineMin) bytes += count * packedBytes
        }
      }
      if (this.#breather.isDue) await this.#breather.pause()
    }
    return { bytes, absent }
  }

  /** What arrived for a host that is absent is on disk. It goes, unless more has arrived or it is needed. */
  #hasAdded(seal: Seal, host: DiskHost, capture: HostCapture): void {
    const { lines, known, tuning, drop, recall } = this.#parts
    host.forgetCaptured(lines, capture)
    host.addenda++
    known.countAddendum(host.key)
    host.capture = null
    if (host.epoch === seal.epoch) host.epoch = 0
    // One to which much was added is read, and with its next record all of that is one.
    if (host.isRecalled || (host.waiting > 0 && host.addenda >= tuning.addendaMax)) recall(host)
    else if (host.waiting === 0) drop(host)
  }

  /** Puts those that leave with something waiting into pages, unless one that was not read yet names them. */
  #listLeaving(leaving: readonly DiskHost[], batch: GuardedBatch): HostPage[] {
    const { queue } = this.#parts
    const lists = new PageLists(batch, false, () => this.#nextPage++)
    for (const host of leaving) {
      const line = host.best
      if (line === null) continue
      const page = queue.get(host.page)
      if (page === undefined || page.band > line.band) host.page = lists.add(line.band, host.key)
    }
    return lists.end()
  }

  /** Those that were at hand when the seal was set and may have something waiting: some too many do no harm. */
  async #listAtHand(seal: Seal, leaving: ReadonlySet<DiskHost>, batch: GuardedBatch): Promise<HostPage[]> {
    const lists = new PageLists(batch, true, () => this.#nextPage++)
    for (const host of this.#parts.hosts.values()) {
      if (this.#breather.isDue) await this.#breather.pause()
      // One that is absent is in a page that waits to be read.
      if (host.joined > seal.epoch || leaving.has(host) || host.isAbsent) continue
      while (!host.isAtHand) await this.#parts.reader.progress()
      // Met, but nothing to remember of it when the seal was set: it has no record.
      if (!host.isStored && host.epoch !== seal.epoch && host.capture === null) continue
      // One that changed since may have had something then.
      const isIdle = host.epoch <= seal.epoch && host.best === null && host.turn === null
      if (!isIdle) lists.add(host.best?.band ?? host.turn?.entries[0]?.band ?? 0, host.key)
    }
    return lists.end()
  }

  async #writeHosts(
    seal: Seal,
    hosts: readonly DiskHost[],
    batch: GuardedBatch,
  ): Promise<{ readonly written: readonly WrittenHost[]; readonly added: readonly AddedHost[] }> {
    const { store, lines, clock, run, known, reader, tuning } = this.#parts
    const written: WrittenHost[] = []
    const added: AddedHost[] = []
    const fingerprints: number[] = []
    let unnamed = store.batch()
    for (const host of hosts) {
      while (!host.isAtHand && !host.isAbsent) await reader.progress()
      const capture = host.capture ?? captureHost(host, lines, clock.nowMs(), { ...tuning, run })
      host.capture = capture
      const blocks = newBlocksOf(capture)
      for (const block of blocks) {
        const entries = releaseSegment(block.segment, host, lines)
        const bytes = encodeEntries(host.key, entries, store.code)
        block.stored = entries.length
        if (entries.length < tuning.blockEntriesMin) {
          block.block = INLINE
          block.inline = new InlineBlock(bytes, store.code)
        } else {
          block.block = this.#nextBlock++
          unnamed.putBlock(blockKey(host.key, block.segment.band, block.block), bytes)
        }
        if (unnamed.bytes > BATCH_BYTES) {
          await store.write(unnamed)
          unnamed = store.batch()
        }
        if (this.#breather.isDue) await this.#breather.pause()
      }
      const stored = storedLinesOf(host, capture, lines)
      if (capture.facts === null) {
        batch.put(addendumKey(host.key, host.addenda), encodeAddendum(host.key, stored, store.code))
      } else {
        for (; host.addenda > 0; host.addenda--) batch.delete(addendumKey(host.key, host.addenda - 1))
        for (const { band, block } of capture.spent) batch.delete(blockKey(host.key, band, block))
        const record = { ...capture.facts, page: host.page, ...stored }
        batch.put(hostKey(host.key), encodeRecord(host.key, record, store.code))
      }
      if (host.isAbsent) {
        // It stays captured until the batch is written: so long it cannot be recalled.
        added.push({ host, capture })
        continue
      }
      if (capture.facts === null) host.addenda++
      if (blocks.length > 0) written.push({ host, blocks })
      host.capture = null
      if (host.epoch === seal.epoch) host.epoch = 0
      if (!host.isStored) {
        host.isStored = true
        const fingerprint = hostFingerprint(host.key)
        known.add(fingerprint)
        fingerprints.push(fingerprint)
      }
      if (this.#breather.isDue) await this.#breather.pause()
    }
    if (unnamed.bytes > 0) await store.write(unnamed)
    if (fingerprints.length > 0) store.putKnown(batch, Uint32Array.from(fingerprints))
    this.#knownCount += fingerprints.length
    return { written, added }
  }

  /** Forgets rows that are on disk and not needed soon. */
  async #trim(written: readonly DiskHost[]): Promise<void> {
    const { hosts, lines, excessBytes, tuning } = this.#parts
    for (const some of [written, hosts.values()]) {
      if (excessBytes() <= 0) return
      for (const host of some) {
        host.trim(lines, tuning.headEntries)
        if (this.#breather.isDue) await this.#breather.pause()
      }
    }
  }
}

interface WrittenHost {
  readonly host: DiskHost
  readonly blocks: readonly NewBlock[]
}

/** An absent host and what was added to its record. */
interface AddedHost {
  readonly host: DiskHost
  readonly capture: HostCapture
}

/** It is as it was when the seal was set, and nothing goes on with it. */
function mayLeaveWith(seal: Seal, host: DiskHost): boolean {
  return host.joined <= seal.epoch && (host.epoch === 0 || host.epoch === seal.epoch) && mayLeave(host)
}

/** Nothing goes on with it that only memory knows. */
function mayLeave(host: DiskHost): boolean {
  const isQuiet = host.turn === null && !host.hasErrand && !host.isParked
  return isQuiet && host.isAtHand && !host.isReading && host.capture === null
}

/** The checkpoint is made: the segment is a block, of which some may be gone already. */
function nameBlock(host: DiskHost, { segment, block, stored, inline }: NewBlock, lines: EntryLines): void {
  if (segment.count === 0) {
    if (block > 0) host.spent.push({ band: segment.band, block })
    return
  }
  host.hasBlocks ||= inline === null
  lines.charged -= segment.cost
  segment.block = block
  segment.inline = inline
  segment.stored = stored
  segment.from = stored - segment.count
  lines.charged += segment.cost
}

/** Names of hosts gathered by band into pages. */
class PageLists {
  readonly #batch: GuardedBatch
  readonly #wasAtHand: boolean
  readonly #nextPage: () => number
  readonly #open = new Map<number, { readonly page: HostPage; readonly hosts: HostKey[] }>()
  readonly #pages: HostPage[] = []

  constructor(batch: GuardedBatch, wasAtHand: boolean, nextPage: () => number) {
    this.#batch = batch
    this.#wasAtHand = wasAtHand
    this.#nextPage = nextPage
  }

  /** Returns the page that names the host now. */
  add(band: number, host: HostKey): number {
    let list = this.#open.get(band)
    if (list === undefined || list.hosts.length >= PAGE_HOSTS_MAX) {
      if (list !== undefined) this.#put(list)
      list = { page: { page: this.#nextPage(), band, wasAtHand: this.#wasAtHand }, hosts: [] }
      this.#open.set(band, list)
    }
    list.hosts.push(host)
    return list.page.page
  }

  /** All pages, the last of each band too. */
  end(): HostPage[] {
    for (const list of this.#open.values()) this.#put(list)
    return this.#pages
  }

  #put({ page, hosts }: { readonly page: HostPage; readonly hosts: readonly HostKey[] }): void {
    this.#batch.put(pageKey(page.page), encodePage(hosts))
    this.#pages.push(page)
  }
}
