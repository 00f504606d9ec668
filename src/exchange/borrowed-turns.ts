// The other side of lent turns (lent-turns.ts): an agent that has time offers it, and makes the requests of a turn while it lasts.
//
// Laws
//   - The time of a turn runs from when it was offered, on the clock of whoever offered. Both clocks must have gone together since then:
//     the monotonic one stands still while a machine sleeps.
//   - Nothing is written in the last second of it (`mayWrite`, asked in the moment of writing: a process that was frozen while it
//     connected finds its turn over), and at its end every request is cut.
//   - `lend-done` is said when nothing of the turn is under way any more, and where something was cut a moment later: its server must
//     not hear of the next request first.
//   - Offers and turns together are HELP_MAX at most, answers of one turn ANSWERS_BYTES_MAX.

import type { Clock, ClockMs } from '../base/index.ts'
import type { LendMessage } from './lent-turns.ts'
import type { LentAnswer, LentTurn } from './peer-message.ts'

export interface BorrowedTurnsParts {
  readonly clock: Clock
  /** Numbers of offers begin here: no life of an agent has those of another. */
  readonly firstId: number
}

/** A turn that was lent to us. */
export interface BorrowedTurn extends LentTurn {
  /** Asked in the moment before a request is written. */
  readonly mayWrite: () => boolean
  /** Aborted when the turn is over. */
  readonly signal: AbortSignal
}

/** Who makes the requests. */
export interface Helper {
  /** Whether there is time for the hosts of others. */
  readonly mayHelp: () => boolean
  /** Resolves when nothing of it is under way any more. Never rejects. */
  readonly ask: (turn: BorrowedTurn) => Promise<readonly LentAnswer[]>
}

/** Nothing is written when less is left of a turn: it would be cut. */
const LAST_MS = 1_000
/** An offer that nobody has used by then is taken back. */
const OFFER_KEPT_MS = 2_000
/** As in a lease: clocks that go apart by more were set, or the machine slept. */
const CLOCKS_APART_MS_MAX = 1_000
/** What a server may take to notice that it was hung up on. */
const CUT_MS = 500
const HELP_MAX = 4
/** Ends that may not have been heard, told again when a wire is made anew. */
const ENDS_KEPT = 16
/** Bodies of one turn; one that is longer than the half of it does not travel. */
export const ANSWERS_BYTES_MAX = 2 ** 20

interface Offer {
  readonly agent: number
  readonly sinceMs: number
  /** By how much the wall clock was ahead. */
  readonly apartMs: number
}

export class BorrowedTurns {
  readonly figures = { borrowed: 0, answers: 0 }
  readonly #parts: BorrowedTurnsParts
  #send: (agent: number, message: LendMessage) => void = () => {}
  #helper: Helper = { mayHelp: () => false, ask: async () => [] }
  readonly #offers = new Map<number, Offer>()
  readonly #running = new Map<number, { readonly agent: number; readonly cut: AbortController }>()
  #ends: { readonly agent: number; readonly id: number }[] = []
  #lastId: number
  #isSettling = false
  #settled: () => void = () => {}

  constructor(parts: BorrowedTurnsParts) {
    this.#parts = parts
    this.#lastId = parts.firstId
  }

  connect(send: (agent: number, message: LendMessage) => void): void {
    this.#send = send
  }

  serve(helper: Helper): void {
    this.#helper = helper
  }

  hear(agent: number, message: Extract<LendMessage, { kind: 'lend-wanted' | 'lend-turn' }>): void {
    if (message.kind === 'lend-wanted') {
      const id = this.#offer(agent)
      if (id !== null) this.#send(agent, { kind: 'lend-offer', id })
      return
    }
    const { id, forMs, turn } = message
    // Said twice.
    if (this.#running.has(id)) return
    const offer = this.#offers.get(id)
    this.#offers.delete(id)
    // Taken back, or over long ago: nothing of it is asked for in either case.
    if (offer === undefined || offer.agent !== agent)
      this.#send(agent, { kind: 'lend-done', id, answers: [], next: null })
    else void this.#run(agent, id, offer, forMs, turn)
  }

  /** The other end of a wire is new: what it lent us before is given back, and what was may not have been heard. */
  reconnected(agent: number): void {
    for (const one of this.#running.values()) if (one.agent === agent) one.cut.abort()
    for (const end of this.#ends) {
      if (end.agent === agent) this.#send(agent, { kind: 'lend-done', id: end.id, answers: [], next: null })
    }
  }

  /** Offers nothing any more, and cuts what is under way. Resolves when nothing is. */
  async settle(): Promise<void> {
    this.#isSettling = true
    this.#offers.clear()
    for (const { cut } of this.#running.values()) cut.abort()
    if (this.#running.size > 0) await new Promise<void>((resolve) => (this.#settled = resolve))
  }

  /** The number of a new offer; null where there is no time for one. */
  #offer(agent: number): number | null {
    const { clock } = this.#parts
    const nowMs = clock.nowMs()
    for (const [id, { sinceMs }] of this.#offers) if (sinceMs + OFFER_KEPT_MS <= nowMs) this.#offers.delete(id)
    const isFull = this.#offers.size + this.#running.size >= HELP_MAX
    if (this.#isSettling || isFull || !this.#helper.mayHelp()) return null
    const id = ++this.#lastId
    this.#offers.set(id, { agent, sinceMs: nowMs, apartMs: clock.wallMs() - nowMs })
    return id
  }

  async #run(agent: number, id: number, offer: Offer, forMs: number, turn: LentTurn): Promise<void> {
    const { clock } = this.#parts
    const endMs = offer.sinceMs + forMs
    const cut = new AbortController()
    this.#running.set(id, { agent, cut })
    const mayWrite = (): boolean => {
      const nowMs = clock.nowMs()
      const apartMs = clock.wallMs() - nowMs - offer.apartMs
      return !cut.signal.aborted && nowMs < endMs - LAST_MS && Math.abs(apartMs) <= CLOCKS_APART_MS_MAX
    }
    const cancel = clock.callAt(endMs as ClockMs, () => cut.abort())
    const answers = mayWrite() ? await this.#helper.ask({ ...turn, mayWrite, signal: cut.signal }) : []
    cancel()
    if (cut.signal.aborted) await this.#moment()
    this.#running.delete(id)
    this.figures.borrowed++
    this.figures.answers += answers.length
    this.#ends = [...this.#ends.slice(1 - ENDS_KEPT), { agent, id }]
    this.#send(agent, { kind: 'lend-done', id, answers, next: this.#offer(agent) })
    if (this.#running.size === 0) this.#settled()
  }

  #moment(): Promise<void> {
    const { clock } = this.#parts
    return new Promise((resolve) => {
      clock.callAt((clock.nowMs() + CUT_MS) as ClockMs, resolve)
    })
  }
}
