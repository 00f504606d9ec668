// The shares as one node sees them: which it holds, which it should take or give up, and what it waits for.
//
//             wanted, and free to be taken
//      away ─────────────────────────────▶ taking ──▶ held
//       ▲                                     │         │ not wanted any more
//       ╰─────────────────────────────────────┴─────────╯
//                lost the race, failed              giving
//
// The log of a share alone decides who owns it (docs/decisions/0036); this only decides when to try. A share is looked at in its
// log before each try, so a try is always made on what is true, and a loser of a race looks again.

import type { ClockMs } from '../base/index.ts'

/** What the log of a share says. */
export interface ShareStanding {
  /** How many owners it has had; 0: none yet. */
  readonly epoch: number
  readonly holder: { readonly node: string; readonly incarnation: string } | null
  /** The place of the last entry. */
  readonly last: number
  /** The holder has given it up. */
  readonly released: boolean
}

export type ShareEffect =
  | { readonly kind: 'look'; readonly share: number }
  | { readonly kind: 'take'; readonly share: number; readonly seen: ShareStanding }
  | { readonly kind: 'give-up'; readonly share: number }

export type SharePhase = 'away' | 'taking' | 'held' | 'giving'

/** May this share be begun now? If not: what is waited for, for people. */
export type MayTake = (standing: ShareStanding, share: number) => true | string

export interface DeskSettings {
  readonly shares: number
  /** How often a share is looked at that somebody else has to give up first. */
  readonly pollMs: number
  readonly backOffMsMax: number
  /** Shares that are taken at the same time: each may read a snapshot. */
  readonly takesAtOnceMax: number
  /** Shares that are given up at the same time, while the crawl goes on: each pauses meanwhile. */
  readonly givesAtOnceMax: number
}

interface ShareState {
  phase: SharePhase
  epoch: number
  isLooking: boolean
  /** The last look, by whoever wanted it. */
  standing: ShareStanding | null
  tryAtMs: number
  failures: number
  waitsFor: string | null
  /** A give-up is under way. */
  isGiving: boolean
  /** A try failed in the middle: its log may name us as the holder, though we are none. It is released if we do not try again. */
  isDoubtful: boolean
}

export interface ShareReport {
  readonly share: number
  readonly phase: SharePhase
  readonly epoch: number
  readonly waitsFor: string | null
}

export class ShareDesk {
  readonly #settings: DeskSettings
  readonly #states: ShareState[]

  constructor(settings: DeskSettings) {
    this.#settings = settings
    this.#states = Array.from({ length: settings.shares }, () => ({
      phase: 'away',
      epoch: 0,
      isLooking: false,
      standing: null,
      tryAtMs: 0,
      failures: 0,
      waitsFor: null,
      isGiving: false,
      isDoubtful: false,
    }))
  }

  /** Nothing is held, nor about to be. */
  get isEmpty(): boolean {
    return this.#states.every((state) => state.phase === 'away' && !state.isDoubtful)
  }

  held(): number[] {
    return [...this.#states.entries()].filter(([, state]) => state.phase === 'held').map(([share]) => share)
  }

  report(): ShareReport[] {
    return this.#states
      .map(({ phase, epoch, waitsFor }, share) => ({ share, phase, epoch, waitsFor }))
      .filter(({ phase, waitsFor }) => phase !== 'away' || waitsFor !== null)
  }

  /** What to do now, so that exactly the wanted shares are held. `isHurried`: all that is unwanted goes at once. */
  step(isWanted: (share: number) => boolean, mayTake: MayTake, nowMs: ClockMs, isHurried: boolean): ShareEffect[] {
    const effects: ShareEffect[] = []
    const count = (phase: SharePhase): number => this.#states.filter((state) => state.phase === phase).length
    let takes = count('taking')
    let gives = count('giving')
    for (const [share, state] of this.#states.entries()) {
      const wanted = isWanted(share)
      if (!wanted || state.phase !== 'away') state.waitsFor = null
      // A look is for the try that asked for it; later it would be old.
      if (!wanted) state.standing = null
      if (nowMs < state.tryAtMs) continue
      const isToGo = state.phase === 'held' || (state.phase === 'away' && state.isDoubtful)
      if (isToGo && !wanted && (isHurried || gives < this.#settings.givesAtOnceMax)) {
        gives++
        state.phase = 'giving'
        state.isGiving = true
        effects.push({ kind: 'give-up', share })
      } else if (state.phase === 'giving' && !state.isGiving) {
        state.isGiving = true
        effects.push({ kind: 'give-up', share })
      } else if (state.phase === 'away' && wanted && !state.isLooking) {
        const { standing } = state
        state.standing = null
        if (standing === null) {
          if (takes >= this.#settings.takesAtOnceMax) continue
          state.isLooking = true
          effects.push({ kind: 'look', share })
          continue
        }
        const may = mayTake(standing, share)
        if (may === true && takes < this.#settings.takesAtOnceMax) {
          takes++
          state.phase = 'taking'
          state.waitsFor = null
          effects.push({ kind: 'take', share, seen: standing })
        } else {
          state.waitsFor = may === true ? 'others are taken first' : may
          state.tryAtMs = nowMs + this.#settings.pollMs
        }
      }
    }
    return effects
  }

  looked(share: number, standing: ShareStanding): void {
    const state = this.#state(share)
    state.isLooking = false
    if (state.phase === 'away') state.standing = standing
  }

  lookFailed(share: number, nowMs: ClockMs): void {
    const state = this.#state(share)
    state.isLooking = false
    this.#backOff(state, nowMs)
  }

  /** Something happened to it: worth a look before its time. */
  hint(share: number): void {
    const state = this.#states[share]
    if (state !== undefined && state.phase === 'away' && state.failures === 0) state.tryAtMs = 0
  }

  /** Something was learnt of those who hold shares: all that waits for them is worth a look. */
  hintAll(): void {
    for (const share of this.#states.keys()) this.hint(share)
  }

  taken(share: number, epoch: number): void {
    const state = this.#state(share)
    state.phase = 'held'
    state.epoch = epoch
    state.isDoubtful = false
    state.failures = 0
    state.tryAtMs = 0
  }

  /** Somebody was quicker, or it was begun over our head. While it is being given up, that goes on. */
  lost(share: number): void {
    const state = this.#state(share)
    if (state.phase === 'giving') return
    state.phase = 'away'
    state.isDoubtful = false
    state.tryAtMs = 0
  }

  takeFailed(share: number, nowMs: ClockMs): void {
    const state = this.#state(share)
    state.phase = 'away'
    state.isDoubtful = true
    this.#backOff(state, nowMs)
  }

  givenUp(share: number): void {
    const state = this.#state(share)
    state.phase = 'away'
    state.isGiving = false
    state.isDoubtful = false
    state.failures = 0
    state.tryAtMs = 0
  }

  /** It stays half given up: its agent may have stopped already. It is tried until it is done, whatever is wanted meanwhile. */
  giveUpFailed(share: number, nowMs: ClockMs): void {
    const state = this.#state(share)
    state.isGiving = false
    this.#backOff(state, nowMs)
  }

  #state(share: number): ShareState {
    const state = this.#states[share]
    if (state === undefined) throw new RangeError(`there is no share ${share}`)
    return state
  }

  #backOff(state: ShareState, nowMs: ClockMs): void {
    const waitMs = Math.min(this.#settings.pollMs * 2 ** state.failures, this.#settings.backOffMsMax)
    state.failures = Math.min(state.failures + 1, 30)
    state.tryAtMs = nowMs + waitMs
  }
}
