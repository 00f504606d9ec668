// Turns of giant hosts that their owner lends to agents that have time (docs/decisions/0043). The host, with all that is known of it,
// stays where it is; what is lent is one visit: some URLs that may be asked for, and where.
//
//   owner                                        an agent that has nothing to do (borrowed-turns.ts)
//   has more than it can ask for ── wanted ────▶
//                                ◀─── offer ──── its clock runs from here
//   the host's turn is out       ──── turn ────▶ asks, URL after URL; writes nothing when its time is nearly over,
//   … and asks it for nothing                    cuts what is under way when it is
//   settles, as if it had asked  ◀─── done ───── answers, and perhaps another offer
//
// Laws
//   - Whoever offers counts from when the offer was sent, the owner from when the turn was, which is later, however long either was on
//     its way: nothing is asked for any more when the owner has stopped waiting.
//   - A turn ends within the lease of its owner. Whoever takes the share over waits for that lease, and so for every turn that was lent.
//     The next life in the same place, which does not, waits RENEWAL_MS where one may be out (`onFirst`).
//   - One turn of a host is out at most, for it is the host's own turn; LENT_MAX turns of all hosts.
//   - A turn that does not come back is waited out, with the time that a server may take over what a frozen agent had asked it.
//   - Every message may be lost, late or there twice: an offer is used once, a turn ends once.

import type { Clock, ClockMs } from '../base/index.ts'
import type { LentAnswer, LentTurn, PeerMessage } from './peer-message.ts'

export type LendMessage = Extract<PeerMessage, { kind: `lend-${string}` }>

export interface LentTurnsParts {
  readonly clock: Clock
  readonly self: number
  readonly agents: number
  /** No request takes longer. */
  readonly requestMs: number
  /** What is left of the right to act on this share. */
  readonly leaseLeftMs: () => number
  /** Before the first turn of this life is lent: the next one must know that there may be some. */
  readonly onFirst: () => void
}

/** How long a turn lasts at most; below the least lease (5 s). */
export const TURN_MS = 4_000
/** Where less of the lease is left nothing is lent. */
const TURN_MS_MIN = 2_000
/** For clocks of different speed, and for what was cut to reach its server. */
export const MARGIN_MS = 2_000
/** After its start an agent whose former life may have lent turns asks nobody for so long. */
export const RENEWAL_MS = TURN_MS + MARGIN_MS
/** What a server may still work on when whoever asked is frozen; requests of others are cut when their turn ends. */
const UNHEARD_MS_MAX = 10_000
/** An offer that is older is not used: too little of its time would be left. */
const OFFER_MS = 1_000
/** How often it is asked who has time. */
const WANT_MS = 1_000
/** Turns out at once; with the bytes of one (borrowed-turns.ts) this bounds what is under way to an owner. */
export const LENT_MAX = 8
const OFFERS_MAX = 64
const LOOK_MS = 50

interface Offer {
  readonly agent: number
  readonly id: number
  readonly heardMs: number
}

interface Lent {
  readonly resolve: (answers: readonly LentAnswer[] | null) => void
  /** Nothing is asked for after this, unless whoever has it is frozen. */
  readonly overMs: number
  readonly cancel: () => void
}

export interface LendingFigures {
  /** Turns that were lent, and how they ended. */
  lent: number
  back: number
  lost: number
  /** URLs that others brought. */
  answers: number
}

export class LentTurns {
  readonly figures: LendingFigures = { lent: 0, back: 0, lost: 0, answers: 0 }
  readonly #parts: LentTurnsParts
  #send: (agent: number, message: LendMessage) => void = () => {}
  /** Oldest first. */
  #offers: Offer[] = []
  /** By agent and the number of its offer. */
  readonly #lent = new Map<string, Lent>()
  #wantedMs = -Infinity
  #isSettling = false

  constructor(parts: LentTurnsParts) {
    this.#parts = parts
  }

  /** The way to the others. What is said before there is one is lost. */
  connect(send: (agent: number, message: LendMessage) => void): void {
    this.#send = send
  }

  /** Whether somebody would take a turn now. Where nobody is known, it is asked around. */
  mayLend(): boolean {
    const { clock, leaseLeftMs } = this.#parts
    if (this.#isSettling || this.#lent.size >= LENT_MAX || leaseLeftMs() < TURN_MS_MIN) return false
    const nowMs = clock.nowMs()
    const young = this.#offers.findIndex(({ heardMs }) => heardMs + OFFER_MS > nowMs)
    this.#offers = young === -1 ? [] : this.#offers.slice(young)
    if (this.#offers.length > 0) return true
    this.#want(nowMs)
    return false
  }

  /** What came of the URLs of a turn, in their order and perhaps not of all; null where it did not come back. Only after mayLend(). */
  lend(turn: LentTurn): Promise<readonly LentAnswer[] | null> {
    const { clock, requestMs, leaseLeftMs, onFirst } = this.#parts
    // The youngest: most of its time is left.
    const offer = this.#offers.pop()
    if (offer === undefined) return Promise.resolve([])
    if (this.figures.lent === 0) onFirst()
    this.figures.lent++
    const { agent, id } = offer
    const name = `${agent} ${id}`
    const forMs = Math.min(TURN_MS, leaseLeftMs())
    const overMs = clock.nowMs() + forMs + MARGIN_MS
    return new Promise((resolve) => {
      const lostMs = overMs + Math.min(requestMs, UNHEARD_MS_MAX)
      const cancel = clock.callAt(lostMs as ClockMs, () => {
        this.figures.lost++
        this.#lent.delete(name)
        resolve(null)
      })
      this.#lent.set(name, { resolve, overMs, cancel })
      this.#send(agent, { kind: 'lend-turn', id, forMs, turn })
    })
  }

  hear(agent: number, message: Extract<LendMessage, { kind: 'lend-offer' | 'lend-done' }>): void {
    if (message.kind === 'lend-offer') return this.#offered(agent, message.id)
    const { id, answers, next } = message
    if (next !== null) this.#offered(agent, next)
    const name = `${agent} ${id}`
    const lent = this.#lent.get(name)
    if (lent === undefined) return
    this.#lent.delete(name)
    lent.cancel()
    this.figures.back++
    this.figures.answers += answers.length
    lent.resolve(answers)
  }

  /** Lends nothing any more. Resolves when nobody asks for anything of ours. */
  async settle(): Promise<void> {
    this.#isSettling = true
    const { clock } = this.#parts
    while ([...this.#lent.values()].some(({ overMs }) => overMs > clock.nowMs())) {
      await new Promise<void>((resolve) => {
        clock.callAt((clock.nowMs() + LOOK_MS) as ClockMs, resolve)
      })
    }
  }

  close(): void {
    for (const { cancel, resolve } of this.#lent.values()) {
      cancel()
      resolve(null)
    }
    this.#lent.clear()
  }

  #offered(agent: number, id: number): void {
    if (this.#offers.length === OFFERS_MAX) this.#offers.shift()
    this.#offers.push({ agent, id, heardMs: this.#parts.clock.nowMs() })
  }

  #want(nowMs: number): void {
    if (this.#wantedMs + WANT_MS > nowMs) return
    this.#wantedMs = nowMs
    const { agents, self } = this.#parts
    for (let agent = 0; agent < agents; agent++) if (agent !== self) this.#send(agent, { kind: 'lend-wanted' })
  }
}
