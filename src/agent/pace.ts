// How fast an agent may go now: the limits that people set and those that the machine sets, in one place.
//
//   pipeline ── mayBegin? ──▶ turn ─▶ … ── pass ──▶ request ──▶ ended
//       ▲                                                        │ bytes, time-outs
//       └── onRoom ◀── gate is open, or once a second: load, memory, demand ──▶ limit
//
// Always true: whoever was told that it may not begin is called by onRoom() when it may, unless too many were under way:
// then the end of one of them is the sign.

import type { Clock, ClockMs } from '../base/index.ts'
import type { FetchOutcome } from '../fetch/index.ts'
import { type Bottleneck, Concurrency } from './concurrency.ts'
import type { MachineLoad } from './machine-load.ts'
import { SpeedGate } from './speed-gate.ts'
import { shareOf, SpeedLimit, type SpeedLimits, speedShare } from './speed-limit.ts'

/** What may be set while a crawl runs. */
export interface Speed extends SpeedLimits {
  /** --connections: requests under way, at most. */
  readonly connections: number
}

export interface PaceParts {
  readonly clock: Clock
  readonly speed: Speed
  /** After how long a request that gets no connection or no answer is given up. */
  readonly timeoutMs: number
  readonly load: Pick<MachineLoad, 'read'>
  /** Memory taken, as a share of what may be taken. */
  readonly memoryShare: () => number
  /** Hosts that could be asked if there were room. */
  readonly ready: () => number
  /** There may be room for another request. */
  readonly onRoom: () => void
}

export interface PaceFigures {
  readonly speed: Speed
  /** How many may be under way now, and why not more. */
  readonly limit: number
  readonly bottleneck: Bottleneck
  /** Requests that wait for the speed limit. */
  readonly waiting: number
}

const OBSERVE_MS = 1_000
const TIMEOUTS: ReadonlySet<string> = new Set(['FETCH_CONNECT_TIMEOUT', 'FETCH_HEAD_TIMEOUT'])

export class Pace {
  readonly #parts: PaceParts
  readonly #gate: SpeedGate
  readonly #concurrency: Concurrency
  #speed: Speed
  #cancelTimer: (() => void) | null = null
  /** Since the last observation: the most that were under way, whether more were wanted, what ended. */
  #mostActive = 0
  #wasFull = false
  #requests = 0
  #timeouts = 0
  #active = 0

  constructor(parts: PaceParts) {
    const { clock, speed, timeoutMs, onRoom } = parts
    this.#parts = parts
    this.#speed = speed
    this.#gate = new SpeedGate(clock, new SpeedLimit(speed, clock.nowMs()), onRoom)
    this.#concurrency = new Concurrency(speed.connections, timeoutMs)
  }

  get figures(): PaceFigures {
    const { limit, bottleneck } = this.#concurrency
    return { speed: this.#speed, limit, bottleneck, waiting: this.#gate.waiting }
  }

  /** Whether fewer turns are under way than may be. */
  hasRoom(active: number): boolean {
    this.#active = active
    if (active > this.#mostActive) this.#mostActive = active
    if (active < this.#concurrency.limit) return true
    this.#wasFull = true
    return false
  }

  /** Whether so many are all that may be under way, or requests have to wait for the speed limit. */
  isFull(active: number): boolean {
    return active >= this.#concurrency.limit || !this.#gate.isOpen()
  }

  /** Whether a request would pass at once; if not, onRoom() is called when it would. */
  isOpen(): boolean {
    return this.#gate.isOpen()
  }

  /** Right before a request. Undefined: go. Else go when it resolves, if there is still reason to. Then ended() is due, always. */
  pass(): Promise<void> | undefined {
    return this.#gate.pass()
  }

  /** What became of a request that had passed; null: it was not made after all. */
  ended(outcome: FetchOutcome | null): void {
    if (outcome !== null) {
      this.#requests++
      if (outcome.kind === 'failed' && TIMEOUTS.has(outcome.code)) this.#timeouts++
    }
    this.#gate.ended(bytesOf(outcome))
  }

  /** Looks at the machine from now on. */
  begin(): void {
    const { clock } = this.#parts
    this.#cancelTimer = clock.callAt((clock.nowMs() + OBSERVE_MS) as ClockMs, () => {
      this.#observe()
      this.begin()
    })
  }

  end(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = null
  }

  #observe(): void {
    const { clock, load, memoryShare, ready, onRoom } = this.#parts
    const before = this.#concurrency.limit
    const active = this.#mostActive
    const limit = this.#concurrency.observe({
      nowMs: clock.nowMs(),
      ...load.read(),
      memoryShare: memoryShare(),
      requests: this.#requests,
      timeouts: this.#timeouts,
      active,
      // Where the limit was never in the way, nobody wanted more than there were: hosts wait for their addresses.
      wanted: this.#wasFull ? Math.max(before + 1, active + ready()) : active,
    })
    this.#requests = 0
    this.#timeouts = 0
    this.#mostActive = this.#active
    this.#wasFull = this.#active >= limit
    if (limit > before) onRoom()
  }

  /** Other limits from now on; what is not named stays as it is. */
  set(change: Partial<Speed>): void {
    this.#speed = { ...this.#speed, ...change }
    this.#gate.set(this.#speed)
    this.#concurrency.setCeiling(this.#speed.connections)
    this.#parts.onRoom()
  }

  /** For a crawl that pauses: all who wait for the speed limit pass, and see that nobody is to be asked. */
  flush(): void {
    this.#gate.flush()
  }

  /** No limits any more, for a crawl that stops: all who wait pass, and see that there is nothing to do. */
  takeDown(): void {
    this.#gate.takeDown()
  }
}

/** What came over the wire. Of what failed or was turned down on its head nobody kept count. */
function bytesOf(outcome: FetchOutcome | null): number {
  if (outcome === null || outcome.kind !== 'fetched') return 0
  const { wire, responseHead } = outcome.document
  return wire.length + (responseHead?.length ?? 0)
}

/** What one of several agents has of the limits of a crawl. Of connections each has one at least: without it, its hosts would never be asked. */
export function shareOfSpeed(speed: Partial<Speed>, agents: number, agent: number): Partial<Speed> {
  const { ratePerSecond, bytesPerSecond, connections } = speed
  const limits = speedShare({ ratePerSecond: ratePerSecond ?? null, bytesPerSecond: bytesPerSecond ?? null }, agents)
  return {
    ...(ratePerSecond === undefined ? {} : { ratePerSecond: limits.ratePerSecond }),
    ...(bytesPerSecond === undefined ? {} : { bytesPerSecond: limits.bytesPerSecond }),
    ...(connections === undefined ? {} : { connections: Math.max(1, shareOf(connections, agents, agent)) }),
  }
}
