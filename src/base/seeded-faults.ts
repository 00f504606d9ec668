// Faults on purpose that strike at moments drawn from a seed, and are counted.

import type { Clock } from './clock.ts'
import { FAULT_POINTS, type FaultPlan, type FaultPoint, type FaultPoints } from './fault-point.ts'
import type { FaultTally } from './fault-tally.ts'
import { Random } from './random.ts'

/** A fault that was asked for. */
export class FaultOnPurpose extends Error {
  override readonly name = 'FaultOnPurpose'

  constructor(point: FaultPoint) {
    super(`a fault on purpose: ${FAULT_POINTS[point]}`)
  }
}

/** Those after which the next visit shows that all is well again. */
const MENDED_BY_VISIT = new Set<FaultPoint>(['visit', 'visitor', 'stage'])

export class SeededFaults implements FaultPoints {
  readonly #rates: FaultPlan['rates']
  readonly #random: Random
  readonly #tally: FaultTally
  readonly #agent: number
  readonly #clock: Clock
  /** Visits that broke and whose place nobody has taken yet, the first one first. */
  readonly #broken: { readonly point: FaultPoint; readonly atMs: number }[] = []

  /** `life`: how often this agent was started before; each life draws other faults, or it would die of the same for ever. */
  constructor(plan: FaultPlan, tally: FaultTally, agent: number, life: number, clock: Clock) {
    this.#rates = plan.rates
    this.#random = new Random(`${plan.seed}-${agent}-${life}`)
    this.#tally = tally
    this.#agent = agent
    this.#clock = clock
  }

  hit(point: FaultPoint): void {
    if (point === 'visit') this.#mended()
    if (!this.isDue(point)) return
    if (MENDED_BY_VISIT.has(point)) this.#broken.push({ point, atMs: this.#clock.nowMs() })
    throw new FaultOnPurpose(point)
  }

  isDue(point: FaultPoint): boolean {
    const planned = this.#rates[point]
    if (planned === undefined || this.#random.fraction() >= planned.rate) return false
    return this.#tally.strike(this.#agent, point, planned.most, this.#clock.wallMs())
  }

  /** A visit begins: in the place of the first that broke. */
  #mended(): void {
    const broken = this.#broken.shift()
    if (broken !== undefined) this.#tally.mended(this.#agent, broken.point, (this.#clock.nowMs() - broken.atMs) * 1_000)
  }
}
