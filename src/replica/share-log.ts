// The log of a share: who holds it, its batches, its snapshots. Whoever has the last `begin` in it is the owner, and there is no
// other record of that.
//
//   begin 1 A │ batch 1 │ batch 2 │ batch 3, part 1 │ begin 2 B │ batch 3 │ snapshot up to 3 │ batch 4 │ release
//                                    └ never whole: counts for nothing
//
// Everything is appended at the known last place, so a former owner is refused from the moment another has begun.
//
// Always true:
//   - of any number of owners at most one is told that a batch of a number stands;
//   - an entry of an epoch that is over counts for nothing, wherever it stands;
//   - the last entry tells how the share stands.

import { assert, Fault } from '../base/index.ts'
import type { Engine, EngineLog } from '../engine/index.ts'
import { decodeEntry, encodeEntry, type EntryHead, type Holder, type LogState, type ReadEntry } from './log-entry.ts'

const NO_PAYLOAD = new Uint8Array()
/** An entry that was the last one may be trimmed away while it is asked for: then there is a later one. */
const LOOKS_MAX = 5

/** How a share stands by its log. */
export interface Standing extends LogState {
  /** How many owners it has had. */
  readonly epoch: number
  /** Null where nobody has it: never begun, or given up. */
  readonly holder: Holder | null
  readonly released: boolean
  /** The place of the last entry. */
  readonly at: number
}

/** A share that somebody holds: plain data, for whoever appends to its log. */
export interface HeldShare extends Holder, LogState {
  readonly share: number
  readonly epoch: number
  readonly at: number
}

export function logNameOf(share: number): string {
  return `share-${share}`
}

export class ShareLog {
  readonly share: number
  readonly log: EngineLog

  private constructor(share: number, log: EngineLog) {
    this.share = share
    this.log = log
  }

  static async open(engine: Pick<Engine, 'log'>, share: number): Promise<ShareLog> {
    return new ShareLog(share, await engine.log(logNameOf(share)))
  }

  get name(): string {
    return logNameOf(this.share)
  }

  /** Costs one entry, however long the log is. */
  async standing(): Promise<Standing> {
    const entry = await this.tail()
    if (entry === null) {
      return { epoch: 0, holder: null, released: false, at: 0, last: 0, digest: '', snapshotAt: 0, since: 0 }
    }
    const { kind, epoch, node, incarnation, last, digest, snapshotAt, since } = entry.head
    const released = kind === 'release'
    const holder = released ? null : { node, incarnation }
    return { epoch, holder, released, at: entry.at, last, digest, snapshotAt, since }
  }

  /** Takes the share, as it was seen to stand. Null: somebody was quicker. */
  async begin(holder: Holder, seen: Standing): Promise<HeldShare | null> {
    const { last, digest, snapshotAt, since } = seen
    const { node, incarnation } = holder
    const state = { share: this.share, node, incarnation, last, digest, snapshotAt, since }
    // An answer that was lost: it is ours already.
    if (seen.holder !== null && isSame(seen.holder, holder)) return { ...state, epoch: seen.epoch, at: seen.at }
    const epoch = seen.epoch + 1
    const at = await this.appendBegin({ node, incarnation, epoch }, seen)
    return at === null ? null : { ...state, epoch, at }
  }

  /** A `begin` behind what was seen; where it stands, null where something else does. */
  async appendBegin(
    { node, incarnation, epoch }: Holder & { readonly epoch: number },
    { at, last, digest, snapshotAt, since }: Standing,
  ): Promise<number | null> {
    const owner = { epoch, node, incarnation }
    const head: EntryHead = { kind: 'begin', ...owner, after: at, last, digest, snapshotAt, since }
    const answer = await this.log.append(encodeEntry(head, NO_PAYLOAD), at)
    return answer.kind === 'appended' ? answer.at : null
  }

  /** The last entry; null where there is none. */
  async tail(): Promise<ReadEntry | null> {
    for (let looks = 1; ; looks++) {
      const last = await this.log.last()
      if (last === 0) return null
      try {
        let tail: ReadEntry | null = null
        for await (const entry of this.read(last - 1)) tail = entry
        if (tail !== null) return tail
      } catch (fault) {
        if (!isFault(fault, 'LOG_TRIMMED') || looks >= LOOKS_MAX) throw fault
      }
      // The engine has lost it since, or somebody has trimmed the log: look again.
      if (looks >= LOOKS_MAX) throw new Fault('ENGINE_UNREACHABLE', `the last entry of ${this.name} cannot be read`)
    }
  }

  /** The entry at a place; null where the log ends before it. */
  async entryAt(at: number): Promise<ReadEntry | null> {
    for await (const entry of this.read(at - 1)) return entry
    return null
  }

  async *read(after: number): AsyncGenerator<ReadEntry> {
    for await (const { at, bytes } of this.log.read(after)) yield decodeEntry(this.name, at, bytes)
  }
}

export function isSame(one: Holder, other: Holder): boolean {
  return one.node === other.node && one.incarnation === other.incarnation
}

export function isFault(error: unknown, code: Fault['code']): boolean {
  return error instanceof Fault && error.code === code
}

export function shareLost(share: number, by: Holder & { readonly epoch: number }): Fault {
  return new Fault(
    'SHARE_LOST',
    `share ${share} was taken by node ${by.node} (incarnation ${by.incarnation}, epoch ${by.epoch})`,
  )
}

/** What `resume` and the log of a held share append to take or keep the share. */
export async function beginAgain(log: ShareLog, held: HeldShare): Promise<HeldShare> {
  for (;;) {
    const seen = await log.standing()
    const isOurs = seen.epoch === held.epoch && seen.holder !== null && isSame(seen.holder, held)
    assert(!(seen.released && seen.epoch === held.epoch), `share ${held.share} is gone on with after it was given up`)
    // An epoch before ours at the end: the engine has lost our begin, and nobody has begun since.
    if (!isOurs && seen.epoch >= held.epoch)
      throw shareLost(held.share, { epoch: seen.epoch, ...(seen.holder ?? held) })
    const { last, digest, snapshotAt, since } = seen
    const at = await log.appendBegin(held, seen)
    // Refused: an entry of ours was late, or somebody else has begun. The next look tells.
    if (at !== null) return { ...held, last, digest, snapshotAt, since, at }
  }
}
