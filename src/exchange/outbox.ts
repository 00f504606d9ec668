// What was found for others and is not confirmed yet.
//
//   batch n of the journal ──▶ a parcel for each agent it has something for ──▶ sent, in order ──▶ confirmed
//
// The journal is where it is kept: a batch stays there until everything in it for others is confirmed (`settledUpTo`),
// and an agent that opens again makes the same parcels of the same batches. The receiver knows the number of the last
// batch that it has of everybody, in its own journal, so a parcel that comes twice is harmless.

import type { FrontierEntry } from '../frontier/index.ts'
import { type LedgerBatch, type OriginalNote, packEntries } from '../ledger/index.ts'
import type { Parcel } from './peer-message.ts'

export interface OutboxOptions {
  readonly self: number
  readonly agents: number
  readonly ownerOfEntry: (entry: FrontierEntry) => number
  readonly ownerOfDigest: (digest: string) => number
  /** From so many bytes on whoever produces must wait. Receiving never waits, so nobody waits for ever. */
  readonly bytesMax: number
}

interface Addressed {
  readonly entries: FrontierEntry[]
  readonly originals: OriginalNote[]
}

/** What a note of an original takes, about. */
const ORIGINAL_BYTES = 300

export class Outbox {
  readonly #options: OutboxOptions
  /** By agent: parcels not confirmed, oldest first. */
  readonly #parcels: Parcel[][]
  #bytes = 0
  #relieved: (() => void) | null = null
  #relief: Promise<void> | null = null

  constructor(options: OutboxOptions) {
    this.#options = options
    this.#parcels = Array.from({ length: options.agents }, () => [])
  }

  /** A batch is durable: makes its parcels. Returns the agents that have one more to be sent. */
  take(number: number, { abroad, originals }: Pick<LedgerBatch, 'abroad' | 'originals'>): readonly number[] {
    if (abroad.length === 0 && originals.length === 0) return []
    const addressed = this.#addressed(abroad, originals)
    const receivers: number[] = []
    for (const [agent, content] of addressed.entries()) {
      if (content === undefined) continue
      const parcel = { number, entries: packEntries(content.entries), originals: content.originals }
      ;(this.#parcels[agent] as Parcel[]).push(parcel)
      this.#bytes += bytesOf(parcel)
      receivers.push(agent)
    }
    return receivers
  }

  #addressed(abroad: readonly FrontierEntry[], originals: readonly OriginalNote[]): (Addressed | undefined)[] {
    const { self, agents, ownerOfEntry, ownerOfDigest } = this.#options
    const addressed: (Addressed | undefined)[] = Array.from({ length: agents })
    const to = (agent: number): Addressed => (addressed[agent] ??= { entries: [], originals: [] })
    for (const entry of abroad) {
      // A seed widens the scope: everybody must hear of it, whoever owns its host.
      if (entry.isSeed) {
        for (let agent = 0; agent < agents; agent++) if (agent !== self) to(agent).entries.push(entry)
      } else to(ownerOfEntry(entry)).entries.push(entry)
    }
    for (const note of originals) to(ownerOfDigest(note.digest)).originals.push(note)
    return addressed
  }

  /** All parcels for an agent that are not confirmed, oldest first. */
  pending(agent: number): readonly Parcel[] {
    return this.#parcels[agent] as Parcel[]
  }

  /** Returns the notes that are the other's now. */
  confirm(agent: number, upTo: number): readonly OriginalNote[] {
    const parcels = this.#parcels[agent] as Parcel[]
    const notes: OriginalNote[] = []
    while (parcels[0] !== undefined && parcels[0].number <= upTo) {
      const parcel = parcels.shift() as Parcel
      this.#bytes -= bytesOf(parcel)
      for (const note of parcel.originals) notes.push(note)
    }
    if (this.#relieved !== null && this.#bytes < this.#options.bytesMax) this.#relieved()
    return notes
  }

  /** The last batch of which nothing is waiting to be confirmed; `taken` is the last one it was given. */
  settledUpTo(taken: number): number {
    return Math.min(taken, ...this.#parcels.map(([first]) => (first === undefined ? taken : first.number - 1)))
  }

  get isEmpty(): boolean {
    return this.#bytes === 0
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Something to wait for before more is found; undefined while there is room. */
  pressure(): Promise<void> | undefined {
    if (this.#bytes < this.#options.bytesMax) return undefined
    this.#relief ??= new Promise((resolve) => {
      this.#relieved = () => {
        this.#relief = null
        this.#relieved = null
        resolve()
      }
    })
    return this.#relief
  }
}

function bytesOf({ entries, originals }: Parcel): number {
  return 64 + entries.length + originals.length * ORIGINAL_BYTES
}
