// Threads that really run at once at one gate. What they did is checked afterwards, or in the moment by
// counters; nothing depends on who is faster.

import { once } from 'node:events'
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { systemClock } from '../base/index.ts'
import { SharedIpGate } from './shared-ip-gate.ts'
import { type HammerReport, type HammerWork, OUT_AT, TIME_AT, type Visit } from './shared-ip-gate-hammer.conformance.ts'

const AGENTS = 3
const CLAIMANT = { name: 'the one who looks' }

function start(work: HammerWork): Worker {
  return new Worker(new URL('shared-ip-gate-hammer.conformance.ts', import.meta.url), { workerData: work })
}

/** What a thread says when it ends by itself. */
async function reportOf(worker: Worker): Promise<HammerReport> {
  const said: unknown[] = []
  worker.on('message', (message) => said.push(message))
  await once(worker, 'exit')
  return said.at(-1) as HammerReport
}

function workFor(doors: number, settings: HammerWork['settings']): Omit<HammerWork, 'agent' | 'grants'> {
  const counters = new SharedArrayBuffer((OUT_AT + doors) * Int32Array.BYTES_PER_ELEMENT)
  return { gate: SharedIpGate.allocate(AGENTS + 1, doors), settings, doors, counters, threads: AGENTS }
}

async function hammered(doors: number, settings: HammerWork['settings'], grants: number): Promise<HammerReport> {
  const work = workFor(doors, settings)
  const reports = await Promise.all(
    Array.from({ length: AGENTS }, (_, agent) => reportOf(start({ ...work, agent, grants }))),
  )
  const visits = reports.flatMap((report) => report.visits)
  expect(visits.length).toBe(AGENTS * grants)
  return { visits, mostOut: Math.max(...reports.map((report) => report.mostOut)) }
}

/** Of each door the visits that asked, in the order they began. */
function askedByDoor(visits: readonly Visit[]): Visit[][] {
  const asked = visits.filter((visit) => visit.wasAsked).sort((a, b) => a.startMs - b.startMs)
  return [...Map.groupBy(asked, (visit) => visit.door).values()]
}

test.each([1, 4])('never more than %i are out through a door', async (ipConnections) => {
  const { mostOut } = await hammered(2, { ipDelayMs: 0, ipConnections }, 10_000)
  expect(mostOut).toBeLessThanOrEqual(ipConnections)
})

test('no two requests through a door begin closer than ipDelay', async () => {
  const ipDelayMs = 5
  const { visits, mostOut } = await hammered(2, { ipDelayMs, ipConnections: 3 }, 1_000)
  expect(mostOut).toBeLessThanOrEqual(3)
  for (const visitsOfDoor of askedByDoor(visits)) {
    const gapsMs = visitsOfDoor.slice(1).map((visit, i) => visit.startMs - (visitsOfDoor[i] as Visit).startMs)
    expect(Math.min(...gapsMs)).toBeGreaterThanOrEqual(ipDelayMs)
  }
})

test('through a door of one connection none begins closer than ipDelay to the end of the one before', async () => {
  const ipDelayMs = 5
  const { visits } = await hammered(2, { ipDelayMs, ipConnections: 1 }, 1_000)
  for (const visitsOfDoor of askedByDoor(visits)) {
    const gapsMs = visitsOfDoor.slice(1).map((visit, i) => visit.startMs - (visitsOfDoor[i] as Visit).endMs)
    expect(Math.min(...gapsMs)).toBeGreaterThanOrEqual(ipDelayMs)
  }
})

test('what threads held that were killed anywhere in their work can be had again, all of it', async () => {
  const settings = { ipDelayMs: 0, ipConnections: 3 }
  const doors = 4
  const work = workFor(doors, settings)
  const survivor = new SharedIpGate(work.gate, AGENTS, settings, 0)
  for (let round = 0; round < 2; round++) {
    const victims = Array.from({ length: AGENTS }, (_, agent) => start({ ...work, agent, grants: Infinity }))
    await Promise.all(victims.map((victim) => once(victim, 'message')))
    await Promise.all(victims.map((victim) => victim.terminate()))
    for (let agent = 0; agent < AGENTS; agent++) SharedIpGate.freeAgent(work.gate, agent, settings, 0)
    const counters = new Int32Array(work.counters)
    const nowMs = Atomics.load(counters, TIME_AT) / 4
    counters.fill(0, TIME_AT + 1)
    for (let door = 0; door < doors; door++) {
      const answers = Array.from({ length: settings.ipConnections + 1 }, () => survivor.claim(door, nowMs, CLAIMANT))
      expect(answers.filter((atMs) => atMs === 0).length).toBe(settings.ipConnections)
      for (let i = 0; i < settings.ipConnections; i++) survivor.release(door, nowMs, true, CLAIMANT)
    }
  }
})

test('all threads have one scale of time, if each adds its origin to its clock', () => {
  const { port1, port2 } = new MessageChannel()
  const signal = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(
    `const { workerData } = require('node:worker_threads')
     workerData.port.postMessage(performance.timeOrigin + performance.now())
     Atomics.store(workerData.signal, 0, 1)
     Atomics.notify(workerData.signal, 0)`,
    { eval: true, workerData: { port: port2, signal }, transferList: [port2] },
  )
  const beforeMs = performance.timeOrigin + systemClock.nowMs()
  Atomics.wait(signal, 0, 0)
  const there = receiveMessageOnPort(port1)?.message as number
  const afterMs = performance.timeOrigin + systemClock.nowMs()
  port1.close()
  expect(there).toBeGreaterThanOrEqual(beforeMs)
  expect(there).toBeLessThanOrEqual(afterMs)
  return once(worker, 'exit').then(() => undefined)
})
