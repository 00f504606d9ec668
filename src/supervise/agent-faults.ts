// The ways in which a thread breaks on purpose.

import { spawnSync } from 'node:child_process'
import { FaultOnPurpose, type FaultPoints } from '../base/index.ts'

/** How often the points of a thread are passed. */
export const FAULT_MOMENT_MS = 50
const GROWTH_MS = 5
const GROWTH_NUMBERS = 250_000
const BURST_NUMBERS = 10_000_000

/** From now on, until the thread ends: the points of an agent are passed twenty times a second. */
export function breakNowAndThen(faults: FaultPoints): void {
  // What fills its memory is broken already: it would only count as broken again until it dies.
  let isGrowing = false
  setInterval(() => {
    if (faults.isDue('agent-throw')) throw new FaultOnPurpose('agent-throw')
    if (faults.isDue('agent-hang')) spin()
    if (faults.isDue('agent-block')) block()
    if (!isGrowing && faults.isDue('agent-memory')) {
      isGrowing = true
      grow()
    }
    if (faults.isDue('agent-burst')) burst()
  }, FAULT_MOMENT_MS).unref()
}

function spin(): never {
  for (;;);
}

/** A call into the system that comes back when the process is gone; until then nothing can interrupt it. */
function block(): void {
  spawnSync('tail', [`--pid=${process.pid}`, '-f', '/dev/null'])
}

/** By two megabytes at a time: the heap's limit is reached between two steps, and the thread ends alone. */
function grow(): void {
  const kept: number[][] = []
  setInterval(() => {
    kept.push(numbers(GROWTH_NUMBERS))
  }, GROWTH_MS)
}

/** Within one collection past any limit: V8 knows no other way out than to abort the process. */
function burst(): void {
  const kept: number[][] = []
  for (;;) kept.push(numbers(BURST_NUMBERS))
}

function numbers(count: number): number[] {
  return Array<number>(count).fill(0.5)
}
