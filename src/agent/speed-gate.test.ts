// Requests wait for the speed limit in the order they came; whoever was told that the gate is closed is rung.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ClockMs, ManualClock } from '../base/index.ts'
import { SpeedGate } from './speed-gate.ts'
import { SpeedLimit, type SpeedLimits } from './speed-limit.ts'

interface Stand {
  readonly clock: ManualClock
  readonly gate: SpeedGate
  /** Names of requests in the order in which they passed, with the moment. */
  readonly passed: [number, number][]
  readonly rings: number[]
  /** Asks for the next request. */
  readonly ask: () => Promise<void>
}

function stand(limits: Partial<SpeedLimits>): Stand {
  const clock = new ManualClock(0)
  const rings: number[] = []
  const limit = new SpeedLimit({ ratePerSecond: null, bytesPerSecond: null, ...limits }, clock.nowMs())
  const gate = new SpeedGate(clock, limit, () => rings.push(clock.nowMs()))
  const passed: [number, number][] = []
  let name = 0
  const ask = async (): Promise<void> => {
    const own = name++
    const wait = gate.pass()
    if (wait !== undefined) await wait
    passed.push([own, clock.nowMs()])
  }
  return { clock, gate, passed, rings, ask }
}

/** Lets what was resolved run. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve()
}

async function advance(clock: ManualClock, ms: number, stepMs = 10): Promise<void> {
  for (let gone = 0; gone < ms; gone += stepMs) {
    clock.advance(Math.min(stepMs, ms - gone))
    await settle()
  }
}

test('requests pass one after the other, in order, at the rate of the limit', async () => {
  const { clock, ask, passed } = stand({ ratePerSecond: 5 })
  for (let i = 0; i < 10; i++) void ask()
  await settle()
  expect(passed).toEqual([[0, 0]])
  await advance(clock, 2_000)
  expect(passed).toEqual(Array.from({ length: 10 }, (_, i) => [i, i * 200]))
})

test('however requests come, all pass, in order, and none is overtaken by one that comes later', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 200 }),
      fc.array(fc.tuple(fc.constantFrom('ask', 'end', 'wait'), fc.integer({ min: 1, max: 400 })), { maxLength: 40 }),
      async (ratePerSecond, events) => {
        const { clock, gate, ask, passed } = stand({ ratePerSecond, bytesPerSecond: 100_000 })
        let asked = 0
        let ended = 0
        for (const [event, amount] of events) {
          if (event === 'wait') await advance(clock, amount, 50)
          else if (event === 'end' && ended < passed.length) {
            gate.ended(amount * 100)
            ended++
          } else {
            void ask()
            asked++
          }
          await settle()
        }
        while (passed.length < asked) {
          if (ended < passed.length) {
            gate.ended(0)
            ended++
          }
          await advance(clock, 10_000, 1_000)
        }
        expect(passed.map(([name]) => name)).toEqual(Array.from({ length: asked }, (_, i) => i))
        expect(gate.waiting).toBe(0)
      },
    ),
    { numRuns: 60 },
  )
})

test('who is told that it is closed is rung once, when nobody waits and a request would pass', async () => {
  const { clock, gate, ask, rings } = stand({ ratePerSecond: 5 })
  expect(gate.isOpen()).toBe(true)
  void ask()
  void ask()
  expect(gate.isOpen()).toBe(false)
  expect(gate.isOpen()).toBe(false)
  await advance(clock, 5_000)
  // The second passes after 200 ms; a third would after 400.
  expect(rings).toEqual([400])
  expect(gate.isOpen()).toBe(true)
})

test('nobody is rung who did not ask', async () => {
  const { clock, ask, rings } = stand({ ratePerSecond: 5 })
  void ask()
  void ask()
  await advance(clock, 5_000)
  expect(rings).toEqual([])
})

test('an answer smaller than expected opens the gate sooner', async () => {
  const { clock, gate, ask, passed, rings } = stand({ bytesPerSecond: 1_000 })
  void ask()
  void ask()
  expect(gate.isOpen()).toBe(false)
  await advance(clock, 500)
  expect(passed).toHaveLength(1)
  gate.ended(100)
  await advance(clock, 10)
  expect(passed).toHaveLength(2)
  gate.ended(0)
  await advance(clock, 10)
  expect(rings).toHaveLength(1)
})

test('a limit that is lifted or raised lets go those who wait', async () => {
  const { clock, gate, ask, passed } = stand({ ratePerSecond: 0.01 })
  for (let i = 0; i < 6; i++) void ask()
  gate.set({ ratePerSecond: 10, bytesPerSecond: null })
  await advance(clock, 210)
  expect(passed.length).toBeGreaterThanOrEqual(3)
  expect(passed.length).toBeLessThan(6)
  gate.set({ ratePerSecond: null, bytesPerSecond: null })
  await advance(clock, 10)
  expect(passed).toHaveLength(6)
})

test('a gate that is taken down holds nobody', async () => {
  const { clock, gate, ask, passed } = stand({ ratePerSecond: 0.01 })
  for (let i = 0; i < 6; i++) void ask()
  gate.takeDown()
  void ask()
  await settle()
  expect(passed).toHaveLength(7)
  expect(gate.isOpen()).toBe(true)
  await advance(clock, 1_000)
})

test('answers that come faster than timers do not put the opening off', async () => {
  // A clock whose timers need a millisecond, as those of Node do.
  const clock = new ManualClock(0)
  const lazy = {
    nowMs: () => clock.nowMs(),
    wallMs: () => clock.wallMs(),
    callAt: (atMs: ClockMs, callback: () => void) =>
      clock.callAt(Math.max(atMs, clock.nowMs() + 1) as ClockMs, callback),
  }
  const gate = new SpeedGate(
    lazy,
    new SpeedLimit({ ratePerSecond: null, bytesPerSecond: 1_000_000 }, clock.nowMs()),
    () => {},
  )
  for (let i = 0; i < 5; i++) void gate.pass()
  for (let i = 0; i < 40; i++) {
    gate.ended(0)
    clock.advance(0.25)
  }
  expect(gate.waiting).toBe(0)
})
