// A thread that claims and releases at a shared gate as fast as it can; run by shared-ip-gate-threads.test.ts.
//
// Time is a counter that all threads push forward, so that moments are few and everybody is in them at
// once. What must hold in every moment is checked against counters of its own: they are raised after a
// grant and lowered before the release, so they can only show fewer than are out.

import { parentPort, workerData } from 'node:worker_threads'
import { Random } from '../base/index.ts'
import type { IpGateSettings } from './ip-gate.ts'
import { SharedIpGate } from './shared-ip-gate.ts'

export interface HammerWork {
  readonly gate: SharedArrayBuffer
  readonly agent: number
  readonly settings: IpGateSettings
  readonly doors: number
  /** Ends after so many grants; never, if it is to be killed. */
  readonly grants: number
  /** Threads that begin together. */
  readonly threads: number
  /** Int32: the time in ticks of 1/4 ms, the threads that are ready to begin, then the claims out by door. */
  readonly counters: SharedArrayBuffer
}

export interface Visit {
  readonly door: number
  readonly startMs: number
  readonly endMs: number
  readonly wasAsked: boolean
}

export interface HammerReport {
  readonly visits: readonly Visit[]
  readonly mostOut: number
}

export const TIME_AT = 0
export const READY_AT = 1
export const OUT_AT = 2

/** How many it holds at most, how many grants before it says that it is at work. */
const HELD_MAX = 6
const GRANTS_AT_WORK = 500

function hammer(work: HammerWork, sayAtWork: () => void): HammerReport {
  const gate = new SharedIpGate(work.gate, work.agent, work.settings, 0)
  const counters = new Int32Array(work.counters)
  const random = new Random(`hammer ${work.agent}`)
  const nowMs = (): number => Atomics.add(counters, TIME_AT, 1) / 4
  const held: { readonly door: number; readonly startMs: number }[] = []
  const visits: Visit[] = []
  let mostOut = 0
  const release = (): void => {
    for (const visit of held.splice(random.below(held.length), 1)) {
      const wasAsked = random.below(4) > 0
      Atomics.sub(counters, OUT_AT + visit.door, 1)
      const endMs = nowMs()
      gate.release(visit.door, endMs, wasAsked, visit)
      if (work.grants < Infinity) visits.push({ ...visit, endMs, wasAsked })
    }
  }
  beginTogether(counters, work.threads)
  for (let granted = 0; granted < work.grants;) {
    if (held.length > 0 && (held.length === HELD_MAX || random.below(2) === 0)) release()
    const visit = { door: random.below(work.doors), startMs: nowMs() }
    if (gate.claim(visit.door, visit.startMs, visit) !== 0) continue
    mostOut = Math.max(mostOut, Atomics.add(counters, OUT_AT + visit.door, 1) + 1)
    held.push(visit)
    if (++granted === GRANTS_AT_WORK) sayAtWork()
  }
  while (held.length > 0) release()
  return { visits, mostOut }
}

/** Returns when all are here: else the first might be done before the last is loaded. */
function beginTogether(counters: Int32Array, threads: number): void {
  Atomics.add(counters, READY_AT, 1)
  Atomics.notify(counters, READY_AT)
  for (;;) {
    const ready = Atomics.load(counters, READY_AT)
    if (ready >= threads) return
    Atomics.wait(counters, READY_AT, ready)
  }
}

if (parentPort !== null) {
  const port = parentPort
  port.postMessage(hammer(workerData as HammerWork, () => port.postMessage('at work')))
}
