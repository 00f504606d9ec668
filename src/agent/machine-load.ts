// How busy this thread is: what `Concurrency` goes by. Both figures are of the event loop of the thread that made it.
//
// The lag is the mean of samples taken every RESOLUTION_MS: while the loop turns slowly it gives few of them, all long, and the
// mean is the length of a turn; one pause alone is one sample among many.

import { type EventLoopUtilization, monitorEventLoopDelay, performance } from 'node:perf_hooks'

export interface Load {
  /** Share of the time in which the loop was not waiting for anything, 0 to 1. */
  readonly utilisation: number
  readonly lagMs: number
}

/** A turn shorter than this is no lag: the samples begin there. */
const RESOLUTION_MS = 10

type Delays = Pick<ReturnType<typeof monitorEventLoopDelay>, 'mean' | 'count' | 'reset' | 'enable' | 'disable'>
type Utilisation = typeof performance.eventLoopUtilization

export class MachineLoad {
  readonly #delays: Delays
  readonly #utilisation: Utilisation
  #before: EventLoopUtilization

  constructor(
    delays: Delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS }),
    utilisation: Utilisation = performance.eventLoopUtilization.bind(performance),
  ) {
    this.#delays = delays
    this.#utilisation = utilisation
    this.#before = utilisation()
    delays.enable()
  }

  /** Since the last time it was asked. */
  read(): Load {
    const now = this.#utilisation()
    const { utilization, idle, active } = this.#utilisation(now, this.#before)
    this.#before = now
    const { mean, count } = this.#delays
    this.#delays.reset()
    // Without a sample there was one turn all the time, or hardly any time.
    const delayMs = count === 0 ? idle + active : mean / 1e6
    return { utilisation: utilization, lagMs: Math.max(0, delayMs - RESOLUTION_MS) }
  }

  close(): void {
    this.#delays.disable()
  }
}
