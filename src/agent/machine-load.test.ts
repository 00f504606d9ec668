import { expect, test } from 'vitest'
import { MachineLoad } from './machine-load.ts'

/** Event loop delays in nanoseconds, as Node counts them: from one sample to the next. */
class Delays {
  values: number[] = []
  isEnabled = false

  get count(): number {
    return this.values.length
  }

  get mean(): number {
    return this.values.reduce((sum, one) => sum + one, 0) / this.values.length
  }

  reset(): void {
    this.values = []
  }

  enable(): boolean {
    this.isEnabled = true
    return true
  }

  disable(): boolean {
    this.isEnabled = false
    return true
  }
}

test('lag is the mean of the delays beyond what is between two samples, since it was read last', () => {
  const delays = new Delays()
  const load = new MachineLoad(delays)
  expect(delays.isEnabled).toBe(true)
  delays.values = [10e6, 10e6, 40e6]
  expect(load.read().lagMs).toBeCloseTo(10)
  delays.values = [9e6]
  expect(load.read().lagMs).toBe(0)
  load.close()
  expect(delays.isEnabled).toBe(false)
})

test('a turn so long that there was no sample is a lag as long as the time', () => {
  const load = new MachineLoad(new Delays(), () => ({ idle: 0, active: 1_500, utilization: 1 }))
  expect(load.read()).toEqual({ utilisation: 1, lagMs: 1_490 })
})

test('utilisation is of the time since it was read last', () => {
  let active = 0
  const at = (): { idle: number; active: number; utilization: number } => ({ idle: 100, active, utilization: 0 })
  const load = new MachineLoad(new Delays(), (now, before) =>
    now === undefined || before === undefined ? at() : { ...at(), utilization: (now.active - before.active) / 100 },
  )
  active = 40
  expect(load.read().utilisation).toBeCloseTo(0.4)
  active = 50
  expect(load.read().utilisation).toBeCloseTo(0.1)
})

test('a thread that only works is busy all the time, and late by its turns', async () => {
  const load = new MachineLoad()
  const turn = async (): Promise<void> => {
    const untilMs = performance.now() + 50
    while (performance.now() < untilMs);
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
  }
  for (let i = 0; i < 2; i++) await turn()
  load.read()
  for (let i = 0; i < 3; i++) await turn()
  const { utilisation, lagMs } = load.read()
  load.close()
  expect(utilisation).toBeGreaterThan(0.9)
  expect(lagMs).toBeGreaterThan(30)
})
