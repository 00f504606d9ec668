// What can still be read of a frontier on disk, and what cannot: every record and every block, each on its own.
//
// For a copy of the store that nobody needs: opening LevelDB writes. Entries come in the order of hosts and lines, as of the
// last checkpoint, or of the one before for a host whose record of the last one is lost; whoever uses them must know
// which URLs have their verdict already.

import { Fault } from '../base/index.ts'
import type { HostKey } from '../url/index.ts'
import type { CheckpointFacts } from './checkpoint-writer.ts'
import { EntryBlock } from './entry-block.ts'
import type { FrontierEntry } from './frontier.ts'
import { addendumNumber, blockKey, CHECKPOINT, GuardedStore } from './guarded-store.ts'
import { decodeAddendum, decodeRecord, type StoredLines } from './host-record.ts'
import type { InlineBlock } from './inline-block.ts'
import type { LostStretch } from './level-check.ts'
import { LevelStore } from './level-store.ts'

export interface SalvagedFrontier {
  /** Everything up to this batch of the journal is in it; null when it cannot be told. */
  readonly batch: number | null
  /** URLs that were read, and how many there should be, if that can be told. */
  readonly found: number
  readonly expected: number | null
  /** Of those that were read: in records that are surely the last of their hosts. Others may be settled by now. */
  readonly certain: number
  /** What is wrong, in words; nothing when the frontier is as it was written. */
  readonly damage: readonly string[]
  /** Hosts that have lost URLs, and how many where that can be told. */
  readonly hosts: ReadonlyMap<HostKey, number | null>
}

/** Shows every URL that can be read. Throws LEDGER_CORRUPT when nothing can. */
export async function salvageFrontier(
  directory: string,
  show: (entry: FrontierEntry) => void | Promise<void>,
): Promise<SalvagedFrontier> {
  const damage: string[] = []
  const { level, lost } = await openSomehow(directory, damage)
  const store = new GuardedStore(level)
  try {
    const facts = await factsOf(store, damage)
    const hosts = new Map<HostKey, number | null>()
    let found = 0
    let certain = 0
    // Where something is lost an older value may stand in its place, if there was one.
    const mayBeOld = (key: string): boolean => lost.some(({ from, to }) => key >= from && key <= to)
    const records = level.readable('h', 'i')
    // The host whose record was read last, and the number of the addendum that would come next.
    let last = ''
    let addenda = 0
    for (;;) {
      const next = await records.next()
      if (next.done === true) {
        if (next.value !== null) damage.push(next.value.message)
        break
      }
      const [key, value] = next.value
      const end = key.indexOf('\0')
      const host = key.slice(1, end === -1 ? undefined : end) as HostKey
      const number = end === -1 ? -1 : addendumNumber(key, end)
      if (number !== -1 && (host !== last || number !== addenda)) {
        damage.push(`something is missing that was stored of ${host} before ${JSON.stringify(key)}`)
        hosts.set(host, null)
      }
      last = host
      addenda = number + 1
      const stored = readStored(store, host, key, value, end !== -1)
      if (stored === null) {
        damage.push(`${end === -1 ? 'the record' : 'what was added to the record'} of ${host} cannot be read`)
        hosts.set(host, null)
        continue
      }
      const entries = await entriesOf(store, host, stored)
      if (entries.lost > 0) {
        damage.push(`${entries.lost} URLs of ${host} cannot be read`)
        const before = hosts.get(host)
        hosts.set(host, before === null ? null : (before ?? 0) + entries.lost)
      }
      for (const entry of entries.kept) await show(entry)
      found += entries.kept.length
      if (!mayBeOld(key)) certain += entries.kept.length
    }
    const expected = mayBeOld(CHECKPOINT) ? null : (facts?.waiting ?? null)
    if (damage.length === 0 && expected !== null && found !== expected) {
      damage.push(`${expected} URLs should wait, and ${found} do`)
    }
    return { batch: facts?.batch ?? null, found, expected, certain, damage, hosts }
  } finally {
    await store.close()
  }
}

async function openSomehow(
  directory: string,
  damage: string[],
): Promise<{ level: LevelStore; lost: readonly LostStretch[] }> {
  try {
    return { level: await LevelStore.open(directory), lost: [] }
  } catch (fault) {
    if (!(fault instanceof Fault) || fault.code !== 'LEDGER_CORRUPT') throw fault
    damage.push(fault.message)
    const { store, lost } = await LevelStore.rescue(directory)
    return { level: store, lost }
  }
}

/** What the last checkpoint says of the whole, if it and everything it counts on is there. */
async function factsOf(guarded: GuardedStore, damage: string[]): Promise<CheckpointFacts | null> {
  try {
    await guarded.readCode()
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault
    damage.push(fault.message)
  }
  try {
    const text = await guarded.open(false)
    const facts = text === null ? null : (JSON.parse(text) as CheckpointFacts)
    let known = 0
    for await (const fingerprints of guarded.knownHosts()) known += fingerprints.length
    if (facts !== null && known !== facts.known) damage.push(`${facts.known} hosts are known, but ${known} are named`)
    return facts
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault
    damage.push(fault.message)
    return null
  }
}

/** What stands under a key of a host: its record, or an addendum to it. */
function readStored(
  store: GuardedStore,
  host: HostKey,
  key: string,
  value: Uint8Array,
  isAddendum: boolean,
): StoredLines | null {
  try {
    const bytes = store.unguard(key, value)
    return isAddendum ? decodeAddendum(host, bytes, store.code) : decodeRecord(host, bytes, store.code)
  } catch (fault) {
    if (fault instanceof Fault) return null
    throw fault
  }
}

async function entriesOf(
  store: GuardedStore,
  host: HostKey,
  { front, lines, tail }: StoredLines,
): Promise<{ kept: FrontierEntry[]; lost: number }> {
  const kept: FrontierEntry[] = [...front]
  let lost = 0
  for (const { band, pieces } of lines) {
    for (const { block, stored, from, inline } of pieces) {
      const entries =
        inline === undefined
          ? await readBlock(store, host, blockKey(host, band, block), stored, from)
          : inlineEntries(host, inline, stored, from)
      if (entries === null) lost += stored - from
      else kept.push(...entries)
    }
  }
  kept.push(...tail)
  return { kept, lost }
}

async function readBlock(
  store: GuardedStore,
  host: HostKey,
  key: string,
  stored: number,
  from: number,
): Promise<FrontierEntry[] | null> {
  try {
    const [value] = await store.getMany([key])
    if (value === undefined) return null
    const block = EntryBlock.open(host, value, store.code)
    return block.count === stored ? block.entries(from) : null
  } catch (fault) {
    if (fault instanceof Fault) return null
    throw fault
  }
}

function inlineEntries(host: HostKey, inline: InlineBlock, stored: number, from: number): FrontierEntry[] | null {
  try {
    return inline.entries(host, stored, from)
  } catch (fault) {
    if (fault instanceof Fault) return null
    throw fault
  }
}
