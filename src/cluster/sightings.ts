// When this node last saw a sign of life of another, on its own clock, and up to when it is sure that it missed none.
//
// Silence proves nothing by itself: our connection may lag, or we slept. So whoever has been silent for long is asked about: if the
// last beat that the engine has is the one we saw, there was none until we asked.
//
//      saw beat 17          asked ───────── "the last one is 17"
//   ─────┼────────────────────┼────────────────────┼────▶ our clock
//        ╰────── silence ─────╯  proven
//
// It is counted anew after each reconnect: when the engine was away from everybody, others need their time to come back.

import type { ClockMs } from '../base/index.ts'

/** Names whose last beat is remembered. What is forgotten counts as seen as late as anything that was forgotten. */
export const SIGHTINGS_MAX = 8_192

interface Sighting {
  readonly seenMs: number
  /** Of the last beat that was seen; 0: none was. */
  readonly number: number
  /** It came while we were watching, not from before. */
  readonly isFresh: boolean
  /** Up to when it is sure that there was no other. */
  readonly provenMs: number
}

export class Sightings {
  readonly #seen = new Map<string, Sighting>()
  #sinceMs: number
  #forgottenMs = -Infinity

  constructor(nowMs: ClockMs) {
    this.#sinceMs = nowMs
  }

  hear(incarnation: string, number: number, isPast: boolean, nowMs: ClockMs): void {
    const before = this.#seen.get(incarnation)
    // What was found out by asking comes again by the watch, later.
    if (before !== undefined && number <= before.number) return
    this.#note(incarnation, {
      seenMs: nowMs,
      number,
      isFresh: !isPast || before?.isFresh === true,
      provenMs: -Infinity,
    })
  }

  /** A view says that it takes part: its silence, if we never heard it, counts from here. */
  expect(incarnation: string, nowMs: ClockMs): void {
    if (this.#seen.has(incarnation)) return
    this.#note(incarnation, { seenMs: nowMs, number: 0, isFresh: false, provenMs: -Infinity })
  }

  /** What the engine said of its last beat, and when it was asked. */
  answered(incarnation: string, number: number, askedMs: ClockMs, nowMs: ClockMs): void {
    const seen = this.#seen.get(incarnation)
    if (seen === undefined || number > seen.number) return this.hear(incarnation, number, seen === undefined, nowMs)
    this.#seen.set(incarnation, { ...seen, provenMs: Math.max(seen.provenMs, askedMs) })
  }

  reconnected(nowMs: ClockMs): void {
    this.#sinceMs = nowMs
  }

  /** The latest moment from which on silence may be counted. */
  lastSeenMs(incarnation: string): number {
    return Math.max(this.#seen.get(incarnation)?.seenMs ?? this.#forgottenMs, this.#sinceMs)
  }

  /** Up to when it is sure that it sent nothing that we have not seen. */
  provenMs(incarnation: string): number {
    return this.#seen.get(incarnation)?.provenMs ?? -Infinity
  }

  /** It was seen alive while we watched. */
  isFresh(incarnation: string): boolean {
    return this.#seen.get(incarnation)?.isFresh === true
  }

  #note(incarnation: string, sighting: Sighting): void {
    this.#seen.delete(incarnation)
    this.#seen.set(incarnation, sighting)
    if (this.#seen.size <= SIGHTINGS_MAX) return
    const [oldest] = this.#seen
    if (oldest === undefined) return
    this.#seen.delete(oldest[0])
    this.#forgottenMs = Math.max(this.#forgottenMs, oldest[1].seenMs)
  }
}
