// What hosts have taught us about their pace, and what they asked for: kept in memory for those that are asked slower than
// configured, and noted in state/manners.jsonl, the last line of a host holding, so that the next run and `explain` know it.
//
// Only hosts that said 429 or 503 are here; with none there is nothing to look up.

import type { Clock } from '../base/index.ts'
import { learnAnswer, learnRefusal, type LearntRest } from '../frontier/index.ts'
import type { HostKey } from '../url/index.ts'

/** What a host asked for, and the pace it has taught. */
export interface MannersNote {
  readonly host: HostKey
  readonly atWallMs: number
  /** Until when it asked to be left alone, by the wall clock; 0 when the note is about its pace alone. */
  readonly untilWallMs: number
  readonly why: string
  /** The pace it has taught; null when it has taught none, or all is forgiven. */
  readonly learnt: LearntRest | null
}

/** Hosts that are asked slower than configured, at some 200 bytes each. Beyond it the first to teach is forgotten: it is asked as configured, and may teach again. */
const LEARNT_HOSTS_MAX = 50_000

/** So long after its last word a host's lesson is too old to begin a run with. */
const LESSON_MS_MAX = 7 * 86_400_000

/** A rest that has shrunk by so much is noted again; a crash may lengthen it back by as much. */
const NOTED_SHARE = 0.8

interface Pupil {
  learnt: LearntRest
  notedMs: number
}

export class LearntRests {
  readonly #clock: Clock
  readonly #maxMs: number
  readonly #onNote: (note: MannersNote) => void
  readonly #hosts = new Map<HostKey, Pupil>()
  /** Lessons that were forgotten for want of room. */
  forgotten = 0

  /** `maxMs`: the longest rest that may be taught; 0 to learn nothing. */
  constructor(clock: Clock, maxMs: number, onNote: (note: MannersNote) => void) {
    this.#clock = clock
    this.#maxMs = maxMs
    this.#onNote = onNote
  }

  /** How many hosts are asked slower than configured. */
  get size(): number {
    return this.#hosts.size
  }

  /** What an earlier run had noted; the last note of a host comes last. */
  restore({ host, atWallMs, learnt }: MannersNote): void {
    this.#hosts.delete(host)
    const isOld = this.#clock.wallMs() - atWallMs > LESSON_MS_MAX
    if (learnt === null || isOld || this.#maxMs === 0) return
    // The limit may have been lowered since.
    this.#keep(host, learnt.restMs > this.#maxMs ? { ...learnt, restMs: this.#maxMs } : learnt)
  }

  /** The rest that a host has taught; 0 when none. */
  restMsOf(host: HostKey): number {
    return this.#hosts.size === 0 ? 0 : (this.#hosts.get(host)?.learnt.restMs ?? 0)
  }

  /** A good answer: the lesson fades. */
  answered(host: HostKey, leastMs: number): void {
    if (this.#hosts.size === 0) return
    const pupil = this.#hosts.get(host)
    if (pupil === undefined) return
    const learnt = learnAnswer(pupil.learnt, leastMs)
    if (learnt === null) {
      this.#hosts.delete(host)
      this.#note(host, 0, 'forgiven', null)
      return
    }
    pupil.learnt = learnt
    if (learnt.restMs > pupil.notedMs * NOTED_SHARE) return
    pupil.notedMs = learnt.restMs
    this.#note(host, 0, 'fading', learnt)
  }

  /** It asked for a pause. `usedMs`: the rest it had had, which is too short from now on; null where the pause teaches nothing. */
  paused(host: HostKey, pauseMs: number, why: string, usedMs: number | null): void {
    let learnt = this.#hosts.get(host)?.learnt ?? null
    if (usedMs !== null && usedMs > 0 && this.#maxMs > 0) {
      learnt = learnRefusal(learnt, usedMs, this.#maxMs)
      this.#hosts.delete(host)
      this.#keep(host, learnt)
    }
    this.#note(host, this.#clock.wallMs() + pauseMs, why, learnt)
  }

  #keep(host: HostKey, learnt: LearntRest): void {
    const first = this.#hosts.size >= LEARNT_HOSTS_MAX ? this.#hosts.keys().next() : null
    if (first !== null && first.done === false) {
      this.#hosts.delete(first.value)
      this.forgotten++
    }
    this.#hosts.set(host, { learnt, notedMs: learnt.restMs })
  }

  #note(host: HostKey, untilWallMs: number, why: string, learnt: LearntRest | null): void {
    this.#onNote({ host, atWallMs: this.#clock.wallMs(), untilWallMs, why, learnt })
  }
}
