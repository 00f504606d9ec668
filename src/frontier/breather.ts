// Long work in short steps: between two of them everybody else has a turn.

import { setImmediate } from 'node:timers/promises'
import { systemClock } from '../base/index.ts'

const STEP_MS = 4

export class Breather {
  #startedMs: number = systemClock.nowMs()

  /** True when the step has taken long enough; then pause() is due. */
  get isDue(): boolean {
    return systemClock.nowMs() - this.#startedMs > STEP_MS
  }

  async pause(): Promise<void> {
    await setImmediate()
    this.#startedMs = systemClock.nowMs()
  }
}
