// The number of connections follows the machine. Models stand for machine and network; a second is one step.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ClockMs, Random } from '../base/index.ts'
import { Concurrency, type Observation } from './concurrency.ts'

const TIMEOUT_MS = 30_000
const QUIET = { utilisation: 0.1, lagMs: 1, memoryShare: 0.4, requests: 100, timeouts: 0 }

/** What a machine shows when so many requests are under way. */
type Machine = (active: number, second: number) => Partial<Observation>

/** Runs the controller on a machine with so many hosts that are always ready; the limit after each second. */
function run(controller: Concurrency, seconds: number, hosts: number, machine: Machine, fromSecond = 0): number[] {
  const limits: number[] = []
  for (let second = fromSecond; second < fromSecond + seconds; second++) {
    const active = Math.min(controller.limit, hosts)
    const observation = { ...QUIET, active, wanted: hosts, nowMs: (second * 1_000) as ClockMs }
    limits.push(controller.observe({ ...observation, ...machine(active, second) }))
  }
  return limits
}

/**
 * One thread that works `costMs` on each answer, of servers that take `answerMs`, more or less. What has come waits in line;
 * a turn of the loop works off what is there, and what is asked in it is answered later.
 */
class Thread {
  readonly #costMs: number
  readonly #answerMs: number
  readonly #random: Random
  #nowMs = 0
  #line = 0
  #underWay = 0
  /** Answers by the millisecond in which they come. */
  readonly #coming = new Map<number, number>()

  constructor(costMs: number, answerMs: number, seed = 1) {
    this.#costMs = costMs
    this.#answerMs = answerMs
    this.#random = new Random(seed)
  }

  /** A second with at most so many under way. */
  readonly second = (limit: number): Partial<Observation> => {
    const endMs = this.#nowMs + 1_000
    let busyMs = 0
    let requests = 0
    let lateMs = 0
    let samples = 0
    let active = 0
    while (this.#nowMs < endMs) {
      for (; this.#underWay < limit; this.#underWay++) {
        const atMs = Math.ceil(this.#nowMs + this.#answerMs * (0.5 + this.#random.fraction()))
        this.#coming.set(atMs, (this.#coming.get(atMs) ?? 0) + 1)
      }
      active = Math.max(active, this.#underWay)
      const done = Math.min(this.#line, 1_024)
      const turnMs = Math.max(1, done * this.#costMs)
      for (let atMs = Math.floor(this.#nowMs) + 1; atMs <= this.#nowMs + turnMs; atMs++) {
        this.#line += this.#coming.get(atMs) ?? 0
        this.#coming.delete(atMs)
      }
      this.#nowMs += turnMs
      this.#line -= done
      this.#underWay -= done
      busyMs += done * this.#costMs
      requests += done
      // A sample every ten milliseconds, or after a turn that is longer.
      samples += Math.min(1, turnMs / 10)
      lateMs += Math.max(0, turnMs - 10)
    }
    return { utilisation: Math.min(1, busyMs / 1_000), lagMs: lateMs / samples, requests, active }
  }
}

const last = (limits: readonly number[]): number => limits.at(-1) ?? 0

test('small crawls are not slowed: it begins with 128, or with all that is asked for', () => {
  expect(new Concurrency(128, TIMEOUT_MS).limit).toBe(128)
  expect(new Concurrency(5, TIMEOUT_MS).limit).toBe(5)
  expect(new Concurrency(100_000, TIMEOUT_MS).limit).toBe(128)
})

test.each([
  [1_000, 2_000, 0.5],
  [3_000, 2_000, 0.5],
  [10_000, 20_000, 0.5],
  [100_000, 60_000, 0.3],
])(
  'hosts that are slow: %i connections within 15 s where answers take %i ms and %f ms of work',
  (ceiling, answerMs, costMs) => {
    const limits = run(new Concurrency(ceiling, TIMEOUT_MS), 15, 200_000, new Thread(costMs, answerMs).second)
    expect(last(limits)).toBe(ceiling)
  },
)

test('a thread that is busy: nearly all it can do is done, it is not late, and the limit comes to rest', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0.5, max: 5, noNaN: true }),
      fc.integer({ min: 20, max: 2_000 }),
      fc.integer(),
      (costMs, answerMs, seed) => {
        const { second } = new Thread(costMs, answerMs, seed)
        const controller = new Concurrency(50_000, TIMEOUT_MS)
        run(controller, 60, 200_000, second)
        let lagMs = 0
        let utilisation = 0
        const watched: Machine = (active) => {
          const seen = second(active)
          lagMs += (seen.lagMs ?? 0) / 100
          utilisation += (seen.utilisation ?? 0) / 100
          return seen
        }
        const limits = run(controller, 100, 200_000, watched, 60)
        expect(utilisation).toBeGreaterThanOrEqual(0.95)
        expect(lagMs).toBeLessThanOrEqual(250)
        // It may have come to rest at the edge of too much, and be cut; it never swings.
        expect(Math.max(...limits) - Math.min(...limits)).toBeLessThanOrEqual(0.5 * Math.max(...limits) + 1)
        expect(limits.filter((limit, i) => limit < (limits[i - 1] ?? 0)).length).toBeLessThanOrEqual(2)
      },
    ),
    { numRuns: 15 },
  )
})

test('servers that answer at once: a few requests keep the thread as busy as many, and a few are what it has', () => {
  const { second } = new Thread(0.1, 2)
  const controller = new Concurrency(2_000, TIMEOUT_MS)
  const busy: number[] = []
  const watched: Machine = (active) => {
    const seen = second(active)
    busy.push(seen.utilisation ?? 0)
    return seen
  }
  expect(last(run(controller, 12, 1_000, watched))).toBe(64)
  expect(Math.min(...busy.slice(2))).toBeGreaterThanOrEqual(0.97)
  expect(last(run(controller, 300, 1_000, watched, 12))).toBe(64)
})

test('where fewer leave the thread idle it has what it had, and five minutes pass before that is tried again', () => {
  const controller = new Concurrency(200, TIMEOUT_MS)
  const needs120: Machine = (active) => ({ utilisation: Math.min(1, active / 120), lagMs: 5, requests: active * 20 })
  const limits = run(controller, 200, 1_000, needs120)
  // The step that is too many is taken back.
  expect(limits.slice(0, 4)).toEqual([128, 102, 128, 128])
  const tooFew = limits.flatMap((limit, at) => (limit < 120 ? [at] : []))
  expect(tooFew.length).toBeLessThanOrEqual(4)
  expect(meanOf(limits)).toBeGreaterThanOrEqual(125)
})

test('what was enough is not tried to be less for five minutes, however the processor wavers', () => {
  const random = new Random('wavering')
  const controller = new Concurrency(256, TIMEOUT_MS)
  const wavers: Machine = (active) => ({
    utilisation: Math.min(1, (active / 110) * (0.94 + 0.04 * random.fraction())),
    lagMs: 5,
    requests: active * 20,
  })
  const limits = run(controller, 600, 1_000, wavers)
  const steps = limits.filter((limit, at) => limit < (limits[at - 1] ?? 0))
  expect(steps.length).toBeLessThanOrEqual(2 * (600 / 300) + 2)
  expect(meanOf(limits)).toBeGreaterThanOrEqual(105)
  expect(meanOf(limits)).toBeLessThanOrEqual(150)
})

test('fewer are not tried where some wait in vain, where nobody wants more, or where memory is short', () => {
  const busy = { utilisation: 1, lagMs: 5, requests: 5_000 }
  const limitAfter = (hosts: number, machine: Machine): number =>
    last(run(new Concurrency(200, TIMEOUT_MS), 30, hosts, machine))
  expect(limitAfter(1_000, () => busy)).toBe(64)
  expect(limitAfter(1_000, () => ({ ...busy, timeouts: 5 }))).toBe(128)
  expect(limitAfter(100, () => busy)).toBe(128)
  // Taken back would be more memory.
  const idleAndFull: Machine = (active) => (active > 110 ? busy : { utilisation: 0.9, memoryShare: 1.05 })
  expect(limitAfter(1_000, idleAndFull)).toBe(102)
})

test('where a connection brings few answers a second fewer are not tried: nobody would know in time', () => {
  const controller = new Concurrency(2_000, TIMEOUT_MS)
  const slow: Machine = (active) => ({ utilisation: 0.99, lagMs: 5, requests: active / 2 })
  expect(run(controller, 100, 5_000, slow)).toEqual(Array.from({ length: 100 }, () => 128))
})

test('a machine that becomes slower is followed down, and up again when it recovers', () => {
  const controller = new Concurrency(50_000, TIMEOUT_MS)
  const fast = last(run(controller, 60, 200_000, new Thread(0.5, 1_000).second))
  const slow = last(run(controller, 60, 200_000, new Thread(4, 1_000).second, 60))
  const again = last(run(controller, 120, 200_000, new Thread(0.5, 1_000).second, 120))
  expect(fast).toBeGreaterThanOrEqual(1_900)
  expect(slow).toBeGreaterThanOrEqual(240)
  expect(slow).toBeLessThanOrEqual(320)
  expect(again).toBeGreaterThanOrEqual(1_900)
})

test.each([
  [0.3, 2_000],
  [1, 3_000],
  [0.1, 1_000],
])(
  '%f ms of work on answers that take %i ms: growth stops before it is too much, though the work comes later',
  (costMs, answerMs) => {
    const limits = run(new Concurrency(100_000, TIMEOUT_MS), 60, 200_000, new Thread(costMs, answerMs).second)
    expect(Math.max(...limits)).toBeLessThanOrEqual((1.1 * answerMs) / costMs)
    expect(last(limits)).toBeGreaterThanOrEqual((0.95 * answerMs) / costMs)
  },
)

test('what was too much for the processor is forgotten when it is idle for two seconds, and not for one', () => {
  const busy: Machine = () => ({ lagMs: 300, utilisation: 1 })
  const controller = new Concurrency(10_000, TIMEOUT_MS)
  run(controller, 3, 200_000, () => ({ utilisation: 0.01 }))
  run(controller, 2, 200_000, busy, 3)
  const cut = controller.limit
  expect(controller.bottleneck).toBe('cpu')
  const nearlyBusy: Machine = (_, second) => ({ utilisation: second % 2 === 0 ? 0.95 : 0.3 })
  expect(last(run(controller, 10, 200_000, nearlyBusy, 5))).toBeLessThanOrEqual(cut * 1.25)
  expect(last(run(controller, 15, 200_000, () => ({ utilisation: 0.05 }), 15))).toBe(10_000)
})

test('one pause of the event loop cuts nothing', () => {
  const controller = new Concurrency(1_000, TIMEOUT_MS)
  run(controller, 20, 5_000, () => ({}))
  expect(run(controller, 1, 5_000, () => ({ lagMs: 900, utilisation: 1 }), 20)).toEqual([1_000])
  expect(run(controller, 5, 5_000, () => ({}), 21)).toEqual(Array.from({ length: 5 }, () => 1_000))
})

test('with few requests under way, lateness has other reasons and cuts nothing', () => {
  const controller = new Concurrency(1_000, TIMEOUT_MS)
  expect(last(run(controller, 60, 16, () => ({ lagMs: 900, utilisation: 1 })))).toBe(128)
})

test('memory beyond its budget is given back, connection by connection, and taken again when there is room', () => {
  const controller = new Concurrency(50_000, TIMEOUT_MS)
  const shares: number[] = []
  const machine: Machine = (active) => {
    const memoryShare = 0.5 + active / 2_500
    shares.push(memoryShare)
    return { memoryShare }
  }
  const limits = run(controller, 300, 200_000, machine)
  expect(Math.max(...shares)).toBeLessThanOrEqual(1.15)
  expect(Math.max(...shares.slice(30))).toBeLessThanOrEqual(1.1)
  expect(Math.min(...limits.slice(30))).toBeGreaterThanOrEqual(800)
  expect(last(run(controller, 90, 200_000, () => ({}), 300))).toBe(50_000)
})

test('memory that others hold costs connections only down to where that is no help', () => {
  const limits = run(new Concurrency(2_000, TIMEOUT_MS), 120, 200_000, () => ({ memoryShare: 1.5 }))
  expect(last(limits)).toBe(64)
})

/**
 * A line that carries so many requests at a time, to servers that answer in two seconds or, a share of them, never. What
 * it does not carry and what is never answered holds its connection until it times out; so long also is the past seen.
 */
function line(carries: number, deadShare: number, random: Random): Machine {
  const history: number[] = []
  const answerSeconds = 2
  const timeoutSeconds = TIMEOUT_MS / 1_000
  return (active) => {
    history.push(active)
    const begun = history[Math.max(0, history.length - timeoutSeconds)] ?? 0
    // As if the line carried everything; where it does not, the rest waits in vain.
    const free = begun / ((1 - deadShare) * answerSeconds + deadShare * timeoutSeconds)
    const answers = Math.min(free * (1 - deadShare), carries / answerSeconds)
    const timeouts = (begun - answers * answerSeconds) / timeoutSeconds
    const noisy = (value: number): number => Math.round(value * (0.9 + 0.2 * random.fraction()))
    const timedOut = noisy(timeouts)
    return { requests: noisy(answers) + timedOut, timeouts: timedOut }
  }
}

function meanOf(limits: readonly number[]): number {
  return limits.reduce((sum, one) => sum + one) / limits.length
}

test('time-outs halve the connections, and they are not raised again before it is known whether that helped', () => {
  const controller = new Concurrency(4_000, TIMEOUT_MS)
  run(controller, 20, 200_000, () => ({}))
  expect(run(controller, 1, 200_000, () => ({ requests: 400, timeouts: 100 }), 20)).toEqual([2_000])
  const waiting = run(controller, 30, 200_000, () => ({ requests: 400, timeouts: 100 }), 21)
  expect(new Set(waiting)).toEqual(new Set([2_000]))
  expect(controller.bottleneck).toBe('network')
})

test.each([500, 5_000])('a line that carries %i requests is found, used, and not overrun for long', (carries) => {
  const controller = new Concurrency(100_000, TIMEOUT_MS)
  const limits = run(controller, 3_600, 200_000, line(carries, 0, new Random('line'))).slice(170)
  expect(Math.min(...limits)).toBeGreaterThanOrEqual(carries / 2)
  expect(Math.max(...limits)).toBeLessThanOrEqual(carries * 4)
  expect(meanOf(limits)).toBeGreaterThanOrEqual(carries)
})

test.each([0.1, 0.4])(
  'a web with %f dead hosts is no reason to be slow: a cut that cost answers is taken back',
  (deadShare) => {
    const controller = new Concurrency(2_000, TIMEOUT_MS)
    const limits = run(controller, 3_600, 200_000, line(100_000, deadShare, new Random('dead')))
    expect(Math.min(...limits.slice(10, 120))).toBeLessThanOrEqual(1_000)
    expect(meanOf(limits.slice(120))).toBeGreaterThanOrEqual(1_900)
  },
)

test('waves of dead hosts are tried for but seldom', () => {
  const waves: Machine = (_, second) => ({ requests: 300, timeouts: second % 120 < 60 ? 15 : 150 })
  const controller = new Concurrency(2_000, TIMEOUT_MS)
  run(controller, 60, 200_000, waves)
  // A cut is never of use here: half the connections bring half of everything.
  const honest: Machine = (active, second) => {
    const { requests = 0, timeouts = 0 } = waves(active, second)
    return { requests: (requests * active) / 2_000, timeouts: (timeouts * active) / 2_000 }
  }
  expect(meanOf(run(controller, 3_600, 200_000, honest, 60))).toBeGreaterThanOrEqual(1_880)
})

test('a cut for another reason ends the trial: what it tried cannot be told any more', () => {
  const controller = new Concurrency(4_000, TIMEOUT_MS)
  run(controller, 20, 200_000, () => ({}))
  expect(run(controller, 1, 200_000, () => ({ requests: 400, timeouts: 100 }), 20)).toEqual([2_000])
  run(controller, 9, 200_000, () => ({ lagMs: 600, utilisation: 1 }), 21)
  expect(controller.limit).toBe(1_400)
  // Answers are few, which would have the cut taken back.
  const limits = run(controller, 40, 200_000, () => ({ requests: 30, timeouts: 1, utilisation: 1 }), 30)
  expect(last(limits)).toBe(1_400)
})

test('a few requests that time out say nothing', () => {
  const limits = run(new Concurrency(2_000, TIMEOUT_MS), 5, 200, () => ({ requests: 5, timeouts: 5 }))
  expect(limits).toEqual([256, 256, 256, 256, 256])
})

test('what nobody wants is not raised, and what is not used any more is taken back, down to the start', () => {
  const controller = new Concurrency(100_000, TIMEOUT_MS)
  expect(last(run(controller, 60, 100, () => ({})))).toBe(128)
  expect(controller.bottleneck).toBe('demand')
  run(controller, 40, 20_000, () => ({}), 60)
  const high = controller.limit
  expect(high).toBeGreaterThan(20_000)
  expect(last(run(controller, 60, 1_000, () => ({}), 100))).toBe(2_000)
  expect(last(run(controller, 60, 0, () => ({}), 160))).toBe(128)
})

test('it says what keeps it from more', () => {
  const controller = new Concurrency(150, TIMEOUT_MS)
  const after = (second: number, hosts: number, machine: Machine): string => {
    run(controller, 2, hosts, machine, second)
    return controller.bottleneck
  }
  expect(after(0, 1_000, () => ({}))).toBe('ceiling')
  expect(after(2, 10, () => ({}))).toBe('demand')
  expect(after(4, 1_000, () => ({ utilisation: 0.99 }))).toBe('cpu')
  expect(after(6, 1_000, () => ({ memoryShare: 1.05 }))).toBe('memory')
})

test('another ceiling holds at once', () => {
  const controller = new Concurrency(1_000, TIMEOUT_MS)
  controller.setCeiling(10)
  expect(controller.limit).toBe(10)
  controller.setCeiling(500)
  expect(last(run(controller, 10, 5_000, () => ({})))).toBe(500)
})

test('whatever is observed, the limit is a whole number between floor and ceiling, and the same each time', () => {
  const observations = fc.array(
    fc.record({
      stepMs: fc.constantFrom(100, 1_000, 1_000, 30_000),
      utilisation: fc.double({ min: 0, max: 1, noNaN: true }),
      lagMs: fc.double({ min: 0, max: 5_000, noNaN: true }),
      memoryShare: fc.double({ min: 0, max: 3, noNaN: true }),
      requests: fc.nat(1_000),
      timeoutShare: fc.double({ min: 0, max: 1, noNaN: true }),
      active: fc.nat(100_000),
      wanted: fc.nat(200_000),
    }),
    { minLength: 1, maxLength: 200 },
  )
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100_000 }), observations, (ceiling, all) => {
      const one = new Concurrency(ceiling, TIMEOUT_MS)
      const other = new Concurrency(ceiling, TIMEOUT_MS)
      let nowMs = 0
      let decidedMs = -Infinity
      for (const { stepMs, timeoutShare, active, ...rest } of all) {
        nowMs += stepMs
        const before = one.limit
        const observation = {
          ...rest,
          active: Math.min(active, before),
          timeouts: Math.floor(rest.requests * timeoutShare),
          nowMs: nowMs as ClockMs,
        }
        const limit = one.observe(observation)
        expect(other.observe(observation)).toBe(limit)
        expect(Number.isInteger(limit)).toBe(true)
        expect(limit).toBeGreaterThanOrEqual(Math.min(16, ceiling))
        expect(limit).toBeLessThanOrEqual(ceiling)
        // One decision a second, however often it is told.
        if (nowMs - decidedMs < 1_000) expect(limit).toBe(before)
        else decidedMs = nowMs
      }
    }),
  )
})
