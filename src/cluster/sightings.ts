// When this node last saw a sign of life of another, on its own clock, and how sure it is that it missed none.
//
// Silence proves nothing by itself: our own connection may lag, or we slept. Therefore silence counts only up to the moment our
// own last beat was sent that came *back* to us through the same watch: beats arrive in the order they were stored, so whatever was
// stored before ours has been seen.
//
//      seen A          our beat sent ──────────── comes back
//   ─────┼──────────────────┼──────────────────────────┼────▶ our clock
//        ╰──── silence ─────╯  proven
//
// It is counted anew after each reconnect: when the engine was away from everybody, others need their time to come back.

import type { ClockMs } from '../base/index.ts'

/** Names whose last beat is remembered. What is forgotten counts as seen as late as anything that was forgotten. */
export const SIGHTINGS_MAX = 8_192
/** Beats of ours that are on their way. */
const OWN_BEATS_MAX = 64

interface Sighting {
  readonly seenMs: number
  /** It came while we were watching, not from before. */
  readonly isFresh: boolean
}

export class Sightings {
  readonly #seen = new Map<string, Sighting>()
  readonly #sent = new Map<number, number>()
  #sinceMs: number
  #forgottenMs = -Infinity
  #echoMs = -Infinity
  #promptEchoMs = -Infinity
  #number = 0
  readonly #promptMs: number

  /** `promptMs`: a beat that comes back within this time proves that the watch does not lag. */
  constructor(nowMs: ClockMs, promptMs: number) {
    this.#sinceMs = nowMs
    this.#promptMs = promptMs
  }

  /** A beat of ours goes out; the number must be in it. */
  send(nowMs: ClockMs): number {
    const number = ++this.#number
    this.#sent.set(number, nowMs)
    if (this.#sent.size > OWN_BEATS_MAX) this.#sent.delete(number - OWN_BEATS_MAX)
    return number
  }

  /** A beat of ours came back. */
  echo(number: number, nowMs: ClockMs): void {
    const sentMs = this.#sent.get(number)
    if (sentMs === undefined) return
    this.#echoMs = Math.max(this.#echoMs, sentMs)
    if (nowMs - sentMs <= this.#promptMs) this.#promptEchoMs = Math.max(this.#promptEchoMs, sentMs)
    for (const known of this.#sent.keys()) if (known <= number) this.#sent.delete(known)
  }

  hear(incarnation: string, isPast: boolean, nowMs: ClockMs): void {
    const before = this.#seen.get(incarnation)
    this.#seen.delete(incarnation)
    this.#seen.set(incarnation, { seenMs: nowMs, isFresh: !isPast || before?.isFresh === true })
    if (this.#seen.size <= SIGHTINGS_MAX) return
    const [oldest] = this.#seen
    if (oldest === undefined) return
    this.#seen.delete(oldest[0])
    this.#forgottenMs = Math.max(this.#forgottenMs, oldest[1].seenMs)
  }

  reconnected(nowMs: ClockMs): void {
    this.#sinceMs = nowMs
  }

  /** The latest moment from which on silence may be counted. */
  lastSeenMs(incarnation: string): number {
    return Math.max(this.#seen.get(incarnation)?.seenMs ?? this.#forgottenMs, this.#sinceMs)
  }

  /** It was seen alive while we watched. */
  isFresh(incarnation: string): boolean {
    return this.#seen.get(incarnation)?.isFresh === true
  }

  /** Whatever was stored before this moment has been seen. */
  get echoMs(): number {
    return this.#echoMs
  }

  /** What comes now is not from a time when we were not connected. */
  get isSettled(): boolean {
    return this.#echoMs >= this.#sinceMs
  }

  /** The same, by beats that came back at once. */
  get promptEchoMs(): number {
    return this.#promptEchoMs
  }
}
