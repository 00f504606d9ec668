// The walk of a URL, closed into a loop. Everything else is a step; here the steps meet:
//
//        ┌────────────────────────── links found ──────────────────────────┐
//        ▼                                                                 │
//   admission ──▶ frontier ──▶ visitor: dns ▸ robots ▸ fetch ──▶ page settler: content-seen ▸
//   url ▸ scope ▸ url-seen      (turns)                          processors ▸ store ▸ books (ledger)
//   ▸ strategy
//
// The pipeline hands turns to visitors as long as there are hosts that may be asked and the pace allows
// more requests, waits for the next rest to end when there are none, and notices the end.

import { type Clock, type ClockMs, Fault, type StopReason } from '../base/index.ts'
import type { Frontier, Turn } from '../frontier/index.ts'
import type { Books } from './books.ts'
import type { Pace } from './pace.ts'
import type { Permits } from './permits.ts'
import type { Visitor } from './visitor.ts'

export interface PipelineParts {
  readonly clock: Clock
  readonly frontier: Frontier
  readonly visitor: Visitor
  readonly books: Books
  readonly permits: Permits
  readonly pace: Pick<Pace, 'hasRoom' | 'isFull' | 'isOpen' | 'begin' | 'end' | 'flush' | 'takeDown'>
  /** Nothing is under way, yet URLs wait or others may send some: why to stop now, or null to wait on. */
  readonly onIdle: (idle: Idle) => StopReason | null
  /** Monotonic moment of --max-time, or null. */
  readonly deadlineMs: number | null
  /** Waited for between the last visit and the last commit: others may still need answers of ours. */
  readonly beforeClose: () => Promise<void>
  /** Ends the requests that are under way. */
  readonly abort: () => void
}

/** An agent that asks nobody now. */
export interface Idle {
  readonly waiting: number
  /** No page may be added any more. */
  readonly isSpent: boolean
  /** When a host may be asked again; null when that is not known: hosts are being read, or nothing waits. */
  readonly readyMs: ClockMs | null
}

/** What a crawl of one agent does then. */
export function decideAlone({ waiting, isSpent, readyMs }: Idle, nowMs: ClockMs, maxWaitMs: number): StopReason | null {
  if (waiting === 0) return 'finished'
  if (isSpent) return 'max-pages'
  // Null: hosts are being read from disk; the frontier rings when one of them is there.
  return readyMs !== null && readyMs - nowMs > maxWaitMs ? 'only-resting' : null
}

/** How long requests under way may take to end by themselves once the crawl is stopping. */
const STOP_GRACE_MS = 5_000
/** How long what was cut may take to notice. */
const ABORT_GRACE_MS = 3_000

export class Pipeline {
  readonly #parts: PipelineParts
  #active = 0
  /** Turns of others that are with us, less those of ours that are with others: who makes the requests has the load. */
  #borrowed = 0
  /** No host could be asked when it was last looked. */
  #areAllAsked = false
  #stop: StopReason | null = null
  #fault: unknown = null
  #cancelWake: (() => void) | null = null
  #cancelDeadline: (() => void) | null = null
  #cancelGrace: (() => void) | null = null
  #resolveEnd: (reason: StopReason) => void = () => {}
  #isPumping = false
  #isRunning = false
  #isPaused = false
  /** While it is paused: what was left until --max-time. */
  #leftMs: number | null = null
  #waitsUntilMs: number | null = null
  /** When it stopped because all rest: when the first of them may be asked. */
  #restUntilMs: number | null = null

  constructor(parts: PipelineParts) {
    this.#parts = parts
  }

  get isStopping(): boolean {
    return this.#stop !== null
  }

  /** Nobody is asked until resume(). */
  get isPaused(): boolean {
    return this.#isPaused
  }

  /** Turns under way. */
  get active(): number {
    return this.#active
  }

  /** When nothing can be asked now: until when. */
  get waitsUntilMs(): number | null {
    return this.#active === 0 ? (this.#restUntilMs ?? this.#waitsUntilMs) : null
  }

  /** What broke the crawl, when it ended with 'error' or 'disk-full'. */
  get fault(): unknown {
    return this.#fault
  }

  /** Runs until there is nothing left, a limit is reached, or stop() is called. All books are closed then. */
  async run(): Promise<StopReason> {
    const { books } = this.#parts
    const end = new Promise<StopReason>((resolve) => {
      this.#resolveEnd = resolve
    })
    // One that begins paused has its time before it.
    if (!this.#isPaused) this.#countDown(this.#untilDeadlineMs)
    this.#isRunning = true
    this.#parts.pace.begin()
    this.pump()
    const reason = await end
    this.#isRunning = false
    this.#parts.pace.end()
    this.#cancelWake?.()
    this.#cancelDeadline?.()
    this.#cancelGrace?.()
    try {
      await this.#parts.beforeClose()
      await books.close()
    } catch (fault) {
      this.#fault ??= fault
      return stopReasonOf(fault)
    }
    return reason
  }

  get #untilDeadlineMs(): number | null {
    const { clock, deadlineMs } = this.#parts
    return deadlineMs === null ? null : deadlineMs - clock.nowMs()
  }

  /** Stops in so long, unless it pauses before. */
  #countDown(leftMs: number | null): void {
    this.#leftMs = leftMs
    if (leftMs === null) return
    if (leftMs <= 0) return this.stop('max-time')
    const { clock } = this.#parts
    const atMs = (clock.nowMs() + leftMs) as ClockMs
    const cancel = clock.callAt(atMs, () => this.stop('max-time'))
    this.#cancelDeadline = () => {
      cancel()
      this.#leftMs = Math.max(0, atMs - clock.nowMs())
    }
  }

  /** Hands out no turns from now on; what is under way ends, and nothing is the end of the crawl meanwhile. Twice is once. */
  pause(): void {
    if (this.#isPaused) return
    this.#isPaused = true
    if (this.#isRunning) this.#cancelDeadline?.()
    else this.#leftMs = this.#untilDeadlineMs
    this.#cancelDeadline = null
    this.#cancelWake?.()
    this.#cancelWake = null
    this.#waitsUntilMs = null
    // Whoever waits for the speed limit gives its turn back.
    this.#parts.pace.flush()
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    if (this.#isRunning && this.#stop === null) this.#countDown(this.#leftMs)
    this.pump()
  }

  /** Asks nobody any more. Requests under way get a moment to end; asked twice, they are cut at once. */
  stop(reason: StopReason): void {
    if (this.#stop !== null) {
      if (reason === 'interrupted') this.#abort()
      return
    }
    this.#stop = reason
    if (reason === 'only-resting') this.#restUntilMs = this.idle().readyMs
    // Whoever waits for the speed limit sees now that there is nothing to ask for.
    this.#parts.pace.takeDown()
    this.#after(STOP_GRACE_MS, () => this.#abort())
    this.pump()
  }

  /** Cuts what is under way. What does not even end then is left behind: a stop must be a stop. */
  #abort(): void {
    this.#parts.abort()
    this.#after(ABORT_GRACE_MS, () => this.#resolveEnd(this.#stop ?? 'error'))
  }

  #after(ms: number, callback: () => void): void {
    const { clock } = this.#parts
    this.#cancelGrace?.()
    this.#cancelGrace = clock.callAt((clock.nowMs() + ms) as ReturnType<Clock['nowMs']>, callback)
  }

  /** A fault of our own: the crawl ends, and what was committed stays. What is under way could not be, so it gets no time. */
  breakDown(fault: unknown): void {
    const isFirst = this.#fault === null
    this.#fault ??= fault
    this.stop(stopReasonOf(fault))
    if (isFirst) this.#abort()
  }

  /** Hands out turns until hosts, room or permits run out. Called from outside when a host has become ready by itself, or there is room. */
  pump(): void {
    if (this.#isPumping || !this.#isRunning) return
    this.#isPumping = true
    const { frontier, permits, pace } = this.#parts
    let areAllAsked = false
    try {
      // The gate last: it calls when it opens only where it was all that stood in the way.
      while (
        this.#stop === null &&
        !this.#isPaused &&
        pace.hasRoom(this.#active + this.#borrowed) &&
        permits.mayTake() &&
        pace.isOpen()
      ) {
        const turn = frontier.take()
        if (turn === null) {
          areAllAsked = true
          break
        }
        this.#active++
        this.#visit(turn)
      }
    } catch (fault) {
      this.breakDown(fault)
    }
    this.#isPumping = false
    this.#areAllAsked = areAllAsked
    this.#waitsUntilMs = null
    if (this.#active === 0 && !this.#goesOn()) return
    // Without room or a permit no turn can be taken, and a host that is ready would wake us at once, for ever.
    if (areAllAsked && this.#stop === null) this.#wakeAtNextRest()
  }

  /** A turn was borrowed, or one of ours has come back (1); one was given back, or lent (-1). */
  borrowed(by: 1 | -1): void {
    this.#borrowed += by
    if (by === -1) this.pump()
  }

  /** As many requests are under way as may be. */
  get isShort(): boolean {
    return this.#parts.pace.isFull(this.#active + this.#borrowed)
  }

  /** It has nobody to ask, and could. */
  get hasTime(): boolean {
    return this.#isRunning && this.#stop === null && !this.#isPaused && this.#areAllAsked && !this.isShort
  }

  #visit(turn: Turn): void {
    this.#parts.visitor.visit(turn).then(
      () => this.#visited(),
      (fault: unknown) => {
        this.breakDown(fault)
        this.#visited()
      },
    )
  }

  #visited(): void {
    this.#active--
    this.pump()
  }

  /** Nothing is under way: is this a rest, or the end? */
  #goesOn(): boolean {
    if (this.#stop === null && this.#isPaused) return true
    if (this.#stop === null) {
      const reason = this.#parts.onIdle(this.idle())
      if (reason === null) return true
      this.stop(reason)
    } else this.#resolveEnd(this.#stop)
    return false
  }

  /** What there is to do, where nothing is under way. */
  idle(): Idle {
    const { frontier, permits } = this.#parts
    const { waiting } = frontier.figures()
    return { waiting, isSpent: permits.isSpent, readyMs: waiting === 0 ? null : frontier.nextReadyMs() }
  }

  #wakeAtNextRest(): void {
    const { frontier, clock } = this.#parts
    this.#cancelWake?.()
    this.#cancelWake = null
    const readyMs = frontier.nextReadyMs()
    this.#waitsUntilMs = readyMs
    if (readyMs === null) return
    this.#cancelWake = clock.callAt(readyMs, () => {
      this.#cancelWake = null
      this.pump()
    })
  }
}

function stopReasonOf(fault: unknown): StopReason {
  return fault instanceof Fault && fault.code === 'DISK_FULL' ? 'disk-full' : 'error'
}
