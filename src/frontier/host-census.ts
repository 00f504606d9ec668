// Everything a frontier on disk knows, told host by host: of those at hand from memory, of the others from their records and what was added
// to them, of those that are absent from both.
//
// A host that is not at hand is a guest: made of what is on disk, given out, and cleared when the next is asked for.

import type { ClockMs } from '../base/index.ts'
import type { HostKey } from '../url/index.ts'
import { DiskHost } from './disk-host.ts'
import type { EntryLines } from './entry-lines.ts'
import type { FrontierEntry } from './frontier.ts'
import type { GuardedStore, StoredHost } from './guarded-store.ts'
import type { HostReader } from './host-reader.ts'
import { decodeHost, type HostRecord, waitingOf } from './host-record.ts'

export interface HostCensusParts {
  readonly store: GuardedStore
  readonly lines: EntryLines
  readonly atHand: ReadonlyMap<HostKey, DiskHost>
  readonly reader: HostReader
  readonly restUntilMs: (host: HostKey, record: HostRecord) => number
  /** Resolves when the checkpoint under way is made, if there is one: until then what it adds to records is in memory, then no more. */
  readonly checkpointMade: () => Promise<void> | null
}

export class HostCensus {
  readonly #parts: HostCensusParts

  constructor(parts: HostCensusParts) {
    this.#parts = parts
  }

  /** Every host known. Nothing may be offered or taken meanwhile. */
  async *hosts(): AsyncIterable<DiskHost> {
    const { store, lines, atHand, reader, restUntilMs, checkpointMade } = this.#parts
    await checkpointMade()
    await reader.idle()
    for (const host of atHand.values()) if (!host.isAbsent) yield host
    for await (const [key, stored] of store.hosts()) {
      const present = atHand.get(key)
      if (present?.isAbsent === false) continue
      const { guest, record } = this.#guest(key, stored)
      for (const entry of present?.entries(lines) ?? []) guest.push(lines, entry)
      guest.wasOffered = record.wasOffered
      guest.restUntilMs = restUntilMs(key, record) as ClockMs
      try {
        yield guest
      } finally {
        guest.clear(lines)
      }
    }
  }

  /** All that waits of them, in the order it would be handed out, what is out in front. */
  async *entries(): AsyncIterable<FrontierEntry> {
    for await (const host of this.hosts()) yield* this.entriesOf(host)
  }

  async *entriesOf(host: DiskHost): AsyncIterable<FrontierEntry> {
    const { lines, reader } = this.#parts
    yield* host.unconcluded
    for (const segment of host.segments()) {
      yield* segment.isUnread ? await reader.readWhole(host.key, segment) : lines.entries(segment, host.key)
    }
  }

  /** The same in pieces, while the crawl goes on; nothing is written until it has ended. */
  async *survey(): AsyncIterable<readonly FrontierEntry[]> {
    const { store, lines, atHand, checkpointMade } = this.#parts
    await checkpointMade()
    const release = await store.pause()
    try {
      const counted = new Set<HostKey>()
      const absent = new Set<HostKey>()
      for (const host of atHand.values()) {
        if (host.isAbsent) absent.add(host.key)
        else if (host.isAtHand) counted.add(host.key)
        else continue
        yield* this.#piecesOf(host)
      }
      for await (const [key, stored] of store.hosts()) {
        if (counted.has(key)) continue
        const present = atHand.get(key)
        // What an absent host has in memory was told; what is on disk was not, wherever the host is by now.
        if (present?.isAtHand === true && !absent.has(key)) {
          yield* this.#piecesOf(present)
          continue
        }
        const { guest } = this.#guest(key, stored)
        try {
          yield* this.#piecesOf(guest)
        } finally {
          guest.clear(lines)
        }
      }
    } finally {
      release()
    }
  }

  /** Hosts for which something waits; how much for one at hand is for the caller to say. */
  async *waitingHosts(
    waitingAtHand: (host: DiskHost) => number,
  ): AsyncIterable<{ readonly host: HostKey; readonly waiting: number }> {
    const { store, atHand } = this.#parts
    const counted = new Set<HostKey>()
    for (const host of atHand.values()) {
      if (!host.isAtHand) continue
      counted.add(host.key)
      const waiting = waitingAtHand(host)
      if (waiting > 0) yield { host: host.key, waiting }
    }
    for await (const [key, stored] of store.hosts()) {
      if (counted.has(key)) continue
      const present = atHand.get(key)
      const arrived = present?.isAbsent === true ? present.waiting : 0
      const waiting = waitingOf(decodeHost(key, stored, store.code)) + arrived
      if (waiting > 0) yield { host: key, waiting }
    }
  }

  /** Each piece is taken in one breath: rows that were left behind may be another's by the next. */
  async *#piecesOf(host: DiskHost): AsyncIterable<readonly FrontierEntry[]> {
    const { lines, reader } = this.#parts
    if (host.turn !== null) yield host.unconcluded
    for (const segment of host.segments()) {
      if (segment.isUnread || segment.inline !== null) yield await reader.readWhole(host.key, segment)
      else yield [...lines.entries(segment, host.key)]
    }
    if (host.later !== null) yield [...host.later]
  }

  #guest(key: HostKey, stored: StoredHost): { readonly guest: DiskHost; readonly record: HostRecord } {
    const { store, lines } = this.#parts
    const guest = new DiskHost(key)
    const onDisk = decodeHost(key, stored, store.code)
    guest.adopt(lines, onDisk)
    return { guest, record: onDisk.record }
  }
}
