// How what is found for others reaches them: one wire to each agent, and on it parcels, claims and errands.
//
//    this agent                                      another
//    batch committed ── outbox ──── parcel n ──────▶ inbox ── its present batch
//    forgets up to n ◀────────────── confirmed n ─── that batch committed
//
// Laws
//   - Nothing is lost: a link for another stands in the batch of its page, and its batch stays until the other has it
//     in a batch of its own.
//   - Nothing counts twice: a parcel has the number of its batch, and the receiver keeps the last number in its own batches.
//   - No deadlock: a full outbox stops fetching, never receiving; what is received depends on nobody.
//   - A wire may break at any time, with an agent or without. On a new one both say what they hold, and go on from there.

import type { CanonicalUrl } from '../url/index.ts'
import { ErrandsAbroad } from './errands-abroad.ts'
import type { Inbox } from './inbox.ts'
import type { Outbox } from './outbox.ts'
import type { Owners } from './owners.ts'
import type { LendMessage } from './lent-turns.ts'
import type { ErrandAnswer, Parcel, PeerMessage } from './peer-message.ts'
import type { SharedContents } from './shared-contents.ts'
import type { TurnMessage } from './shared-turns.ts'
import type { Wire } from './wire.ts'

export interface ExchangeParts {
  readonly owners: Owners
  readonly outbox: Outbox
  readonly inbox: Inbox
  readonly contents: SharedContents
  /** Fetches a robots.txt of a host of ours for another agent, in its host's turn. */
  readonly runErrand: (url: CanonicalUrl) => Promise<ErrandAnswer>
  /** A right to ask an address was asked for, given, refused or given back. */
  readonly onTurn: (agent: number, message: TurnMessage) => void
  /** A turn of a giant host was offered, lent or given back. */
  readonly onLend: (agent: number, message: LendMessage) => void
  /** A new wire to an agent can be used. */
  readonly onReady: (agent: number) => void
  /** The last batch of our journal. */
  readonly lastBatch: () => number
  /** What cannot be filed cannot be confirmed: the end of this agent. */
  readonly onFault: (fault: unknown) => void
}

/** What a batch says of the exchange. */
export interface ExchangeState {
  /** Batches up to this one hold nothing for others that is not confirmed. */
  readonly settled: number
  /** By agent: the last of its batches that is in ours. */
  readonly holds: readonly number[]
}

interface Peer {
  readonly wire: Wire
  /** The other end has said hello: before that it is told nothing but ours. */
  isReady: boolean
  /** What our hello said. */
  readonly toldHolds: number
}

export class Exchange {
  readonly #parts: ExchangeParts
  readonly #peers: (Peer | null)[]
  readonly #errands: ErrandsAbroad
  #moves = 0

  constructor(parts: ExchangeParts) {
    this.#parts = parts
    this.#peers = Array.from({ length: parts.owners.agents }, () => null)
    this.#errands = new ErrandsAbroad((agent, message) => this.send(agent, message))
  }

  /** A wire to another agent, the first one or another one. */
  connect(agent: number, wire: Wire): void {
    this.#peers[agent]?.wire.close()
    const toldHolds = this.#parts.inbox.holds(agent)
    const peer: Peer = { wire, isReady: false, toldHolds }
    this.#peers[agent] = peer
    wire.listen((message) => {
      if (this.#peers[agent] === peer) this.#hear(agent, peer, message)
    })
    wire.send({ kind: 'hello', holds: toldHolds, last: this.#parts.lastBatch() })
  }

  /** Says it if there is anybody to hear it. What must be heard is said again when a wire is made anew. */
  send(agent: number, message: PeerMessage): void {
    const peer = this.#peers[agent]
    if (peer == null || !peer.isReady) return
    this.#moves++
    peer.wire.send(message)
  }

  /** Has a robots.txt of another's host fetched. */
  errand(agent: number, url: CanonicalUrl): Promise<ErrandAnswer> {
    return this.#errands.ask(agent, url)
  }

  /** What the batch that is being taken says of the exchange. */
  state(number: number): ExchangeState {
    return { settled: this.#parts.outbox.settledUpTo(number - 1), holds: this.#parts.inbox.state() }
  }

  /** That batch is durable: what came with it is confirmed. */
  committed({ holds }: ExchangeState): void {
    for (const agent of this.#parts.inbox.committed(holds)) {
      this.send(agent, { kind: 'confirmed', upTo: holds[agent] as number })
    }
  }

  /** What a durable batch holds for others sets out. */
  sendOut(number: number, batch: Parameters<Outbox['take']>[1]): void {
    const { outbox } = this.#parts
    for (const agent of outbox.take(number, batch)) {
      this.send(agent, { kind: 'parcel', parcel: outbox.pending(agent).at(-1) as Parcel })
    }
  }

  /** Nothing is on its way, to others or from them, as far as this agent can tell. */
  get isQuiet(): boolean {
    return this.#parts.outbox.isEmpty && this.#parts.contents.asking === 0 && this.#errands.asking === 0
  }

  /** Grows with everything said and heard: two equal readings of all agents mean that nothing moved between them. */
  get moves(): number {
    return this.#moves
  }

  close(): void {
    for (const peer of this.#peers) peer?.wire.close()
  }

  #hear(agent: number, peer: Peer, message: PeerMessage): void {
    const { outbox, inbox, contents, runErrand, onTurn, onLend, onReady, onFault } = this.#parts
    this.#moves++
    switch (message.kind) {
      case 'hello':
        peer.isReady = true
        inbox.rewind(agent, message.last)
        contents.confirmed(outbox.confirm(agent, message.holds))
        // What became durable since our own hello: it could not be said before, and nothing would say it later.
        if (inbox.holds(agent) > peer.toldHolds) this.send(agent, { kind: 'confirmed', upTo: inbox.holds(agent) })
        for (const parcel of outbox.pending(agent)) this.send(agent, { kind: 'parcel', parcel })
        contents.reconnected(agent)
        this.#errands.reconnected(agent)
        onReady(agent)
        return
      case 'parcel':
        inbox.receive(agent, message.parcel).catch(onFault)
        return
      case 'confirmed':
        contents.confirmed(outbox.confirm(agent, message.upTo))
        return
      case 'claim':
        contents.lend(agent, message.id, message.digest, message.mayBeHeld).catch(onFault)
        return
      case 'claimed':
        contents.answered(agent, message.id, message.original)
        return
      case 'probe':
        contents.probe(agent, message.id, message.digest)
        return
      case 'probed':
        contents.probed(agent, message.id, message.isHeld)
        return
      case 'release':
        contents.returned(agent, message.digest)
        return
      case 'errand':
        void runErrand(message.url).then((answer) => {
          if (this.#peers[agent] === peer) this.send(agent, { kind: 'errand-done', id: message.id, answer })
        }, onFault)
        return
      case 'errand-done':
        this.#errands.answered(message.id, message.answer)
        return
      case 'lend-wanted':
      case 'lend-offer':
      case 'lend-turn':
      case 'lend-done':
        return onLend(agent, message)
      default:
        onTurn(agent, message)
    }
  }
}
