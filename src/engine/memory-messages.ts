// Messages between the clients of a memory engine: lost and late as the test asks for, in the order of each sender.

import type { Clock, ClockMs, Random } from '../base/index.ts'
import { matches } from './names.ts'

/** Whoever listens, and whether anything reaches it now. */
export interface Listener {
  readonly pattern: string
  hear(bytes: Uint8Array, subject: string): void
  isReachable(): boolean
}

export interface MessageWeather {
  /** Of all messages to each listener, which part is lost: 0 none, 1 all. */
  lossRate: number
  /** Each takes as long as chance decides between these; never overtaking an earlier one of the same sender. */
  delayMs: readonly [least: number, most: number]
}

export class MemoryMessages {
  readonly weather: MessageWeather = { lossRate: 0, delayMs: [0, 0] }
  readonly #listeners = new Set<Listener>()
  readonly #clock: Clock
  readonly #random: Random
  /** When the last message of a sender arrives. */
  readonly #lastAtMs = new WeakMap<object, number>()
  lost = 0

  constructor(clock: Clock, random: Random) {
    this.#clock = clock
    this.#random = random
  }

  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  send(sender: object, subject: string, bytes: Uint8Array): void {
    const copy = Uint8Array.from(bytes)
    this.deliver(sender, () => {
      for (const listener of [...this.#listeners]) {
        if (!matches(listener.pattern, subject) || !listener.isReachable()) continue
        if (this.isLost()) continue
        listener.hear(copy, subject)
      }
    })
  }

  isLost(): boolean {
    if (this.weather.lossRate === 0 || this.#random.fraction() >= this.weather.lossRate) return false
    this.lost++
    return true
  }

  /** Does it when a message sent now would arrive: never before this returns. */
  deliver(sender: object, arrive: () => void): void {
    const [least, most] = this.weather.delayMs
    const nowMs = this.#clock.nowMs()
    const lateMs = most === 0 ? 0 : least + this.#random.fraction() * (most - least)
    const lastMs = this.#lastAtMs.get(sender) ?? 0
    const atMs = Math.max(nowMs + lateMs, lastMs)
    if (atMs <= nowMs) {
      queueMicrotask(arrive)
      return
    }
    this.#lastAtMs.set(sender, atMs)
    this.#clock.callAt(atMs as ClockMs, arrive)
  }
}
