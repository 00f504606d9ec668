// Long work in short steps: between two of them everybody else has a turn.

import { setImmediate } from 'node:timers/promises'
import { systemClock } from '../base/index.ts'

/** How long a step is, unless tests want others to come in between as often as they can. */
export const STEP_MS = 4

export class Breather {
  readonly #stepMs: number
  #startedMs: number = systemClock.nowMs()

  constructor(stepMs = STEP_MS) {
    this.#stepMs = stepMs
  }

  /** True when the step has taken long enough; then pause() is due. */
  get isDue(): boolean {
    return systemClock.nowMs() - this.#startedMs > this.#stepMs
  }

  async pause(): Promise<void> {
    await setImmediate()
    this.#startedMs = systemClock.nowMs()
  }
}
