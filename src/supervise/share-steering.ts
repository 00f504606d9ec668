// What the agents of a node of a cluster are told while they run: how fast, whether at all, what is other of the crawl, which URLs are
// followed. Whoever begins hears all of it before it asks anybody, or as soon as it can.

import { type Speed, TRACES_MAX } from '../agent/index.ts'
import type { FromAgent, ToAgent } from './agent-messages.ts'
import type { AgentQuestion, AnswerTo } from './agent-questions.ts'
import type { MeantCrawl, MeantOrders } from './meant-crawl.ts'
import type { ShareDesk } from './share-desk.ts'
import { ShareQuestions } from './share-questions.ts'

/** What operators want; what is left out nobody can want. */
export interface SteeringParts {
  /** Other limits than it was started with. */
  readonly speedOf?: (share: number, here: readonly number[]) => Partial<Speed>
  /** Agents are to ask nobody. */
  readonly isPaused?: () => boolean
  /** How the crawl is meant now. */
  readonly meant?: MeantCrawl
}

/** The shares that are told. */
export interface SteeredShares {
  readonly desk: ShareDesk
  /** Those that are here, in order. */
  readonly shares: readonly number[]
  /** Its agent runs. */
  isOpen(share: number): boolean
  /** Stops its agent in order and opens it anew, with the orders of now. False: not in this moment. */
  renew(share: number): Promise<boolean>
}

export class ShareSteering {
  readonly #parts: SteeringParts
  readonly #steered: SteeredShares
  readonly #tell: (share: number, message: ToAgent) => void
  readonly #questions: ShareQuestions
  /** URLs that are followed; the oldest first. */
  readonly #followed = new Set<string>()
  /** The change that the last thread of each share was started with. */
  readonly #startedWith = new Map<number, number>()
  /** Shares that are being brought to what is meant now. */
  readonly #catchingUp = new Set<number>()

  constructor(parts: SteeringParts, steered: SteeredShares, tell: (share: number, message: ToAgent) => void) {
    this.#parts = parts
    this.#steered = steered
    this.#tell = tell
    this.#questions = new ShareQuestions(tell)
  }

  /** What the next thread of a share is started with, where that is another thing each time. */
  get meantOf(): ((share: number) => MeantOrders) | null {
    const { meant } = this.#parts
    if (meant === undefined) return null
    return (share) => {
      this.#startedWith.set(share, meant.change())
      return meant.orders()
    }
  }

  startedWith(share: number): number {
    return this.#startedWith.get(share) ?? 0
  }

  /** An agent that has opened its share begins. One that is to pause is told so before: it must not ask anybody in between. */
  begin(share: number): void {
    if (this.#parts.isPaused?.() === true) this.#tellPause(share)
    this.#tell(share, { kind: 'run' })
    this.tellSpeeds()
    this.catchUp()
    for (const url of this.#followed) this.#follow(share, url)
  }

  /** Its thread is gone, and with it what it was asked. */
  ended(share: number): void {
    this.#questions.ended(share)
  }

  /** Tells the agents whether they may ask anybody. Whoever is told twice does nothing. */
  tellPause(): void {
    for (const share of this.#open) this.#tellPause(share)
  }

  #tellPause(share: number): void {
    this.#tell(share, { kind: this.#parts.isPaused?.() === true ? 'pause' : 'resume' })
  }

  /** Tells the agents how fast they may go: the limits have changed, or who shares them. */
  tellSpeeds(): void {
    const { speedOf } = this.#parts
    if (speedOf === undefined) return
    for (const share of this.#open) {
      const change = speedOf(share, this.#steered.shares)
      if (Object.keys(change).length > 0) this.#tell(share, { kind: 'set-speed', change })
    }
  }

  /**
   * Brings agents to what is meant now: seeds are told to them, for anything else they are opened anew. Called when that has changed,
   * when an agent has begun, and every now and then: what did not come to an end is tried again.
   */
  catchUp(): void {
    const { meant } = this.#parts
    if (meant === undefined) return
    for (const share of this.#open) {
      const has = this.#steered.desk.changeOf(share)
      if (this.#catchingUp.has(share) || has === null || has >= meant.change()) continue
      this.#catchingUp.add(share)
      void this.#catchUp(share, has, meant)
        // Its thread is gone, and the next one begins with everything; or it is tried again.
        .catch(() => {})
        .finally(() => this.#catchingUp.delete(share))
    }
  }

  async #catchUp(share: number, has: number, meant: MeantCrawl): Promise<void> {
    const [change, seeds] = [meant.change(), meant.since(has)]
    if (seeds === null) return void (await this.#steered.renew(share))
    if (seeds.length > 0) await this.ask(share, { ask: 'seeds', seeds })
    this.#steered.desk.took(share, change)
  }

  /** The least change of the crawl that a share here runs under; null where one is not open. */
  get leastChange(): number | null {
    const changes = this.#steered.shares.map((share) => this.#steered.desk.changeOf(share))
    return changes.includes(null) ? null : Math.min(...changes.map((change) => change ?? 0))
  }

  /** Asks the agent of a share. Rejects where it is not here or does not answer. */
  ask<Q extends AgentQuestion>(share: number, question: Q, withinMs?: number): Promise<AnswerTo<Q>> {
    if (!this.#steered.isOpen(share)) return Promise.reject(new Error(`share ${share} is not open here`))
    return this.#questions.ask(share, question, withinMs)
  }

  answered(message: Extract<FromAgent, { kind: 'answer' }>): void {
    this.#questions.hear(message)
  }

  /** Tells of what happens to a URL from now on, whoever has it; of the last TRACES_MAX that were asked for. */
  follow(url: string): void {
    this.#followed.delete(url)
    this.#followed.add(url)
    for (const first of this.#followed) {
      if (this.#followed.size <= TRACES_MAX) break
      this.#followed.delete(first)
    }
    for (const share of this.#open) this.#follow(share, url)
  }

  #follow(share: number, url: string): void {
    // One that is gone meanwhile is told again when it begins.
    this.#questions.ask(share, { ask: 'trace', url }).catch(() => {})
  }

  get #open(): readonly number[] {
    return this.#steered.shares.filter((share) => this.#steered.isOpen(share))
  }
}
