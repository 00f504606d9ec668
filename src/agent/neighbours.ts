// The other agents of the crawl, as one agent meets them: joins the exchange to books, admission and contents.

import type { ContentSeen, KnownContents } from '../content-seen/index.ts'
import {
  type ErrandAnswer,
  Exchange,
  type ExchangeState,
  Inbox,
  Outbox,
  Owners,
  SharedContents,
} from '../exchange/index.ts'
import { type Journal, type OriginalNote, unpackEntries } from '../ledger/index.ts'
import { assignmentNamed, RENDEZVOUS } from '../placement/index.ts'
import { type CanonicalUrl, type Fingerprinter, slotOf } from '../url/index.ts'
import type { Admission } from './admission.ts'
import type { Books } from './books.ts'
import type { Share } from './crawl-plan.ts'
import type { ErrandsToOthers } from './robots-desk.ts'

export interface NeighboursParts {
  readonly share: Share
  readonly fingerprinter: Fingerprinter
  readonly books: () => Books
  readonly admission: () => Admission
  readonly contents: ContentSeen & KnownContents
  readonly writeOriginal: (note: OriginalNote) => number
  readonly runErrand: (url: CanonicalUrl) => Promise<ErrandAnswer>
  readonly onFault: (fault: unknown) => void
  /** Something new may wait. */
  readonly wake: () => void
  readonly state: ExchangeState | null
  /** Parcels kept in memory until they are confirmed, which takes two ticks or so. */
  readonly outboxBytesMax?: number
}

const OUTBOX_BYTES_MAX = 16 * 2 ** 20

export class Neighbours {
  readonly owners: Owners
  readonly exchange: Exchange
  readonly contents: SharedContents
  readonly #outbox: Outbox
  readonly #inbox: Inbox
  readonly #fingerprinter: Fingerprinter
  readonly #openMarks: (pending: Iterable<Uint8Array>) => void
  /** What a batch on disk says: everything up to it need not be kept for others. */
  #settled: number

  constructor(parts: NeighboursParts) {
    const { share, fingerprinter, state } = parts
    this.#fingerprinter = fingerprinter
    const owners = new Owners(share.agent, share.agents, assignmentNamed(share.assignment ?? RENDEZVOUS.name))
    this.owners = owners
    this.#settled = state?.settled ?? 0
    this.#openMarks = (pending) => share.marks?.open(parts.contents, pending)
    this.#outbox = new Outbox({
      self: share.agent,
      agents: share.agents,
      ownerOfEntry: ({ url }) => this.#ownerOfUrl(url),
      ownerOfDigest: (digest) => owners.ofDigest(Buffer.from(digest.slice(0, 4), 'hex')),
      bytesMax: parts.outboxBytesMax ?? OUTBOX_BYTES_MAX,
    })
    this.contents = new SharedContents({
      owners,
      own: parts.contents,
      write: parts.writeOriginal,
      note: (note) => parts.books().original(note),
      send: (agent, message) => this.exchange.send(agent, message),
      whenDurable: (callback) => parts.books().whenDurable(callback),
      patience: share.patience,
      marks: share.marks,
    })
    this.#inbox = new Inbox({
      agents: share.agents,
      holds: state?.holds ?? [],
      apply: async (parcel, entered) => {
        await parts.admission().admitParcel(unpackEntries(parcel.entries), (take) => {
          take(parts.books())
          for (const note of parcel.originals) this.contents.receive(note)
          entered()
          // Also where all of it was known: whoever sent it waits to hear that it is held.
          parts.books().noted()
        })
        parts.wake()
      },
    })
    this.exchange = new Exchange({
      owners,
      outbox: this.#outbox,
      inbox: this.#inbox,
      contents: this.contents,
      runErrand: parts.runErrand,
      lastBatch: () => parts.books().lastBatch,
      onTurn: (agent, message) => share.turns.find(({ gate }) => gate === message.gate)?.hear(agent, message),
      onLend: (agent, message) => {
        if (message.kind === 'lend-offer' || message.kind === 'lend-done') share.lending?.lent.hear(agent, message)
        else share.lending?.borrowed.hear(agent, message)
      },
      onReady: (agent) => share.lending?.borrowed.reconnected(agent),
      onFault: parts.onFault,
    })
    share.lending?.lent.connect((agent, message) => this.exchange.send(agent, message))
    share.lending?.borrowed.connect((agent, message) => this.exchange.send(agent, message))
    for (const one of share.turns) one.connect((agent, message) => this.exchange.send(agent, message))
  }

  #ownerOfUrl(url: CanonicalUrl): number {
    this.#fingerprinter.compute(url)
    return this.owners.ofSlot(slotOf(this.#fingerprinter.high))
  }

  /** Parcels of batches that an earlier run had not confirmed; after it the others are told what this agent knows of contents. */
  async restore(journal: Journal): Promise<void> {
    const pending: Uint8Array[] = []
    if (journal.lastNumber > 0) {
      for await (const { number, batch } of journal.history(this.#settled)) {
        this.exchange.sendOut(number, batch)
        this.contents.pending(batch.originals)
        for (const { digest } of batch.originals) pending.push(Buffer.from(digest, 'hex'))
      }
    }
    this.#openMarks(pending)
  }

  state(number: number): ExchangeState {
    return this.exchange.state(number)
  }

  async committed(state: ExchangeState): Promise<void> {
    this.#settled = state.settled
    this.exchange.committed(state)
  }

  /** Batches up to this one are not needed for others. */
  get settled(): number {
    return this.#settled
  }

  /** For the desk of robots.txt. */
  get errands(): ErrandsToOthers {
    return {
      ownerOf: (host) => {
        const owner = this.#ownerOfUrl(`http://${host}/` as CanonicalUrl)
        return owner === this.owners.self ? null : owner
      },
      errand: (agent, url) => this.exchange.errand(agent, url),
    }
  }

  /**
   * Nothing is heard any more: what is under way is sent again in another run. A parcel whose URLs are being met is
   * filed first: met and in no batch, they would be known to the next run and wait nowhere.
   */
  async close(): Promise<void> {
    this.exchange.close()
    await this.#inbox.close()
  }

  pressure(): Promise<void> | undefined {
    return this.#outbox.pressure()
  }
}
