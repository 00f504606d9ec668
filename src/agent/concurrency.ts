// How many requests may be under way now. --connections is the most; the machine and the network decide how many of them are
// of use (docs/decisions/0021).
//
//   lag ▲                                              cut: requests wait for us, not for their servers
//       │·····································  200 ms
//       │                   as it is: the processor is busy, more would only wait in line
//       │·····································  100 ms, or a processor used to 97 %
//       │   trim: where each brings many answers a second and the processor is used to 95 %, fewer may do
//       │   more: up to twice as many a second, or as many as the processor has room for
//       └────────────────────────────────────▶ connections
//
// Three things cut: the event loop's lag, memory beyond its budget, and time-outs. A cut leaves a mark, the knee, and what was
// too much once is approached again slowly. A trim leaves none: it looks for the fewest that keep the processor busy, and goes back
// by one step when they do not. What more of them bring waits for us in memory, where it has grown old and cold by the time it is looked at.
// Time-outs are ambiguous, since a share of the web is dead whatever we do: so a cut for
// time-outs is a trial. If half the connections bring half the answers, the hosts are dead, not the line: the cut is taken back.
//
// One decision a second; everything it goes by is handed in, so the same observations always give the same limits.
// Always true: floor ≤ limit ≤ ceiling.

import type { ClockMs } from '../base/index.ts'

export interface Observation {
  readonly nowMs: ClockMs
  /** Share of the time in which the event loop was busy since the last observation, 0 to 1. */
  readonly utilisation: number
  /** How late the event loop was on average since then. */
  readonly lagMs: number
  /** Memory taken, as a share of what may be taken. */
  readonly memoryShare: number
  /** Requests that ended since then, and those of them that ended because no connection or no answer came in time. */
  readonly requests: number
  readonly timeouts: number
  /** Requests under way, the most there were since then; and how many would be without a limit, at least one more where it was in the way. */
  readonly active: number
  readonly wanted: number
}

/** What keeps the limit from being higher. */
export type Bottleneck = 'none' | 'demand' | 'ceiling' | 'cpu' | 'memory' | 'network'

/** So many are always allowed: fewer would save nothing. */
const FLOOR = 16
/** Enough for nearly all crawls, and doubled every second by an idle processor where it is not; with twice as many, pages take more of the processor (decision 0021). */
const START = 128

const DECISION_SECONDS = 1
/** How long a change may take to show. It takes as long as an answer; nobody waits for the slowest. */
const ANSWER_SECONDS_MAX = 8

/** Beyond LAG_CUT_MS for two decisions in a row: one alone may be a pause of the garbage collector. */
const LAG_CUT_MS = 200
const LAG_AIM_MS = 150
const LAG_HOLD_MS = 100
/** Of what waits in line only a part is too much, so lag falls faster than connections. */
const CUT_MOST = 0.7
/** A processor that is busy all the time has no use for more; below UTILISATION_AIM it is worth a large step. */
const UTILISATION_HOLD = 0.97
const UTILISATION_AIM = 0.9
/** The same where requests end fast: the little that is left goes to waiting for them, a moment at a time. */
const UTILISATION_PROMPT = 0.95
/** Fewer than these are not sought: they are read and settled together (convoy.ts), and take hardly any memory. */
const TRIM_FLOOR = 64
const TRIM_FACTOR = 0.8
/** One decision may be a pause of the garbage collector. */
const TRIM_SECONDS = 2
/**
 * Only where a request, waiting for us included, ends so fast: what fewer of them do shows in the next second then. Where it takes longer
 * it may be servers who are waited for, and nobody would know in time.
 */
const PROMPT_SECONDS = 0.25
/** What would take back less than this is not worth a trial. */
const TRIM_LEAST = 0.95
/** How long the fewest that were enough are believed to be so. */
const TRIM_MEMORY_MS = 300_000
/** One that is this idle, twice, with all connections in use, was not what made them too many, or is not any more. */
const UTILISATION_IDLE = 0.5

const MEMORY_HOLD = 1
const MEMORY_CUT = 1.1
const MEMORY_FACTOR = 0.8
/** Memory comes back when the garbage is collected, not before. */
const MEMORY_PATIENCE_MS = 5_000
/** What fewer connections than these hold is no help. */
const MEMORY_FLOOR = 64

const GROWTH_MOST = 2
const GROWTH_LEAST = 1.02
/** Memory is predicted too: with a tenth of it left, growth is less than by half. */
const GROWTH_OF_MEMORY_LEFT = 4
/** From this share of the knee on we are near it. */
const KNEE_NEAR = 0.7
/** How fast we go there, and when we forget where it was: the world changes. The network tells late, so it is asked slowly. */
const NEAR_KNEE = {
  cpu: { growth: 1.02, memoryMs: 60_000 },
  memory: { growth: 1.02, memoryMs: 60_000 },
  network: { growth: 1.006, memoryMs: 600_000 },
} as const
/** What is allowed and not used for long is taken back, or a wave of hosts that become ready would all be asked at once. */
const UNUSED_FACTOR = 0.9

/** Time-outs are suspicious when their share is so much above twice the normal one. */
const TIMEOUTS_EXCESS = 0.05
/** Fewer requests than these make no share. They are gathered over as many decisions as it takes. */
const TIMEOUTS_SAMPLE = 100
const TIMEOUTS_WEIGHT = 0.1
/** Where more than half of the requests time out, the line carries far less than half of them. */
const TIMEOUTS_MANY = 0.5
/** A cut stays if at least this share of the answers came nevertheless, for each halving. */
const TRIAL_STAYS = 0.75
/** After a trial that did not help there is none for so many time-outs. */
const TRIAL_PATIENCE = 10

/** A cut for time-outs whose use is not known yet. */
interface Trial {
  readonly limitBefore: number
  readonly answersPerSecondWanted: number
  /** Until then what times out was begun before the cut; what ends from then on is counted. */
  readonly countFromMs: ClockMs
}

export class Concurrency {
  readonly #timeoutMs: number
  #ceiling: number
  #limit: number
  #decidedMs = -Infinity
  #bottleneck: Bottleneck = 'none'
  /** The number that was too much last, for what, and when. */
  #knee = Infinity
  #kneeOf: keyof typeof NEAR_KNEE = 'cpu'
  #kneeMs = -Infinity
  /** What there were before the last trim, until it is known whether fewer are enough; and the fewest that are known to be. */
  #trimmedFrom: number | null = null
  #enough = 0
  #enoughMs = -Infinity
  #isLagging = false
  #secondsIdle = 0
  #secondsBusy = 0
  #isPrompt = false
  #answerSeconds = ANSWER_SECONDS_MAX
  /** Requests that ended since the last decision. */
  #ended = 0
  /** How many were under way, second by second, the latest last. */
  readonly #actives: number[] = []
  #memoryCutMs = -Infinity
  /** Counted since. */
  #countFromMs: number | null = null
  #requests = 0
  #timeouts = 0
  #normalTimeouts = 0
  #trial: Trial | null = null
  #noTrialBeforeMs = -Infinity
  #grewMs = -Infinity

  /** `timeoutMs`: after how long a request that gets no connection or no answer is given up. */
  constructor(ceiling: number, timeoutMs: number) {
    this.#ceiling = ceiling
    this.#timeoutMs = timeoutMs
    this.#limit = this.#start
  }

  get #start(): number {
    return Math.min(START, this.#ceiling)
  }

  get limit(): number {
    return Math.floor(this.#limit)
  }

  /** Why the limit is not higher, for whoever looks on. */
  get bottleneck(): Bottleneck {
    return this.#bottleneck
  }

  /** Another --connections, from now on. */
  setCeiling(ceiling: number): void {
    this.#ceiling = ceiling
    this.#limit = clamp(this.#limit, Math.min(FLOOR, ceiling), ceiling)
  }

  /** What the last second was like; the limit for the next. More often than once a second changes nothing but the counts. */
  observe(now: Observation): number {
    this.#requests += now.requests
    this.#timeouts += now.timeouts
    this.#ended += now.requests
    const seconds = (now.nowMs - this.#decidedMs) / 1_000
    if (seconds < DECISION_SECONDS) return this.limit
    this.#decidedMs = now.nowMs
    // Little's law: as many are under way as end in the time that one takes.
    const answerSeconds = (now.active * seconds) / Math.max(this.#ended, 1)
    this.#answerSeconds = Math.ceil(clamp(answerSeconds, 1, ANSWER_SECONDS_MAX))
    this.#isPrompt = answerSeconds <= PROMPT_SECONDS
    this.#ended = 0
    this.#actives.push(now.active)
    if (this.#actives.length > ANSWER_SECONDS_MAX + 1) this.#actives.shift()
    if (now.nowMs - this.#kneeMs > NEAR_KNEE[this.#kneeOf].memoryMs) this.#knee = Infinity
    this.#limit = clamp(this.#decide(now), Math.min(FLOOR, this.#ceiling), this.#ceiling)
    return this.limit
  }

  #decide(now: Observation): number {
    const { utilisation, lagMs, memoryShare } = now
    // What is allowed and not used is no cause of anything, and cutting it no cure.
    const used = Math.min(this.#limit, now.active)
    const wasLagging = this.#isLagging
    this.#isLagging = lagMs > LAG_CUT_MS
    this.#secondsIdle = utilisation < UTILISATION_IDLE ? this.#secondsIdle + 1 : 0

    const byTimeouts = this.#judgeTimeouts(now, used)
    if (byTimeouts !== null) return byTimeouts

    // Until those under way have ended nobody knows what the last cut does.
    const isCutKnown = now.nowMs - this.#kneeMs >= this.#answerSeconds * 1_000
    if (this.#isLagging && wasLagging && used > FLOOR && isCutKnown) {
      return this.#cut('cpu', now.nowMs, used, used * Math.max(CUT_MOST, LAG_AIM_MS / lagMs))
    }
    if (memoryShare > MEMORY_CUT && used > MEMORY_FLOOR && now.nowMs - this.#memoryCutMs >= MEMORY_PATIENCE_MS) {
      this.#memoryCutMs = now.nowMs
      return this.#cut('memory', now.nowMs, used, Math.max(MEMORY_FLOOR, used * MEMORY_FACTOR))
    }
    const isBusy = utilisation > (this.#isPrompt ? UTILISATION_PROMPT : UTILISATION_HOLD)
    this.#secondsBusy = isBusy && lagMs <= LAG_HOLD_MS ? this.#secondsBusy + 1 : 0
    if (lagMs > LAG_HOLD_MS) {
      this.#trimmedFrom = null
      return this.#hold('cpu')
    }
    if (isBusy) return this.#trim(now, used)
    if (memoryShare > MEMORY_HOLD) return this.#hold('memory')
    if (this.#trimmedFrom !== null) return this.#untrim(now)
    if (this.#trial !== null) return this.#hold('network')
    if (now.wanted <= this.#limit / 2) {
      return Math.min(this.#hold('demand'), Math.max(this.#limit * UNUSED_FACTOR, now.wanted * 2, this.#start))
    }
    if (now.wanted <= this.#limit) return this.#hold('demand')
    if (this.#limit >= this.#ceiling) return this.#hold('ceiling')
    return this.#grow(now)
  }

  #hold(bottleneck: Bottleneck): number {
    this.#bottleneck = bottleneck
    return this.#limit
  }

  #cut(cause: keyof typeof NEAR_KNEE, nowMs: ClockMs, used: number, to: number): number {
    this.#bottleneck = cause
    this.#knee = used
    this.#kneeOf = cause
    this.#kneeMs = nowMs
    // With two things changed nobody could say which of them helped.
    this.#trial = null
    this.#trimmedFrom = null
    this.#secondsBusy = 0
    return to
  }

  /** The processor is busy: would it be with fewer? */
  #trim({ nowMs, wanted, timeouts }: Observation, used: number): number {
    // It is still busy after the last trim.
    this.#trimmedFrom = null
    if (nowMs - this.#enoughMs > TRIM_MEMORY_MS) this.#enough = 0
    const to = Math.max(TRIM_FLOOR, used * TRIM_FACTOR, this.#enough)
    const isSure = this.#isPrompt && this.#secondsBusy >= TRIM_SECONDS && this.#trial === null
    // Connections that wait for a dead host bring nothing: all that fewer take away would be taken from those that do.
    const isInTheWay = wanted > this.#limit && timeouts === 0
    if (!isSure || !isInTheWay || to > used * TRIM_LEAST) return this.#hold('cpu')
    this.#trimmedFrom = used
    this.#secondsBusy = 0
    this.#bottleneck = 'cpu'
    return to
  }

  /** It is not busy any more: if more are wanted, what there were is the fewest. */
  #untrim({ nowMs, wanted }: Observation): number {
    const before = this.#trimmedFrom ?? this.#limit
    this.#trimmedFrom = null
    if (wanted <= this.#limit) return this.#hold('demand')
    this.#enough = before
    this.#enoughMs = nowMs
    this.#bottleneck = 'cpu'
    return Math.max(this.#limit, before)
  }

  /** Twice as many, if processor and memory can be expected to bear it; near what was too much before, hardly more. */
  #grow({ nowMs, utilisation, memoryShare }: Observation): number {
    this.#bottleneck = 'none'
    this.#grewMs = nowMs
    const least = this.#limit + 1
    if (this.#kneeOf === 'cpu' && this.#secondsIdle >= 2) this.#knee = Infinity
    const near = this.#knee * KNEE_NEAR
    if (this.#limit >= near) return Math.max(least, this.#limit * NEAR_KNEE[this.#kneeOf].growth)
    // What the processor does now is for those who were under way when the answers of now were asked for.
    const busyFor = this.#actives.at(-1 - this.#answerSeconds) ?? this.#actives[0] ?? this.#limit
    const most = Math.min(
      (busyFor * UTILISATION_AIM) / Math.max(utilisation, 0.01),
      this.#limit * (1 + (1 - memoryShare) * GROWTH_OF_MEMORY_LEFT),
      near,
    )
    return clamp(most, Math.max(least, this.#limit * GROWTH_LEAST), this.#limit * GROWTH_MOST)
  }

  /** The limit where time-outs decide about it; null where they do not. */
  #judgeTimeouts({ nowMs }: Observation, used: number): number | null {
    const trial = this.#trial
    const countFromMs = this.#countFromMs
    if (countFromMs === null || (trial !== null && nowMs <= trial.countFromMs)) {
      this.#countAnew(nowMs)
      return null
    }
    if (this.#requests < TIMEOUTS_SAMPLE) return null
    const share = this.#timeouts / this.#requests
    const answersPerSecond = ((this.#requests - this.#timeouts) * 1_000) / (nowMs - countFromMs)
    this.#countAnew(nowMs)
    if (trial !== null) {
      this.#trial = null
      if (answersPerSecond < trial.answersPerSecondWanted) return this.#takeBack(trial, nowMs)
    }
    if (share <= this.#normalTimeouts * 2 + TIMEOUTS_EXCESS || used <= FLOOR || nowMs < this.#noTrialBeforeMs) {
      this.#learnNormal(share, nowMs)
      return null
    }
    const halvings = share > TIMEOUTS_MANY ? 2 : 1
    const limitBefore = this.#limit
    const to = this.#cut('network', nowMs, used, used / 2 ** halvings)
    this.#trial = {
      limitBefore,
      answersPerSecondWanted: answersPerSecond * TRIAL_STAYS ** halvings,
      countFromMs: (nowMs + this.#timeoutMs) as ClockMs,
    }
    return to
  }

  /** The connections that were cut had brought answers: whoever timed out would have done so anyway. */
  #takeBack(trial: Trial, nowMs: ClockMs): number {
    this.#noTrialBeforeMs = nowMs + this.#timeoutMs * TRIAL_PATIENCE
    this.#knee = Infinity
    return Math.max(this.#limit, trial.limitBefore)
  }

  /** More time-outs are never normal while connections become more: slow enough, any number of them would seem so. */
  #learnNormal(share: number, nowMs: ClockMs): void {
    const isSteady = nowMs - this.#grewMs > this.#timeoutMs * 2
    if (share < this.#normalTimeouts || isSteady) {
      this.#normalTimeouts += (share - this.#normalTimeouts) * TIMEOUTS_WEIGHT
    }
  }

  #countAnew(nowMs: ClockMs): void {
    this.#countFromMs = nowMs
    this.#requests = 0
    this.#timeouts = 0
  }
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value))
}
