// A lease ends in time whatever happens to one of the clocks, and threads see the same one.

import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { type ClockMs, systemClock } from '../base/index.ts'
import { Lease } from './lease.ts'

const LEASE_MS = 15_000

class SetClock {
  now = 1_000
  wall = 1_800_000_000_000
  nowMs(): ClockMs {
    return this.now as ClockMs
  }
  wallMs(): number {
    return this.wall
  }
  callAt(): () => void {
    throw new Error('a lease has no timers')
  }
  pass(ms: number): void {
    this.now += ms
    this.wall += ms
  }
}

function granted(): { clock: SetClock; lease: Lease } {
  const clock = new SetClock()
  const lease = new Lease(Lease.allocate(), clock, 500)
  lease.renew(clock.nowMs(), clock.wallMs(), LEASE_MS)
  return { clock, lease }
}

test('nobody may act before the first renewal, nor after it was revoked', () => {
  const clock = new SetClock()
  const lease = new Lease(Lease.allocate(), clock, 0)
  expect(lease.isValid()).toBe(false)
  lease.renew(clock.nowMs(), clock.wallMs(), LEASE_MS)
  expect(lease.isValid()).toBe(true)
  lease.revoke()
  expect(lease.isValid()).toBe(false)
})

test('it runs from the sending of the beat, to the millisecond', () => {
  const { clock, lease } = granted()
  clock.pass(LEASE_MS - 1)
  expect(lease.isValid()).toBe(true)
  expect(lease.leftMs()).toBe(1)
  clock.pass(1)
  expect(lease.isValid()).toBe(false)
})

test('a beat that was answered late does not shorten what a later one gave', () => {
  const { clock, lease } = granted()
  const sent = { ms: clock.nowMs(), wallMs: clock.wallMs() }
  clock.pass(5_000)
  lease.renew(clock.nowMs(), clock.wallMs(), LEASE_MS)
  lease.renew(sent.ms, sent.wallMs, LEASE_MS)
  expect(lease.leftMs()).toBe(LEASE_MS)
})

test('a machine that slept may not act, though its monotonic clock saw nothing', () => {
  const { clock, lease } = granted()
  clock.wall += 60_000
  expect(lease.isValid()).toBe(false)
})

test('a wall clock that is set back, before or during a sleep, does not lengthen it', () => {
  const { clock, lease } = granted()
  clock.wall -= 3_600_000
  expect(lease.isValid()).toBe(false)
  clock.wall += 30_000
  expect(lease.isValid()).toBe(false)
  clock.pass(LEASE_MS)
  expect(lease.isValid()).toBe(false)
})

test('after a clock was set, the next beat makes it valid again', () => {
  const { clock, lease } = granted()
  clock.wall += 86_400_000 * 365 * 80
  expect(lease.isValid()).toBe(false)
  lease.renew(clock.nowMs(), clock.wallMs(), LEASE_MS)
  expect(lease.isValid()).toBe(true)
  clock.pass(LEASE_MS)
  expect(lease.isValid()).toBe(false)
})

test('a thread reads what the member has written', async () => {
  const cell = Lease.allocate()
  const lease = new Lease(cell, systemClock, performance.timeOrigin)
  const worker = new Worker(
    `import { parentPort, workerData } from 'node:worker_threads'
     const { Lease } = await import(workerData.lease)
     const { systemClock } = await import(workerData.base)
     const lease = new Lease(workerData.cell, systemClock, performance.timeOrigin)
     parentPort.on('message', () => parentPort.postMessage({ isValid: lease.isValid(), leftMs: lease.leftMs() }))`,
    {
      eval: true,
      workerData: {
        cell,
        lease: new URL('lease.ts', import.meta.url).href,
        base: new URL('../base/index.ts', import.meta.url).href,
      },
    },
  )
  const ask = async (): Promise<{ isValid: boolean; leftMs: number }> =>
    new Promise((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
      worker.postMessage(null)
    })
  try {
    expect(await ask()).toEqual({ isValid: false, leftMs: 0 })
    lease.renew(systemClock.nowMs(), systemClock.wallMs(), 3_600_000)
    const seen = await ask()
    expect(seen.isValid).toBe(true)
    expect(Math.abs(seen.leftMs - lease.leftMs())).toBeLessThan(10_000)
    lease.revoke()
    expect((await ask()).isValid).toBe(false)
  } finally {
    await worker.terminate()
  }
})
