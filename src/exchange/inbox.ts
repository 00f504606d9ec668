// What came from others: each parcel is applied once, in order, and confirmed when the batch that it went into is durable.

import type { Parcel } from './peer-message.ts'

export interface InboxOptions {
  readonly agents: number
  /** By agent: the last of its batches that a batch of ours holds. */
  readonly holds: readonly number[]
  /** Files what a parcel holds; calls `entered` in the same breath in which that goes into the present batch. */
  readonly apply: (parcel: Parcel, entered: () => void) => Promise<void>
}

export class Inbox {
  readonly #apply: InboxOptions['apply']
  /** In the present batch or an earlier one. */
  readonly #entered: number[]
  /** In a durable batch. */
  #durable: readonly number[]
  /** Parcels under way, one agent after another: what one says comes in its order. */
  readonly #tails: Promise<void>[]
  /** Agents one of whose parcels could not be filed: with a later one we would say that we hold it. */
  readonly #broken = new Set<number>()
  #isClosed = false

  constructor({ agents, holds, apply }: InboxOptions) {
    this.#apply = apply
    this.#entered = Array.from({ length: agents }, (_, agent) => holds[agent] ?? 0)
    this.#durable = [...this.#entered]
    this.#tails = Array.from({ length: agents }, () => Promise.resolve())
  }

  /** What is durably held of an agent. */
  holds(agent: number): number {
    return this.#durable[agent] as number
  }

  /**
   * The other's journal ends here. Where we hold more, an engine has lost what it had acknowledged, and the numbers come again with
   * something else in them: they are not taken for known.
   */
  rewind(agent: number, last: number): void {
    if (last >= (this.#entered[agent] as number)) return
    this.#entered[agent] = last
    this.#durable = this.#durable.map((holds, one) => (one === agent ? Math.min(holds, last) : holds))
  }

  /** Takes a parcel in. Fails when it cannot be filed, which is a fault of ours. */
  receive(agent: number, parcel: Parcel): Promise<void> {
    const received = (this.#tails[agent] as Promise<void>).then(() => {
      const isHeld = parcel.number <= (this.#entered[agent] as number)
      if (isHeld || this.#isClosed || this.#broken.has(agent)) return undefined
      return this.#apply(parcel, () => {
        this.#entered[agent] = parcel.number
      })
    })
    this.#tails[agent] = received.catch(() => void this.#broken.add(agent))
    return received
  }

  /** Begins no parcel any more; resolves when those that were begun are filed. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.#tails)
  }

  /** What the batch that is being taken says. */
  state(): readonly number[] {
    return [...this.#entered]
  }

  /** That batch is durable. Returns the agents that have something confirmed by it. */
  committed(state: readonly number[]): readonly number[] {
    const before = this.#durable
    this.#durable = state
    return state.flatMap((holds, agent) => (holds > (before[agent] as number) ? [agent] : []))
  }
}
